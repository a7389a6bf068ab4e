import Foundation
import JobModel
import Testing

@testable import Reports

@Suite struct RunFiguresTests {
  private let failure = JobFailure(.exit(1), "exit 1")

  /// Jobs that were executed one after the other, with their seconds and what they needed.
  private func chain(_ seconds: [Double], slots: Int = 2) -> Facts {
    var facts = Facts()
    facts.begin(
      seconds.indices.map {
        Job(name: "j\($0)", work: .simulate(SimulatedWork()), needs: $0 == 0 ? [] : [JobNeed(JobID($0 - 1))])
      }, slots: slots)
    for (id, seconds) in seconds.enumerated() {
      facts.job(id, .executing)
      facts.job(id, .succeeded(upToDate: false), after: .seconds(seconds))
    }
    return facts
  }

  @Test func theLargestSharesAreInTheOrderOfThePath() {
    let figures = RunFigures(chain([1, 5, 2, 5, 3]).run)
    #expect(figures.chain.map(\.job.index) == [0, 1, 2, 3, 4])
    #expect(figures.largestLinks(3).map(\.job.index) == [1, 3, 4])
    // Of equal shares the first.
    #expect(figures.largestLinks(1).map(\.job.index) == [1] && figures.largestLinks(9).count == 5)
    #expect(figures.pathTime == .seconds(16) && figures.pathExecuting == .seconds(16))
    #expect(figures.meanBusy == 1 && figures.end == .seconds(16))
  }

  @Test func aJobOfFinallyIsTheLastLinkOfThePath() {
    var facts = Facts()
    var clean = Job(name: "clean", work: .simulate(SimulatedWork()))
    clean.finally = .always
    let jobs = ["a", "b"].map { Job(name: $0, work: .simulate(SimulatedWork())) }
    facts.begin(jobs + [clean])
    for id in 0..<2 { facts.job(id, .executing) }
    facts.job(1, .succeeded(upToDate: false), after: .seconds(2))
    facts.job(0, .succeeded(upToDate: false), after: .seconds(7))
    facts.job(2, .executing)
    facts.job(2, .succeeded(upToDate: false), after: .seconds(1))
    let figures = RunFigures(facts.run)
    #expect(figures.chain.map(\.job.index) == [0, 2])
    #expect(figures.pathTime == .seconds(10) && figures.pathExecuting == .seconds(10))
  }

  @Test func aJobThatHadEndedDidNotWait() {
    var facts = chain([2, 1])
    facts.job(0, .executing, attempt: 2, after: .seconds(7))
    facts.job(0, .succeeded(upToDate: false), attempt: 2, after: .seconds(2))
    facts.job(1, .ready(for: .slot), attempt: 1)
    facts.job(1, .executing, attempt: 2, after: .seconds(1))
    facts.job(1, .succeeded(upToDate: false), attempt: 2, after: .seconds(3))
    let chain = RunFigures(facts.run).chain
    #expect(chain.map(\.share) == [.seconds(12), .seconds(4)])
    // The second execution of the second job alone is in its share.
    #expect(chain.map(\.executing) == [.seconds(4), .seconds(3)])
    #expect(chain.map(\.waited) == [.zero, .seconds(1)])
  }

  @Test func slotsHaveANumberUnlessItChangesOrThereIsNone() {
    #expect(RunFigures(chain([1], slots: 3).run).slotCount == 3)
    #expect(RunFigures(chain([1], slots: Run.unlimited).run).slotCount == nil)
    var facts = chain([1])
    facts.state(.slotsChanged(3))
    #expect(RunFigures(facts.run).slotCount == nil)
  }

  @Test func theEndIsThatOfTheLastJobOrOfTheRecording() {
    var facts = chain([1, 1])
    facts.state(.runFinished(RunSummary()), after: .seconds(5))
    #expect(RunFigures(facts.run).end == .seconds(2))
    var cut = Facts()
    cut.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    cut.job(0, .executing)
    cut.state(.slotsChanged(3), after: .seconds(5))
    let figures = RunFigures(cut.run)
    #expect(figures.end == .seconds(5) && figures.meanBusy == 1 && figures.chain.map(\.share) == [.seconds(5)])
  }

  @Test func theSlowestComeFirstAndOfEqualsTheFirst() {
    let figures = RunFigures(chain([2, 5, 2, 7]).run)
    #expect(figures.slowest.map(\.index) == [3, 1, 0, 2])
  }

  @Test func aWaitNamesTheJobThatWaitedLongest() {
    var facts = Facts()
    facts.begin((0..<3).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    for id in 0..<3 { facts.job(id, .ready(for: .slot), attempt: 0) }
    for id in [1, 0, 2] { facts.job(id, .executing, after: .seconds(id == 2 ? 0 : 2)) }
    let wait = RunFigures(facts.run).waits
    #expect(wait.map(\.kind) == [.forSlot] && wait[0].jobs == 3 && wait[0].total == .seconds(10))
    // Both waited for four seconds.
    #expect(wait[0].longest.job == JobID(0) && wait[0].longest.time == .seconds(4))
  }

  @Test func whatWasNotExecutedIsCountedByItsReason() {
    var facts = Facts()
    facts.begin((0..<3).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    facts.state(.jobRestored(JobID(1), EarlierSuccess(run: "r0", at: .distantPast, took: .seconds(1))))
    for id in 0..<3 { facts.job(id, .succeeded(upToDate: id < 2), attempt: id < 2 ? 0 : 1) }
    let figures = RunFigures(facts.run)
    #expect(figures.restored == [JobID(1)] && figures.slowest.isEmpty)
  }

  // MARK: Usual times

  /// A job with a usual time of ten seconds after its tries, the last of which took some seconds.
  private func record(
    _ seconds: Double, tries: Int = 1, failures: Int = 0, _ end: JobState = .succeeded(upToDate: false)
  )
    -> JobRecord
  {
    var facts = Facts()
    facts.begin([
      Job(
        name: "a", work: .simulate(SimulatedWork()),
        usual: UsualTime(median: .seconds(10), ninetieth: .seconds(12), count: 5, failures: failures, attempts: 9))
    ])
    for number in 1..<(tries + 1) {
      facts.job(0, .executing, attempt: number)
      let state = JobState.backingOff(until: .zero, number: number, limit: 9, after: failure)
      facts.job(0, number == tries ? end : state, attempt: number, after: .seconds(number == tries ? seconds : 1))
    }
    return facts.run[JobID(0)]
  }

  @Test(arguments: [(11.0, "+10%"), (10.9, nil), (9.1, nil), (9, "-10%"), (10, nil), (25, "+150%"), (2.5, "-75%")])
  func aDeviationIsATenthOrMore(_ seconds: Double, _ text: String?) {
    #expect(record(seconds).deviation == text)
  }

  @Test func aUsualTimeOfNextToNothingIsCompared() {
    var facts = Facts()
    let usual = UsualTime(
      median: .nanoseconds(1) / 1_000_000_000, ninetieth: .seconds(1), count: 1, failures: 0, attempts: 1)
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()), usual: usual)])
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false), after: .seconds(1e8))
    #expect(facts.run[JobID(0)].deviation == "+\(Int.max)%")
  }

  @Test func onlyASuccessAtOnceDeviates() {
    #expect(record(20, tries: 2).deviation == nil)
    #expect(record(20, .failed(failure, allowed: true)).deviation == nil)
  }

  @Test func aFlakyJobSaysWhy() {
    #expect(record(10).flakiness == "")
    #expect(record(10, tries: 2).flakiness == "ok, after 2 tries")
    #expect(record(10, failures: 3).flakiness == "failed 3 of its last 9 attempts")
    #expect(record(10, tries: 3, failures: 1).flakiness == "ok, after 3 tries; failed 1 of its last 9 attempts")
    #expect(record(10, tries: 2, .failed(failure, allowed: false)).flakiness == "")
  }

  @Test func theFlakiestHadTheMostTriesThenTheMostFailures() {
    var facts = Facts()
    func job(_ failures: Int?) -> Job {
      let usual = failures.map {
        UsualTime(median: .seconds(1), ninetieth: .seconds(1), count: 5, failures: $0, attempts: 10)
      }
      return Job(name: "x", work: .simulate(SimulatedWork()), usual: usual)
    }
    facts.begin([job(1), job(nil), job(4), job(0), job(nil), job(9)])
    for (id, tries) in [1, 3, 1, 1, 2, 1].enumerated() {
      facts.job(id, .executing, attempt: 1)
      if tries > 1 { facts.job(id, .executing, attempt: tries) }
      let end = JobState.failed(failure, allowed: false)
      facts.job(id, id == 5 ? end : .succeeded(upToDate: false), attempt: tries)
    }
    #expect(RunFigures(facts.run).flakiest.map(\.index) == [1, 4, 2, 0])
  }
}
