import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

/// What a store reads of rows that a test has written.
struct StoreReadingTests {
  private let rows: StoreRows

  init() throws { rows = try StoreRows() }

  private func run(_ id: String) throws -> RunEntry { try rows.store().run(named: id) }

  // MARK: Runs

  @Test func eachColumnOfARunIsReadInItsPlace() throws {
    let origin = RunOrigin(
      command: "run", words: ["--x"], file: "/f", directory: "/d", slots: 3, onFailure: "stop-now")
    let words = String(decoding: try JSONEncoder().encode(origin), as: UTF8.self)
    try rows.addRun("r", started: 10, ended: 20, process: ProcessIdentity(pid: 7, startTime: 8, boot: "boot"))
    try rows.execute(
      """
      UPDATE runs SET name = 'name', origin = '\(words)', jobs = 9, cookie = 'c', folder = '/o', resumes = 'q',
      succeeded = 1, failed = 2, allowed = 3, skipped = 4, cancelled = 5, cancelled_by_program = 6, "left" = 7,
      exit = 8, length = 9.5
      """)
    var summary = RunSummary()
    (summary.succeeded, summary.failed, summary.allowed, summary.skipped) = (1, 2, 3, 4)
    (summary.cancelled, summary.cancelledByProgram, summary.left, summary.exit) = (5, 6, 7, 8)
    let expected = RunEntry(
      id: "r", name: "name", origin: origin, startedAt: Date(timeIntervalSince1970: 10),
      endedAt: Date(timeIntervalSince1970: 20), summary: summary, length: .seconds(9.5), jobs: 9,
      process: ProcessIdentity(pid: 7, startTime: 8, boot: "boot"), folder: "/o", resumes: "q", cookie: "c")
    #expect(try run("r") == expected)
  }

  @Test func whatARunDoesNotHaveIsNil() throws {
    try rows.addRun("r", ended: nil, process: ProcessIdentity(pid: 7, startTime: 8, boot: ""))
    try rows.execute("UPDATE runs SET start_time = -1, origin = 'damaged'")
    let run = try run("r")
    #expect(run.endedAt == nil && run.summary == nil && run.length == nil)
    #expect(run.folder == nil && run.resumes == nil && run.cookie == nil)
    #expect(run.process == ProcessIdentity(pid: 7, startTime: 0, boot: ""))
    #expect(run.origin == RunOrigin(command: "", directory: "/", slots: 1, onFailure: "keep-going"))
  }

  @Test func onlyARunWithoutAnEndAndWithItsProcessGoesOn() throws {
    try rows.addRun("on", ended: nil, process: .current)
    try rows.addRun("killed", ended: nil)
    try rows.addRun("ended", process: .current)
    let store = try rows.store()
    #expect(try store.runs().map { store.isGoingOn($0) } == [false, false, true])
  }

  @Test func ofManyRunsThatBeginSoFiveAreNamed() throws {
    for number in 1...6 { try rows.addRun("r\(number)") }
    let fault = RunStoreError(.ambiguousRun("r", ["r6", "r5", "r4", "r3", "r2"]), rows.path)
    #expect(throws: fault) { try run("r") }
    try rows.addRun("r")
    #expect(try run("r").id == "r")
  }

  @Test func anEmptyStoreHasNoLastRun() throws {
    #expect(throws: RunStoreError(.unknownRun("last", nearest: nil), rows.path)) { try run("last") }
    #expect(try rows.store().runs() == [])
  }

  @Test func theRunsOfAFileAreLimited() throws {
    for (id, file) in [("a", "/f"), ("b", "/g"), ("c", "/f"), ("d", "/f")] { try rows.addRun(id, file: file) }
    try rows.addRun("e", file: nil)
    let store = try rows.store()
    #expect(try store.lastRuns(ofFile: "/f", 2).map(\.id) == ["d", "c"])
    #expect(try store.lastRuns(ofFile: nil, 2).map(\.id) == ["e"])
    #expect(try store.runs(3).map(\.id) == ["e", "d", "c"])
  }

  // MARK: Jobs

  @Test func theLastEndsOfAFilesNewestRunsAreRead() throws {
    let numbers = try [("a", "/f"), ("b", "/f"), ("c", "/g"), ("d", "/f")].map { try rows.addRun($0.0, file: $0.1) }
    for (index, run) in numbers.enumerated() {
      try rows.addEnd(run, "x", at: Double(index))
      try rows.addEnd(run, "y", at: Double(index), inputs: "i\(index)")
    }
    let store = try rows.store()
    let ends = try store.lastEnds(ofFile: "/f", runs: 2, 100)
    #expect(ends.map { $0.run + $0.name } == ["dy", "dx", "by", "bx"])
    // Without inputs a fingerprint is of no use.
    #expect(ends.map(\.fingerprint) == ["00ff", nil, "00ff", nil])
    #expect(ends.map(\.inputs) == ["i3", nil, "i1", nil])
    #expect(try store.lastEnds(ofFile: "/f", runs: 2, 3).count == 3)
    #expect(try store.lastAttempt("x", ofFile: "/f")?.end.run == "d")
    #expect(try store.lastAttempt("x", ofFile: "/g")?.run == numbers[2])
  }

  @Test func eachColumnOfAnEndIsReadInItsPlace() throws {
    let run = try rows.addRun("r")
    try rows.addEnd(run, "x", at: 9, inputs: "i")
    try rows.execute("UPDATE ended SET job = 4, attempts = 3, outcome = 'up-to-date'")
    try rows.addEnd(run, "y", at: 10)
    try rows.execute("UPDATE ended SET seconds = NULL, outcome = 'of a later version' WHERE name = 'y'")
    let ends = try rows.store().ended(in: self.run("r"))
    #expect(
      ends == [
        EndedJob(
          run: "r", job: JobID(4), name: "x", fingerprint: "00ff", attempts: 3, outcome: .upToDate,
          took: .seconds(2.5), at: Date(timeIntervalSince1970: 9), inputs: "i"),
        EndedJob(
          run: "r", job: JobID(0), name: "y", fingerprint: "00ff", attempts: 1, outcome: .failed,
          at: Date(timeIntervalSince1970: 10)),
      ])
  }

  @Test func theProcessesOfARunComeByJob() throws {
    let (run, other) = (try rows.addRun("r"), try rows.addRun("other"))
    for job in [2, 0, 1] { try rows.addProcess(run, job: job, attempt: job + 1) }
    try rows.addProcess(other, job: 5)
    let processes = try rows.store().processes(of: self.run("r"))
    #expect(
      processes
        == (0..<3).map { job in
          AttemptProcess(
            job: JobID(job), name: "job\(job)", attempt: job + 1,
            process: ProcessIdentity(pid: Int32(100 + job), startTime: 1, boot: "b"))
        })
  }

  // MARK: Events

  private func lines(_ run: String, from first: Int = 0, most: Int = .max) throws -> [String] {
    let store = try rows.store()
    var pieces: [String] = []
    try store.eventLines(of: store.run(named: run), from: first) { bytes in
      pieces.append(String(decoding: bytes, as: UTF8.self))
      return pieces.count < most
    }
    return pieces
  }

  @Test func eventsAreReadFromANumberOnUntilItIsEnough() throws {
    let (run, other) = (try rows.addRun("r"), try rows.addRun("other"))
    try rows.addEvents(run, first: 3, ["d"])
    try rows.addEvents(run, first: 0, ["a", "b"])
    try rows.addEvents(run, first: 2, ["c"])
    try rows.addEvents(other, first: 0, ["x"])
    #expect(try lines("r") == ["a\nb\n", "c\n", "d\n"])
    #expect(try lines("r", from: 2) == ["c\n", "d\n"])
    #expect(try lines("r", from: 4) == [])
    #expect(try lines("r", most: 2) == ["a\nb\n", "c\n"])
  }

  @Test(arguments: [3, 1]) func aGapInTheEventsIsADamage(second: Int) throws {
    let run = try rows.addRun("r")
    try rows.addEvents(run, first: 0, ["a", "b"])
    try rows.addEvents(run, first: second, ["c"])
    let fault = RunStoreError(.damaged("the events of run r from number 2 on"), rows.path)
    #expect(throws: fault) { try lines("r") }
  }

  @Test(arguments: ["size = size + 1", "size = -1", "deflated = x'00'"]) func eventsAreWhole(change: String) throws {
    let run = try rows.addRun("r")
    try rows.addEvents(run, first: 0, ["a"])
    try rows.execute("UPDATE events SET \(change)")
    #expect(throws: RunStoreError(.damaged("the events of run r from number 0 on"), rows.path)) { try lines("r") }
  }

  @Test func aLineThatIsNoEventIsADamage() throws {
    let run = try rows.addRun("r")
    try rows.addEvents(run, first: 0, ["no event"])
    let store = try rows.store()
    let error = #expect(throws: RunStoreError.self) { try store.events(of: self.run("r")) }
    guard case .damaged(let text) = error?.reason else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(text.hasPrefix("the events of run r: "))
  }

  @Test func aSlowReaderOfEventsKeepsNoLog() throws {
    let run = try rows.addRun("r")
    for first in 0..<3 { try rows.addEvents(run, first: first, ["\(first)"]) }
    let store = try rows.store()
    let entry = try store.run(named: "r")
    let writer = try Database(rows.path, .readWrite, patience: .zero)
    var (lines, busy): ([String], [Int]) = ([], [])
    try store.eventLines(of: entry) { bytes in
      lines.append(String(decoding: bytes, as: UTF8.self))
      try writer.execute("UPDATE runs SET jobs = jobs + 1")
      // 1 where a reader needs the log.
      busy += try writer.all("PRAGMA wal_checkpoint(TRUNCATE)") { $0.int(0) }
      return true
    }
    #expect(lines == ["0\n", "1\n", "2\n"] && busy == [0, 0, 0])
  }

  @Test func aRunThatIsRemovedWhileItIsReadIsMissed() throws {
    let run = try rows.addRun("r")
    for first in 0..<2 { try rows.addEvents(run, first: first, ["\(first)"]) }
    let store = try rows.store()
    let entry = try store.run(named: "r")
    #expect(throws: RunStoreError(.unknownRun("r", nearest: nil), rows.path)) {
      try store.eventLines(of: entry) { _ in
        try rows.execute("DELETE FROM runs")
        return true
      }
    }
  }
}
