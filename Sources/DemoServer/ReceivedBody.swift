import Checksums

/// A body that a client sent: its size and sum, and its bytes as long as they are few.
struct ReceivedBody {
  /// More than this is counted and summed, not kept.
  static let kept = 32 << 20

  private(set) var size = 0
  /// Nil once there were too many.
  private(set) var bytes: [UInt8]? = []
  private let sum = SHA256Sum()

  mutating func append(_ piece: UnsafeRawBufferPointer) {
    size += piece.count
    sum.update(piece)
    if size <= Self.kept { bytes?.append(contentsOf: piece) } else { bytes = nil }
  }

  /// Lower-case hexadecimal.
  var sha256: String { sum.hex }
}
