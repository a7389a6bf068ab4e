import Foundation
import Support
import Testing

/// What somebody does in the first minutes with a job file of their own, seen in a real terminal.
struct NewcomerTests {
  private let place: Workplace

  init() throws {
    let marker = ProcessTable.marker()
    place = try Workplace(files: [
      "night.yml": """
      name: nightly
      slots: 4
      jobs:
        deaf: { run: "trap '' TERM; while :; do sleep \(marker); done", stop: { grace: 20s } }
        bad: { run: "echo 'assertion failed'; exit 3" }
        spelling: { run: "exit 2", allow_failure: true }
        good: { run: "sleep 0.3" }
        integration-tests-of-the-payment-service (python 3.9): { needs: { bad: failed }, run: "exit 9" }
        after: { needs: [bad], run: "true" }
        nap: { run: "sleep \(marker)" }
      """,
      "policy.yml": """
      name: nightly
      on_failure: finish-running
      slots: 2
      jobs:
        bad: { run: "exit 3", retry: { max: 3, only: [network] } }
        going: { run: "while [ ! -e go ]; do sleep 0.02; done" }
        late: { run: "true", needs: [going] }
      """,
      "good.yml": "name: small\njobs: { a: { run: sleep 0.3 }, b: { needs: [a], run: 'true' } }",
      "again.yml": "jobs: { bad: { run: exit 3, retry: { max: 3, initial: 1h } } }",
      "long.yml": """
      slots: 1
      jobs:
        a-quick: { simulate: { duration: 300ms } }
        b-long: { needs: [a-quick], simulate: { duration: 10h, steps: 36000 } }
        c-waits: { needs: [b-long], simulate: { duration: 10h } }
      """,
      "many.yml": "slots: 60\njobs:\n"
        + (10...49).map { "  job-\($0): { run: sleep \(marker) }\n" }.joined(),
    ])
  }

  /// The screen in which all short jobs of night.yml have ended.
  private func night(columns: Int, rows: Int) throws -> Window {
    let window = try place.window(columns: columns, rows: rows, "run", "night.yml", "--keep-open=always")
    try window.sees("good", "✓", "ok")
    try window.sees("bad", "✗")
    return window
  }

  // MARK: What the first screen says

  @Test func theScreenNamesTheRunAndSortsWhatAsksForAttentionFirst() throws {
    let window = try night(columns: 120, rows: 40)
    // It fails after the other one, by which they are sorted.
    try window.sees("exit 9")
    let screen = try window.screen()
    #expect(screen.lines[0].hasPrefix(" nightly   RUN "))
    #expect(screen.lines[0].contains("5 of 7 done  2 running  2 failed  1 skipped  slots 2/4"))
    let names = ["bad", "integration-t…(python 3.9)", "deaf", "nap", "spelling", "good"]
    let places = names.map { name in screen.lines.firstIndex { $0.dropFirst(3).hasPrefix("\(name) ") } ?? -1 }
    #expect(places == Array(3...8), "\(screen.text)")
    // No success but these: a failure allowed is none.
    #expect(screen.row("spelling")?.text.contains("exit 2, allowed to fail") == true)
    #expect(screen.row("bad")?.text.contains("exit 3  ▸ 1 skipped") == true)
    #expect(screen.row(names[1])?.text.contains("exit 9") == true)
    // Two of seven have ended well.
    #expect(screen.lines[1].contains("  28%"), "\(screen.lines[1])")
    #expect(screen.row("good")?.text.contains(#/ (\d\.\ds|\d+:\d\d) /#) == true)
    // The cursor, which stands on what ran first, takes no colour away.
    try window.press("g")
    try window.sees("the cursor on the failure") { $0.text.contains(" log: bad ") }
    let styled = try window.session.styledScreen()
    let red = styled.firstMatch(of: #/\u{1B}\[([0-9;]*)mexit 9/#)?.1
    #expect(styled.firstMatch(of: #/\u{1B}\[([0-9;]*)m[^\u{1B}]*exit 3/#)?.1 == red && red?.isEmpty == false)
    try window.press("Enter")
    try window.sees("the reason in the detail") { $0.lines.contains { $0.contains(#/exit 3, took \d/#) } }
  }

  @Test(arguments: [(80, 24), (40, 12), (30, 5)])
  func stateCountsAndKeysAreOnEveryScreen(_ columns: Int, _ rows: Int) throws {
    let window = try place.window(columns: columns, rows: rows, "run", "night.yml", "--keep-open=always")
    try window.sees("the state and the counts") {
      $0.lines[0].contains(" RUN ") && $0.lines[0].contains(columns < 80 ? "5/7" : "5 of 7 done")
        && $0.lines[0].contains("2 failed")
    }
    let screen = try window.screen()
    #expect(screen.text.contains("exit 3"), "\(screen.text)")
    #expect(screen.keys.contains("? help") && screen.keys.contains("q quit"))
    #expect(screen.lines.allSatisfy { $0.count <= columns })
  }

  @Test func theHelpFitsItsScreenAndExplainsEveryMark() throws {
    let window = try place.window("run", "night.yml", "--keep-open=always")
    try window.sees("bad", "✗")
    try window.press("?")
    try window.sees("retry all failed jobs")
    let screen = try window.screen()
    for words in ["Moving", "Showing", "The tagged jobs", "The run", "The log", "■ stopping", "◆ critical", "Filter"] {
      #expect(screen.text.contains(words), "\(words)")
    }
    #expect(screen.keys.contains("Esc back"))
    try window.press("Escape")
    try window.sees("bad", "✗")
  }

  // MARK: Keys

  @Test func aJobThatIsBeingStoppedSaysSoWithTheTimeToTheKill() throws {
    let night = String(decoding: try #require(place.contents("night.yml")), as: UTF8.self)
    // So long that only the keys end it.
    try place.write(night.replacing("grace: 20s", with: "grace: 1h"), to: "night.yml")
    let window = try place.window("run", "night.yml", "--keep-open=always", "--events", "events.json")
    try window.sees("2 failed")
    try window.press("g", "Down", "Down")
    try window.sees("the cursor on it") { $0.text.contains(" log: deaf ") }
    try window.press("x")
    try window.sees("deaf", "■", "stopping, killed in ")
    try window.sees("a countdown") { $0.row("deaf")?.text.contains(#/killed in \d+:\d\d /#) == true }
    try window.sees("the header's count") { $0.lines[0].contains("1 running  1 stopping") }
    let events = String(decoding: place.contents("events.json") ?? Data(), as: UTF8.self)
    #expect(events.contains(#""type":"cancel_requested","job":"deaf","by":"person","kill":false"#))
    try window.press("Enter")
    try window.sees("the detail") { $0.lines.contains { $0.contains(#/ stopping, killed in \d+:\d\d, for /#) } }
    try window.press("C-c")
    try window.sees("the banner") { $0.text.contains(#/Stopping 1 job: deaf, killed in \d+:\d\d/#) }
    try window.press("C-c")
    #expect(try window.exitStatus() == 130)
  }

  @Test func aKeyThatActsOnWhatIsNotSeenNamesItAndAsks() throws {
    let window = try place.window("run", "many.yml")
    try window.sees("0 of 40 done  40 running")
    try window.press("g")
    try window.sees("sorted by attention  1/40")
    for _ in 0..<8 { try window.session.type("\u{1B}[<65;5;6M") }
    try window.sees("a list that is scrolled") { $0.row("job-10") == nil && $0.row("job-40") != nil }
    try window.press("x")
    try window.sees("Cancel job-10, not on the screen?")
    try window.press("Escape")
    // A key that follows at once is one with Alt.
    try window.sees("no question") { !$0.keys.contains("Cancel") }
    // Tagged, and hidden by a filter.
    try window.press("g")
    try window.sees("job-10", "▶")
    try window.press("Space", "/")
    try window.session.type("job-4")
    try window.press("Enter")
    try window.sees("the filter") { $0.row("job-10") == nil && $0.text.contains("/job-4  ") }
    try window.press("x")
    try window.sees("the question") { $0.keys.contains("Cancel job-10") && $0.keys.contains("Esc") }
    try window.press("Escape")
    try window.sees("no question") { $0.text.contains("40 running") && !$0.keys.contains("Cancel") }
  }

  @Test func keysPressedFastAllCount() throws {
    let window = try place.window("run", "many.yml")
    try window.sees("slots 40/60")
    try window.press("+", "+", "+", "-", "+", "+")
    try window.sees("slots 40/64")
    // A frozen display keeps its time, and afterwards all goes on.
    try window.press("Z")
    try window.sees("FROZEN at ")
    let time = try #require(try window.screen().text.firstMatch(of: #/FROZEN at (\d+:\d\d)/#)?.1)
    #expect(try window.screen().lines[0].contains(" \(time) "))
    try window.press("Z")
    try window.sees("the present") { !$0.text.contains("FROZEN") && $0.row("job-10")?.letter == "▶" }
  }

  // MARK: The end

  @Test func theEndOfAFailedRunSaysWhatToDo() throws {
    let window = try place.window("run", "policy.yml", "--keep-open=always")
    try window.sees("bad", "✗")
    try place.write("", to: "go")
    try window.sees("Ended after ")
    let screen = try window.screen()
    #expect(screen.lines[2].contains(#/^ Ended after \S+: 1 failed, 1 cancelled, 1 ok/#))
    #expect(screen.lines[2].hasSuffix("^R retries all failed  q quits"), "\(screen.lines[2])")
    #expect(screen.lines[0].contains(" FAILED ") && !screen.lines[1].contains("100%"))
    #expect(screen.row("late")?.text.contains("cancelled, bad failed") == true, "\(screen.text)")
    #expect(screen.row("bad")?.text.contains("exit 3 ") == true && screen.row("bad")?.text.contains("of 3") == false)
    // A failed job whose dependents were not skipped is run again all the same.
    try window.press("g", "R")
    try window.sees("a second try") { $0.text.contains("after 2 tries") || $0.text.contains("try 2") }
    try window.sees("Ended after ")
    try window.press("C-r")
    try window.sees("another try of all that failed") { $0.text.contains("after 3 tries") || $0.text.contains("try 3") }
    try window.sees("Ended after ")
    try window.press("q")
    #expect(try window.exitStatus() == 1)
  }

  @Test func aGoodRunIsSeenToBeGood() throws {
    let window = try place.window("run", "good.yml", "--keep-open=always")
    try window.sees("Ended after ")
    let screen = try window.screen()
    #expect(screen.lines[0].hasPrefix(" small   DONE ") && screen.lines[1].hasSuffix("100%"))
    #expect(screen.lines[2].contains(#/^ Ended after \S+: 2 ok  +q quits$/#))
    #expect(!screen.text.contains("retry"))
    // The clock of the run has stopped, however long somebody looks.
    _ = try ChildProcess.run(["sleep", "1.3"])
    try window.press("?")
    try window.sees("retry all failed jobs")
    try window.press("Escape")
    try window.sees("b", "✓")
    let later = try window.screen()
    #expect(later.lines[0] == screen.lines[0] && later.lines[0].contains(#/ \d+:\d\d /#), "\(later.lines[0])")
    try window.press("q")
    #expect(try window.exitStatus() == 0)
  }

  @Test func aRetryThatIsCancelledIsNoTry() throws {
    let window = try place.window(columns: 120, rows: 40, "run", "again.yml", "--keep-open=always")
    try window.sees("bad", "↻", "retry 1 of 3 in ")
    try window.press("g", "x")
    try window.sees("bad", "⊘", "cancelled by you, after exit 3")
    try window.press("Enter")
    try window.sees("the detail") { $0.text.contains(#/cancelled by you, after exit 3, took \d/#) }
    let screen = try window.screen()
    for words in ["2 tries", "try 2", "Attempts 2"] { #expect(!screen.text.contains(words), "\(screen.text)") }
  }

  // MARK: Estimates

  @Test func anEstimateOutlivesAFrozenDisplay() throws {
    let window = try place.window(columns: 120, rows: 40, "run", "long.yml")
    try window.sees("an estimate") { $0.row("a-quick")?.letter == "✓" && $0.lines[0].contains(" left") }
    try window.press("Z")
    try window.sees("FROZEN at ")
    try window.press("Z")
    try window.sees("the present") { !$0.text.contains("FROZEN") && $0.row("b-long")?.letter == "▶" }
    #expect(try window.screen().lines[0].contains(" left"))
  }

  // MARK: Messages

  @Test func aFaultShowsItsLineWithAMark() throws {
    try place.write(
      """
      jobs:
        a: { run: make, depends_on: [b] }
        b: { run: make, timeout: '10' }
        c: { run: make, needs: "a, b" }
      """, to: "faulty.yml")
    let pty = try place.pty("check", "faulty.yml")
    #expect(pty.waitUntil { $0.ending == .exited(2) })
    pty.pump()
    let text = pty.text.replacing(#/\u{1B}\[[0-9;]*m/#, with: "").replacing("\r\n", with: "\n")
    for part in [
      "faulty.yml:2:19: unknown key 'depends_on': write 'needs'\n    2 |   a: { run: make, depends_on: [b] }\n",
      "      |                   ^~~~~~~~~~\n", "faulty.yml:3:28: '10' is not a duration: write 10s, ",
      "unknown job 'a, b' in needs: write [a, b]\n",
    ] {
      #expect(text.contains(part), "\(part) in\n\(text)")
    }
  }
}
