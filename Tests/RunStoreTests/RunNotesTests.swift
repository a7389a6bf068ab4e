import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

@Suite struct RunNotesTests {
  /// Notes of a run with two jobs, to which a test adds facts.
  private struct Notebook {
    var notes = RunNotes { $0 == JobID(0) ? "f0" : nil }
    private var seq = 0

    init() {
      let at = Date(timeIntervalSince1970: 1000)
      state(.runStarted(RunStart(id: "r", name: "n", slots: 1, at: at, jobs: 2)), at: 0)
      for number in 0..<2 {
        state(.jobAdded(JobID(number), Job(name: "job\(number)", work: .simulate(SimulatedWork()))), at: 0)
      }
    }

    mutating func state(_ fact: JobFact, at seconds: Double) {
      notes.take(JobEvent(seq: seq, time: .seconds(seconds), fact: fact))
      seq += 1
    }

    mutating func move(_ state: JobState, at seconds: Double, job: Int = 0, attempt: Int = 1) {
      self.state(.jobState(JobID(job), state, attempt: attempt, pid: nil), at: seconds)
    }

    /// How long the last attempts of the jobs that have ended took.
    var times: [Duration?] { notes.batch.ended.map(\.took) }
  }

  private var book = Notebook()

  // MARK: The time of an attempt

  @Test mutating func theTimeInWhichAServiceServesCounts() {
    book.move(.executing, at: 1)
    book.move(.serving, at: 3)
    book.move(.cancelled(by: .unneeded), at: 10)
    #expect(book.times == [.seconds(9)])
  }

  @Test mutating func pausesDoNotCountAlsoNotOneThatLastsToTheEnd() {
    book.move(.executing, at: 1)
    book.move(.paused(started: true), at: 2)
    book.move(.serving, at: 4)
    book.move(.paused(started: true), at: 5)
    book.move(.executing, at: 8)
    book.move(.paused(started: true), at: 9)
    book.move(.cancelled(by: .person), at: 20)
    // From 1 to 2, from 4 to 5 and from 8 to 9.
    #expect(book.times == [.seconds(3)])
  }

  @Test mutating func theLastAttemptCountsAlone() {
    book.move(.executing, at: 1)
    book.move(.paused(started: true), at: 2)
    book.move(.backingOff(until: .seconds(5), number: 1, limit: 1, after: JobFailure(.error, "no")), at: 4)
    book.move(.executing, at: 5, attempt: 2)
    book.move(.succeeded(upToDate: false), at: 7, attempt: 2)
    #expect(book.times == [.seconds(2)] && book.notes.batch.ended.map(\.attempts) == [2])
  }

  @Test mutating func anAttemptWithoutAFailureBeforeItBeginsANewCount() {
    func fail(_ attempt: Int) -> JobState {
      .backingOff(until: .zero, number: attempt, limit: 9, after: JobFailure(.error, "no"))
    }
    book.move(.executing, at: 1)
    // Stated while an attempt goes on, it is about the next one.
    book.state(.jobCaused(JobID(0), attempt: 2, "a has changed"), at: 2)
    book.move(.succeeded(upToDate: false), at: 2)
    book.move(.executing, at: 3, attempt: 2)
    book.move(.succeeded(upToDate: false), at: 4, attempt: 2)
    book.state(.jobCaused(JobID(0), attempt: 3, "a has changed"), at: 5)
    book.move(.executing, at: 5, attempt: 3)
    book.move(fail(3), at: 6, attempt: 3)
    book.move(.executing, at: 7, attempt: 4)
    book.move(.succeeded(upToDate: false), at: 8, attempt: 4)
    #expect(book.notes.batch.ended.map(\.attempts) == [1, 1, 2])
  }

  @Test mutating func jobsThatExecuteAtTheSameTimeAreKeptApart() {
    book.move(.executing, at: 1)
    book.move(.executing, at: 2, job: 1)
    book.move(.paused(started: true), at: 3)
    book.move(.succeeded(upToDate: false), at: 5, job: 1)
    book.move(.succeeded(upToDate: false), at: 6)
    #expect(book.notes.batch.ended.map(\.name) == ["job1", "job0"])
    #expect(book.times == [.seconds(3), .seconds(2)])
  }

  @Test mutating func theNodesOwnTimeCountsForTheAttemptThatItNoted() {
    book.move(.executing, at: 1)
    book.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", took: .seconds(2))), at: 3)
    book.move(.failed(JobFailure(.error, "no"), allowed: false), at: 9)
    book.move(.executing, at: 10, attempt: 2)
    book.move(.succeeded(upToDate: false), at: 14, attempt: 2)
    #expect(book.times == [.seconds(2), .seconds(4)])
  }

  @Test mutating func aJobThatNeverExecutedTookNoTime() {
    book.move(.skipped(because: .condition), at: 4, attempt: 0)
    #expect(book.times == [nil] && book.notes.batch.ended.map(\.outcome) == [.skipped])
  }

  // MARK: What else is noted of an end

  @Test mutating func aRestoredJobTookWhatItTookEarlier() {
    let success = EarlierSuccess(run: "q", at: Date(timeIntervalSince1970: 0), took: .seconds(70))
    book.state(.jobRestored(JobID(0), success), at: 1)
    for job in 0..<2 { book.move(.succeeded(upToDate: true), at: 1, job: job, attempt: 0) }
    #expect(book.times == [.seconds(70), nil])
    #expect(book.notes.batch.ended.map(\.outcome) == [.restored, .upToDate])
  }

  @Test mutating func anEndHasTheFingerprintAndTheInputsOfItsJob() {
    book.state(.inputsHashed(JobID(0), "i0"), at: 1)
    for job in 0..<2 { book.move(.succeeded(upToDate: false), at: 2.5, job: job) }
    book.move(.succeeded(upToDate: false), at: 3, attempt: 2)
    #expect(book.notes.batch.ended.map(\.fingerprint) == ["f0", nil, "f0"])
    #expect(book.notes.batch.ended.map(\.inputs) == ["i0", nil, nil])
    #expect(book.notes.batch.ended.first?.at == Date(timeIntervalSince1970: 1002.5))
  }

  // MARK: Batches

  @Test mutating func aBatchHasWhatCameSinceTheLastOne() {
    book.move(.executing, at: 1)
    let first = book.notes.takeBatch()
    #expect(first.jobs == 2 && first.ended == [] && first.chunks.map(\.count) == [4] && !first.isEmpty)
    #expect(book.notes.batch.isEmpty)
    book.move(.succeeded(upToDate: false), at: 2)
    let second = book.notes.takeBatch()
    #expect(second.ended.map(\.took) == [.seconds(1)] && second.chunks.map(\.first) == [4])
  }

  @Test mutating func aRunIsAsLongAsUntilTheLastEndOfAJob() {
    book.move(.succeeded(upToDate: false), at: 2)
    book.move(.failed(JobFailure(.error, "no"), allowed: false), at: 5, job: 1)
    book.state(.slotsChanged(2), at: 7)
    #expect(book.notes.batch.end == nil)
    book.state(.runFinished(RunSummary()), at: 9)
    #expect(book.notes.batch.end?.length == .seconds(5) && book.notes.batch.end?.jobs == 2)
    #expect(book.notes.batch.end?.at == Date(timeIntervalSince1970: 1009))
  }

  @Test mutating func onlyTheEndOfAJobMakesTheRunLonger() {
    book.move(.executing, at: 1)
    book.move(.succeeded(upToDate: false), at: 2)
    book.move(.executing, at: 3, job: 1)
    book.move(.backingOff(until: .seconds(9), number: 1, limit: 1, after: JobFailure(.error, "no")), at: 6, job: 1)
    book.state(.runFinished(RunSummary()), at: 9)
    #expect(book.notes.batch.ended.map(\.name) == ["job0"])
    #expect(book.notes.batch.end?.length == .seconds(2))
  }

  @Test mutating func theEndOfAnUnknownJobIsNoRow() {
    book.move(.succeeded(upToDate: false), at: 2, job: 2)
    #expect(book.notes.batch.ended == [])
    book.state(.runFinished(RunSummary()), at: 9)
    #expect(book.notes.batch.end?.length == .zero)
  }

  // MARK: Chunks

  @Test mutating func aChunkThatIsFullIsCompressedAndTheNextFollowsIt() throws {
    let line = LogLine(.stdout, String(repeating: "abcdefgh", count: 500))
    var count = 0
    while book.notes.batch.chunks.count < 2, count < 1000 {
      book.state(.jobLog(JobID(0), attempt: 1, line), at: 1)
      count += 1
    }
    let batch = book.notes.batch
    try #require(batch.chunks.count == 2)
    // The event that goes beyond the size still belongs to the chunk.
    let size = try #require(batch.chunks[0].size)
    #expect(size >= EventChunk.size && size < EventChunk.size + 5000)
    #expect(batch.chunks[0].count == 3 + count - 1)
    #expect(batch.chunks[1].first == 3 + count - 1)
    #expect(batch.chunks[1].count == 1 && batch.chunks[1].size == nil)
    #expect(batch.bytes == batch.chunks.reduce(0) { $0 + $1.bytes.count })
    book.move(.succeeded(upToDate: false), at: 2)
    #expect(book.notes.batch.bytes > book.notes.batch.chunks.reduce(0) { $0 + $1.bytes.count })
  }

  // MARK: Processes

  @Test mutating func theProcessOfAnAttemptIsNotedOnceAndGoesWithIt() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    let process = try #require(ProcessIdentity.of(child.pid))
    for (state, seconds) in [(JobState.executing, 1.0), (.paused(started: true), 2), (.executing, 3)] {
      book.state(.jobState(JobID(0), state, attempt: 3, pid: child.pid), at: seconds)
    }
    book.state(.jobLaunched(JobID(0), pid: 1), at: 3)
    // Not a child of this process.
    book.state(.jobState(JobID(1), .executing, attempt: 1, pid: 1), at: 3)
    let first = book.notes.takeBatch()
    #expect(first.begun == [AttemptProcess(job: JobID(0), name: "job0", attempt: 3, process: process)])
    #expect(first.gone.isEmpty)
    book.state(.jobState(JobID(0), .executing, attempt: 3, pid: child.pid), at: 4)
    #expect(book.notes.takeBatch().begun == [])
    for job in 0..<2 { book.move(.succeeded(upToDate: false), at: 5, job: job, attempt: 3) }
    let last = book.notes.takeBatch()
    #expect(last.gone.map(\.job) == [JobID(0)])
    #expect(last.gone.map(\.attempt) == [3])
  }

  @Test mutating func aProcessThatIsKnownAfterTheStartIsNoted() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    book.state(.jobLaunched(JobID(0), pid: child.pid), at: 1)
    book.move(.executing, at: 2)
    #expect(book.notes.takeBatch().begun == [])
    book.state(.jobLaunched(JobID(0), pid: child.pid), at: 3)
    #expect(book.notes.takeBatch().begun.map(\.process.pid) == [child.pid])
  }

  @Test mutating func theProcessOfAJobThatWasNotAddedIsLeftOut() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    book.state(.jobState(JobID(2), .executing, attempt: 1, pid: child.pid), at: 1)
    #expect(book.notes.takeBatch().begun == [])
  }

  @Test mutating func anAttemptThatBeginsAndEndsInABatchLeavesNoProcess() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    book.state(.jobState(JobID(0), .executing, attempt: 1, pid: child.pid), at: 1)
    book.move(.succeeded(upToDate: false), at: 2)
    let batch = book.notes.takeBatch()
    #expect(batch.begun == [] && batch.gone.isEmpty)
    #expect(batch.ended.count == 1)
  }
}
