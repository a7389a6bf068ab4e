import Foundation
import Support
import Testing

@testable import RunStore

struct DatabaseTests {
  private let database: Database

  init() throws {
    database = try Database(":memory:", .memory, patience: .zero)
    try database.execute("CREATE TABLE t (value UNIQUE)")
  }

  private func values() throws -> [Int] { try database.all("SELECT value FROM t ORDER BY rowid") { $0.int(0) } }

  private func insert(_ number: Int) throws(RunStoreError) {
    try database.run("INSERT INTO t VALUES (?)", SQLValue(number))
  }

  @Test func eachKindOfValueIsReadBack() throws {
    let texts = try database.all(
      "SELECT ?, ?, ?, ?, ?, ?", .null, SQLValue(-7), .real(2.5), .text("é\n"), .blob([0, 255]),
      SQLValue(Date(timeIntervalSince1970: 12.5))
    ) { row in
      #expect(row.isNull(0) && (1..<6).allSatisfy { !row.isNull($0) })
      #expect(row.isBlob(4) && (0..<4).allSatisfy { !row.isBlob($0) })
      #expect(row.int(1) == -7 && row.seconds(2) == .seconds(2.5))
      #expect(row.date(5) == Date(timeIntervalSince1970: 12.5))
      #expect(row.withBlob(4) { Array($0) } == [0, 255])
      #expect(row.optionalText(0) == nil && row.text(0) == "")
      return row.text(3)
    }
    #expect(texts == ["é\n"])
    #expect(try database.all("SELECT ?", SQLValue(nil as String?)) { $0.isNull(0) } == [true])
  }

  /// SQLite would wait for the writer of the FIFO.
  @Test(arguments: ["", "-wal", "-shm", "-journal"]) func aFileThatIsNoneIsDamage(_ ending: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.db").path
    if !ending.isEmpty { try Database(path, .create, patience: .zero).execute("CREATE TABLE t (value)") }
    try #require(mkfifo(path + ending, 0o600) == 0)
    for access in [Database.Access.create, .readWrite, .readOnly, .immutable] {
      #expect(throws: RunStoreError(.damaged("it is a named pipe"), path + ending)) {
        try Database(path, access, patience: .zero)
      }
    }
  }

  @Test func aStatementIsUsedAgainWithOtherValues() throws {
    for number in [3, 1, 2] { try insert(number) }
    #expect(try values() == [3, 1, 2])
    #expect(database.lastInsertedRow == 3)
    try database.run("DELETE FROM t WHERE value > ?", SQLValue(1))
    #expect(database.changes == 2)
    try database.run("DELETE FROM t WHERE value > ?", SQLValue(1))
    #expect(database.changes == 0)
    #expect(try values() == [1])
  }

  @Test func anErrorIsThrownAndTheStatementStaysUsable() throws {
    try insert(1)
    #expect(throws: RunStoreError(.other("UNIQUE constraint failed: t.value"), ":memory:")) { try insert(1) }
    try insert(2)
    #expect(try values() == [1, 2])
    #expect(throws: RunStoreError(.other("no such table: none"), ":memory:")) {
      try database.execute("SELECT * FROM none")
    }
    #expect(throws: RunStoreError(.other("an empty statement"), ":memory:")) { try database.run("") }
  }

  @Test func aTransactionIsMadeWholeOrNotAtAll() throws {
    let result = try database.transaction { () throws(RunStoreError) in
      try insert(1)
      return "made"
    }
    #expect(result == "made")
    #expect(throws: RunStoreError.self) {
      try database.transaction { () throws(RunStoreError) in
        try insert(2)
        try insert(1)
      }
    }
    #expect(try values() == [1])
    // The lock is free again.
    try database.transaction { () throws(RunStoreError) in try insert(3) }
    #expect(try values() == [1, 3])
  }

  @Test func onlyAFileThatIsMadeOrChangedIsForWriting() {
    let accesses: [Database.Access] = [.create, .readWrite, .readOnly, .immutable, .memory]
    #expect(accesses.map(\.isForWriting) == [true, true, false, false, false])
  }

  @Test func whatIsOpenForReadingIsNotWritten() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a b.db").path
    try Database(path, .create, patience: .zero).execute("CREATE TABLE t (value); INSERT INTO t VALUES (7)")
    for access in [Database.Access.readOnly, .immutable] {
      let database = try Database(path, access, patience: .zero)
      #expect(try database.all("SELECT value FROM t") { $0.int(0) } == [7])
      #expect(throws: RunStoreError.self) { try database.execute("DELETE FROM t") }
    }
    try Database(path, .readWrite, patience: .zero).execute("DELETE FROM t")
    #expect(throws: RunStoreError.self) { try Database(folder.file("none").path, .readWrite, patience: .zero) }
    #expect(folder.names() == ["a b.db"])
  }

  // MARK: Fingerprints

  @Test(arguments: [
    ("00ff", true), ("f0", true), ("0123456789abcdef", true), ("fff", false), ("00FF", false), ("xy", false),
    ("é0", false), ("0g", false),
  ])
  func hexadecimalDigitsTakeHalfTheRoom(text: String, isBlob: Bool) throws {
    let rows = try database.all("SELECT ?", SQLValue.fingerprint(text)) { row in
      (row.isBlob(0), row.fingerprint(0), row.withBlob(0) { $0.count })
    }
    let row = try #require(rows.first)
    #expect(row.0 == isBlob)
    #expect(row.1 == text)
    #expect(row.2 == (isBlob ? text.utf8.count / 2 : text.utf8.count))
  }

  @Test func aJobWithoutAFingerprintHasNone() throws {
    let isNull = try database.all("SELECT ?", SQLValue.fingerprint(nil)) { $0.isNull(0) && $0.fingerprint(0) == nil }
    #expect(isNull == [true])
  }
}
