import Foundation
import JobModel
import Reports
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

struct JUnitReportTests {
  private func suite(_ facts: Facts) throws -> XMLElement {
    let text = report(facts) { JUnitReport(write: $0) }.text
    return try #require(try XMLDocument(xmlString: text).rootElement())
  }

  private func attribute(_ name: String, of element: XMLElement?) -> String? {
    element?.attribute(forName: name)?.stringValue
  }

  @Test func aRunInWhichEverythingHappens() {
    expectGolden(report(.everything) { JUnitReport(write: $0) }.text, "everything.junit.xml")
  }

  @Test func theCountsOfTheSuiteAreThoseOfItsCases() throws {
    let suite = try suite(.everything)
    let cases = suite.elements(forName: "testcase")
    #expect(attribute("tests", of: suite) == "\(cases.count)")
    for (count, element) in [("failures", "failure"), ("skipped", "skipped"), ("errors", "error")] {
      #expect(attribute(count, of: suite) == "\(cases.count { !$0.elements(forName: element).isEmpty })", "\(count)")
    }
  }

  @Test func anAttemptBeforeASuccessIsFlaky() throws {
    for (end, element) in [
      (JobState.succeeded(upToDate: false), "flakyFailure"),
      (.failed(JobFailure(.exit(2), "exit 2"), allowed: false), "rerunFailure"),
    ] {
      var facts = Facts()
      facts.begin([Job(name: "a", work: .simulate(SimulatedWork()), retry: RetryPolicy(max: 1))])
      facts.job(0, .executing)
      facts.job(0, .backingOff(until: .seconds(1), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
      facts.job(0, .executing, attempt: 2, after: .seconds(1))
      facts.job(0, end, attempt: 2, after: .milliseconds(1250))
      facts.state(.runFinished(RunSummary()))
      let job = try #require(try suite(facts).elements(forName: "testcase").first)
      #expect(attribute("message", of: job.elements(forName: element).first) == "exit 1")
      #expect(attribute("time", of: job) == "1.250")
      #expect(job.elements(forName: "failure").isEmpty == (element == "flakyFailure"))
    }
  }

  @Test func textThatXMLCannotHoldIsReplaced() throws {
    var facts = Facts()
    facts.begin([Job(name: "a<b>&\"c\"", work: .simulate(SimulatedWork()))], name: "\u{1}\u{FFFE}")
    facts.job(0, .executing)
    facts.log(0, "]]> \u{1B}[31mred\u{1B}[0m \u{0} \u{FFFF} <&")
    facts.log(0, "second")
    facts.job(0, .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    facts.state(.runFinished(RunSummary()))
    let suite = try suite(facts)
    let job = try #require(suite.elements(forName: "testcase").first)
    #expect(attribute("name", of: job) == "a<b>&\"c\"")
    let lines = try #require(job.elements(forName: "failure").first?.stringValue).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].hasPrefix("]]> red ") && lines[0].hasSuffix("<&") && !lines[0].contains("\u{1B}"))
  }

  @Test func aRunWithoutJobsIsASuite() throws {
    var facts = Facts()
    facts.begin([])
    facts.state(.runFinished(RunSummary()))
    #expect(attribute("tests", of: try suite(facts)) == "0")
  }

  @Test func theDocumentOfARecordedRunIsThatOfTheRun() {
    let recorded = JUnitReport.document(Run(recorded: Facts.everything.events))
    #expect(recorded == report(.everything) { JUnitReport(write: $0) }.text)
  }

  @Test func jobsThatAKilledRunLeftAreNotRun() throws {
    let cut = Run(recorded: Facts.release.events.prefix { $0.time < .seconds(60) })
    let suite = try #require(try XMLDocument(xmlString: JUnitReport.document(cut)).rootElement())
    let left = suite.elements(forName: "testcase").filter {
      attribute("message", of: $0.elements(forName: "skipped").first) == "not run"
    }
    #expect(left.count == 14)
    #expect(attribute("tests", of: suite) == "20")
  }

  @Test func nothingIsWrittenBeforeTheEnd() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    #expect(report(facts) { JUnitReport(write: $0) }.text.isEmpty)
  }

  @Test func onlyAttemptsThatFailedOrWereCancelledAreNoted() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false))
    facts.job(0, .executing, attempt: 2)
    facts.job(0, .ready(for: .slot), attempt: 2)
    facts.job(0, .executing, attempt: 3)
    facts.job(0, .failed(JobFailure(.exit(1), "exit 1"), allowed: false), attempt: 3)
    facts.job(0, .executing, attempt: 4)
    facts.job(0, .succeeded(upToDate: false), attempt: 4)
    facts.state(.runFinished(RunSummary()))
    let job = try #require(try suite(facts).elements(forName: "testcase").first)
    let earlier = job.elements(forName: "flakyFailure").map { attribute("message", of: $0) }
    #expect(earlier == ["exit 1"])
  }

  @Test func blankLinesOfTheOutputStay() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    for line in ["", "", "x", "", "y"] { facts.log(0, line) }
    facts.finish(failing: 0)
    let job = try #require(try suite(facts).elements(forName: "testcase").first)
    #expect(job.elements(forName: "failure").first?.stringValue == "\n\nx\n\ny")
  }

  @Test func anEarlierAttemptWithoutAFailureWasCancelled() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.job(0, .cancelled(by: .person))
    facts.job(0, .executing, attempt: 2)
    facts.job(0, .succeeded(upToDate: false), attempt: 2, after: .microseconds(2_050_999))
    facts.state(.runFinished(RunSummary()))
    let job = try #require(try suite(facts).elements(forName: "testcase").first)
    let earlier = job.elements(forName: "flakyFailure").first
    #expect(attribute("message", of: earlier) == "cancelled" && attribute("type", of: earlier) == "error")
    #expect(attribute("time", of: job) == "2.050")
  }

  @Test func aRunThatIsLeftBeforeItsEndIsWrittenOnce() throws {
    var facts = Facts()
    facts.begin(["a", "b"].map { Job(name: $0, work: .simulate(SimulatedWork())) })
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false))
    facts.job(1, .executing)
    let written = Written()
    var reports = ReportSet([JUnitReport(write: written.writer)])
    reports.receive(facts.events)
    #expect(written.text.isEmpty)
    let run = Run(recorded: facts.events)
    reports.leave(run)
    #expect(written.text == JUnitReport.document(run) && written.text.contains("not run"))
    facts.state(.runFinished(RunSummary()))
    reports.receive(facts.events.suffix(1))
    #expect(written.text == JUnitReport.document(run))
  }
}
