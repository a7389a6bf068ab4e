import CSQLite
import JobModel
import Testing

@testable import RunStore

struct RunStoreErrorTests {
  private static let folder = "name another folder with --state DIR"

  @Test(
    arguments: [
      (.diskFull, "no space is left on the disk of /db: free some, or \(folder)"),
      (.notWritable("why"), "/db can't be written: why: make it writable, or \(folder)"),
      (.locked, "another program has locked /db: end it, or \(folder)"),
      (.damaged("why"), "/db is damaged: why: move it away, and the next run makes a new one"),
      (.unknownRun("x", nearest: "y"), "no run 'x' is recorded in /db: did you mean 'y'?"),
      (.unknownRun("x", nearest: nil), "no run 'x' is recorded in /db: `opdash history` lists them"),
      (.ambiguousRun("x", ["x1", "x2"]), "'x' begins several runs: x1, x2"), (.other("why"), "/db: why"),
      (
        .later(version: 99),
        "/db was written by a later opdash (version 99 of its tables, this one knows \(Schema.version)): "
          + "update opdash, or \(folder)"
      ),
      (
        .tooSlow(bytes: 5_000_000),
        "the disk of /db is too slow: \(Format.bytes(5_000_000)) of events wait for it: "
          + "name a folder on another disk with --state DIR"
      ),
    ] as [(RunStoreError.Reason, String)])
  func eachReasonHasItsSentenceWithAMend(reason: RunStoreError.Reason, text: String) {
    #expect(RunStoreError(reason, "/db").description == text)
  }

  private static func text(_ code: Int32) -> String { String(cString: sqlite3_errstr(code)) }

  @Test(
    arguments: [
      (SQLITE_FULL, .diskFull), (SQLITE_BUSY, .locked), (SQLITE_LOCKED, .locked),
      (SQLITE_READONLY, .notWritable(text(SQLITE_READONLY))), (SQLITE_PERM, .notWritable(text(SQLITE_PERM))),
      (SQLITE_AUTH, .notWritable(text(SQLITE_AUTH))), (SQLITE_CORRUPT, .damaged(text(SQLITE_CORRUPT))),
      (SQLITE_NOTADB, .damaged(text(SQLITE_NOTADB))), (SQLITE_IOERR, .other(text(SQLITE_IOERR))),
      (SQLITE_CANTOPEN, .other(text(SQLITE_CANTOPEN))), (SQLITE_CONSTRAINT, .other(text(SQLITE_CONSTRAINT))),
    ] as [(Int32, RunStoreError.Reason)])
  func aCodeOfSQLiteTellsTheReason(code: Int32, reason: RunStoreError.Reason) {
    #expect(RunStoreError(code, of: nil, "/db") == RunStoreError(reason, "/db"))
  }

  @Test func anExtendedCodeIsThatOfItsKind() {
    // SQLITE_BUSY_SNAPSHOT and SQLITE_BUSY_TIMEOUT.
    for code in [5 | 2 << 8, 5 | 3 << 8] as [Int32] {
      #expect(RunStoreError(code, of: nil, "/db").reason == .locked)
    }
  }
}
