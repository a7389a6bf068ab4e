import Support
import Testing

/// The emulator with which screens are compared: what it accepts and what it reports.
@Suite struct VirtualTerminalTests {
  private func terminal(_ text: String, columns: Int = 10, rows: Int = 3) -> VirtualTerminal {
    var terminal = VirtualTerminal(columns: columns, rows: rows)
    terminal.feed("\u{1B}[?1049h\(text)".utf8)
    return terminal
  }

  @Test(arguments: [
    ("abc\u{8}X", "abX"), ("abc\rX", "Xbc"), ("a\u{1B}[2;3Hb", "a\n  b"), ("abcdef\u{1B}[3G\u{1B}[K", "ab"),
    ("abcdef\u{1B}[2D\u{1B}[1K", "     f"), ("abcdef\u{1B}[2G\u{1B}[2P", "adef"), ("abc\u{1B}[1G\u{1B}[2@", "  abc"),
    ("abcdef\u{1B}[2G\u{1B}[3X", "a   ef"), ("a\u{1B}[4bZ", "aaaaaZ"), ("a\tb", "a       b"),
    ("a\u{1B}[2dX\u{1B}[AY", "a Y\n X"),
    ("abc\u{1B}[2;1Hdef\u{1B}[H\u{1B}[Jx", "x"), ("0123456789X", "0123456789\nX"), ("a名b", "a名b"),
    ("a名\u{1B}[3GX", "a X"),
    ("a\r\nb\r\nc\u{1B}[2;3r\u{1B}[3;1H\nd\u{1B}[r", "a\nc\nd"), ("a\r\nb\r\nc\u{1B}[1;2r\u{1B}M\u{1B}[r", "\na\nc"),
    ("a\r\nb\r\nc\u{1B}[2d\u{1B}[L", "a\n\nb"), ("a\r\nb\r\nc\u{1B}[1d\u{1B}[2M", "c"),
    ("a\r\nb\r\nc\u{1B}[1;2r\u{1B}[L\u{1B}[r", "\na\nc"),
    ("e\u{301}x", "e\u{301}x"), ("\u{1B}]2;title\u{1B}\\ok", "ok"), ("012345678\u{1B}[?7l9X\u{1B}[?7h", "012345678X"),
  ])
  func theScreenIsWhatTheBytesSay(_ bytes: String, _ screen: String) {
    var text = terminal(bytes).text
    while text.last == "\n" { text.removeLast() }
    #expect(text == screen)
    #expect(terminal(bytes).faults == [])
  }

  @Test func looksBelongToTheirCells() {
    let screen = terminal("\u{1B}[1;38;5;208ma\u{1B}[44m\u{1B}[K\u{1B}(B\u{1B}[mb").screen[0]
    #expect(screen[0].look == VirtualTerminal.Look(foreground: 208, attributes: [1]))
    #expect(screen[1].look == VirtualTerminal.Look())
    #expect(screen[2].look == VirtualTerminal.Look(background: 4))
  }

  @Test(arguments: [
    "\u{1B}[3;10HXY", "\u{1}", "\u{1B}[4;1H", "\u{1B}[1;11H", "\u{1B}[5n", "\u{1B}]0;x\u{7}", "\u{9B}",
    "\u{1B}c",
  ])
  func unexpectedSequencesAreFaults(_ bytes: String) {
    #expect(!terminal(bytes).faults.isEmpty)
  }

  @Test func modesAndTitlesAreTracked() {
    let open = terminal("\u{1B}[22;0;0t\u{1B}[?1000h\u{1B}[?25l\u{1B}=")
    #expect(open.modes == [7, 1000, 1049] && open.keptTitles == 1 && open.hasKeypad)
    var closed = open
    closed.feed("\u{1B}[?1000l\u{1B}[?25h\u{1B}>\u{1B}[23;0;0t\u{1B}[?1049l".utf8)
    #expect(closed.modes == [7, 25] && closed.keptTitles == 0 && !closed.hasKeypad)
  }
}
