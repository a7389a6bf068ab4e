import Foundation
import Support
import Testing

private let probe = Built.product("terminal-probe")

/// NcursesTerminal on a pseudo terminal: its bytes, and the loss of the terminal.
@Suite(.serialized) struct PtyTests {
  private func pty(
    _ arguments: [String] = [], term: String = "xterm-256color", environment: [String: String] = [:]
  ) throws -> Pty {
    var given = ["TERM": term, "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"]
    given.merge(FaultHandling.environment) { $1 }
    given.merge(environment) { $1 }
    let pty = try Pty([probe] + arguments, environment: given)
    #expect(pty.waitUntil { $0.text.contains("probe ready") })
    // The chart shows no keys.
    if arguments.isEmpty { settle(pty) }
    return pty
  }

  /// Until the program has answered a key, all that it wrote before has come.
  private func settle(_ pty: Pty) {
    let before = pty.output.count
    pty.send("~")
    #expect(pty.waitUntil { said($0, after: before).contains("\"~\"") })
  }

  private func said(_ pty: Pty, after start: Int) -> String {
    String(decoding: pty.output.dropFirst(start), as: UTF8.self)
  }

  @Test func clicksAndTurnsArriveUnderEveryName() throws {
    for term in ["xterm-256color", "tmux-256color", "screen-256color", "xterm-kitty"] {
      let pty = try pty(term: term)
      #expect(pty.text.contains("\u{1B}[?1002h\u{1B}[?1006h"))
      let start = pty.output.count
      pty.send("\u{1B}[<0;71;13M\u{1B}[<32;72;14M\u{1B}[<0;73;14m\u{1B}[<64;2;3M\u{1B}[<65;201;100M")
      #expect(
        pty.waitUntil { pty in
          [
            "click", "x: 70, y: 12", "drag", "x: 71, y: 13", "release", "x: 72, y: 13", "wheelUp", "wheelDown",
            "x: 200, y: 99",
          ].allSatisfy(
            said(pty, after: start).contains)
        }, "\(term): \(said(pty, after: start))")
      pty.send("\u{1B}[<0;5;5M\u{1B}[<0;5;5m\u{1B}[<0;5;5M\u{1B}[<0;5;5m")
      #expect(pty.waitUntil { said($0, after: start).contains("doubleClick") })
    }
  }

  @Test func anEqualFrameWritesNothing() throws {
    let pty = try pty()
    let start = pty.output.count
    // Each `=` shows the same frame again; the clipboard's bytes after them tell that they were taken.
    pty.send(String(repeating: "=", count: 50) + "Y")
    #expect(pty.waitUntil { said($0, after: start).contains("copied") })
    #expect(said(pty, after: start).hasPrefix("\u{1B}]52;c;Y29waWVk\u{1B}\\"))
  }

  @Test func oneChangedRowWritesLittle() throws {
    let pty = try pty()
    let start = pty.output.count
    pty.send("x")
    #expect(pty.waitUntil { said($0, after: start).contains("\"x\"") })
    #expect(pty.output.count - start < 80)
  }

  /// A window that was smaller between has lost the text outside, although its size is the old one again.
  @Test func aWindowThatHasItsOldSizeAgainIsPaintedAnew() throws {
    let pty = try pty()
    let start = pty.output.count
    kill(pty.child.pid, SIGSTOP)
    pty.resize(columns: 20, rows: 3)
    pty.resize(columns: 80, rows: 24)
    kill(pty.child.pid, SIGCONT)
    #expect(pty.waitUntil { said($0, after: start).contains("probe ready") })
  }

  @Test func anIdleScreenTakesNoTimeAndWritesNothing() throws {
    let pty = try pty()
    let start = pty.output.count
    let before = try ticks(pty.child.pid)
    // Longer than a second, at which clocks tick.
    let isSilent = stays(moments: 6) {
      pty.pump()
      return pty.output.count == start
    }
    #expect(isSilent)
    #expect(try ticks(pty.child.pid) - before <= 1)
  }

  @Test func aLostTerminalIsReportedOnce() throws {
    let note = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: note) }
    let pty = try pty(environment: ["PROBE_NOTE": note.path])
    pty.hangUp()
    #expect(pty.waitUntil { $0.ending == .exited(129) })
    #expect(try String(contentsOf: note, encoding: .utf8) == "closed")
  }

  @Test(arguments: [
    ("Q", ChildProcess.Ending.exited(0)), ("E", .exited(3)), ("A", .signalled(SIGABRT)), ("V", .signalled(SIGSEGV)),
  ])
  func everyModeThatIsTurnedOnIsTurnedOff(_ key: String, _ ending: ChildProcess.Ending) throws {
    let pty = try pty(environment: ["VTE_VERSION": "8000"])
    pty.send("T")
    #expect(pty.waitUntil { $0.text.contains("\u{1B}]9;4;1;40\u{1B}\\") })
    let start = pty.output.count
    pty.send(key)
    #expect(pty.waitUntil { $0.ending == ending })
    let last = said(pty, after: start)
    for sequence in [
      "\u{1B}[?1006l", "\u{1B}[?1002l", "\u{1B}[?2004l", "\u{1B}[23;0;0t", "\u{1B}]9;4;0;0", "\u{1B}[?1049l",
      "\u{1B}[?25h",
    ] {
      #expect(last.components(separatedBy: sequence).count == 2, "\(sequence.dropFirst()) once")
    }
  }

  @Test(arguments: [SIGABRT, SIGSEGV, SIGUSR1])
  func aTerminalThatNobodyReadsDoesNotKeepACrashFromEnding(_ signal: Int32) throws {
    let pty = try pty()
    #expect(pty.leftModes.isSuperset(of: [25, 1049, 1002, 1006, 2004]))
    pty.clog()
    kill(pty.child.pid, signal)
    #expect(eventually { pty.checkEnding() == .signalled(signal) })
    #expect(pty.modes.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO))
    pty.pump()
    #expect(pty.leftModes == [])
  }

  @Test func theModesAreTheShellsAgain() throws {
    for key in ["Q", "E", "A", "!"] {
      let pty = try pty()
      #expect(pty.modes.c_lflag & tcflag_t(ICANON) == 0)
      #expect(pty.modes.c_lflag & tcflag_t(ISIG) != 0)
      #expect(pty.modes.c_iflag & tcflag_t(IXON) == 0)
      #expect(pty.modes.c_lflag & tcflag_t(NOFLSH) != 0)
      pty.send(key)
      #expect(pty.waitUntil { $0.ending != nil })
      #expect(pty.modes.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO))
      #expect(pty.modes.c_iflag & tcflag_t(IXON) != 0)
    }
  }

  @Test func titleAndProgressAreRemovedForTheShellAndRestored() throws {
    let pty = try pty(environment: ["VTE_VERSION": "8000"])
    pty.send("T")
    #expect(pty.waitUntil { $0.text.contains("\u{1B}]9;4;1;40\u{1B}\\") })
    var start = pty.output.count
    pty.send("\u{1A}")
    // Nobody can continue a process whose shell is not there, so that the stop is none; what is written tells.
    #expect(pty.waitUntil { said($0, after: start).contains("\u{1B}[?1049h") })
    let away = said(pty, after: start)
    let left = try #require(away.range(of: "\u{1B}[?1049l"))
    #expect(away[..<left.lowerBound].contains("\u{1B}]9;4;0;0"))
    #expect(away.contains("\u{1B}[23;0;0t"))
    #expect(pty.waitUntil { said($0, after: start).contains("\u{1B}]9;4;1;40\u{1B}\\") })
    let back = said(pty, after: start)[left.upperBound...]
    #expect(back.contains("\u{1B}[22;0;0t") && back.contains("\u{1B}]2;probe \u{1B}\\"))
    start = pty.output.count
    pty.send("Q")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(said(pty, after: start).contains("\u{1B}]9;4;0;0") && said(pty, after: start).contains("\u{1B}[23;0;0t"))
  }

  @Test func aNoticeIsWrittenAsItWasAskedFor() throws {
    let pty = try pty()
    let start = pty.output.count
    pty.send("B")
    #expect(pty.waitUntil { said($0, after: start).contains("told") })
    #expect(said(pty, after: start).hasPrefix("\u{7}\u{1B}]9;probe 4,done\u{7}"))
  }

  // MARK: The terminal's background

  private static let query = "\u{1B}]11;?\u{1B}\\\u{1B}[c"

  @Test func theTerminalIsAskedOnceAndItsAnswerIsInput() throws {
    let pty = try pty(environment: ["PROBE_ASK": "1"])
    #expect(pty.text.components(separatedBy: Self.query).count == 2)
    let start = pty.output.count
    pty.send("\u{1B}]11;rgb:ffff/ffff/dddd\u{1B}\\\u{1B}[?64;1;2c")
    #expect(pty.waitUntil { said($0, after: start).contains("light") })
    #expect(!said(pty, after: start).contains("character"))
  }

  /// Screen may have shown the end of a long text that is not wrapped for it.
  @Test func aCopyThatMayHaveBeenShownIsPaintedOver() throws {
    let pty = try pty(term: "screen", environment: ["STY": ""])
    let start = pty.output.count
    pty.send("Y")
    #expect(pty.waitUntil { said($0, after: start).contains("probe ready") }, "\(said(pty, after: start))")
  }

  @Test(arguments: ["vt100", "linux", "screen"])
  func onlyXtermsAreQueried(_ term: String) throws {
    #expect(try !pty(term: term, environment: ["PROBE_ASK": "1"]).text.contains("]11;"))
  }

  @Test func anAnswerDuringCloseIsReadBeforeTheShell() throws {
    let pty = try pty(environment: ["PROBE_ASK": "1"])
    pty.send("Q\u{1B}]11;rgb:0000/0000/0000\u{1B}\\\u{1B}[?64;1;2c")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(pty.leftToShell == 0)
    #expect(!pty.text.contains("11;rgb"))
  }

  @Test func aTerminalThatNeverAnswersDoesNotBlockClose() throws {
    let pty = try pty(environment: ["PROBE_ASK": "1"])
    pty.send("Q")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(pty.text.contains("\u{1B}[?1049l"))
  }

  @Test func anAnswerThatHasComeAfterASecondIsReadWithoutAWait() throws {
    let pty = try pty(environment: ["PROBE_ASK": "1"])
    _ = poll(nil, 0, 1100)
    pty.send("Q\u{1B}]11;rgb:0000/0000/0000\u{1B}\\\u{1B}[?64;1;2c")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(pty.leftToShell == 0)
  }

  @Test func aNameWithoutADescriptionFallsBackToXterms() throws {
    let pty = try pty(term: "xterm-nonexistent")
    #expect(pty.text.contains("\u{1B}[?1049h"))
    pty.send("Q")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(pty.text.contains("\u{1B}[?1049l"))
  }

  @Test func aPlainTerminalGetsNothingOfXterms() throws {
    for term in ["vt100", "linux"] {
      let pty = try pty(term: term)
      pty.send("TYQ")
      #expect(pty.waitUntil { $0.ending == .exited(0) })
      for sequence in ["\u{1B}]", "\u{1B}[?1000", "\u{1B}[?2004", "\u{1B}[22;"] {
        #expect(!pty.text.contains(sequence), "\(term) got \(sequence.dropFirst())")
      }
    }
  }

  @Test(arguments: [
    ("xterm-256color", "256", "48;5;208m"), ("xterm-256color", "16", "103m"), ("xterm", "256", "\u{1B}[43m"),
    ("xterm-256color", "0", "1m"),
  ])
  func coloursAreThoseThatBothHave(_ term: String, _ palette: String, _ sequence: String) throws {
    let pty = try pty(["--chart"], term: term, environment: ["PROBE_PALETTE": palette])
    #expect(pty.text.contains(sequence))
    let codes = Set(try renditions(pty.text))
    if palette == "0" { #expect(codes.isDisjoint(with: Set(30...107))) }
    if palette != "256" || term == "xterm" { #expect(codes.isDisjoint(with: [38, 48])) }
  }

  /// The numbers in every sequence that sets a look.
  private func renditions(_ text: String) throws -> [Int] {
    text.matches(of: try Regex("\u{1B}\\[([0-9;]*)m")).flatMap { match in
      (match.output[1].substring ?? "").split(separator: ";").compactMap { Int($0) }
    }
  }

  @Test(arguments: [("\u{3}", SIGINT), ("\u{1C}", SIGQUIT)])
  func anUnhandledSignalIsTheExitStatus(_ key: String, _ signal: Int32) throws {
    let pty = try pty()
    pty.send(key)
    #expect(pty.waitUntil { $0.ending == .signalled(signal) })
    #expect(pty.text.contains("\u{1B}[?1049l"))
    #expect(pty.modes.c_lflag & tcflag_t(ICANON) != 0)
  }

  @Test func manyColoursOnFewPairsEndWell() throws {
    let pty = try pty(["--chart"], term: "linux", environment: ["PROBE_PALETTE": "256"])
    pty.send("UUUUQ")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
  }

  private func ticks(_ pid: pid_t) throws -> Int {
    let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    let fields = stat.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
    return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
  }
}
