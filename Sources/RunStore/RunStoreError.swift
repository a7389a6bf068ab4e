import CSQLite
import Foundation
import JobModel

/// Why the store could not be read or written, with the path and the advice.
package struct RunStoreError: Error, Equatable, CustomStringConvertible {
  package enum Reason: Sendable, Equatable {
    case diskFull
    case notWritable(String)
    /// Another program holds its lock for longer than the store waits.
    case locked
    case damaged(String)
    /// A later opdash has written it.
    case later(version: Int)
    /// Recording was stopped because this many bytes of events waited for the disk.
    case tooSlow(bytes: Int)
    case unknownRun(String, nearest: String?)
    case ambiguousRun(String, [String])
    case other(String)
  }

  package var path: String
  package var reason: Reason

  package init(_ reason: Reason, _ path: String) {
    self.reason = reason
    self.path = path
  }

  package var description: String {
    switch reason {
    case .diskFull: "no space is left on the disk of \(path): free some, or name another folder with --state DIR"
    case .notWritable(let why):
      "\(path) can't be written: \(why): make it writable, or name another folder with --state DIR"
    case .locked: "another program has locked \(path): end it, or name another folder with --state DIR"
    case .damaged(let why): "\(path) is damaged: \(why): move it away, and the next run makes a new one"
    case .later(let version):
      "\(path) was written by a later opdash (version \(version) of its tables, this one knows \(Schema.version)): "
        + "update opdash, or name another folder with --state DIR"
    case .tooSlow(let bytes):
      "the disk of \(path) is too slow: \(Format.bytes(Int64(bytes))) of events wait for it: name a folder on another disk with --state DIR"
    case .unknownRun(let name, let nearest):
      "no run '\(name)' is recorded in \(path)"
        + (nearest.map { ": did you mean '\($0)'?" } ?? ": `opdash history` lists them")
    case .ambiguousRun(let name, let runs): "'\(name)' begins several runs: \(runs.joined(separator: ", "))"
    case .other(let why): "\(path): \(why)"
    }
  }
}

extension RunStoreError {
  /// The error of the last call on a connection.
  init(_ code: Int32, of database: OpaquePointer?, _ path: String) {
    let text = database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
    let number = database.map { sqlite3_system_errno($0) } ?? 0
    let why = number == 0 ? text : String(cString: strerror(number))
    self.init(Self.reason(code & 0xFF, number, text: text, why: why), path)
  }

  private static func reason(_ code: Int32, _ number: Int32, text: String, why: String) -> Reason {
    switch code {
    case SQLITE_FULL: .diskFull
    case SQLITE_IOERR, SQLITE_CANTOPEN:
      switch number {
      case ENOSPC, EDQUOT: .diskFull
      case EACCES, EPERM, EROFS: .notWritable(why)
      default: .other(number == 0 ? text : "\(text): \(why)")
      }
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notWritable(why)
    case SQLITE_BUSY, SQLITE_LOCKED: .locked
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged(text)
    default: .other(text)
    }
  }
}
