import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct BannerTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  private func bench(_ names: String, width: Int = 80, _ facts: (inout RunBuilder) -> Void) -> Bench {
    var builder = RunBuilder(names.map { .shell(String($0)) }, slots: 20)
    facts(&builder)
    return Bench(builder, size: Size(width: width, height: 24))
  }

  private func text(_ bench: Bench) -> String? {
    Banner.isShown(bench.model) ? Banner(bench.model, now: bench.now).text : nil
  }

  private func row(_ bench: Bench) -> String { bench.frame().text(row: 2) }

  @Test func aRunThatGoesOnHasNone() {
    #expect(text(bench("ab") { $0.move("a", .executing) }) == nil)
    // A policy's cancellation without a failure, and a failure without one, close nothing.
    #expect(text(bench("ab") { $0.move("a", .cancelled(by: .policy)) }) == nil)
    let failed = bench("ab") {
      $0.move("a", .executing)
      $0.move("a", .failed(Self.failure, allowed: false))
    }
    #expect(text(failed) == nil)
  }

  @Test func theEndCountsWhatIsThere() {
    let mixed = bench("abcdefg", width: 120) { run in
      for name in ["a", "b", "e"] { run.move(name, .executing) }
      run.at(125)
      run.move("a", .succeeded(upToDate: false))
      run.move("b", .failed(Self.failure, allowed: false))
      run.move("c", .cancelled(by: .person))
      run.move("d", .skipped(because: .condition))
      run.move("e", .failed(Self.failure, allowed: true))
      run.move("g", .skipped(because: .manual))
      run.state(.runFinished(RunSummary()))
    }
    let ended = "Ended after 2:05: 1 failed, 1 skipped, 1 not started, 1 cancelled, 1 not run, 1 allowed to fail, 1 ok"
    #expect(text(mixed) == ended)
    #expect(row(mixed) == " \(ended)" + String(repeating: " ", count: 120 - 2 - ended.count - 7) + "q quits")
  }

  @Test func aStopNamesEightJobsAndCountsTheOthers() {
    func stopping(_ names: String, _ level: StopLevel, by canceller: JobState.Canceller = .person) -> Bench {
      bench("abcdefghij", width: 120) { run in
        for name in names { run.move(String(name), .executing) }
        run.state(.stopRequested(level, by: canceller))
      }
    }
    #expect(text(stopping("abcdefgh", .terminate)) == "Stopping 8 jobs: a, b, c, d, e, f, g, h")
    #expect(text(stopping("abcdefghij", .terminate)) == "Stopping 10 jobs: a, b, c, d, e, f, g, h and 2 more")
    #expect(text(stopping("", .terminate)) == "Stopping 0 jobs")
    #expect(text(stopping("b", .kill)) == "Killing 1 job: b")
    #expect(row(stopping("b", .kill)) == " Killing 1 job: b")
    for (canceller, hint) in [
      (JobState.Canceller.person, "q kills now"), (.timeout, "q kills now"), (.signal, "Ctrl-C kills now"),
      (.program, "q leaves"),
    ] {
      #expect(row(stopping("b", .terminate, by: canceller)).hasSuffix("  \(hint)"), "\(canceller)")
    }
  }

  @Test func aFinalJobIsNotBeingStopped() {
    var jobs = "abc".map { Job.shell(String($0)) }
    for place in 1...2 { jobs[place].finally = .always }
    var builder = RunBuilder(jobs)
    builder.move("a", .executing)
    builder.state(.stopRequested(.terminate, by: .timeout))
    builder.cancel("a", by: .timeout)
    var bench = Bench(builder)
    #expect(text(bench)?.hasPrefix("Stopping 1 job: a, killed in") == true)
    bench.play { $0.move("a", .failed(Self.failure, allowed: false)) }
    #expect(text(bench) == "Stopped; finally: 2 jobs")
    bench.play { $0.move("b", .executing) }
    #expect(text(bench) == "Stopped; finally: b")
    #expect(row(bench).hasSuffix("  q kills now"))
    bench.play { $0.move("b", .backingOff(until: .seconds(9), number: 1, limit: 1, after: Self.failure)) }
    #expect(text(bench) == "Stopped; finally: b")
    bench.play { $0.move("b", .executing) }
    bench.play { $0.cancel("b", by: .timeout) }
    #expect(text(bench)?.hasPrefix("Stopping 1 job: b, killed in") == true)
    bench.play { $0.move("c", .ready(for: .cluster(reason: nil))) }
    #expect(text(bench)?.hasPrefix("Stopping 1 job: b, killed in") == true)
  }

  @Test func aFinalJobThatAPolicyHasLeftFollowsTheFailure() {
    var clean = Job.shell("clean")
    clean.finally = .always
    var bench = Bench(RunBuilder([.shell("a"), clean]))
    bench.play { run in
      run.move("a", .executing)
      run.move("a", .failed(Self.failure, allowed: false))
      run.state(.stopRequested(.terminate, by: .policy))
      run.move("clean", .executing)
    }
    #expect(text(bench) == "a failed: exit 1. Stopped; finally: clean")
  }

  @Test(arguments: [false, true])
  func theQuestionOfAFinalJobIsShownInARunThatEnds(_ isStopped: Bool) {
    var clean = Job.shell("clean")
    (clean.finally, clean.approval) = (.always, "Clean up?")
    var builder = RunBuilder([.shell("a"), .shell("b"), clean])
    builder.move("a", .executing)
    if isStopped {
      builder.state(.stopRequested(.terminate, by: .signal))
      builder.cancel("a", by: .signal)
    } else {
      builder.move("b", .executing)
      builder.move("b", .failed(Self.failure, allowed: false))
    }
    var bench = Bench(builder)
    bench.play { $0.move(isStopped ? "b" : "a", .cancelled(by: isStopped ? .signal : .policy)) }
    if isStopped { #expect(text(bench) == "Stopping 1 job: a, killed in 0:05") }
    bench.play {
      if isStopped { $0.move("a", .cancelled(by: .signal)) }
      $0.move("clean", .ready(for: .person))
    }
    #expect(text(bench) == "clean asks: Clean up?")
    #expect(row(bench).hasSuffix("a approves"))
    #expect(bench.frame().text.contains("waits for approval: Clean up?"))
  }

  @Test func aReplayOffersNoKeyThatActs() {
    var stopping = bench("b") {
      $0.move("b", .executing)
      $0.state(.stopRequested(.terminate, by: .signal))
    }
    stopping.model.isReplay = true
    #expect(row(stopping).hasSuffix("  q leaves"))
    var asking = bench("b") { $0.move("b", .ready(for: .person)) }
    #expect(row(asking).hasSuffix("a approves"))
    asking.model.isReplay = true
    #expect(!row(asking).contains("approves"))
  }

  @Test func theLastKillIsCountedDownTo() {
    var bench = bench("ab") { run in
      for (seconds, name) in [(1.0, "a"), (3.0, "b")] {
        run.at(seconds)
        run.move(name, .executing)
        run.cancel(name)
      }
      run.state(.stopRequested(.terminate, by: .policy))
    }
    bench.now = .milliseconds(4100)
    // `b` has 5 s from 3 s on.
    #expect(text(bench) == "Stopping 2 jobs: a, b, killed in 0:04")
  }

  @Test func onAFrozenDisplayTheCountdownContinues() {
    var clean = Job.shell("clean")
    clean.finally = .always
    var builder = RunBuilder([.shell("a"), clean])
    builder.at(3)
    builder.move("a", .executing)
    builder.cancel("a")
    builder.state(.stopRequested(.terminate, by: .policy))
    var bench = Bench(builder)
    bench.press(.character("Z"))
    bench.play { $0.move("clean", .executing) }
    bench.now = .milliseconds(6100)
    #expect(bench.model.isMoving && row(bench).hasPrefix(" Stopping 1 job: a, killed in 0:02"))
  }

  @Test func theHelpPageHasNoneOfTheBannersKeys() {
    var benches = [
      bench("a") { $0.state(.runFinished(RunSummary())) },
      bench("a") { $0.state(.stopRequested(.terminate, by: .person)) },
      bench("a") { $0.move("a", .ready(for: .person)) },
      bench("a") { $0.state(.watchChanged(true, fault: "x")) },
    ]
    func namesKey(_ row: String) -> Bool { row.contains(#/ (quits|kills now|approves|tries again)$/#) }
    for place in benches.indices {
      #expect(namesKey(row(benches[place])))
      benches[place].press(.character("?"))
      let row = benches[place].frame().text(row: 0)
      #expect(row.hasPrefix(" \(text(benches[place])?.prefix(4) ?? "")") && !namesKey(row))
    }
  }

  @Test func anOutageFillsALineOfEightyColumns() {
    let down = bench("ab") { run in
      run.move("a", .executing)
      run.at(70)
      run.state(.clusterChanged(fault: "x"))
    }
    #expect(row(down) == " The cluster's controller is down since 1:10, waiting for it; its jobs continue")
  }

  @Test func aFrozenDisplayCountsTheEventsSince() {
    var bench = bench("ab") { $0.move("a", .executing) }
    bench.now = .seconds(61)
    bench.press(.character("Z"))
    bench.play { $0.state(.slotsChanged(2)) }
    #expect(text(bench) == "FROZEN at 1:01, 1 event since then")
    #expect(row(bench).hasSuffix("Z shows the present"))
  }

  // MARK: The past

  private func past(at milliseconds: Int, end seconds: Double, width: Int = 80) -> Bench {
    var bench = bench("a", width: width) { run in
      run.move("a", .executing)
      run.at(seconds)
      run.state(.slotsChanged(3))
    }
    bench.model.show(bench.builder.run, at: .milliseconds(milliseconds))
    FramePreparation.prepare(&bench.model, now: bench.now)
    return bench
  }

  @Test func aPastInstantHasTenthsWhereAStepIsShorterThanASecond() {
    #expect(text(past(at: 12_350, end: 50)) == "PAST: the run at 0:12.3 of 0:50")
    #expect(text(past(at: 12_350, end: 51)) == "PAST: the run at 0:12 of 0:51")
  }

  @Test(arguments: [(false, "  End live", "  End live"), (true, "  Z live", " of 1:40")])
  func theWayToThePresentIsNamedWhereItsKeyWorks(_ isChanged: Bool, _ list: String, _ help: String) {
    var bench = past(at: 12_350, end: 100)
    if isChanged { bench.model.options.keys = KeyMap(changes: ["last": [.character("G")]]) }
    #expect(row(bench).hasSuffix(list))
    bench.press(.character("?"))
    #expect(bench.frame().text(row: 0).hasSuffix(help))
  }

  @Test func aPastInstantIsOfTheRunUpToThePresent() {
    var bench = past(at: 12_350, end: 100)
    bench.now = .seconds(150)
    #expect(row(bench).hasPrefix(" PAST: the run at 0:12 of 2:30 "))
  }

  @Test(arguments: [
    (60, "PAST: the run at 0:12 of 1:40", ", back  . forward  End live"),
    (59, "PAST: 0:12 of 1:40", ", back  . forward  End live"),
    (49, "PAST: 0:12 of 1:40", ", back  . forward  End live"),
    (48, "PAST: 0:12", ", back  . forward  End live"), (41, "PAST: 0:12", ", back  . forward  End live"),
    (40, "PAST: 0:12", ". forward  End live"),
  ])
  func onANarrowScreenTheTextIsShortenedThenTheKeys(_ width: Int, _ left: String, _ right: String) {
    let line = (" " + left).padded(to: width - 1 - right.count) + right
    #expect(row(past(at: 12_350, end: 100, width: width)) == line)
  }
}
