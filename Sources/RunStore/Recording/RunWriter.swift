import Foundation
import JobModel

/// Writes one run to the store; used on one queue.
final class RunWriter {
  private let database: Database
  private let folder: String
  /// The run's row.
  private var number: Int?
  /// The lock of that row; outlives the writer, because the run continues if it can't be recorded.
  private(set) var lock: RunLock?

  init(_ folder: String, patience: Duration) throws(RunStoreError) {
    self.folder = folder
    database = try RunStore.openForWriting(folder, patience: patience)
  }

  /// Writes all of the batch or, if it throws, nothing.
  func write(
    _ batch: RunNotes.Batch, of start: RunStart, origin: RunOrigin, cookie: String?
  ) throws(RunStoreError) {
    // Compressed before the lock is taken: other programs may wait for it.
    var chunks = batch.chunks.filter { $0.count > 0 }
    for index in chunks.indices where !chunks[index].deflate() {
      throw RunStoreError(.other("no memory to compress events"), database.path)
    }
    number = try database.transaction { () throws(RunStoreError) in
      let number = try row(start, origin, cookie)
      for chunk in chunks {
        try database.run(
          "INSERT INTO events (run, first, count, size, deflated) VALUES (?, ?, ?, ?, ?)", SQLValue(number),
          SQLValue(chunk.first), SQLValue(chunk.count), SQLValue(chunk.size ?? 0), .blob(chunk.bytes))
      }
      for job in batch.ended { try insert(job, number) }
      for process in batch.begun { try insert(process, number) }
      for attempt in batch.gone {
        try database.run(
          "DELETE FROM processes WHERE run = ? AND job = ? AND attempt = ?", SQLValue(number),
          SQLValue(attempt.job.index), SQLValue(attempt.attempt))
      }
      let size = chunks.reduce(0) { $0 + $1.bytes.count }
      // Jobs may be added during the run.
      try database.run(
        "UPDATE runs SET bytes = bytes + ?, jobs = max(jobs, ?) WHERE number = ?", SQLValue(size), SQLValue(batch.jobs),
        SQLValue(number))
      if let end = batch.end { try finish(number, end) }
      return number
    }
  }

  /// Writes the end of a run whose later events are not recorded; nothing, if it has no row.
  func close(_ start: RunStart, _ end: RunNotes.End) throws(RunStoreError) {
    try database.transaction { () throws(RunStoreError) in
      let rows = try database.all("SELECT number FROM runs WHERE id = ?", .text(start.id)) { $0.int(0) }
      if let number = rows.first { try finish(number, end) }
    }
  }

  /// The number of the run's row, which the first commit inserts.
  private func row(_ start: RunStart, _ origin: RunOrigin, _ cookie: String?) throws(RunStoreError) -> Int {
    if let number { return number }
    let words: Data
    do { words = try JSONEncoder().encode(origin) } catch { throw RunStoreError(.other("\(error)"), database.path) }
    let process = ProcessIdentity.current
    try database.run(
      """
      INSERT INTO runs (id, name, origin, file, started, jobs, pid, start_time, boot, cookie, folder, resumes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(start.id), .text(start.name), .text(String(decoding: words, as: UTF8.self)), SQLValue(origin.file),
      SQLValue(start.at), SQLValue(start.jobs), SQLValue(process.pid), SQLValue(process.startTime),
      .text(process.boot), SQLValue(cookie), SQLValue(start.folder), SQLValue(start.resumes))
    // Before others see the row.
    lock = nil
    lock = RunLock(run: database.lastInsertedRow, in: folder)
    return database.lastInsertedRow
  }

  private func insert(_ job: EndedJob, _ number: Int) throws(RunStoreError) {
    try database.run(
      """
      INSERT INTO ended (run, job, name, fingerprint, attempts, outcome, seconds, ended, inputs)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, SQLValue(number), SQLValue(job.job.index), .text(job.name), .fingerprint(job.fingerprint),
      SQLValue(job.attempts), .text(job.outcome.rawValue), job.took.map { .real($0 / .seconds(1)) } ?? .null,
      SQLValue(job.at), SQLValue(job.inputs))
  }

  private func insert(_ process: AttemptProcess, _ number: Int) throws(RunStoreError) {
    try database.run(
      "INSERT OR REPLACE INTO processes (run, job, name, attempt, pid, start_time, boot) VALUES (?, ?, ?, ?, ?, ?, ?)",
      SQLValue(number), SQLValue(process.job.index), .text(process.name), SQLValue(process.attempt),
      SQLValue(process.process.pid),
      SQLValue(process.process.startTime), .text(process.process.boot))
  }

  private func finish(_ number: Int, _ end: RunNotes.End) throws(RunStoreError) {
    let summary = end.summary
    try database.run(
      """
      UPDATE runs SET ended = ?, jobs = ?, succeeded = ?, failed = ?, allowed = ?, skipped = ?, cancelled = ?,
      cancelled_by_program = ?, "left" = ?, exit = ?, length = ? WHERE number = ?
      """, SQLValue(end.at), SQLValue(end.jobs), SQLValue(summary.succeeded), SQLValue(summary.failed),
      SQLValue(summary.allowed), SQLValue(summary.skipped), SQLValue(summary.cancelled),
      SQLValue(summary.cancelledByProgram), SQLValue(summary.left), SQLValue(summary.exit),
      .real(end.length / .seconds(1)), SQLValue(number))
    try database.run("DELETE FROM processes WHERE run = ?", SQLValue(number))
  }
}

extension SQLValue {
  /// Hexadecimal digits as half as many bytes; another text as it is.
  static func fingerprint(_ text: String?) -> SQLValue {
    guard let text else { return .null }
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2), text == text.lowercased() else {
      return .text(text)
    }
    return .blob(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}

extension Row {
  func fingerprint(_ column: Int32) -> String? {
    guard isBlob(column) else { return optionalText(column) }
    return withBlob(column) { bytes in
      let digits = Array("0123456789abcdef".utf8)
      return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
  }
}
