import CTerminal
import Foundation
import Screen
import Support
import Testing

@testable import NcursesTerminal

/// A pseudo terminal whose screen the test reads, without a program.
private final class Line {
  let terminal: Int32
  private let controller: Int32
  /// What the terminal shows, as of the last `read`.
  private(set) var screen: VirtualTerminal

  init(_ size: Size) throws {
    var (controller, terminal): (Int32, Int32) = (-1, -1)
    var window = winsize(ws_row: UInt16(size.height), ws_col: UInt16(size.width), ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&controller, &terminal, nil, nil, &window) == 0)
    for descriptor in [controller, terminal] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(controller, F_SETFL, O_NONBLOCK)
    (self.controller, self.terminal) = (controller, terminal)
    screen = VirtualTerminal(columns: size.width, rows: size.height)
  }

  deinit {
    close(terminal)
    close(controller)
  }

  var modes: termios {
    var modes = termios()
    tcgetattr(terminal, &modes)
    return modes
  }

  /// Shows what was written since the last call; returns how many bytes that was.
  @discardableResult
  func read() -> Int {
    var total = 0
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = Foundation.read(controller, &buffer, buffer.count), count > 0 {
      screen.feed(buffer.prefix(count))
      total += count
    }
    return total
  }
}

/// Curses has one screen at a time, and so these tests are on the main actor and none waits.
@MainActor
@Suite(.serialized) struct CursesScreenTests {
  private static let size = Size(width: 20, height: 5)

  /// Calls `body` with a screen of 20 columns and 5 rows, and closes it.
  private func with(
    term: String = "xterm-256color", _ traits: ScreenTraits = ScreenTraits(isASCII: false, palette: .many),
    size: Size = size, _ body: (CursesScreen, Line) throws -> Void
  ) throws {
    let line = try Line(size)
    let screen = try CursesScreen(term: term, traits: traits, input: line.terminal, output: line.terminal)
    defer {
      screen.leave()
      screen.close()
      terminal_guard_disarm()
    }
    screen.resize(to: size)
    try body(screen, line)
    if term.hasPrefix("xterm") { #expect(line.screen.faults == []) }
  }

  private func frame(_ lines: [String], _ size: Size = size) -> Frame {
    var frame = Frame(size)
    for (y, line) in lines.enumerated() { frame.put(line, x: 0, y: y) }
    return frame
  }

  private func show(_ frame: Frame, _ screen: CursesScreen, on line: Line, cursor: (x: Int, y: Int)? = nil) {
    screen.draw(frame.rows.indices, of: frame)
    screen.refresh(cursor: cursor)
    line.read()
  }

  // MARK: Opening

  @Test func bothStreamsMustBeATerminal() throws {
    let line = try Line(Self.size)
    let pipe = Pipe()
    let none = pipe.fileHandleForWriting.fileDescriptor
    func fault(term: String = "xterm", _ input: Int32, _ output: Int32) -> TerminalError? {
      #expect(throws: TerminalError.self) {
        _ = try CursesScreen(
          term: term, traits: ScreenTraits(isASCII: true, palette: .none), input: input, output: output)
      }
    }
    #expect(fault(none, line.terminal) == .notATerminal("standard input"))
    #expect(fault(line.terminal, none) == .notATerminal("standard output"))
    #expect(fault(none, none) == .notATerminal("standard input"))
    #expect(fault(term: "", line.terminal, none) == .notATerminal("standard output"))
    #expect(fault(term: "", line.terminal, line.terminal) == .noTerm)
    #expect(fault(term: "dumb", line.terminal, line.terminal) == .cannotMoveCursor("dumb"))
    #expect(line.modes.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO) && line.read() == 0)
  }

  @Test func aTerminalThatIsGoneHasHungUp() throws {
    var (controller, terminal): (Int32, Int32) = (-1, -1)
    try #require(openpty(&controller, &terminal, nil, nil, nil) == 0)
    defer { close(terminal) }
    _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
    close(controller)
    // A program that another test has just started may hold the other side until its exec.
    var state = pollfd(fd: terminal, events: 0, revents: 0)
    #expect(eventually { poll(&state, 1, 0) == 1 && state.revents & Int16(POLLHUP) != 0 })
    #expect(throws: TerminalError.hasHungUp) {
      _ = try CursesScreen(
        term: "xterm", traits: ScreenTraits(isASCII: true, palette: .none), input: terminal, output: terminal)
    }
  }

  @Test func aTerminalWithoutADescriptionIsAnXterm() throws {
    try with(term: "no-such-terminal") { _, _ in
      #expect(CursesScreen.capability("smcup").contains("\u{1B}[?1049h"))
    }
  }

  @Test func keysAreReadOneByOneAndSignalsStay() throws {
    let line = try Line(Self.size)
    let old = line.modes
    let screen = try CursesScreen(
      term: "xterm", traits: ScreenTraits(isASCII: true, palette: .none), input: line.terminal, output: line.terminal)
    #expect(screen.shell.c_lflag == old.c_lflag && screen.shell.c_iflag == old.c_iflag)
    screen.refresh(cursor: nil)
    #expect(line.modes.c_lflag & tcflag_t(ICANON | ECHO) == 0)
    #expect(line.modes.c_lflag & tcflag_t(ISIG | NOFLSH) == tcflag_t(ISIG | NOFLSH))
    #expect(line.modes.c_iflag & tcflag_t(IXON) == 0)
    screen.leave()
    #expect(line.modes.c_lflag == old.c_lflag && line.modes.c_iflag == old.c_iflag)
    screen.close()
    terminal_guard_disarm()
  }

  @Test func aScreenThatWasLeftIsTakenAgain() throws {
    try with { screen, line in
      show(frame(["one"]), screen, on: line)
      #expect(!screen.hasLeft && line.screen.modes.contains(1049))
      screen.leave()
      line.read()
      #expect(screen.hasLeft && !line.screen.modes.contains(1049))
      screen.clear()
      show(frame(["two"]), screen, on: line)
      #expect(!screen.hasLeft && line.screen.modes.contains(1049) && line.screen.line(0) == "two")
    }
  }

  // MARK: Drawing

  @Test func aFrameIsShownAsItIs() throws {
    let lines = ["plain text", "naïve 漢字 e\u{301}", "12345678901234567890", "", "漢字かなカナ漢字かな"]
    try with { screen, line in
      show(frame(lines), screen, on: line)
      #expect((0..<5).map(line.screen.line) == lines)
    }
  }

  @Test func onlyTheRowsThatAreDrawnChange() throws {
    try with { screen, line in
      show(frame(["a", "b", "c"]), screen, on: line)
      screen.draw([1], of: frame(["x", "y", "z"]))
      screen.refresh(cursor: nil)
      line.read()
      #expect((0..<3).map(line.screen.line) == ["a", "y", "c"])
    }
  }

  @Test func anEqualRowWritesNothingUnlessTheScreenWasCleared() throws {
    try with { screen, line in
      let frame = frame(["some words", "and more"])
      show(frame, screen, on: line)
      screen.draw(frame.rows.indices, of: frame)
      screen.refresh(cursor: nil)
      #expect(line.read() == 0)
      screen.clear()
      let clearings = line.screen.clearings
      show(frame, screen, on: line)
      #expect(line.screen.clearings > clearings && line.screen.line(1) == "and more")
    }
  }

  /// A frame may be of the size that the window had a moment ago.
  @Test func whatIsOutsideTheWindowIsLeftOut() throws {
    let large = Size(width: 22, height: 7)
    try with { screen, line in
      let text = "123456789012345678"
      show(frame([text + "90ab", text + "9漢b", "3", "4", "5", "6", "7"], large), screen, on: line)
      #expect(line.screen.line(0) == text + "90")
      #expect(line.screen.line(1).hasPrefix(text + "9"))
      #expect((2..<5).map(line.screen.line) == ["3", "4", "5"])
      show(frame(["small"], Size(width: 5, height: 1)), screen, on: line)
      #expect(line.screen.line(0).hasPrefix("small67") && line.screen.line(4) == "5")
    }
  }

  @Test func aWindowHasAtLeastOneCell() throws {
    try with { screen, line in
      screen.resize(to: Size(width: 0, height: -1))
      show(frame(["abc", "def"]), screen, on: line)
      #expect(line.screen.line(0) == "a" && line.screen.line(1) == "")
      screen.resize(to: Self.size)
      screen.clear()
      show(frame(["abc", "def"]), screen, on: line)
      #expect(line.screen.line(0) == "abc" && line.screen.line(1) == "def")
    }
  }

  @Test func theCursorIsShownAtItsCellOrHidden() throws {
    try with { screen, line in
      show(frame(["a"]), screen, on: line, cursor: (3, 2))
      #expect(line.screen.cursor == (3, 2) && line.screen.modes.contains(25))
      show(frame(["b"]), screen, on: line)
      #expect(!line.screen.modes.contains(25))
      show(frame(["b"]), screen, on: line, cursor: (0, 4))
      #expect(line.screen.cursor == (0, 4) && line.screen.modes.contains(25))
    }
  }

  @Test func inASCIIOtherCharactersAreQuestionMarks() throws {
    try with(ScreenTraits(isASCII: true, palette: .many)) { screen, line in
      show(frame(["a─b漢c"]), screen, on: line)
      #expect(line.screen.line(0) == "a?b? c")
    }
  }

  // MARK: Colours

  /// The looks of the cells of the first row in a frame with these styles, one for each.
  private func looks(
    of styles: [Style], term: String = "xterm-256color", palette: ScreenTraits.Palette = .many
  ) throws -> [VirtualTerminal.Look] {
    var looks: [VirtualTerminal.Look] = []
    try with(term: term, ScreenTraits(isASCII: false, palette: palette)) { screen, line in
      var frame = frame([])
      for (x, style) in styles.enumerated() { frame.put("x", x: x, y: 0, style: style) }
      show(frame, screen, on: line)
      looks = styles.indices.map { line.screen.screen[0][$0].look }
    }
    return looks
  }

  @Test func eachAttributeIsItsOwn() throws {
    let attributes: [Style.Attributes] = [.bold, .dim, .italic, .underline, .reverse, [.bold, .reverse], []]
    let looks = try looks(of: attributes.map { Style(.standard, $0) })
    #expect(looks.map(\.attributes) == [[1], [2], [3], [4], [7], [1, 7], []])
  }

  @Test func coloursAreThoseThatTheTerminalAndThePaletteHave() throws {
    let styles = [Style(.indexed(1), on: .indexed(4)), Style(.indexed(208)), Style(.standard, on: .indexed(9))]
    func colors(_ term: String, _ palette: ScreenTraits.Palette) throws -> [UInt16?] {
      try looks(of: styles, term: term, palette: palette).flatMap { [$0.foreground, $0.background] }
    }
    #expect(try colors("xterm-256color", .many) == [1, 4, 208, nil, nil, 9])
    let few = styles.flatMap { style in
      let reduced = style.reduced(to: .eight)
      return [reduced.foreground, reduced.background].map { color -> UInt16? in
        if case .indexed(let index) = color { UInt16(index) } else { nil }
      }
    }
    #expect(few.allSatisfy { $0 ?? 0 < 8 })
    #expect(try colors("xterm-256color", .eight) == few)
    #expect(try colors("xterm", .many) == few)
    #expect(try colors("xterm-256color", .none) == [nil, nil, nil, nil, nil, nil])
    #expect(try colors("vt100", .many) == [nil, nil, nil, nil, nil, nil])
  }

  /// Curses has few pairs of colours; those that are no longer shown give theirs to others.
  @Test func coloursThatComeLaterHaveThePairsOfThoseThatWent() throws {
    let size = Size(width: 64, height: 1)
    func style(_ number: Int) -> Style { Style(.indexed(UInt8(number % 8)), on: .indexed(UInt8(number / 8))) }
    try with(term: "xterm", size: size) { screen, line in
      // Of 64 pairs one is that of the terminal's own colours.
      for numbers in [0..<63, 1..<64, 0..<63] {
        var frame = Frame(size)
        for (x, number) in numbers.enumerated() { frame.put("x", x: x, y: 0, style: style(number)) }
        show(frame, screen, on: line)
        let looks = line.screen.screen[0].prefix(63).map(\.look)
        #expect(looks.map(\.foreground) == numbers.map { UInt16($0 % 8) })
        #expect(looks.map(\.background) == numbers.map { UInt16($0 / 8) })
      }
    }
  }

  // MARK: The terminal's description

  @Test func theKeysOfTheDescriptionAreKnown() throws {
    try with { screen, _ in
      let keys = screen.describedKeys()
      #expect(keys[Array("\u{1B}OA".utf8)] == .up && keys[Array("\u{1B}[3~".utf8)] == .delete)
      #expect(keys[Array("\u{1B}OP".utf8)] == .function(1) && keys[Array("\u{1B}[24~".utf8)] == .function(12))
      #expect(!keys.values.contains(.function(13)) && keys[[]] == nil)
    }
  }

  @Test func sequencesHaveNoDelays() throws {
    try with(term: "vt100") { _, _ in
      #expect(CursesScreen.capability("clear") == "\u{1B}[H\u{1B}[J")
      #expect(CursesScreen.cursorToRow(0) == "\u{1B}[1;1H")
      #expect(CursesScreen.cursorToRow(23) == "\u{1B}[24;1H")
      #expect(CursesScreen.capability("smcup") == "" && CursesScreen.capability("no-such-name") == "")
    }
  }
}
