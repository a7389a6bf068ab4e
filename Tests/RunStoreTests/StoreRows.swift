import Foundation
import JobModel
import Support

@testable import RunStore

/// A store whose rows a test writes itself.
struct StoreRows {
  let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try RunStore.openForWriting(folder.url.path, patience: .patience)
  }

  var state: String { folder.url.path }
  var path: String { RunStore.path(in: state) }

  func store() throws -> RunStore { try RunStore(folder: state) }

  /// A process that does not execute any more.
  static let gone = ProcessIdentity(pid: 5_000_000, startTime: 1, boot: "b")

  /// Adds a run of a job file and returns its number.
  ///
  /// `logs` is nil where its log files were not measured.
  @discardableResult func addRun(
    _ id: String, file: String? = "/f", started: Double = 0, ended: Double? = 1, bytes: Int = 0, logs: Int? = 0,
    process: ProcessIdentity = Self.gone, resumes: String? = nil
  ) throws -> Int {
    try database.run(
      """
      INSERT INTO runs (id, name, origin, file, started, ended, jobs, pid, start_time, boot, bytes, log_bytes,
        resumes)
      VALUES (?, 'n', '{}', ?, ?, ?, 2, ?, ?, ?, ?, ?, ?)
      """, .text(id), SQLValue(file), .real(started), ended.map(SQLValue.real) ?? .null, SQLValue(process.pid),
      SQLValue(process.startTime), .text(process.boot), SQLValue(bytes), logs.map { SQLValue($0) } ?? .null,
      SQLValue(resumes))
    return database.lastInsertedRow
  }

  /// Adds the end of a job.
  func addEnd(_ run: Int, _ name: String, at seconds: Double, inputs: String? = nil) throws {
    try database.run(
      """
      INSERT INTO ended (run, job, name, fingerprint, attempts, outcome, seconds, ended, inputs)
      VALUES (?, 0, ?, ?, 1, 'ok', 2.5, ?, ?)
      """, SQLValue(run), .text(name), .fingerprint("00ff"), .real(seconds), SQLValue(inputs))
  }

  /// Adds events that begin with this number.
  func addEvents(_ run: Int, first: Int, _ lines: [String]) throws {
    var chunk = EventChunk(first: first, count: lines.count, bytes: Array(lines.map { $0 + "\n" }.joined().utf8))
    guard chunk.deflate() else { throw RunStoreError(.other("no memory"), path) }
    try database.run(
      "INSERT INTO events (run, first, count, size, deflated) VALUES (?, ?, ?, ?, ?)", SQLValue(run), SQLValue(first),
      SQLValue(lines.count), SQLValue(chunk.size ?? 0), .blob(chunk.bytes))
  }

  func addProcess(_ run: Int, job: Int, attempt: Int = 1) throws {
    try database.run(
      "INSERT INTO processes (run, job, name, attempt, pid, start_time, boot) VALUES (?, ?, ?, ?, ?, 1, 'b')",
      SQLValue(run), SQLValue(job), .text("job\(job)"), SQLValue(attempt), SQLValue(100 + job))
  }

  func execute(_ sql: String) throws { try database.execute(sql) }

  /// The numbers that a query gives; -1 for NULL.
  func numbers(_ sql: String) throws -> [Int] { try database.all(sql) { $0.isNull(0) ? -1 : $0.int(0) } }
}
