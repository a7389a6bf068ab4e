import JobModel
import Reports
import Testing

/// The output at the end of a run: quiet mode and the summary.
@Suite struct ClosingReportTests {
  @Test func quietSaysNothingWhileTheRunGoesOn() {
    var facts = Facts()
    for event in Facts.everything.events.dropLast() { facts.state(event.fact, after: event.time - facts.now) }
    #expect(report(facts) { QuietReport(paint: Paint(isColoured: false), write: $0) }.text == "")
  }

  @Test func quietEndsWithTheFailures() {
    let text = report(.everything) { QuietReport(paint: Paint(isColoured: false), write: $0) }.text
    expectGolden(text, "everything.quiet.txt")
  }

  @Test func quietAndPlainLinesSayEachWarningOnce() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    let warning = RunWarning(.cancelledExecuting, [JobID(0)], "cancelled 10.0s ago", advice: "end it", since: .zero)
    facts.state(.warningRaised(warning))
    facts.state(.warningCleared(warning.key))
    facts.state(.warningRaised(RunWarning(.uiQueueBusy, [], "busy\u{1B}[31m", advice: "move it", since: .zero)))
    let paint = Paint(isColoured: false)
    #expect(
      report(facts) { QuietReport(paint: paint, write: $0) }.lines.filter { !$0.isEmpty } == [
        "a: warning: cancelled 10.0s ago; end it (cancelled-executing)", "warning: busy; move it (ui-queue-busy)",
      ])
    let plain = report(facts) { PlainReport(paint: paint, write: $0) }.lines.filter { $0.contains("warning") }
    #expect(
      plain == [
        "00:00.0 ! a  warning: cancelled 10.0s ago; end it (cancelled-executing)",
        "00:00.0 ! warning: busy; move it (ui-queue-busy)",
      ])
  }

  @Test func quietSaysNothingOfARunWithoutFailures() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false))
    facts.state(.runFinished(RunSummary()))
    #expect(report(facts) { QuietReport(paint: Paint(isColoured: false), write: $0) }.text == "")
  }

  @Test func theSummaryCountsAndNamesTheFailures() {
    let lines = SummaryReport.lines(of: Facts.everything.run, paint: Paint(isColoured: false))
    #expect(
      lines.last
        == "release: 1 ok, 1 up to date, 1 failed, 1 failed but allowed to, 1 cancelled, 3 skipped in 1m09s"
    )
    #expect(lines.first == "! fetch  failed: SIGKILL in 0.1s, after 2 tries")
    #expect(lines.contains("    log: /state/run-1/logs/fetch.2.2.log"))
  }

  @Test func theSummaryTellsWhatNobodyStartedFromWhatWasSkipped() {
    var facts = Facts()
    facts.begin((0..<2).map { Job(name: "a\($0)", work: .simulate(SimulatedWork())) })
    facts.job(0, .skipped(because: .manual), attempt: 0)
    facts.job(1, .skipped(because: .condition), attempt: 0)
    let lines = SummaryReport.lines(of: facts.run, paint: Paint(isColoured: false))
    #expect(lines.last == "release: 1 skipped, 1 not started in 0.0s")
  }

  @Test func aRunThatWasLeftSaysHowManyJobsWereNotRun() {
    var facts = Facts()
    facts.begin((0..<3).map { Job(name: "a\($0)", work: .simulate(SimulatedWork())) })
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false), after: .seconds(1))
    #expect(SummaryReport.lines(of: facts.run, paint: Paint(isColoured: false)) == ["release: 1 ok, 2 not run in 1.0s"])
  }

  @Test func theOutcomeOfARunWithoutJobsSaysSo() {
    var facts = Facts()
    facts.begin([], name: "empty")
    #expect(SummaryReport.lines(of: facts.run, paint: Paint(isColoured: false)) == ["empty: no jobs in 0.0s"])
    #expect(SummaryReport.lines(of: Run(), paint: Paint(isColoured: false)) == ["run: no jobs in 0.0s"])
  }
}
