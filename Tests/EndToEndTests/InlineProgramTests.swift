import Foundation
import Support
import Testing

/// `--ui inline`: lines that scroll by, and below them the jobs at work.
@Suite struct InlineProgramTests {
  private let place: Workplace

  init() throws {
    place = try Workplace()
    try place.write(
      """
      slots: 20
      jobs:
        \((1...10).map { "work\($0): { run: 'while [ ! -e go ]; do sleep 0.02; done' }" }.joined(separator: "\n  "))
        talk: { run: "echo 漢字 and a line that is a good deal longer than the narrow window is wide, so that it wraps" }
      """, to: "jobs.yml")
    try place.write("jobs: { nap: { run: 'while [ ! -e go ]; do sleep 0.02; done' } }", to: "nap.yml")
  }

  private func rows(_ screen: ScreenText, with text: String) -> Int { screen.lines.count { $0.contains(text) } }

  @Test func theJobsAtWorkStandBelowTheLines() throws {
    let window = try place.window("run", "jobs.yml", "--ui", "inline")
    try window.sees("the block") { screen in
      screen.lines.last?.contains("1 of 11 done") == true && screen.lines.last?.contains("10 running") == true
    }
    let screen = try window.screen()
    // A third of 24 rows: six jobs, how many more, the run.
    #expect(screen.lines.suffix(8).dropLast(2).allSatisfy { $0.contains("▶ work") })
    #expect(screen.lines.suffix(2).first == "   and 4 more")
    #expect(screen.lines.dropLast(8).contains { $0.contains("talk | 漢字") || $0.contains("talk   | 漢字") })
    #expect(try window.session.value("alternate_on") == "0")
    #expect(try window.session.value("cursor_flag") == "0")

    try window.session.resize(columns: 40, rows: 12)
    try window.sees("the block in a small window") { screen in
      screen.lines.suffix(4).first?.contains("▶ work") == true && screen.lines.suffix(2).first == "   and 8 more"
        && screen.lines.last?.contains("RUN") == true
    }
    #expect(try rows(window.screen(), with: " RUN ") == 1)
    #expect(try window.screen().lines.allSatisfy { $0.count <= 40 })
    try window.session.resize(columns: 100, rows: 30)
    try window.sees("the block in a large window") {
      $0.lines.count { $0.contains("▶ work") && !$0.contains("started") } == 7 && rows($0, with: " RUN ") == 1
    }

    try place.write("", to: "go")
    #expect(try window.exitStatus() == 0)
    let last = try window.screen()
    #expect(last.text.contains("jobs: 11 ok in"))
    #expect(rows(last, with: " RUN ") == 0)
    #expect(rows(last, with: "and 4 more") == 0)
  }

  @Test func ctrlCStopsAndSaysSoAboveTheBlock() throws {
    try place.write(
      "jobs: { deaf: { run: \"trap '' TERM; touch up; while [ ! -e go ]; do sleep 0.02; done\", stop: { grace: 1h } } }",
      to: "deaf.yml")
    let window = try place.window("run", "deaf.yml", "--ui", "inline")
    try window.sees("1 running")
    #expect(eventually { place.has("up") })
    try window.press("C-c")
    try window.sees("still running: deaf. Ctrl-C again kills.")
    try window.sees("the block") {
      $0.lines.contains { $0.hasPrefix("  STOPPING ") } && $0.lines.contains { $0.contains("■ deaf") }
    }
    try window.press("C-c")
    #expect(try window.exitStatus() == 130)
  }

  @Test func ctrlZGivesTheTerminalAndFgTakesItBack() throws {
    let window = try place.shell()
    try window.session.type("$OPDASH run nap.yml --ui inline\n")
    try window.sees(" RUN ")
    try window.press("C-z")
    try window.sees("the shell") { $0.text.contains("Stopped") && !$0.text.contains(" RUN ") }
    #expect(try window.session.value("cursor_flag") == "1")
    try window.session.type("echo sh''own\n")
    try window.sees("shown")
    try window.session.type("fg\n")
    try window.sees(" RUN ")
    try place.write("", to: "go")
    try window.sees("nap: 1 ok in")
    try window.session.type("stty -a | grep -o ' echo ' ; echo en''d\n")
    try window.sees("end")
    #expect(try window.screen().lines.contains(" echo"))
  }

  @Test func whatIsTypedDoesNotStandInTheBlock() throws {
    let pty = try place.pty("run", "nap.yml", "--ui", "inline")
    #expect(pty.waitUntil { $0.text.contains(" RUN ") })
    #expect(pty.modes.c_lflag & tcflag_t(ECHO) == 0)
    #expect(pty.modes.c_lflag & tcflag_t(ICANON | ISIG) == tcflag_t(ICANON | ISIG))
    try place.write("", to: "go")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(pty.modes.c_lflag & tcflag_t(ECHO) != 0)
    #expect(pty.output.last == UInt8(ascii: "\n"))
    #expect(pty.text.components(separatedBy: "\u{1B}[?25h").count == 2)
  }

  @Test func anEndByForceGivesTheCursorAndTheEchoBack() throws {
    let pty = try place.pty("run", "nap.yml", "--ui", "inline")
    #expect(pty.waitUntil { $0.text.contains(" RUN ") })
    kill(pty.child.pid, SIGABRT)
    #expect(pty.waitUntil { $0.ending == .signalled(SIGABRT) })
    #expect(pty.text.contains("\u{1B}[J\u{1B}[?25h"))
    #expect(pty.modes.c_lflag & tcflag_t(ECHO) != 0)
  }

  @Test func withoutColoursAndInASCIIThereAreNone() throws {
    let pty = try place.pty("run", "jobs.yml", "--ui", "inline", environment: ["NO_COLOR": "1", "LC_ALL": "C"])
    #expect(pty.waitUntil { $0.text.contains("and 4 more") })
    #expect(pty.text.contains("[<=>") || pty.text.contains("<=>"))
    #expect(!pty.text.contains("▶"))
    #expect(pty.text.firstMatch(of: /\u{1B}\[[0-9;]*(3[0-9]|4[0-9]|9[0-7])m/) == nil)
    try place.write("", to: "go")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
  }

  @Test func theBlockIsDrawnOnChangesAtMostTenTimesASecond() throws {
    try place.write(
      "slots: 1\njobs: { a: { run: 'while [ ! -e go ]; do sleep 0.02; done' }, b: { needs: [a], run: 'true' } }",
      to: "two.yml")
    let pty = try place.pty("run", "two.yml", "--ui", "inline")
    // Two seconds by the clock of the block, in which nothing but a mark moves.
    #expect(pty.waitUntil { $0.text.contains("0:03") })
    let draws = pty.text.components(separatedBy: "\u{1B}[?2026h").dropFirst().dropLast()
    #expect(draws.count > 2)
    #expect(draws.allSatisfy { $0.hasSuffix("\u{1B}[?2026l") })
    #expect(zip(draws, draws.dropFirst()).allSatisfy { $0 != $1 })
    let times = Dictionary(grouping: draws) { $0.matches(of: /0:0\d/).last.map { String($0.output) } }
    #expect(times.values.allSatisfy { $0.count <= 10 }, "\(times.mapValues(\.count))")
    try place.write("", to: "go")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
  }

  @Test(arguments: ["auto", "inline"])
  func whoReadsByEarGetsStaticLines(_ interface: String) throws {
    try place.write("", to: "go")
    let pty = try place.pty("run", "jobs.yml", "--ui", interface, environment: ["ACCESSIBLE": "1", "NO_COLOR": "1"])
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(!pty.text.contains("\u{1B}"))
    #expect(pty.text.contains("jobs: 11 ok in"))
  }

  @Test func offATerminalItIsPlain() throws {
    try place.write("", to: "go")
    let ended = try place.run("run", "jobs.yml", "--ui", "inline")
    #expect(ended.ending() == .exited(0))
    #expect(!ended.outputText.contains("\u{1B}") && ended.outputText.contains("jobs: 11 ok in"))
  }
}
