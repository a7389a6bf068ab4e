import Foundation
import Support
import Testing

private let probe = Built.product("terminal-probe")

/// NcursesTerminal in a terminal emulator.
@Suite(.serialized) struct TmuxTests {
  /// The probe on its screen, ready for keys.
  private func session(
    _ command: String = probe, columns: Int = 80, rows: Int = 24, term: String = "tmux-256color",
    environment: [String: String] = [:]
  ) throws -> TmuxSession {
    let environment = FaultHandling.environment.merging(environment) { $1 }
    let session = try TmuxSession(columns: columns, rows: rows, term: term, environment: environment, command)
    guard try session.waitUntil({ $0.contains("probe ready") }) else {
      throw ChildProcess.Failure(description: "the probe did not open")
    }
    return session
  }

  private static let keys: [(name: String, said: String)] =
    [
      ("a", #"character("a")"#), ("é", #"character("é")"#), ("漢", #"character("漢")"#), ("C-d", #"control("d")"#),
      ("C-s", #"control("s")"#), ("C-q", #"control("q")"#), ("Up", "up"), ("Down", "down"), ("Left", "left"),
      ("Right", "right"), ("PPage", "pageUp"), ("NPage", "pageDown"), ("Home", "home"), ("End", "end"),
      ("Enter", "enter"), ("Tab", "tab"), ("BTab", "backTab"), ("BSpace", "backspace"), ("DC", "delete"),
      ("Escape", "escape"),
    ] + (1...12).map { ("F\($0)", "function(\($0))") }

  @Test(arguments: ["tmux-256color", "screen-256color", "xterm-256color", "screen", "vt100"])
  func everyKeyArrives(_ term: String) throws {
    let session = try session(rows: 50, term: term)
    for (count, key) in Self.keys.enumerated() {
      try session.press(key.name)
      // One by one, or escape and the next key would be an Alt.
      let seen = try session.waitUntil { screen in
        screen.split(separator: "\n").filter { $0.hasPrefix("key(") }.count == count + 1
      }
      #expect(seen, "\(key.name) was not seen")
    }
    let lines = try session.screen().split(separator: "\n").filter { $0.hasPrefix("key(") }
    #expect(lines.map(String.init) == Self.keys.map { "key(Key.\($0.said))" })
  }

  @Test func pastedTextComesAsOne() throws {
    let session = try session()
    try session.paste("two\nlines")
    #expect(try session.waitUntil { $0.contains(#"paste("two\nlines")"#) })
  }

  @Test func aNewSizeIsToldAndFilled() throws {
    let session = try session()
    for (columns, rows) in [(100, 30), (60, 12), (20, 4), (120, 40)] {
      try session.resize(columns: columns, rows: rows)
      #expect(
        try session.waitUntil { screen in
          let lines = screen.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
          return lines.count == rows && lines.last == "probe ready"
        }, "\(columns)x\(rows)")
    }
    #expect(try session.screen().contains("resized(Size(width: 120, height: 40))"))
  }

  @Test func theSizeIsTheTerminalsWhateverTheEnvironmentSays() throws {
    let session = try session(environment: ["COLUMNS": "40", "LINES": "10"])
    #expect(try session.screen().contains("size 80x24"))
    try session.press("q")
    #expect(try session.waitUntil { $0.contains(#"character("q")"#) && $0.hasSuffix("\nprobe ready\n") })
  }

  @Test func everyRowOfWideCharactersKeepsItsColumns() throws {
    let session = try session("\(probe) --chart", columns: 100)
    let screen = try session.screen()
    let bars = screen.split(separator: "\n").filter { $0.contains("|") }
    #expect(bars.count == 13)
    for line in bars {
      let before = line.prefix { $0 != "|" }
      // What tmux holds: a wide cell is one character of two columns.
      #expect(before.reduce(0) { $0 + columns(of: $1) } == 44, "\(line)")
    }
    #expect(screen.contains("DEJP"))
    #expect(screen.contains("red true safe"))
  }

  private func columns(of grapheme: Character) -> Int {
    grapheme.unicodeScalars.reduce(0) { sum, scalar in
      sum
        + (scalar.properties.isEmojiPresentation || (0x3000...0xD7A3).contains(scalar.value)
          ? 2 : isMark(scalar) ? 0 : 1)
    }
  }

  private func isMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .nonspacingMark || scalar.value == 0x93F
  }

  @Test func asciiMeansASCII() throws {
    let session = try session("\(probe) --chart", columns: 100, environment: ["PROBE_ASCII": "1"])
    let screen = try session.screen()
    #expect(screen.utf8.allSatisfy { $0 < 0x80 })
    #expect(
      screen.split(separator: "\n").filter { $0.contains("|") }.allSatisfy { $0.prefix { $0 != "|" }.count == 44 })
  }

  @Test(arguments: ["C", "de_DE.UTF-8"])
  func aLocaleThatIsNotInstalledDoesNotGarbleTheScreen(_ locale: String) throws {
    let session = try session("\(probe) --chart", columns: 100, environment: ["LC_ALL": locale])
    #expect(try session.screen().contains("┌──┬──┐│█▉"))
  }

  @Test(arguments: ["xterm-kitty", "alacritty", "xterm-ghostty", "no-such-terminal"])
  func aTerminalWithoutDescriptionIsTakenForAnXterm(_ term: String) throws {
    let session = try session("TERMINFO_DIRS=/nowhere TERM=\(term) \(probe)")
    try session.press("F5", "Up")
    #expect(try session.waitUntil { $0.contains("function(5)") && $0.contains("Key.up") })
  }

  @Test(arguments: [("dumb", "cannot move its cursor"), ("", "TERM is not set")])
  func aTerminalThatCannotIsAClearError(_ term: String, _ message: String) throws {
    let session = try TmuxSession("TERM=\(term) \(probe); echo status $?; exec sleep 1000")
    #expect(try session.waitUntil { $0.contains("status 2") })
    let screen = try session.screen()
    #expect(screen.hasPrefix("probe: ") && screen.contains(message), "\(screen)")
  }

  /// The terminal after the program; its modes are compared as `stty -a` shows them.
  private func leaving(_ keys: String, environment: [String: String] = [:]) throws -> (
    status: String, session: TmuxSession
  ) {
    let session = try session(
      #"echo shell; before=$(stty -a); \#(probe); echo status $?; [ "$(stty -a)" = "$before" ] && echo modes same; exec sleep 1000"#,
      environment: environment)
    try session.press("T")
    #expect(try session.waitUntil { $0.contains("titled") })
    #expect(try session.value("alternate_on") == "1")
    #expect(try session.value("mouse_any_flag") == "1")
    #expect(try session.value("pane_title") == "probe ")
    try session.press(keys)
    #expect(try session.waitUntil { $0.contains("modes same") })
    let status = try session.screen().split(separator: "\n").first { $0.hasPrefix("status ") }
    return (String(status ?? "none"), session)
  }

  @Test(arguments: [
    ("Q", "status 0"), ("E", "status 3"), ("!", "status 132"), ("A", "status 134"), ("V", "status 139"),
    ("O", "status 139"), (#"C-\"#, "status 131"),
  ])
  func theTerminalIsRestoredAtEveryKindOfEnd(_ key: String, _ status: String) throws {
    let (seen, session) = try leaving(key)
    #expect(seen == status)
    #expect(try session.value("alternate_on") == "0")
    #expect(try session.value("cursor_flag") == "1")
    #expect(try session.value("mouse_any_flag") == "0")
    #expect(try session.value("keypad_cursor_flag") == "0")
    #expect(try session.value("pane_title") != "probe ")
    #expect(try session.screen().hasPrefix("shell\n"))
  }

  @Test(arguments: ["vt100", "linux"])
  func withoutAnotherScreenTheShellGoesOnBelow(_ term: String) throws {
    let session = try session("\(probe); echo status $?; exec sleep 1000", term: term)
    try session.press("Q")
    #expect(try session.waitUntil { $0.contains("probe ready\nstatus 0") })
  }

  @Test(.disabled(if: FaultHandling.isSanitized, "a sanitizer keeps the crash reporter out"))
  func aCrashReporterSpeaksOnTheShellsScreen() throws {
    let (status, session) = try leaving(
      "!", environment: ["SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no,threads=crashed,limit=4,registers=none"]
    )
    #expect(status == "status 132" || status == "status 133")
    #expect(try session.value("alternate_on") == "0")
    #expect(try session.screen().contains("Backtrace took"))
  }

  @Test func aSuspendedProgramComesBackWhole() throws {
    let session = try TmuxSession(
      environment: FaultHandling.environment, "exec bash --norc --noprofile -i")
    #expect(try session.waitUntil { $0.contains("bash-") })
    try session.type("stty -a > /dev/null; \(probe)\n")
    #expect(try session.waitUntil { $0.contains("probe ready") })
    try session.press("a")
    #expect(try session.waitUntil { $0.contains(#"character("a")"#) })
    for round in 1...3 {
      try session.press("C-z")
      #expect(try session.waitUntil { $0.contains("Stopped") && !$0.contains("probe ready") }, "round \(round)")
      #expect(try session.value("alternate_on") == "0")
      #expect(try session.value("mouse_any_flag") == "0")
      if round == 2 { try session.resize(columns: 90, rows: 20) }
      try session.type("clear; fg\n")
      #expect(try session.waitUntil { $0.contains("probe ready") && $0.contains(#"character("a")"#) }, "round \(round)")
      #expect(try session.value("alternate_on") == "1")
      // Switched on after the screen is drawn.
      #expect(try eventually { try session.value("mouse_any_flag") == "1" })
    }
    #expect(try session.waitUntil { $0.contains("resized(Size(width: 90, height: 20))") })
    try session.press("F7")
    #expect(try session.waitUntil { $0.contains("function(7)") })
  }

  @Test func theMouseIsGivenBack() throws {
    let session = try session()
    #expect(try session.value("mouse_any_flag") == "1")
    try session.press("M")
    #expect(try session.waitUntil { $0.contains("mouse given back") })
    #expect(try session.value("mouse_any_flag") == "0")
  }

  @Test func aRedrawIsWhole() throws {
    let session = try session()
    // What another program wrote over the screen.
    let tty = try session.value("pane_tty")
    let handle = try #require(FileHandle(forWritingAtPath: tty))
    try handle.write(contentsOf: Data("\u{1B}[2J\u{1B}[Hgarbage".utf8))
    #expect(try session.waitUntil { $0.contains("garbage") && !$0.contains("probe ready") })
    try session.press("C-l")
    #expect(try session.waitUntil { !$0.contains("garbage") && $0.contains("probe ready") })
  }
}
