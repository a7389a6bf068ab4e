import Foundation

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
