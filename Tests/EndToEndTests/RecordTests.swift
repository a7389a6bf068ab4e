import Foundation
import JobModel
import RunStore
import Support
import Testing

/// The commands about recorded runs.
struct RecordTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "opdash.yml": """
      name: release
      jobs:
        build: { run: "echo compiling; sleep 0.2; echo compiled" }
        test: { needs: [build], run: "echo two tests failed; [ -e mended ]" }
        publish: { needs: [test], run: "true" }
      """
    ])
  }

  private var store: RunStore { get throws { try RunStore(folder: place.folder.file("state/opdash").path) } }

  @Test func aRunIsRecordedWholeAndReadBackAsItsEvents() throws {
    let run = try place.run("run", "--ui", "json")
    #expect(run.ending() == .exited(1))
    let printed = try Recording(run.outputBytes).events
    let entry = try store.run(named: "last")
    #expect(try store.events(of: entry) == printed)
    #expect(entry.name == "release" && entry.summary?.failed == 1 && entry.summary?.skipped == 1)
    #expect(try store.check() == [])
  }

  @Test func historyListsTheRunsAndHowLongEachJobTakes() throws {
    for _ in 1...3 { _ = try place.run("run", "--ui", "quiet") }
    try place.write("", to: "mended")
    _ = try place.run("run", "--ui", "quiet")
    let history = try place.run("history")
    #expect(history.ending() == .exited(0))
    let lines = history.outputLines.map { $0.split(separator: " ", omittingEmptySubsequences: true) }
    #expect(lines.count { $0.contains("release") && $0.contains("failed") } == 3)
    #expect(lines.contains { $0.contains("release") && $0.contains("ok") && $0.contains("3/3") })
    #expect(lines.contains { $0.first == "build" && $0.contains("4") && $0.contains("100%") })
    #expect(lines.contains { $0.first == "test" && $0.contains("25%") })
    let report = try place.run("history", "--prune")
    #expect(report.outputText.hasPrefix("0 runs removed"))
  }

  @Test func aServiceHasNoUsualTime() throws {
    try place.write(
      """
      jobs:
        server: { run: "echo up; exec sleep 1000", service: { ready: { output: up } } }
        client: { needs: { server: ready }, run: "true" }
      """, to: "services.yml")
    for _ in 1...2 {
      let run = try place.run("run", "services.yml", "--ui", "quiet")
      #expect(run.ending() == .exited(0), "\(run.errorText)")
    }
    var run = Run()
    for event in try store.events(of: store.run(named: "last")) { run.apply(event) }
    #expect(run.jobs.map { $0.job.usual?.count } == [nil, 1])
  }

  @Test func theNextRunSaysHowLongAJobUsuallyTakes() throws {
    for _ in 1...2 { _ = try place.run("run", "--ui", "quiet") }
    _ = try place.run("run", "--ui", "json")
    var run = Run()
    for event in try store.events(of: store.run(named: "last")) { run.apply(event) }
    #expect(run.jobs[0].job.usual?.count == 2)
    #expect(run.jobs[1].job.usual == nil)
  }

  @Test func aReplayPrintsWhatTheRunPrinted() throws {
    let first = try place.run("run", "--ui", "json")
    let second = try place.run("replay", "last", "--speed", "100", "--ui", "json")
    #expect(second.ending() == .exited(1))
    #expect(second.outputText == first.outputText)
    // Played again, not recorded again.
    #expect(try store.runs().count == 1)
    try first.outputBytes.write(to: place.folder.file("events.ndjson"))
    #expect(try place.run("replay", "events.ndjson", "--speed", "100", "--ui", "json").outputText == first.outputText)
    try place.write("{\"v\":1,", to: "broken.ndjson")
    let broken = try place.run("replay", "./broken.ndjson")
    #expect(broken.ending() == .exited(2))
    #expect(broken.errorText.contains("./broken.ndjson has no events"))
  }

  @Test func aReplayInTheDashboardShowsEveryInstant() throws {
    _ = try place.run("run", "--ui", "quiet")
    let window = try place.window(columns: 120, rows: 40, "replay", "last", "--speed", "10")
    try window.sees("test", "✗", "exit 1")
    try window.sees("two tests failed")
    try window.sees("Ended")
    for _ in 1...20 { try window.press(",") }
    try window.sees("PAST: the run at")
    try window.sees("publish", "·")
    try window.press("End")
    try window.sees("Ended")
    try window.press("q")
  }

  @Test func aReplayGoesOnAfterTheEndOfAllJobsAsTheRunDid() throws {
    // The emulator may lose what a program writes right before it exits.
    let window = try place.window(columns: 120, rows: 40, "run", "--keep-open=always")
    try window.sees("Ended")
    try place.write("", to: "mended")
    try window.press("R")
    try window.sees("3 ok")
    try window.press("q")
    #expect(eventually { (try? store.run(named: "last").summary?.succeeded) == 3 })
    let replay = try place.run("replay", "last", "--speed", "100", "--ui", "json")
    #expect(try Recording(replay.outputBytes).events == store.events(of: store.run(named: "last")))
  }

  @Test func aRetryOfAFailureRunsTheJobsThatItSkipped() throws {
    let window = try place.window(columns: 120, rows: 40, "run", "--keep-open=always")
    try window.sees("Ended")
    try place.write("", to: "mended")
    try window.sees("the key") { $0.text.contains("r retry + skipped") && !$0.text.contains(" R retry") }
    try window.press("r")
    try window.sees("3 ok")
    try window.press("q")
    #expect(try window.exitStatus() == 0)
  }

  @Test func aReplayShowsAStoppedRunUntilAPersonLeaves() throws {
    try place.write("jobs: { one: { run: \"exec sleep 1000\" } }", to: "slow.yml")
    let window = try place.window(columns: 120, rows: 40, "run", "slow.yml")
    try window.sees("one", "▶")
    try window.press("C-c")
    #expect(eventually { (try? store.run(named: "last").summary?.cancelled) == 1 })
    let replay = try place.window(columns: 120, rows: 40, "replay", "last", "--speed", "10")
    try replay.sees("one", "⊘", "cancelled")
    // Nothing ends it by itself.
    try replay.press(",")
    try replay.sees("PAST: the run at")
    try replay.press("q")
    #expect(try replay.exitStatus() != nil)
  }

  @Test func aReplayOfAWatchedRunGoesOnToItsEnd() throws {
    try place.write("jobs: { copy: { run: \"cp in out; echo round\", inputs: [in] } }", to: "watch.yml")
    try place.write("1\n", to: "in")
    let window = try place.window(columns: 120, rows: 40, "watch", "watch.yml")
    try window.sees("WATCHING")
    try place.write("2\n", to: "in")
    #expect(eventually { place.contents("out") == Data("2\n".utf8) })
    try window.sees("the second round") { $0.text.contains("log: copy #2") && $0.text.contains("WATCHING") }
    try window.press("q")
    #expect(try window.exitStatus() != nil)
    let replay = try place.window(columns: 120, rows: 40, "replay", "last", "--speed", "10")
    try replay.sees("the end of the recording") { $0.text.contains("Ended after") && $0.text.contains("STOPPED") }
    try replay.sees("log: copy #2")
    try replay.press("q")
    #expect(try replay.exitStatus() == 0)
  }

  @Test func ctrlCLeavesAReplayAndItsShellLoop() throws {
    try place.write(
      #"{"v":1,"seq":0,"t":0,"type":"run_started","run":"r","name":"n","slots":1,"at":"2026-01-01T00:00:00.250Z","jobs":1}"#
        + "\n" + #"{"v":1,"seq":1,"t":0,"type":"job_added","job":"one","kind":"shell","needs":[],"command":"test"}"#
        + "\n"
        + #"{"v":1,"seq":2,"t":3600,"type":"job_state","job":"one","state":"executing","attempt":1}"# + "\n",
      to: "late.ndjson")
    let pty = try place.pty("replay", "late.ndjson")
    #expect(pty.waitUntil { $0.text.contains("late.ndjson") && $0.text.contains("one") })
    pty.send("\u{3}")
    #expect(pty.waitUntil { $0.ending != nil }, "\(pty.report)")
    #expect(pty.ending == .signalled(SIGINT))
    #expect(!pty.text.contains("cancelled") && !pty.text.contains("STOPPING"))
  }

  @Test func aReplayThatBeginsInAnHourEndsWithQ() throws {
    try place.write(
      #"{"v":1,"seq":0,"t":3600,"type":"run_started","run":"r","name":"n","slots":1,"at":"2026-01-01T00:00:00.250Z","jobs":0}"#
        + "\n", to: "late.ndjson")
    let pty = try place.pty("replay", "late.ndjson")
    #expect(pty.waitUntil { $0.text.contains("late.ndjson") })
    pty.send("q")
    #expect(pty.waitUntil { $0.ending != nil }, "\(pty.report)")
  }

  @Test func aReplayIsHeldAndMovedToItsNextFailure() throws {
    func event(_ seq: Int, _ seconds: Int, _ fields: String) -> String {
      #"{"v":1,"seq":\#(seq),"t":\#(seconds),\#(fields)}"# + "\n"
    }
    try place.write(
      event(
        0, 0,
        #""type":"run_started","run":"r","name":"n","slots":1,"at":"2026-01-01T00:00:00.250Z","jobs":1"#)
        + event(1, 0, #""type":"job_added","job":"one","kind":"shell","needs":[],"command":"test""#)
        + event(2, 0, #""type":"job_state","job":"one","state":"executing","attempt":1"#)
        + event(
          3, 3600,
          #""type":"job_state","job":"one","state":"failed","attempt":1,"reason":"exit 9","exit":9,"cause":"exit""#)
        + event(4, 7200, #""type":"job_state","job":"one","state":"ready","attempt":1,"for":"slot""#),
      to: "long.ndjson")
    let window = try place.window(columns: 120, rows: 40, "replay", "long.ndjson")
    try window.sees("one", "▶")
    try window.press("Space")
    try window.sees("HELD")
    try window.press("Space")
    try window.sees("the replay is resumed") { !$0.text.contains("HELD") }
    // An hour later.
    try window.press("!")
    try window.sees("one", "✗", "exit 9")
    try window.press("q")
    #expect(try window.exitStatus() != nil)
  }

  @Test func theKeysShowThePastOfALiveRun() throws {
    try place.write(
      "jobs: { one: { run: \"sleep 0.3\" }, two: { needs: [one], run: \"echo in two; exec sleep 1000\" } }",
      to: "live.yml")
    let window = try place.window(columns: 120, rows: 40, "run", "live.yml")
    try window.sees("one", "✓")
    try window.sees("in two")
    try window.sees("two", "▶")
    // The run gets longer meanwhile, so the beginning is at most a hundred presses away.
    for _ in 1...110 { try window.press(",") }
    try window.sees("PAST: the run at 0:0")
    try window.sees("two", "·")
    try window.press("End")
    try window.sees("two", "▶")
    try window.press("C-c")
  }

  @Test func reportAndDiffTellOfRecordedRuns() throws {
    _ = try place.run("run", "--ui", "quiet")
    let report = try place.run("report")
    #expect(report.ending() == .exited(0))
    #expect(report.outputText.contains("test  failed: exit 1"))
    #expect(report.outputText.contains("two tests failed"))
    let page = try place.run("report", "last", "--html", "page.html", "--junit", "junit.xml")
    #expect(page.ending() == .exited(0) && page.outputText == "")
    #expect(String(decoding: place.contents("page.html") ?? Data(), as: UTF8.self).contains("two tests failed"))
    #expect(String(decoding: place.contents("junit.xml") ?? Data(), as: UTF8.self).contains("<failure"))
    try place.write("", to: "mended")
    _ = try place.run("run", "--ui", "quiet")
    let runs = try store.runs()
    let diff = try place.run("diff", runs[1].id, "last")
    #expect(diff.ending() == .exited(0))
    #expect(diff.outputText.contains("Fixed: 1\n  test"))
  }

  @Test(arguments: [
    (["report", "20990101"], "no run '20990101' is recorded in "), (["diff", "last"], "opdash diff needs two runs"),
    (["replay"], "opdash replay needs a run"), (["history", "none.yml"], "there is no job file none.yml"),
    (["history", "build"], "there is no job file build"),
    (["resume", "20990101"], "no run '20990101' is recorded in "),
    (["replay", "./none.ndjson"], "can't read ./none.ndjson"),
  ])
  func whatIsNotThereIsNamed(_ words: [String], _ message: String) throws {
    let run = try place.start(words: words)
    #expect(run.ending() == .exited(2))
    #expect(run.errorText.contains(message), "\(run.errorText)")
  }

  @Test func aJobWhoseOutputIsThereIsUpToDate() throws {
    try place.write(
      """
      jobs:
        copy: { run: "echo ran >>log; cp in out", inputs: [in], creates: [out] }
      """, to: "make.yml")
    try place.write("a", to: "in")
    func lines() -> Int {
      String(decoding: place.contents("log") ?? Data(), as: UTF8.self).split(separator: "\n").count
    }
    for _ in 1...2 { #expect(try place.run("run", "make.yml", "--ui", "plain").ending() == .exited(0)) }
    #expect(lines() == 1)
    // Touched without a change: the content decides.
    try place.write("a", to: "in")
    #expect(try place.run("run", "make.yml", "--ui", "plain").outputText.contains("up to date"))
    #expect(lines() == 1)
    try place.write("b", to: "in")
    _ = try place.run("run", "make.yml", "--ui", "plain")
    #expect(lines() == 2)
  }
}
