import Checksums

/// The body of a request: its size and checksum, and its bytes if they are few.
struct ReceivedBody {
  /// The most bytes that are kept.
  static let kept = 32 << 20

  private(set) var size = 0
  /// Nil for a larger body.
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
