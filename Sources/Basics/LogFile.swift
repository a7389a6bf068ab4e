import Foundation

/// The file that keeps the output of one attempt, made at its first byte and readable by its owner only.
///
/// Of output beyond `limit` bytes nothing is kept, and the file ends with a line that says so.
///
/// A file that is there already is appended to, unless another path leads to it or another user owns it: its path may have
/// been planted. Used on one queue at a time, which a hung file system may block.
package final class LogFile {
  private let path: String
  private var descriptor: Int32 = -1
  private let limit: Int
  private var size = 0
  private var isFull = false
  private var hasFailed = false

  package static let defaultLimit = 256_000_000

  package init(path: String, limit: Int = LogFile.defaultLimit) {
    self.path = path
    self.limit = limit
  }

  /// Returns a sentence the first time that something fails or the file is full; nothing is written after that.
  package func append(_ bytes: [UInt8]) -> String? {
    guard !hasFailed, !isFull else { return nil }
    if descriptor < 0, let problem = open() { return problem }
    guard bytes.count > limit - size else { return write(bytes[...]) }
    isFull = true
    var kept = bytes.prefix(max(0, limit - size))
    // Not half a line or half a character, unless the line is longer than what is left for this output.
    if let end = kept.lastIndex(of: UInt8(ascii: "\n")) { kept = kept[...end] }
    let text = "the rest of the output is not kept: the log reached \(Self.text(of: limit))"
    let problem = write(kept + Array("\(kept.last == UInt8(ascii: "\n") ? "" : "\n")… \(text)\n".utf8))
    close()
    return problem ?? "\(text): \(path)"
  }

  private static func text(of size: Int) -> String {
    size >= 1_000_000 ? "\(size / 1_000_000) MB" : "\(size) bytes"
  }

  private func write(_ bytes: ArraySlice<UInt8>) -> String? {
    var done = bytes.startIndex
    while done < bytes.endIndex {
      let count = bytes[done...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return fail(errno)
      }
      done += count
      size += count
    }
    return nil
  }

  /// Whether nothing of the output is missing.
  package var isWhole: Bool { !hasFailed && !isFull }

  package func close() {
    if descriptor >= 0 { Foundation.close(descriptor) }
    descriptor = -1
  }

  private func open() -> String? {
    // Without O_NONBLOCK a FIFO in the file's place would be waited for.
    let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
    descriptor = Foundation.open(path, flags | O_CREAT | O_EXCL, 0o600)
    // On a file system that gives each file to a user of its own choice, only a file that is made here is known to be ours.
    if descriptor >= 0 { return nil }
    if errno == EEXIST { descriptor = Foundation.open(path, flags) }
    switch descriptor < 0 ? errno : 0 {
    case 0: break
    case ELOOP: return fail("a symbolic link")
    case ENXIO: return fail("not a regular file")
    case let error: return fail(error)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return fail(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { return fail("not a regular file") }
    guard status.st_nlink <= 1 else { return fail("a hard link to another file") }
    guard status.st_uid == geteuid() else { return fail("a file of another user") }
    size = Int(status.st_size)
    return nil
  }

  private func fail(_ error: Int32) -> String { fail(String(cString: strerror(error))) }

  private func fail(_ reason: String) -> String {
    hasFailed = true
    close()
    return "the output is not kept from here on: \(path): \(reason)"
  }

  deinit { close() }
}
