import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct PromptKeysTests {
  /// With the palette open.
  private var bench: Bench

  init() {
    bench = Bench(RunBuilder([.shell("a"), .shell("b")]))
    bench.press(.character(":"))
  }

  /// The index of the chosen action; nil without a palette.
  private var place: Int? { if case .palette(_, let place) = bench.model.prompt { place } else { nil } }

  private var matches: Int {
    guard case .palette(let editor, _) = bench.model.prompt else { return 0 }
    return CommandPalette.matches(editor.text, in: bench.model).count
  }

  @Test mutating func theCursorOfThePaletteStaysAmongTheActions() {
    let last = matches - 1
    #expect(last > 1 && place == 0)
    bench.press(.up)
    #expect(place == 0)
    for _ in 0..<(last - 1) { bench.press(.down) }
    #expect(place == last - 1)
    for _ in 0..<3 { bench.press(.down) }
    #expect(place == last)
    bench.press(.up)
    #expect(place == last - 1)
  }

  @Test mutating func typingChoosesTheFirstMatch() {
    for _ in 0..<3 { bench.press(.down) }
    bench.type("he")
    #expect(place == 0 && matches > 0)
    for _ in 0..<100 { bench.press(.down) }
    #expect(place == matches - 1)
    bench.press(.backspace)
    #expect(place == 0)
  }

  @Test mutating func aPaletteWithoutMatchesHasNothingToChoose() {
    bench.type("zzz")
    #expect(matches == 0)
    bench.press(.down)
    #expect(place == 0)
    bench.press(.up, .enter)
    #expect(bench.model.prompt == nil && bench.commands == [])
  }

  @Test(arguments: [Panel.tree, .critical]) func typingAFilterLeavesTheCursorToTheKeys(_ panel: Panel) {
    let needs = (0..<3).map { [JobNeed(JobID($0))] }
    var bench = Bench(
      RunBuilder([
        .shell("find"), .shell("b", needs: needs[0]), .shell("c", needs: needs[1]), .shell("d", needs: needs[2]),
      ]))
    bench.press(panel.key, .character("/"))
    bench.type("fi")
    #expect(bench.cursor == "find" && bench.model.rowCount == 4)
    let (first, step) = panel == .tree ? (3, Key.up) : (0, Key.down)
    #expect(bench.model.cursorRow == first)
    for row in 1..<4 {
      bench.press(step)
      #expect(bench.model.cursorRow == abs(first - row))
    }
    bench.type("n")
    #expect(bench.cursor == "find")
  }

  @Test(arguments: ["/", ":", "\t/"]) func theCursorMovesInEveryLine(_ opening: String) {
    var bench = Bench.talker(["bay", "abc"])
    for character in opening { bench.press(character == "\t" ? .tab : .character(character)) }
    bench.type("ay")
    bench.press(.home, .character("b"))
    let text: String? =
      switch bench.model.prompt {
      case .filter(let editor), .search(let editor), .palette(let editor, _): editor.text
      case .quit, .confirm, nil: nil
      }
    #expect(text == "bay")
    #expect(bench.frame().cursor.map { [$0.x, $0.y] } == [3, 23])
  }

  @Test mutating func aMoveInTheLineHasNoOtherEffect() {
    bench.type("e")
    bench.press(.down, .left)
    #expect(place == 1)
    bench.press(.escape, .character("/"))
    bench.type("a")
    bench.press(.down)
    var many = Bench(RunBuilder([.shell("ab"), .shell("ac")]))
    many.press(.character("/"))
    many.type("a")
    many.press(.down)
    #expect(many.cursor == "ac")
    many.press(.left)
    #expect(many.cursor == "ac")
    many.type("c")
    #expect(many.rows == [])
  }

  @Test mutating func anEmptyLineIsLeftByBackspace() {
    bench.type("h")
    bench.press(.backspace)
    #expect(place == 0)
    bench.press(.backspace)
    #expect(bench.model.prompt == nil)
  }

  @Test(arguments: [":he", "/b", "q", "x", "\t/b"]) mutating func altDoesNothingInAPrompt(opening: String) {
    bench.press(.escape)
    bench.play { for name in ["a", "b"] { $0.move(name, .executing) } }
    bench.press(.character("A"))
    for character in opening { bench.press(character == "\t" ? .tab : .character(character)) }
    let (prompt, rows, effects) = (bench.model.prompt, bench.rows, bench.effects)
    #expect(prompt != nil)
    for key in [.character("y"), .character("p"), .character("n"), .enter, .up, .escape, .function(9), .left] as [Key] {
      bench.send(.alt(key))
      #expect(bench.model.prompt == prompt && bench.rows == rows && bench.effects == effects, "\(key)")
    }
  }

  @Test mutating func altAndBackspaceDeleteAWord() {
    bench.type("one two")
    bench.send(.alt(.backspace))
    guard case .palette(let editor, _) = bench.model.prompt else { return #expect(Bool(false)) }
    #expect(editor.text == "one ")
  }

  @Test mutating func altIsEscapeAndTheKeyWithoutAPrompt() {
    bench.press(.escape)
    bench.play { $0.move("a", .executing) }
    bench.press(.enter)
    #expect(bench.model.page == .zoom)
    bench.send(.alt(.character("p")))
    #expect(bench.model.page == .list && bench.commands == [.pause([JobID(0)])])
  }

  @Test mutating func aFilterIsKeptByEnterAndDroppedByEscape() {
    bench.press(.escape, .character("/"))
    bench.type("b")
    #expect(bench.rows == ["b"])
    bench.press(.enter)
    #expect(bench.model.prompt == nil && bench.rows == ["b"])
    bench.press(.character("/"), .escape)
    #expect(bench.model.prompt == nil && bench.rows == ["a", "b"])
  }
}
