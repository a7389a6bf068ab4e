import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

struct RunWriterTests {
  private let rows: StoreRows
  private let start = RunStart(
    id: "r", name: "n", slots: 1, at: Date(timeIntervalSince1970: 1000), jobs: 2, folder: "/o", resumes: "q")
  private static let origin = RunOrigin(command: "run", file: "/f", directory: "/", slots: 1, onFailure: "keep-going")

  init() throws { rows = try StoreRows() }

  private func writer() throws -> RunWriter { try RunWriter(rows.state, patience: .patience) }

  private func batch(first: Int, _ lines: [String], jobs: Int = 2) -> RunNotes.Batch {
    var batch = RunNotes.Batch()
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    batch.chunks = [EventChunk(first: first, count: lines.count, bytes: bytes)]
    batch.jobs = jobs
    return batch
  }

  private func process(_ job: Int, attempt: Int) -> AttemptProcess {
    AttemptProcess(job: JobID(job), name: "job\(job)", attempt: attempt, process: StoreRows.gone)
  }

  private func run() throws -> RunEntry { try rows.store().run(named: "r") }

  @Test func theBatchesOfARunAddUp() throws {
    let writer = try writer()
    try writer.write(batch(first: 0, ["a", "b"], jobs: 3), of: start, origin: Self.origin, cookie: "c")
    // Fewer jobs than were known before, and a chunk without events.
    var second = batch(first: 2, ["c"], jobs: 1)
    second.chunks.append(EventChunk(first: 3))
    try writer.write(second, of: start, origin: Self.origin, cookie: "c")
    #expect(
      try run()
        == RunEntry(
          id: "r", name: "n", origin: Self.origin, startedAt: start.at, jobs: 3, process: .current, folder: "/o",
          resumes: "q", cookie: "c"))
    #expect(try rows.numbers("SELECT first FROM events ORDER BY first") == [0, 2])
    #expect(try rows.numbers("SELECT count FROM events ORDER BY first") == [2, 1])
    #expect(try rows.numbers("SELECT size FROM events ORDER BY first") == [4, 2])
    let sizes = try rows.numbers("SELECT length(deflated) FROM events")
    #expect(try rows.numbers("SELECT bytes FROM runs") == [sizes.reduce(0, +)])
  }

  @Test func aProcessIsARowUntilItsAttemptHasEnded() throws {
    let writer = try writer()
    var first = batch(first: 0, ["a"])
    first.begun = [process(0, attempt: 1), process(1, attempt: 1), process(1, attempt: 2)]
    try writer.write(first, of: start, origin: Self.origin, cookie: nil)
    var second = batch(first: 1, ["b"])
    second.gone = [(JobID(1), 1)]
    try writer.write(second, of: start, origin: Self.origin, cookie: nil)
    #expect(try rows.store().processes(of: run()) == [process(0, attempt: 1), process(1, attempt: 2)])
    var last = batch(first: 2, ["c"])
    last.end = RunNotes.End(at: start.at + 9, summary: RunSummary(), jobs: 2, length: .seconds(8))
    try writer.write(last, of: start, origin: Self.origin, cookie: nil)
    #expect(try rows.store().processes(of: run()) == [])
  }

  @Test func theEndOfARunHasItsNumbers() throws {
    var summary = RunSummary()
    (summary.succeeded, summary.failed, summary.allowed, summary.skipped) = (1, 2, 3, 4)
    (summary.cancelled, summary.cancelledByProgram, summary.left, summary.exit) = (5, 6, 7, 8)
    var batch = batch(first: 0, ["a"])
    batch.end = RunNotes.End(at: start.at + 9.5, summary: summary, jobs: 4, length: .seconds(8.25))
    let job = EndedJob(
      run: "r", job: JobID(1), name: "job1", fingerprint: "00ff", attempts: 3, outcome: .allowed, took: .seconds(1.5),
      at: start.at + 2, inputs: "i")
    batch.ended = [job]
    try writer().write(batch, of: start, origin: Self.origin, cookie: nil)
    let run = try run()
    #expect(run.endedAt == start.at + 9.5 && run.summary == summary && run.length == .seconds(8.25))
    #expect(run.jobs == 4 && run.cookie == nil)
    #expect(try rows.store().ended(in: run) == [job])
  }

  @Test func ofABatchThatFailsNothingIsWritten() throws {
    try writer().write(batch(first: 0, ["a"]), of: start, origin: Self.origin, cookie: nil)
    var other = batch(first: 0, ["b"])
    other.ended = [EndedJob(run: "r", job: JobID(0), name: "x", attempts: 1, outcome: .ok, at: start.at)]
    // Another program's run has this identifier.
    #expect(throws: RunStoreError.self) {
      try writer().write(other, of: start, origin: Self.origin, cookie: nil)
    }
    #expect(try rows.numbers("SELECT count(*) FROM events") == [1])
    #expect(try rows.numbers("SELECT count(*) FROM ended") == [0])
  }

  @Test func onlyARunWithARowCanBeClosed() throws {
    let end = RunNotes.End(at: start.at + 5, summary: RunSummary(), jobs: 2, length: .seconds(4))
    try writer().close(start, end)
    #expect(try rows.store().runs() == [])
    try rows.addRun("other", ended: nil)
    let number = try rows.addRun("r", ended: nil)
    try rows.addProcess(number, job: 0)
    try writer().close(start, end)
    #expect(try run().endedAt == start.at + 5)
    #expect(try rows.store().run(named: "other").endedAt == nil)
    #expect(try rows.store().processes(of: run()) == [])
  }
}
