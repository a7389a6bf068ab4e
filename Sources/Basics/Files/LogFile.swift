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
  /// More than a file with that limit and its last line has.
  package static let sizeLimit = defaultLimit + 1000

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
    // Drops a partial line or character, unless the line is longer than the room for this output.
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
        return fail(FileProblem.Reason.system(errno).words)
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
    do throws(FileProblem) {
      descriptor = try ForeignFile.open(path, for: .appending, .own)
      size = Int(lseek(descriptor, 0, SEEK_END))
      return nil
    } catch {
      return fail(error.reason.words)
    }
  }

  private func fail(_ reason: String) -> String {
    hasFailed = true
    close()
    return "the output is not kept from here on: \(path): \(reason)"
  }

  deinit { close() }
}
