import Foundation
import Operations

/// A file that a download has written, or is to replace.
extension FileStatus {
  /// The second of the last change.
  var modified: time_t { value.st_mtim.tv_sec }

  /// Whether this is the reply's file by the rule of `wget -N`: the server's is not newer, and of the same size unless
  /// the server doesn't say its size.
  func isFile(of reply: Reply, size: Int64?) -> Bool {
    guard kind == S_IFREG, let changed = reply.lastModified else { return false }
    return changed <= modified && size.map { $0 == value.st_size } ?? true
  }

  /// Whether the file was made or changed at a time or later, to the second.
  func hasChanged(since date: Date) -> Bool { value.st_ctim.tv_sec >= Int(clamping: date.timeIntervalSince1970) }

  /// Equal for two names of one file.
  var identity: [UInt64] { [UInt64(truncatingIfNeeded: value.st_dev), UInt64(value.st_ino)] }

  /// Throws unless it is a regular file with one name that no other user can have put there.
  func checkIsUsable(as path: String) throws(TransferError) {
    if kind == S_IFLNK {
      throw TransferError(.file, "\(path) is a symbolic link, which a download doesn't follow: remove it")
    }
    guard kind == S_IFREG else {
      throw TransferError(.file, "\(path) is not a regular file, and the download needs its name: remove it")
    }
    guard value.st_nlink <= 1 else {
      throw TransferError(.file, "\(path) is a hard link to another file, which would be overwritten: remove it")
    }
    guard value.st_uid != geteuid() else { return }
    let folder = FileStatus((path as NSString).deletingLastPathComponent, followsLink: true)?.value
    // The rule of Linux where fs.protected_regular is set; elsewhere a shared folder may be on a disk without owners.
    if let folder, folder.st_mode & S_ISVTX != 0, value.st_uid != folder.st_uid {
      throw TransferError(.file, "\(path) belongs to another user: remove it")
    }
  }
}
