import JobModel
import Reports
import Testing

/// What plain lines and the summary say about usual times.
@Suite struct HistoryReportTests {
  /// Jobs that usually take 100 s and 9 of 10 times 110 s, and how many of their last 10 attempts failed.
  private func facts(_ jobs: [(name: String, took: Int, failures: Int)]) -> Facts {
    var facts = Facts()
    facts.begin(
      jobs.map { job in
        Job(
          name: job.name, work: .shell(ShellWork(.script("true"))),
          usual: UsualTime(
            median: .seconds(100), ninetieth: .seconds(110), count: 8, failures: job.failures, attempts: 10))
      }, folder: nil)
    for (id, job) in jobs.enumerated() {
      facts.job(id, .executing)
      facts.job(id, .succeeded(upToDate: false), after: .seconds(job.took))
    }
    facts.state(.runFinished(RunSummary()))
    return facts
  }

  private func plain(_ facts: Facts) -> [String] {
    report(facts) { PlainReport(paint: Paint(isColoured: false), write: $0) }.lines
  }

  @Test func theEndOfAJobSaysThatItWasSlowerThanUsual() {
    let lines = plain(facts([("a", 141, 0), ("b", 110, 0)]))
    #expect(lines.contains { $0.hasSuffix("+ a  [1/2] ok in 2m21s, slower than usual (1m40s) +41 %") })
    #expect(lines.contains { $0.hasSuffix("+ b  [2/2] ok in 1m50s") })
  }

  @Test func theRunEndsWithTheSlowestAndTheFlakyJobs() {
    let run = facts([
      ("a", 141, 0), ("b", 90, 2), ("c", 300, 0), ("d", 150, 5), ("e", 160, 0), ("f", 1101, 0),
    ])
    let notes = [
      "slower than usual: c 5m00s (1m40s) +200 %, e 2m40s (1m40s) +60 %, d 2m30s (1m40s) +50 % and 1 more",
      "flaky: d failed 5 of its last 10 attempts, b failed 2 of its last 10 attempts",
    ]
    #expect(Array(plain(run).dropLast(2).suffix(3)) == [""] + notes)
    #expect(SummaryReport.lines(of: run.run, paint: Paint(isColoured: false)).texts.prefix(2) == notes[...])
  }

  @Test func aJobThatWasNotExecutedIsNotNamed() {
    var facts = Facts()
    facts.begin([
      Job(
        name: "a", work: .simulate(SimulatedWork()),
        usual: UsualTime(median: .seconds(1), ninetieth: .seconds(1), count: 1, failures: 1, attempts: 2))
    ])
    facts.job(0, .succeeded(upToDate: true), attempt: 0, after: .seconds(90))
    #expect(SummaryReport.lines(of: facts.run, paint: Paint(isColoured: false)) == ["release: 1 up to date in 1m30s"])
  }

  @Test func threeOfEachKindAreNamed() {
    let notes = { (count: Int) in
      SummaryReport.lines(
        of: facts((0..<count).map { ("j\($0)", 90, $0 + 1) }).run, paint: Paint(isColoured: false))[0].text
    }
    let named = "flaky: j2 failed 3 of its last 10 attempts, j1 failed 2 of its last 10 attempts, "
    #expect(notes(3) == named + "j0 failed 1 of its last 10 attempts")
    #expect(notes(4).hasPrefix("flaky: j3 failed 4 ") && notes(4).hasSuffix(" and 1 more"))
  }
}
