import Basics
import Foundation

/// A time that a file system has recorded for a file.
struct FileTime: Comparable, Hashable {
  enum Kind {
    /// The time of the content.
    case modification
    /// The time of the content, the name or the permissions; no program can set it.
    case change
  }

  private let seconds: Int
  private let nanoseconds: Int

  init(_ status: stat, _ kind: Kind) {
    let time = kind == .modification ? status.st_mtim : status.st_ctim
    (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec)
  }

  /// The modification time of the file at a path, through symbolic links, as in make; nil without a file.
  init?(of path: BytePath) {
    guard let status = FileStatus(path, followsLink: true) else { return nil }
    self.init(status.value, .modification)
  }

  /// On the system's clock, since 1970.
  var sinceEpoch: Duration { .seconds(seconds) + .nanoseconds(nanoseconds) }

  /// Whether its second is earlier than the date's.
  func isBefore(_ date: Date) -> Bool { Double(seconds) < date.timeIntervalSince1970 }

  /// Whether it may be later than the date: the clock of files steps by some milliseconds.
  func mayBeAfter(_ date: Date) -> Bool { sinceEpoch + .milliseconds(10) >= .seconds(date.timeIntervalSince1970) }

  static func < (left: FileTime, right: FileTime) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}
