import Foundation

/// The `stat` record of a file.
package struct FileStatus {
  package let value: stat

  /// Nil if the file doesn't exist or can't be accessed; `errno` says why.
  package init?(_ path: String, followsLink: Bool = false) {
    var value = stat()
    guard (followsLink ? stat(path, &value) : lstat(path, &value)) == 0 else { return nil }
    self.value = value
  }

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
