import Foundation

/// The `stat` record of a file.
struct FileStatus {
  let value: stat

  /// Nil if the file doesn't exist or can't be accessed.
  init?(_ path: String, followsLink: Bool = false) {
    var value = stat()
    guard (followsLink ? stat(path, &value) : lstat(path, &value)) == 0 else { return nil }
    self.value = value
  }

  init?(_ descriptor: Int32) {
    var value = stat()
    guard fstat(descriptor, &value) == 0 else { return nil }
    self.value = value
  }

  /// `S_IFREG`, `S_IFDIR` and the like.
  var kind: mode_t { value.st_mode & S_IFMT }

  /// The permissions.
  var mode: mode_t { value.st_mode & 0o777 }

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
    let folder = FileStatus((path as NSString).deletingLastPathComponent, followsLink: true)?.value
    // The rule of Linux where fs.protected_regular is set; elsewhere a shared folder may be on a disk without owners.
    if let folder, folder.st_mode & S_ISVTX != 0, value.st_uid != geteuid(), value.st_uid != folder.st_uid {
      throw TransferError(.file, "\(path) belongs to another user: remove it")
    }
  }
}
