import Basics
import Foundation
import JobModel

/// The recorded runs of a state folder: `opdash.db` in it.
///
/// For any thread; calls wait for each other. Nothing is made where no run was recorded: such a store is empty.
package final class RunStore: Sendable {
  /// The state folder.
  package let folder: String
  let database: Lock<Database>

  static func path(in folder: String) -> String { "\(folder)/opdash.db" }
  /// All files that SQLite may have there.
  package static func files(in folder: String) -> [String] { Database.files(at: path(in: folder)) }
  /// The write-ahead log, which SQLite names so.
  static func logPath(in folder: String) -> String { path(in: folder) + "-wal" }

  /// Opens the store for reading; waits up to `patience` for the lock of another program.
  package init(folder: String, patience: Duration = .seconds(10)) throws(RunStoreError) {
    self.folder = folder
    database = Lock(try Self.openForReading(folder, patience: patience))
  }

  static func openForWriting(_ folder: String, patience: Duration) throws(RunStoreError) -> Database {
    _ = PrivateFolder.make(folder)
    let database = try Database(path(in: folder), .create, patience: patience)
    // A database of a later version must stay as it is.
    database.setCheckpointsOnClose(false)
    try Schema.check(database)
    // Before the first table, and before the log, or it has no effect.
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try database.useLog(patience: patience)
    // A commit survives its program when it returns; `RunRecorder` flushes the log to the disk.
    try database.execute("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = \(8 << 20)")
    try Schema.migrate(database)
    database.setCheckpointsOnClose(true)
    return database
  }

  private static func openForReading(_ folder: String, patience: Duration) throws(RunStoreError) -> Database {
    let path = path(in: folder)
    guard access(path, F_OK) == 0 || errno != ENOENT else { return try openEmpty(path, patience: patience) }
    do throws(RunStoreError) {
      let database = try Database(path, .readWrite, patience: patience)
      database.setCheckpointsOnClose(false)
      // A program that records is about to make the tables.
      if try Schema.stepsTaken(database) == 0 { return try openEmpty(path, patience: patience) }
      try Schema.migrate(database)
      return database
    } catch {
      guard case .notWritable = error.reason else { throw error }
      return try openReadOnly(path, patience: patience)
    }
  }

  private static func openEmpty(_ path: String, patience: Duration) throws(RunStoreError) -> Database {
    let database = try Database(path, .memory, patience: patience)
    try Schema.migrate(database)
    return database
  }

  /// Opens a store in a folder where nothing can be written, as another user's, or an image's.
  private static func openReadOnly(_ path: String, patience: Duration) throws(RunStoreError) -> Database {
    do throws(RunStoreError) {
      let database = try Database(path, .readOnly, patience: patience)
      try Schema.check(database)
      return database
    } catch {
      // No writer has it open, or the writer's files would be beside it.
      guard access(path + "-wal", F_OK) != 0 else { throw error }
      let database = try Database(path, .immutable, patience: patience)
      try Schema.check(database)
      return database
    }
  }

  // MARK: Runs

  /// The newest runs, newest first.
  package func runs(_ limit: Int = .max) throws(RunStoreError) -> [RunEntry] {
    try all("\(Self.entries) ORDER BY number DESC LIMIT ?", SQLValue(limit)) { $0.entry }
  }

  /// The newest runs of a job file, newest first; of the runs without a file where it is nil.
  package func lastRuns(ofFile file: String?, _ limit: Int = .max) throws(RunStoreError) -> [RunEntry] {
    try all("\(Self.entries) WHERE file IS ? ORDER BY number DESC LIMIT ?", SQLValue(file), SQLValue(limit)) {
      $0.entry
    }
  }

  /// The runs of the job file that have no end, by their numbers.
  func unended(ofFile file: String?) throws(RunStoreError) -> [(number: Int, run: RunEntry)] {
    try all("\(Self.entries) WHERE file IS ? AND ended IS NULL", SQLValue(file)) { ($0.int(21), $0.entry) }
  }

  /// The run with the identifier or the only one that begins so; `last` is the newest.
  package func run(named name: String) throws(RunStoreError) -> RunEntry {
    if name == "last" {
      guard let last = try runs(1).first else { throw RunStoreError(.unknownRun(name, nearest: nil), path) }
      return last
    }
    let found = try all(
      "\(Self.entries) WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC, number DESC", .text(name)
    ) { $0.entry }
    if let first = found.first, found.count == 1 || first.id == name { return first }
    if !found.isEmpty { throw RunStoreError(.ambiguousRun(name, found.prefix(5).map(\.id)), path) }
    let nearest = NearestName.of(name, in: try runs().map(\.id))
    throw RunStoreError(.unknownRun(name, nearest: nearest), path)
  }

  /// Whether its process still executes it, on this machine or on another one that has the folder.
  package func isGoingOn(_ run: RunEntry) -> Bool {
    guard run.endedAt == nil else { return false }
    if run.process.isAlive { return true }
    let numbers = try? all("SELECT number FROM runs WHERE id = ?", .text(run.id)) { $0.int(0) }
    return numbers?.contains { RunLock.isHeld(run: $0, in: folder) } ?? false
  }

  /// The processes of shell jobs that executed at the last commit of an unfinished run.
  package func processes(of run: RunEntry) throws(RunStoreError) -> [AttemptProcess] {
    try all(
      """
      SELECT job, processes.name, attempt, processes.pid, processes.start_time, processes.boot
      FROM processes JOIN runs ON run = number WHERE id = ? ORDER BY job
      """, .text(run.id)
    ) { AttemptProcess(job: JobID($0.count(0)), name: $0.text(1), attempt: $0.count(2), process: $0.process(3)) }
  }

  /// Calls `body` with the events from number `first` on as NDJSON, some whole lines at a time, until it returns false.
  ///
  /// `first` is 0 or follows the last event of an earlier call. While `body` executes, nothing is being read: it may wait
  /// for as long as it likes, and the write-ahead log doesn't grow because of it.
  package func eventLines(of run: RunEntry, from first: Int = 0, _ body: ([UInt8]) throws -> Bool) throws {
    let next = """
      SELECT size, deflated, first, events.count FROM runs LEFT JOIN events ON run = number AND first >= ?
      WHERE id = ? ORDER BY first LIMIT 1
      """
    // Chunks must not overlap either.
    var (number, place) = (first, first)
    while true {
      let rows = try all(next, SQLValue(place), .text(run.id)) { row -> (bytes: [UInt8]?, first: Int, count: Int)? in
        row.isNull(0)
          ? nil : (row.withBlob(1) { EventChunk.inflated($0, size: row.int(0)) }, row.int(2), row.count(3))
      }
      // Another program may remove the run meanwhile.
      guard let row = rows.first else { throw RunStoreError(.unknownRun(run.id, nearest: nil), path) }
      guard let chunk = row else { return }
      guard let bytes = chunk.bytes, chunk.first == number, chunk.count > 0 else {
        throw RunStoreError(.damaged("the events of run \(run.id) from number \(number) on"), path)
      }
      number += chunk.count
      place = chunk.first + 1
      guard try body(bytes) else { return }
    }
  }

  // MARK: Jobs

  /// The newest end of an attempt of the jobs of this name in runs of the job file, with the number of its run.
  ///
  /// A job that was skipped, or done in an earlier run, had none.
  package func lastAttempt(
    _ name: String, ofFile file: String?, canBeUpToDate: Bool = true
  ) throws(RunStoreError) -> (run: Int, end: EndedJob)? {
    try all(
      """
      \(Self.endings) WHERE ended.name = ? AND file IS ? AND outcome NOT IN ('restored', 'skipped')
      AND (outcome <> 'cancelled' OR attempts > 0) AND (? OR outcome <> 'up-to-date')
      ORDER BY ended.rowid DESC LIMIT 1
      """, .text(name), SQLValue(file), SQLValue(canBeUpToDate ? 1 : 0)
    ) { ($0.int(9), $0.endedJob) }.first
  }

  /// The last ends of all jobs in the newest runs of a job file, newest first, at most `limit`; fingerprints are left out
  /// where a job has no inputs.
  package func lastEnds(ofFile file: String, runs: Int, _ limit: Int) throws(RunStoreError) -> [EndedJob] {
    try all(
      """
      \(Self.endings(fingerprint: "CASE WHEN inputs IS NULL THEN NULL ELSE fingerprint END"))
      WHERE run IN (SELECT number FROM runs WHERE file = ? ORDER BY number DESC LIMIT ?)
      ORDER BY ended.rowid DESC LIMIT ?
      """, .text(file), SQLValue(runs), SQLValue(limit)
    ) { $0.endedJob }
  }

  /// The ends of each job in the runs of a job file with `jobs` jobs, the newest first; none if the store can't be read.
  package func recordedEnds(ofFile file: String, jobs: Int) -> [String: [RecordedEnd]] {
    // In some of the runs a job may be skipped or restored; of large graphs fewer runs are read.
    let rows = (try? lastEnds(ofFile: file, runs: UsualTime.window * 2, max(50_000, 2 * jobs))) ?? []
    var ends: [String: [RecordedEnd]] = [:]
    for row in rows { if let end = RecordedEnd(row) { ends[row.name, default: []].append(end) } }
    return ends
  }

  /// The ends of all jobs of a run, in order of ending.
  package func ended(in run: RunEntry) throws(RunStoreError) -> [EndedJob] {
    try all("\(Self.endings) WHERE id = ? ORDER BY ended.rowid", .text(run.id)) { $0.endedJob }
  }

  // MARK: The database

  /// The faults that SQLite finds in the database; empty for a sound one.
  package func check() throws(RunStoreError) -> [String] {
    try all("PRAGMA integrity_check") { $0.text(0) }.filter { $0 != "ok" }
  }

  private func all<Value>(
    _ sql: String, _ values: SQLValue..., make: (Row) -> Value
  ) throws(RunStoreError) -> [Value] {
    try database.withLock { database throws(RunStoreError) in try database.all(sql, values, make: make) }
  }

  var path: String { Self.path(in: folder) }

  private static let entries = """
    SELECT id, name, origin, started, ended, jobs, pid, start_time, boot, cookie, folder, resumes, succeeded, failed,
    allowed, skipped, cancelled, cancelled_by_program, "left", exit, length, number FROM runs
    """

  private static let endings = endings(fingerprint: "fingerprint")

  private static func endings(fingerprint: String) -> String {
    """
    SELECT id, job, ended.name, \(fingerprint), attempts, outcome, seconds, ended.ended, inputs, number
    FROM ended JOIN runs ON run = number
    """
  }
}

extension Row {
  fileprivate var entry: RunEntry {
    let origin = try? JSONDecoder().decode(RunOrigin.self, from: Data(text(2).utf8))
    return RunEntry(
      id: text(0), name: text(1),
      origin: origin ?? RunOrigin(command: "", directory: "/", slots: 1, onFailure: "keep-going"), startedAt: date(3),
      endedAt: isNull(4) ? nil : date(4), summary: isNull(4) ? nil : summary(12),
      length: isNull(20) ? nil : seconds(20), jobs: count(5), process: process(6),
      folder: optionalText(10), resumes: optionalText(11), cookie: optionalText(9))
  }

  private func summary(_ first: Int32) -> RunSummary {
    var summary = RunSummary()
    summary.succeeded = count(first)
    summary.failed = count(first + 1)
    summary.allowed = count(first + 2)
    summary.skipped = count(first + 3)
    summary.cancelled = count(first + 4)
    summary.cancelledByProgram = count(first + 5)
    summary.left = count(first + 6)
    summary.exit = Int32(truncatingIfNeeded: int(first + 7))
    return summary
  }

  func process(_ first: Int32) -> ProcessIdentity {
    ProcessIdentity(
      pid: Int32(truncatingIfNeeded: int(first)), startTime: UInt64(max(0, int(first + 1))), boot: text(first + 2))
  }

  fileprivate var endedJob: EndedJob {
    EndedJob(
      run: text(0), job: JobID(count(1)), name: text(2), fingerprint: fingerprint(3), attempts: count(4),
      outcome: EndedJob.Outcome(rawValue: text(5)) ?? .failed, took: isNull(6) ? nil : seconds(6), at: date(7),
      inputs: optionalText(8))
  }
}
