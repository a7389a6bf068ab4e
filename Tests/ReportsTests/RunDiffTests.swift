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
    expectGolden(diff(before, after).lines(paint: Paint(isColoured: false)).joined(separator: "\n") + "\n", "diff.txt")
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
    #expect(diff.lines(paint: Paint(isColoured: false)).last == "no job differs")
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
    for line in diff.lines(paint: Paint(isColoured: false)).dropFirst(2) {
      #expect(TextWidth.of(line) <= 80, "\(line)")
    }
  }
}
