import Foundation

/// The `stat` record of a file.
package struct FileStatus {
  package let value: stat

  /// Nil if the file doesn't exist or can't be accessed; `errno` says why.
  package init?(_ path: String, followsLink: Bool = false) { self.init(BytePath(path), followsLink: followsLink) }

  /// Nil if the file doesn't exist or can't be accessed; `errno` says why.
  package init?(_ path: BytePath, followsLink: Bool = false) {
    var value = stat()
    guard (followsLink ? stat(path.cString, &value) : lstat(path.cString, &value)) == 0 else { return nil }
    self.value = value
  }

  package init?(_ descriptor: Int32) {
    var value = stat()
    guard fstat(descriptor, &value) == 0 else { return nil }
    self.value = value
  }

  /// `S_IFREG`, `S_IFDIR` and the like.
  package var kind: mode_t { value.st_mode & S_IFMT }

  /// The permissions.
  package var mode: mode_t { value.st_mode & 0o777 }
}

/// Identifies a file whatever its name: a link, a hard link and a relative path to one file give equal values.
package struct FileIdentity: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64

  /// Identifies the file that a path leads to; nil if there is none, or if it is not a regular file.
  package init?(path: String) { self.init(FileStatus(path, followsLink: true)) }

  /// Identifies an open file; nil if it is not a regular file.
  package init?(descriptor: Int32) { self.init(FileStatus(descriptor)) }

  private init?(_ status: FileStatus?) {
    guard let status, status.kind == S_IFREG else { return nil }
    device = UInt64(truncatingIfNeeded: status.value.st_dev)
    inode = UInt64(status.value.st_ino)
  }
}
