import JobModel
import Operations
import Reports
import Testing

@Suite struct ReportSetTests {
  /// Notes what a report is asked for.
  private struct Probe: Report {
    let notes: Lock<[String]>
    let name: String
    var wakesAt: Duration?
    var logCapacity = 3

    mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
      notes.withLock { $0.append("\(name) \(event.seq) \(before?.word ?? "-") \(run.nextSeq)") }
    }

    mutating func flush() { notes.withLock { $0.append("\(name) flush") } }

    func wakeTime(in run: Run) -> Duration? { wakesAt }

    mutating func wake(at now: Duration, in run: Run) { notes.withLock { $0.append("\(name) wake") } }
  }

  private let notes = Lock<[String]>([])

  private func probe(_ name: String, wakesAt: Duration? = nil, logCapacity: Int = 3) -> Probe {
    Probe(notes: notes, name: name, wakesAt: wakesAt, logCapacity: logCapacity)
  }

  private var facts: Facts {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.log(0, "hello")
    facts.job(0, .cancelled(by: .person))
    return facts
  }

  @Test func eachReportReceivesEachEventAndThenWrites() {
    var set = ReportSet([probe("a"), probe("b")])
    set.receive(facts.events[..<3])
    #expect(
      notes.withLock { $0 } == [
        "a 0 - 1", "b 0 - 1", "a 1 - 2", "b 1 - 2", "a 2 waiting 3", "b 2 waiting 3", "a flush", "b flush",
      ])
    notes.withLock { $0 = [] }
    set.receive(facts.events[3...])
    #expect(
      notes.withLock { $0 } == [
        "a 3 - 4", "b 3 - 4", "a 4 executing 5", "b 4 executing 5", "a flush", "b flush",
      ])
  }

  @Test(arguments: ReportFormat.allCases) func aReportBeginsWithTheHeadOfItsFormat(format: ReportFormat) {
    let text = Lock("")
    var set = ReportSet([format.report { bytes in text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }])
    set.receive(facts.events + [JobEvent(seq: 5, time: .zero, fact: .runFinished(RunSummary()))])
    #expect(text.withLock { $0.hasPrefix(format.head) })
  }

  @Test func aLogThatIsNotShownIsFoldedAllTheSame() {
    var set = ReportSet([probe("a")], showsLogs: { false })
    set.receive(facts.events)
    #expect(!notes.withLock { $0 }.contains { $0.hasPrefix("a 3 ") })
    #expect(set.run?[JobID(0)].log.count == 1 && set.run?.nextSeq == 5)
  }

  @Test func theFoldKeepsAsManyLinesAsTheReportThatNeedsMost() {
    var facts = facts
    for number in 0..<9 { facts.log(0, "\(number)") }
    for (capacities, count) in [([2, 5], 5), ([5, 2], 5), ([1], 1)] {
      var set = ReportSet(capacities.map { probe("a", logCapacity: $0) })
      set.receive(facts.events)
      #expect(set.run?[JobID(0)].log.count == count)
    }
  }

  @Test func withoutReportsNothingIsFolded() {
    var set = ReportSet([])
    set.receive(facts.events)
    #expect(set.run == nil && set.wakeTime == nil)
  }

  @Test func onlyTheReportsWhoseTimeHasComeAreWoken() {
    var set = ReportSet([
      probe("a", wakesAt: .seconds(3)), probe("b"), probe("c", wakesAt: .seconds(2)), probe("d", wakesAt: .seconds(4)),
    ])
    #expect(set.wakeTime == .seconds(2))
    set.wake(at: .milliseconds(1999))
    #expect(notes.withLock { $0 } == [])
    set.wake(at: .seconds(3))
    #expect(notes.withLock { $0 } == ["a wake", "a flush", "c wake", "c flush"])
    #expect(ReportSet([probe("b")]).wakeTime == nil)
  }

  @Test func whatAReportHasWrittenIsNotWrittenAgain() {
    let makers: [@Sendable (Written) -> any Report] = [
      { JSONReport(write: $0.writer) }, { JUnitReport(write: $0.writer) }, { TraceReport(write: $0.writer) },
      { PlainReport(paint: Paint(isColoured: false), write: $0.textWriter) },
      { QuietReport(paint: Paint(isColoured: false), write: $0.textWriter) },
    ]
    for make in makers {
      let written = Written()
      var set = ReportSet([make(written)])
      set.receive(Facts.everything.events)
      let text = written.text
      set.receive([JobEvent]())
      #expect(!text.isEmpty && written.text == text)
    }
  }
}
