import JobModel
import Reports
import Screen
import Testing

@Suite struct RunDiffTests {
  private func facts(_ jobs: [(name: String, seconds: Double, state: JobState)]) -> Facts {
    var facts = Facts()
    facts.begin(jobs.map { Job(name: $0.name, work: .simulate(SimulatedWork())) })
    for (index, job) in jobs.enumerated() {
      if job.seconds > 0 { facts.job(index, .executing) }
      facts.job(index, job.state, attempt: job.seconds > 0 ? 1 : 0, after: .seconds(job.seconds))
    }
    facts.state(.runFinished(RunSummary(of: facts.run)))
    return facts
  }

  private func diff(_ before: Facts, _ after: Facts) -> RunDiff {
    RunDiff(from: Run(recorded: before.events), to: Run(recorded: after.events))
  }

  private let ok = JobState.succeeded(upToDate: false)
  private let failed = JobState.failed(JobFailure(.exit(1), "exit 1"), allowed: false)

  private var before: Facts {
    facts([
      ("checkout", 2, ok), ("build", 40, ok), ("test", 20, ok), ("lint", 5, failed), ("docs", 9, ok), ("gone", 1, ok),
      ("cache", 8, ok), ("page", 3, ok), ("twin", 1, ok), ("twin", 10, ok),
    ])
  }

  private var after: Facts {
    facts([
      ("checkout", 2.9, ok), ("build", 58, ok), ("test", 12, ok), ("lint", 5, ok), ("docs", 1, failed),
      ("new \u{1B}[2J<b>", 1, ok), ("cache", 0, .succeeded(upToDate: true)),
      ("page", 0, .skipped(because: .job(JobID(4)))),
      ("twin", 1, ok), ("twin", 20, ok),
    ])
  }

  @Test func everyKindOfDifference() {
    expectGolden(
      diff(before, after).lines(paint: Paint(isColoured: false)).texts.joined(separator: "\n") + "\n", "diff.txt")
  }

  @Test func aChangeIsReportedThatReachesBothLimits() {
    func slower(_ old: Double, _ new: Double) -> Bool {
      !diff(facts([("a", old, ok)]), facts([("a", new, ok)])).slower.isEmpty
    }
    #expect(slower(10, 12) && slower(1, 2))
    // Less than a second, and less than a fifth.
    #expect(!slower(1, 1.9) && !slower(100, 119))
  }

  @Test func jobsThatWereNotExecutedHaveNoTimes() {
    let diff = diff(before, after)
    #expect(!diff.faster.contains { $0.name == "cache" } && !diff.faster.contains { $0.name == "page" })
    #expect(diff.notDone.map(\.name) == ["page"])
  }

  @Test func jobsOfOneNameArePairedInOrder() {
    #expect(diff(before, after).slower.map(\.name) == ["build", "twin"])
  }

  @Test func aRunDoesNotDifferFromItself() {
    let diff = diff(before, before)
    #expect(diff.isEmpty)
    #expect(diff.lines(paint: Paint(isColoured: false)).texts.last == "no job differs")
  }

  @Test func aJobOfTheNewRunThatIsNotEndedIsNoLongerDone() {
    let cut = Run(recorded: before.events.dropLast(2))
    let diff = RunDiff(from: Run(recorded: before.events), to: cut)
    #expect(diff.notDone.map(\.text) == ["not run"])
  }

  @Test func linesFitEightyColumns() {
    let long = String(repeating: "long-name-", count: 20)
    let diff = diff(
      facts([(long, 10, ok), (long + "b", 1, ok)]),
      facts([(long, 3000, ok), (long + "b", 2, .failed(JobFailure(.exit(1), long), allowed: false))]))
    for line in diff.lines(paint: Paint(isColoured: false)).texts.dropFirst(2) {
      #expect(TextWidth.of(line) <= 80, "\(line)")
    }
  }

  @Test func aLengthThatDiffersByLessThanIsShownIsTheSame() throws {
    func head(_ before: Double, _ after: Double) throws -> String {
      let lines = diff(facts([("a", before, ok)]), facts([("a", after, ok)])).lines(paint: Paint(isColoured: false))
        .texts
      return try #require(lines.first).replacing("release: run 20260101-000000-1 took ", with: "")
        .replacing("run 20260101-000000-1 ", with: "")
    }
    #expect(try head(1, 1.04) == "1.0s, 1.0s, the same" && head(1.04, 1) == "1.0s, 1.0s, the same")
    #expect(try head(1, 1.0625) == "1.0s, 1.1s, 0.1s longer (+6%)")
    #expect(try head(1.0625, 1) == "1.1s, 1.0s, 0.1s shorter (-6%)")
    #expect(try head(4, 4) == "4.0s, 4.0s, the same" && head(4, 1) == "4.0s, 1.0s, 3.0s shorter (-75%)")
  }

  @Test func theGreatestChangeComesFirst() {
    let jobs: [(String, Double, Double)] = [("a", 10, 13), ("b", 10, 19), ("c", 19, 10), ("d", 10, 15), ("e", 13, 10)]
    let diff = diff(
      facts(jobs.map { ($0.0, $0.1, ok) }), facts(jobs.map { ($0.0, $0.2, ok) }))
    #expect(diff.slower.map(\.name) == ["b", "d", "a"] && diff.faster.map(\.name) == ["c", "e"])
    #expect(diff.slower.first?.before == .seconds(10) && diff.slower.first?.after == .seconds(19))
  }

  @Test func aFailureThatIsAllowedIsStillNew() {
    let allowed = JobState.failed(JobFailure(.exit(1), "exit 1"), allowed: true)
    #expect(diff(facts([("a", 1, ok)]), facts([("a", 1, allowed)])).newlyFailed.map(\.name) == ["a"])
    // It failed before and does not fail now, and is not done either.
    let skipped = diff(facts([("a", 1, failed)]), facts([("a", 0, .cancelled(by: .person))]))
    #expect(skipped.fixed.isEmpty && skipped.notDone.isEmpty && skipped.newlyFailed.isEmpty)
  }

  @Test func aTimeThatWasNextToNothingIsCompared() {
    let diff = diff(facts([("a", 1e-9, ok)]), facts([("a", 1e8, ok)]))
    #expect(diff.lines(paint: Paint(isColoured: false)).texts.contains { $0.hasSuffix("+\(Int.max)%") })
  }

  @Test func twentyOfEachKindAreNamed() {
    func lines(_ count: Int) -> [String] {
      diff(facts([("x", 1, ok)]), facts([("x", 1, ok)] + (0..<count).map { ("n\($0)", 1, ok) }))
        .lines(paint: Paint(isColoured: false)).texts
    }
    let (all, more) = (lines(20), lines(21))
    #expect(Array(all.dropFirst(2)) == ["", "Added: 20"] + (0..<20).map { "  n\($0)" })
    #expect(Array(more.dropFirst(2)) == ["", "Added: 21"] + (0..<20).map { "  n\($0)" } + ["  and 1 more"])
  }

  @Test func otherThresholdsAreSaid() {
    let thresholds = RunDiff.Thresholds(ratio: 1.5, difference: .seconds(3))
    func slower(_ old: Double, _ new: Double) -> [String] {
      RunDiff(
        from: Run(recorded: facts([("a", old, ok)]).events), to: Run(recorded: facts([("a", new, ok)]).events),
        thresholds: thresholds
      ).slower.map(\.name)
    }
    #expect(slower(10, 15) == ["a"] && slower(10, 14) == [] && slower(4, 6) == [] && slower(4, 7) == ["a"])
    let diff = RunDiff(from: before.run, to: before.run, thresholds: thresholds)
    #expect(
      diff.lines(paint: Paint(isColoured: false)).texts[1]
        == "slower and faster: by 50% and 3.0s or more, of jobs that succeeded in both")
  }
}
