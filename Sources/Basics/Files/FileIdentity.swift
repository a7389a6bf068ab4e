import Foundation

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
