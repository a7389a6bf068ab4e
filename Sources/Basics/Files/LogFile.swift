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
    guard bytes.count > limit - size else { return write(bytes) }
    isFull = true
    var kept = Array(bytes.prefix(max(0, limit - size)))
    // Drops a partial line or character, unless the line is longer than the room for this output.
    if let end = kept.lastIndex(of: UInt8(ascii: "\n")) { kept.removeSubrange((end + 1)...) }
    let text = "the rest of the output is not kept: the log reached \(Self.text(of: limit))"
    let problem = write(kept + "\(kept.last == UInt8(ascii: "\n") ? "" : "\n")… \(text)\n".utf8)
    close()
    return problem ?? "\(text): \(path)"
  }

  private static func text(of size: Int) -> String {
    size >= 1_000_000 ? "\(size / 1_000_000) MB" : "\(size) bytes"
  }

  private func write(_ bytes: [UInt8]) -> String? {
    do throws(FileProblem) {
      try ForeignFile.write(bytes, to: descriptor, path)
      size += bytes.count
      return nil
    } catch {
      return fail(error.reason.words)
    }
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

/// Reads the log file of an attempt, up to the size that it has now.
///
/// A program that has survived its attempt may still write to it.
package final class LogFileReader {
  private let path: String
  private let descriptor: Int32
  private var left: Int

  private static let pieceSize = 1 << 16

  /// Nil if the file can't be opened, or is larger than a log file can be.
  package init?(_ path: String) {
    guard let descriptor = try? ForeignFile.open(path, .own) else { return nil }
    self.path = path
    self.descriptor = descriptor
    left = Int(lseek(descriptor, 0, SEEK_END))
    guard left <= LogFile.sizeLimit, lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
  }

  deinit { close(descriptor) }

  package var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

  /// The next bytes; nil at the end.
  package func next() -> [UInt8]? {
    guard left > 0, let piece = try? ForeignFile.prefix(of: descriptor, path, min(left, Self.pieceSize)), !piece.isEmpty
    else { return nil }
    left -= piece.count
    return piece
  }
}
