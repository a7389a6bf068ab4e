import Foundation

/// A file whatever its names: those of a link, a hard link and a relative path are equal.
package struct FileIdentity: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64

  /// Of the file that a path leads to; nil if there is none, or it is no regular file.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Of an open file; nil for what is no regular file.
  package init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
