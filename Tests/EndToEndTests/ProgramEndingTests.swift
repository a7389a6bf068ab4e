import Foundation
import Support
import Testing

/// How opdash ends: by signals, by keys, with its terminal, by force; and that nothing of a job is ever left.
@Suite struct ProgramEndingTests {
  /// Six ways to be hard to end: in a group, in the background, deaf to signals, out of the session, a daemon.
  private static let wild = """
    slots: 8
    jobs:
      plain: { run: "sleep %" }
      background: { run: "sleep % & sleep % & wait" }
      deaf: { run: "trap '' TERM HUP INT; while :; do sleep %; done" }
      escaped: { run: "setsid sleep % & wait" }
      daemon: { run: "setsid sh -c 'trap \\"\\" TERM HUP; setsid sleep % >/dev/null 2>&1 & exit' & sleep %" }
      groups: { run: "set -m; sleep % & wait" }
    """
  private static let wildSleepers = 8

  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws {
    place = try Workplace()
    try place.write(Self.wild.replacingOccurrences(of: "%", with: marker), to: "wild.yml")
    // Ends when asked to, but only once it is let.
    try place.write(
      """
      jobs:
        polite: { run: "trap 'while [ ! -e go ]; do sleep 0.02; done; exit 0' TERM; while :; do sleep 0.02; done" }
        # \(marker)
        after: { needs: [polite], run: echo never }
      """, to: "polite.yml")
    try place.write("jobs: { nap: { run: [sleep, \"\(marker)\"] } }", to: "nap.yml")
    try place.write(
      "jobs: { deaf: { run: \"trap '' TERM; while :; do sleep \(marker); done\", stop: { grace: 1h } } }",
      to: "deaf.yml")
  }

  @Test(arguments: ["stop-now", "finish-running"])
  func nothingStartsAfterTheFailureThatEndsTheRun(policy: String) throws {
    try place.write(
      "{ slots: 1, jobs: { a: echo a >>ran; exit 1, b: echo b >>ran, c: echo c >>ran } }", to: "fast.yml")
    for round in 1...10 {
      #expect(try place.run("run", "fast.yml", "--ui", "quiet", "--on-failure", policy).ending() == .exited(1))
      #expect(place.contents("ran") == Data(String(repeating: "a\n", count: round).utf8))
    }
  }

  private func isWildUp() -> Bool {
    eventually { ProcessTable.sleepers(marker) == Self.wildSleepers }
  }

  private func isNothingLeft() -> Bool {
    eventually { ProcessTable.processes(with: marker).isEmpty }
  }

  // MARK: Ctrl-C

  @Test func ctrlCOnceNamesWhatStillRunsAndLeavesWhenItHasEnded() throws {
    let window = try place.window("run", "polite.yml", "--keep-open=always")
    try window.sees("polite", "▶")
    try window.press("C-c")
    try window.sees("Stopping 1 job: polite")
    try window.sees("after", "⊘", "by a signal")
    try place.write("", to: "go")
    #expect(try window.exitStatus() == 130)
    #expect(try window.session.value("alternate_on") == "0")
  }

  @Test func ctrlCTwiceKillsWhatIgnoresTheFirst() throws {
    let window = try place.window("run", "deaf.yml")
    try window.sees("deaf", "▶")
    #expect(eventually { ProcessTable.sleepers(marker) == 1 })
    try window.press("C-c")
    try window.sees("Stopping 1 job: deaf")
    #expect(ProcessTable.sleepers(marker) == 1)
    try window.press("C-c")
    #expect(try window.exitStatus() == 130)
    #expect(isNothingLeft())
  }

  @Test func ctrlCThreeTimesLeavesNowAndNothingIsLeft() throws {
    let window = try place.window("run", "wild.yml")
    #expect(isWildUp())
    try window.press("C-c", "C-c", "C-c")
    #expect(try window.exitStatus() == 130)
    #expect(isNothingLeft())
  }

  @Test(arguments: ["tui", "inline", "plain"])
  func ctrlCEndsTheShellLoopAroundTheRunToo(_ interface: String) throws {
    let pty = try place.pty(
      script: "exec bash -c 'for i in 1 2; do echo round $i; $OPDASH run nap.yml --ui \(interface); done'")
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 1 })
    pty.send("\u{3}")
    #expect(pty.waitUntil { $0.ending == .signalled(SIGINT) }, "\(pty.report)")
    #expect(pty.text.contains("round 1") && !pty.text.contains("round 2"))
    #expect(isNothingLeft())
  }

  // MARK: Signals

  @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
  func aSignalEndsTheDashboardWithAStatusOfItsOwn(_ signal: Int32) throws {
    let window = try place.window("run", "nap.yml")
    try window.sees("nap", "▶")
    #expect(kill(try window.pid(), signal) == 0)
    #expect(try window.exitStatus() == 128 + Int(signal))
    #expect(try window.session.value("alternate_on") == "0")
    #expect(isNothingLeft())
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
  func aSignalEndsPlainLinesWithAStatusOfItsOwn(_ signal: Int32) throws {
    let run = try place.start("run", "nap.yml")
    #expect(eventually { ProcessTable.sleepers(marker) == 1 })
    kill(run.child.pid, signal)
    #expect(run.ending() == .signalled(signal))
    #expect(run.outputText.contains(/c nap +\[\d+\/\d+\] cancelled/))
    // It may be gone before it can be named.
    #expect(run.errorText.hasPrefix("opdash: stopping"))
    #expect(isNothingLeft())
  }

  @Test func plainLinesNameWhatStillRunsAndASecondInterruptKills() throws {
    let run = try place.start("run", "deaf.yml")
    // The line names what has been stated, and a process is there a moment before.
    #expect(eventually { run.outputText.contains(/> deaf +\[\d+\/\d+\] started/) })
    #expect(eventually { ProcessTable.sleepers(marker) == 1 })
    kill(run.child.pid, SIGINT)
    let asked = "opdash: stopping; still running: deaf. Ctrl-C again kills.\n"
    #expect(eventually { run.errorText == asked })
    #expect(ProcessTable.sleepers(marker) == 1)
    kill(run.child.pid, SIGINT)
    #expect(run.ending() == .signalled(SIGINT))
    #expect(run.errorText == asked + "opdash: killing deaf. Ctrl-C again leaves at once.\n")
    #expect(isNothingLeft())
  }

  // MARK: By force

  @Test(arguments: [SIGKILL, SIGABRT, SIGSEGV])
  func nothingOutlivesADashboardThatDies(_ signal: Int32) throws {
    let pty = try place.pty("run", "wild.yml")
    let modes = pty.modes
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == Self.wildSleepers })
    #expect(pty.waitUntil { $0.text.contains("\u{1B}[?1049h") })
    kill(pty.child.pid, signal)
    #expect(pty.end() == .signalled(signal), "\(pty.report)")
    #expect(isNothingLeft())
    // The guardian restores the terminal after SIGKILL.
    #expect(pty.waitUntil { $0.leftModes == [] })
    #expect(pty.text.components(separatedBy: "\u{1B}[?1049l").count == 2)
    let end = pty.modes
    #expect(end.c_lflag == modes.c_lflag && end.c_iflag == modes.c_iflag && end.c_oflag == modes.c_oflag)
  }

  @Test func nothingOutlivesPlainLinesThatAreKilled() throws {
    let run = try place.start("run", "wild.yml")
    #expect(isWildUp())
    kill(run.child.pid, SIGKILL)
    #expect(run.ending() == .signalled(SIGKILL))
    #expect(isNothingLeft())
  }

  @Test func aWindowThatIsClosedTakesEverythingAlong() throws {
    let window = try place.window("run", "wild.yml")
    #expect(isWildUp())
    let pid = try window.pid()
    window.session.close()
    // The deaf ones have their grace.
    #expect(eventually { !ProcessTable.isAlive(pid) })
    #expect(isNothingLeft())
  }

  @Test func aTerminalThatHangsUpEndsARunWithItsStatus() throws {
    let pty = try place.pty("run", "nap.yml")
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 1 })
    #expect(pty.waitUntil { $0.text.contains("\u{1B}[?1049h") })
    pty.hangUp()
    #expect(pty.end() == .signalled(SIGHUP), "\(pty.report)")
    #expect(isNothingLeft())
  }

  @Test func aTerminalThatHangsUpContinuesAProgramThatIsStopped() throws {
    // In a background group whose shell has gone before: the kernel leaves it stopped.
    let pty = try place.pty(
      script: "set -m; ($OPDASH run nap.yml --ui plain & echo $! >pid) & wait $!; exec sleep \(marker)")
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 2 })
    let pid = try #require(pid_t(String(decoding: place.contents("pid") ?? Data(), as: UTF8.self).dropLast()))
    kill(pid, SIGSTOP)
    pty.hangUp()
    kill(pid, SIGTERM)
    #expect(eventually { !ProcessTable.isAlive(pid) })
    #expect(isNothingLeft())
  }

  // MARK: Coming back

  @Test func ctrlZAndFgComeBackWhole() throws {
    let window = try place.shell()
    try window.session.type("stty -g >before; $OPDASH run nap.yml")
    try window.press("Enter")
    try window.sees("nap", "▶")
    let whole = try window.screen().lines.last
    try window.press("C-z")
    try window.sees("Stopped")
    #expect(try window.session.value("alternate_on") == "0")
    try window.session.type("stty -g >during; cmp before during && echo as before")
    try window.press("Enter")
    try window.sees("the shell's own terminal") { $0.lines.contains("as before") }
    try window.session.type("fg")
    try window.press("Enter")
    try window.sees("the dashboard as it was") { screen in
      screen.row("nap")?.letter == "▶" && screen.lines.last == whole && !screen.text.contains("as before")
    }
    #expect(try window.session.value("alternate_on") == "1")
    // The dashboard stays for a retry.
    try window.press("x")
    try window.sees("1 cancelled")
    try window.press("q")
    // What is typed before belongs to the dashboard.
    try window.sees("nap: 1 cancelled in ")
    try window.session.type("stty -g >after; cmp before after && echo at the end")
    try window.press("Enter")
    try window.sees("the terminal of before") { $0.lines.contains("at the end") }
    #expect(isNothingLeft())
  }

  @Test func ctrlCInAPromptClosesThePromptAndStopsNothing() throws {
    let window = try place.window("run", "nap.yml")
    try window.sees("nap", "▶")
    for (key, prompt) in [("/", "Esc clears"), (":", "─ actions ─"), ("q", "1 job is running.")] {
      try window.press(key)
      try window.sees(prompt)
      try window.press("C-c")
      try window.sees("no prompt") { !$0.text.contains(prompt) && $0.row("nap")?.letter == "▶" }
      try window.sees(" RUN ")
    }
    try window.press("C-c")
    #expect(try window.exitStatus() == 130)
    #expect(isNothingLeft())
  }

  // MARK: Keys

  @Test func qAsksWhileJobsRunAndTellsThatWorkIsLeft() throws {
    let window = try place.window("run", "nap.yml")
    try window.sees("nap", "▶")
    try window.press("q")
    try window.sees("1 job is running.  q cancels and quits")
    try window.press("n")
    try window.sees("the running job") { !$0.text.contains("is running.") && $0.row("nap")?.letter == "▶" }
    try window.press("q", "q")
    #expect(try window.exitStatus() == 3)
    #expect(isNothingLeft())
  }

  @Test func aCancelledJobIsReportedOnceItsProcessesAreGone() throws {
    try place.write("jobs: { two: { run: 'sleep \(marker) & sleep \(marker) & wait' } }", to: "two.yml")
    let pty = try place.pty("run", "two.yml", "--keep-open=always")
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 2 })
    // A key acts on what is drawn.
    #expect(pty.waitUntil { $0.text.contains("━━━") })
    pty.send("x")
    #expect(pty.waitUntil { $0.text.contains("by you") })
    #expect(ProcessTable.processes(with: marker).isEmpty)
    pty.send("q")
    #expect(pty.waitUntil { $0.ending == .exited(3) })
  }

  @Test func qAtARunThatIsOverLeavesAtOnce() throws {
    try place.write("jobs: { bad: { run: exit 4 } }", to: "bad.yml")
    let window = try place.window("run", "bad.yml")
    try window.sees("Ended after")
    try window.press("q")
    #expect(try window.exitStatus() == 1)
  }

  // MARK: Statuses

  @Test(arguments: [
    ("{ run: 'true' }", 0), ("{ run: 'false' }", 1), ("{ run: 'false', allow_failure: true }", 0),
    ("{ run: 'true', wrong: 1 }", 2),
  ])
  func theStatusIsThatOfTheRun(_ job: String, _ status: Int) throws {
    try place.write("jobs: { it: \(job) }", to: "it.yml")
    let window = try place.window("run", "it.yml", "--keep-open", "never")
    #expect(try window.exitStatus() == status)
    #expect(try place.run("run", "it.yml").ending() == .exited(Int32(status)))
    #expect(try place.run("run", "it.yml", "--ui", "quiet").ending() == .exited(Int32(status)))
  }
}
