import Basics
import CSQLite
import Foundation

/// A connection to an SQLite database; used on one thread at a time.
final class Database {
  let path: String
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]

  enum Access {
    /// Makes the file if it is missing, readable by its owner only.
    case create
    case readWrite
    case readOnly
    /// Without locks and without files beside it, for a folder where no file can be created.
    case immutable
    case memory

    var isForWriting: Bool { self == .create || self == .readWrite }
  }

  /// Waits up to `patience` for the lock of another program, in this call and in later ones.
  init(_ path: String, _ access: Access, patience: Duration) throws(RunStoreError) {
    self.path = path
    if access != .memory { try Self.checkFiles(path) }
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
    var name = path
    switch access {
    case .create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      try Self.makeFile(path)
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    case .immutable:
      flags |= SQLITE_OPEN_READONLY
      name = URL(fileURLWithPath: path).absoluteString + "?immutable=1"
    case .memory:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY
      name = ":memory:"
    }
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(name, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let error = RunStoreError(code, of: handle, path)
      sqlite3_close_v2(handle)
      throw error
    }
    // SQLite opens a read-only database for writing without an error, and fails later.
    if access.isForWriting, sqlite3_db_readonly(handle, "main") == 1 {
      let number = Foundation.access(path, W_OK) == 0 ? EACCES : errno
      sqlite3_close_v2(handle)
      throw RunStoreError(.notWritable(String(cString: strerror(number))), path)
    }
    self.handle = handle
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, Int32(patience / .milliseconds(1)))
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// Makes the database one with a write-ahead log, where it is not yet.
  func useLog(patience: Duration) throws(RunStoreError) {
    let clock = ContinuousClock()
    let end = clock.now + patience
    while true {
      do throws(RunStoreError) {
        return try execute("PRAGMA journal_mode = WAL")
      } catch {
        // SQLite waits for no lock here, whatever its timeout.
        guard error.reason == .locked, clock.now < end else { throw error }
        _ = poll(nil, 0, 5)
      }
    }
  }

  /// Whether closing the last connection writes the content of the write-ahead log to the database.
  func setCheckpointsOnClose(_ isOn: Bool) { _ = csqlite_set_checkpoint_on_close(handle, isOn ? 1 : 0) }

  static func files(at path: String) -> [String] { ["", "-wal", "-shm", "-journal"].map { path + $0 } }

  /// Throws unless the file and SQLite's other files beside it are regular: SQLite would wait for a FIFO.
  private static func checkFiles(_ path: String) throws(RunStoreError) {
    for name in files(at: path) {
      guard let problem = ForeignFile.problem(at: name, .named) else { continue }
      throw RunStoreError(.damaged("it is \(problem.reason.words)"), name)
    }
  }

  /// SQLite would make the file with the mode that the process's umask leaves; those beside it get this file's mode.
  ///
  /// An existing file is not opened: closing it would release the locks of this process's other connections.
  private static func makeFile(_ path: String) throws(RunStoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
    switch descriptor < 0 ? errno : 0 {
    case 0, EEXIST: return
    case ENOSPC, EDQUOT: throw RunStoreError(.diskFull, path)
    case let number: throw RunStoreError(.notWritable(String(cString: strerror(number))), path)
    }
  }

  // MARK: Statements

  /// Executes statements without values.
  func execute(_ sql: String) throws(RunStoreError) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  /// Executes a statement, which stays prepared, with its values.
  func run(_ sql: String, _ values: SQLValue...) throws(RunStoreError) {
    let statement = try prepared(sql, values)
    let code = sqlite3_step(statement)
    // Before the reset, which would forget the error.
    let error = code == SQLITE_DONE || code == SQLITE_ROW ? nil : RunStoreError(code, of: handle, path)
    sqlite3_reset(statement)
    if let error { throw error }
  }

  /// The rows of a query, each made into a value.
  ///
  /// The query is over when the method returns, because an open one keeps the write-ahead log.
  func all<Value>(_ sql: String, _ values: SQLValue..., make: (Row) -> Value) throws(RunStoreError) -> [Value] {
    try all(sql, values, make: make)
  }

  func all<Value>(_ sql: String, _ values: [SQLValue], make: (Row) -> Value) throws(RunStoreError) -> [Value] {
    var result: [Value] = []
    let statement = try prepared(sql, values)
    defer { sqlite3_reset(statement) }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: result.append(make(Row(statement: statement)))
      case SQLITE_DONE: return result
      case let code: throw RunStoreError(code, of: handle, path)
      }
    }
  }

  var lastInsertedRow: Int { Int(sqlite3_last_insert_rowid(handle)) }
  /// The number of rows that the last statement has changed.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// Takes the write lock at the beginning, so that it waits there and nowhere else.
  func transaction<Result>(_ body: () throws(RunStoreError) -> Result) throws(RunStoreError) -> Result {
    try execute("BEGIN IMMEDIATE")
    do throws(RunStoreError) {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // SQLite may have done it already.
      sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
      throw error
    }
  }

  private func prepared(_ sql: String, _ values: [SQLValue]) throws(RunStoreError) -> OpaquePointer {
    let statement = if let known = statements[sql] { known } else { try prepare(sql) }
    statements[sql] = statement
    try bind(values, to: statement)
    return statement
  }

  private func prepare(_ sql: String) throws(RunStoreError) -> OpaquePointer {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    guard let statement else { throw RunStoreError(.other("an empty statement"), path) }
    return statement
  }

  private func bind(_ values: [SQLValue], to statement: OpaquePointer) throws(RunStoreError) {
    for (index, value) in values.enumerated() { try check(value.bind(to: statement, at: Int32(index + 1))) }
  }

  private func check(_ code: Int32) throws(RunStoreError) {
    guard code == SQLITE_OK else { throw RunStoreError(code, of: handle, path) }
  }
}

/// A value of a statement.
enum SQLValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  init(_ number: some BinaryInteger) { self = .integer(Int64(truncatingIfNeeded: number)) }
  init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }
  init(_ date: Date) { self = .real(date.timeIntervalSince1970) }

  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let number): sqlite3_bind_int64(statement, index, number)
    case .real(let number): sqlite3_bind_double(statement, index, number)
    case .text(let text): sqlite3_bind_text(statement, index, text, -1, Self.copied)
    case .blob(let bytes): sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), Self.copied)
    }
  }

  /// SQLITE_TRANSIENT, a macro that Swift does not import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

/// The current row of a query; its values are within the stated bounds, whatever the columns hold.
struct Row {
  fileprivate let statement: OpaquePointer

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
  func isBlob(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_BLOB }
  func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
  /// A count, limited so that the counts of all rows of a database can be added.
  func count(_ column: Int32) -> Int { min(max(0, int(column)), 1_000_000_000) }
  func seconds(_ column: Int32) -> Duration { Duration(clamping: sqlite3_column_double(statement, column)) }
  func date(_ column: Int32) -> Date { Date(clamping: sqlite3_column_double(statement, column)) }
  func text(_ column: Int32) -> String { optionalText(column) ?? "" }

  func optionalText(_ column: Int32) -> String? {
    sqlite3_column_text(statement, column).map { String(cString: $0) }
  }

  /// Valid until the next row.
  func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let start = sqlite3_column_blob(statement, column)
    return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }
}
