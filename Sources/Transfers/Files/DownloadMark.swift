import CCurl
import Checksums
import Foundation
import Operations

/// The extended attribute of a finished download; a resumed run does not download a file again that has it.
///
/// The mark is a digest of the URL, whose parameters may be secrets, and of the file's size and time: a file that another
/// program has changed is no longer the download. File systems without extended attributes keep none.
enum DownloadMark {
  private static let name = "user.opdash.url"

  /// Marks an open file, whose time and content are final, as the download of a URL.
  static func set(_ url: String, on descriptor: Int32) {
    guard let status = FileStatus(descriptor) else { return }
    let mark = text(url, status)
    fsetxattr(descriptor, name, mark, mark.utf8.count, 0)
  }

  /// Whether the file is the download of a URL and unchanged since; a link is not followed.
  static func isOn(_ path: String, _ url: String) -> Bool {
    guard let status = FileStatus(path), status.kind == S_IFREG else { return false }
    let mark = text(url, status)
    var found = [UInt8](repeating: 0, count: mark.utf8.count + 1)
    let count = lgetxattr(path, name, &found, found.count)
    return count == mark.utf8.count && found.dropLast().elementsEqual(mark.utf8)
  }

  private static func text(_ url: String, _ status: FileStatus) -> String {
    let (size, time) = (status.value.st_size, status.value.st_mtim)
    // Half of the digest: ext4 has no room for the whole of it in the inode, and a block for each file takes three times as long.
    return String(SHA256Sum.hex(of: Array("\(url) \(size) \(time.tv_sec).\(time.tv_nsec)".utf8)).prefix(32))
  }
}
