import Foundation
import Testing

@testable import JobModel

/// Limits, resets and accounts of a run's records.
struct BoundsTests {
  private let failure = JobFailure(.exit(1), "exit 1")

  private func ring(_ lines: [Int]) -> LogRing {
    var ring = LogRing()
    for (number, length) in lines.enumerated() {
      ring.append(LogLine(.stdout, String(repeating: "x", count: length)), seq: number, at: .zero, attempt: 1)
    }
    return ring
  }

  // MARK: Logs

  @Test func aRingHoldsNoMoreBytesThanItsLimitAndAlwaysTheNewestLine() {
    let size = 4096
    let full = ring(Array(repeating: size, count: 3 * LogRing.byteCapacity / size))
    #expect(full.count == LogRing.byteCapacity / size)
    #expect(full.total == 3 * LogRing.byteCapacity / size)
    let long = ring([10, LogRing.byteCapacity + 1])
    #expect(long.count == 1 && long.last?.number == 1)
    // What left it is not counted any more.
    let short = ring([LogRing.byteCapacity + 1] + Array(repeating: 10, count: 100))
    #expect(short.count == 100)
  }

  @Test func aLineThatLeftTheRingKeepsNoText() {
    var ring = LogRing(capacity: 10)
    for number in 0..<15 { ring.append(LogLine(.stdout, "line"), seq: number, at: .zero, attempt: 1) }
    #expect(ring.storage.count { !$0.line.text.isEmpty } == 10)
  }

  @Test func theMemoryOfATrimmedRingIsThatOfItsLines() {
    var trimmed = ring(Array(repeating: 1000, count: 100) + [5, 5])
    trimmed.trim(to: 2)
    #expect(trimmed.memory == ring([5, 5]).memory)
  }

  /// A run of jobs that end one after another, each with a full log.
  private struct Logs {
    var run = Run()

    init(_ count: Int) {
      apply(.runStarted(RunStart(id: "1", name: "g", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: count)))
      for id in 0..<count { apply(.jobAdded(JobID(id), job("\(id)"))) }
    }

    static let line = LogLine(.stdout, String(repeating: "x", count: 4096))
    static let lines = LogRing.byteCapacity / 4096

    mutating func apply(_ fact: JobFact) { run.apply(JobEvent(seq: run.nextSeq, time: .zero, fact: fact)) }

    mutating func begin(_ id: Int, attempt: Int = 1) {
      apply(.jobState(JobID(id), .executing, attempt: attempt, pid: nil))
      for _ in 0..<Self.lines { apply(.jobLog(JobID(id), attempt: attempt, Self.line)) }
    }

    mutating func end(_ id: Int, attempt: Int = 1) {
      apply(.jobState(JobID(id), .succeeded(upToDate: false), attempt: attempt, pid: nil))
    }

    var memory: Int { run.jobs.reduce(0) { $0 + $1.log.memory } }
  }

  @Test func theLogsOfEndedJobsNeverTakeMoreThanTheirLimit() {
    var logs = Logs(500)
    for id in 0..<500 {
      logs.begin(id)
      logs.end(id)
      if id % 50 == 49 { #expect(logs.memory <= 32 << 20) }
    }
    // Of 20 lines that may be kept, those with 8 KiB.
    #expect(logs.run[JobID(0)].log.count == 2)
    #expect(logs.run[JobID(499)].log.count == Logs.lines)
  }

  @Test func theLogOfAnEndedJobTakesNoMoreThanItsLines() {
    var logs = Logs(1)
    logs.apply(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
    for _ in 0..<LogRing.capacity * 3 / 2 { logs.apply(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "a"))) }
    let before = logs.run[JobID(0)].log
    logs.end(0)
    let log = logs.run[JobID(0)].log
    #expect(log == before && log.memory < before.memory)
    #expect(log.memory == LogRing.capacity * (MemoryLayout<LogRing.Entry>.stride + 1))
  }

  @Test func aJobThatRunsAgainKeepsItsLogHoweverManyEnd() {
    var logs = Logs(300)
    logs.begin(0)
    logs.end(0)
    logs.begin(0, attempt: 2)
    for id in 1..<300 {
      logs.begin(id)
      logs.end(id)
    }
    #expect(logs.run[JobID(0)].log.count == Logs.lines)
    #expect(logs.run[JobID(1)].log.count == 2)
  }

  // MARK: Times and rates

  @Test func pausesAddUp() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    for _ in 0..<2 {
      recorder.move(0, to: .paused(started: true), after: .seconds(1))
      recorder.move(0, to: .executing, after: .seconds(10))
    }
    recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(1))
    #expect(recorder[0].attempt?.pausedFor == .seconds(20))
    #expect(recorder[0].elapsed(at: .seconds(100)) == .seconds(3))
  }

  @Test func twoReportsOfOneInstantMakeNoRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, after: .zero)
    recorder.report(1_000_000, after: .zero)
    recorder.report(2_000_000, after: .milliseconds(49))
    #expect(recorder[0].rate(at: recorder.run.time) == nil)
    recorder.report(2_000_000, after: .milliseconds(951))
    #expect(recorder[0].rate(at: recorder.run.time) == 2_000_000)
  }

  @Test func progressThatFallsHasNoNegativeRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(1000, after: .zero)
    recorder.report(0, after: .seconds(2))
    recorder.report(600, after: .seconds(2))
    #expect(recorder[0].rate(at: recorder.run.time).map { $0 >= 0 && $0.isFinite } == true)
    #expect(recorder[0].rates.samples == [300, 300])
  }

  @Test func aNewAttemptInheritsNoProgressAndNoRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, after: .zero)
    recorder.report(1000, after: .seconds(5))
    recorder.move(0, to: .backingOff(until: .seconds(6), number: 1, limit: 1, after: failure))
    recorder.move(0, to: .executing, attempt: 2)
    #expect(
      recorder[0].progress == nil && recorder[0].rate(at: recorder.run.time) == nil && recorder[0].rates.samples.isEmpty
    )
    // The first report of the new attempt is no sample yet: it may be resumed from a part.
    recorder.report(900, after: .seconds(1))
    #expect(recorder[0].rate(at: recorder.run.time) == nil && recorder[0].rates.samples.isEmpty)
  }

  @Test func aShareOfNothingIsUnknown() {
    #expect(JobProgress(done: 0, total: 0, unit: .steps).fraction == nil)
    #expect(JobProgress(done: 5, total: 0, unit: .steps).fraction == nil)
  }

  // MARK: Counts and the exit status

  @Test func aCancellationRequestIsForgottenWithItsAttempt() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.state(.cancelRequested(JobID(0), by: .person, kill: false))
    #expect(recorder[0].cancelling != nil)
    recorder.move(0, to: .cancelled(by: .person))
    #expect(recorder[0].cancelling == nil)
  }

  /// The exit status of a run with one job in each of these states.
  private func exit(_ states: [JobState]) -> Int32 {
    var recorder = Recorder(states.indices.map { job("\($0)") })
    for (job, state) in states.enumerated() where state != .waiting {
      recorder.move(job, to: .executing)
      recorder.move(job, to: state)
    }
    return RunSummary(of: recorder.run).exit
  }

  @Test func workThatIsLeftIsNoSuccess() {
    let good = JobState.succeeded(upToDate: false)
    #expect(exit([good, good]) == ExitStatus.success)
    #expect(exit([good, .waiting]) == ExitStatus.workLeft)
    #expect(exit([good, .cancelled(by: .person)]) == ExitStatus.workLeft)
    #expect(exit([good, .cancelled(by: .program)]) == ExitStatus.success)
    // Each counts for itself: those of the program don't stand for one that is left.
    #expect(exit([.cancelled(by: .program), .cancelled(by: .program), .waiting]) == ExitStatus.workLeft)
    #expect(exit([.failed(failure, allowed: true), good]) == ExitStatus.success)
    #expect(exit([.failed(failure, allowed: true), .failed(failure, allowed: false)]) == ExitStatus.jobFailed)
  }

  @Test func aJobThatTheProgramCancelledAndThatRunsAgainIsNotCounted() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .cancelled(by: .program))
    #expect(recorder.run.counts.cancelledByProgram == 1)
    recorder.move(0, to: .waiting)
    #expect(recorder.run.counts.cancelledByProgram == 0)
  }

  @Test func cancellingSkipsNoDependentThatExecutes() {
    var recorder = Recorder([job("a"), job("b", 0), job("c", 1)])
    // Its need was retried while it executed.
    recorder.move(1, to: .executing)
    #expect(recorder.run.skipped(byCancelling: JobID(0)).isEmpty)
  }

  // MARK: The bytes of a ring

  @Test func aRingHoldsExactlyItsBytes() {
    let half = LogRing.byteCapacity / 2
    #expect(ring([half, half]).count == 2)
    #expect(ring([half, half + 1]).count == 1 && ring([half, half + 1]).last?.number == 1)
    #expect(ring([half, half, 1]).count == 2 && ring([half, half, 0]).count == 3)
  }

  @Test func trimmingKeepsNoMoreThanThereIs() {
    var long = ring([1, 2, 3])
    long.trim(to: 5)
    #expect(long.count == 3 && long.dropped == 0)
    long.trim(to: 1)
    #expect(long.count == 1 && long[0].number == 2 && long.dropped == 2)
    long.trim(to: 0)
    #expect(long.isEmpty && long.dropped == 3 && long.last == nil && long.memory == 0)
  }

  @Test func theBytesOfATrimmedRingAreCountedAnew() {
    let half = LogRing.byteCapacity / 2
    var trimmed = ring([half, half - 5, 5])
    trimmed.trim(to: 1)
    for seq in 3..<5 {
      trimmed.append(
        LogLine(.stdout, String(repeating: "y", count: half - 5)), seq: seq, at: .zero, attempt: 1)
    }
    #expect(trimmed.count == 3)
  }

  @Test func ringsOfOtherLinesAreNotEqual() {
    #expect(ring([1, 2]) == ring([1, 2]) && ring([1, 2]) != ring([1, 3]) && ring([1, 2]) != ring([1, 2, 3]))
  }

  @Test func aLineIsErasedOnlyIfItIsUnfinishedAndEmpty() {
    #expect(LogLine(.stdout, "", isUnfinished: true).isErased)
    #expect(!LogLine(.stdout, "").isErased && !LogLine(.stdout, "x", isUnfinished: true).isErased)
  }
}
