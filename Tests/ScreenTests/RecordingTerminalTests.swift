import Screen
import Support
import Testing

@MainActor @Suite struct RecordingTerminalTests {
  @Test func itTypesOnlyWhileItIsOpen() throws {
    let terminal = RecordingTerminal(Size(width: 10, height: 2))
    var inputs: [TerminalInput] = []
    terminal.type("a")
    try terminal.open { inputs.append($0) }
    terminal.type("b")
    terminal.send(.resized(Size(width: 20, height: 3)))
    terminal.close()
    terminal.close()
    terminal.type("c")
    #expect(inputs == [.key(.character("b")), .resized(Size(width: 20, height: 3))])
    #expect(terminal.size == Size(width: 20, height: 3))
    #expect(terminal.closings == 1)
  }

  @Test func itKeepsEachFrameThatDiffers() throws {
    let terminal = RecordingTerminal(Size(width: 3, height: 1))
    try terminal.open { _ in }
    var frame = Frame(terminal.size)
    terminal.present(frame)
    terminal.present(frame)
    frame.put("x", x: 0, y: 0)
    terminal.present(frame)
    #expect(terminal.frames.map(\.text) == ["", "x"])
  }
}
