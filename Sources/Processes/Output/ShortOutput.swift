import Operations

/// The output of a program that is not in its log file yet, because it is short.
///
/// The file is not needed if the program succeeds and its lines contain every byte; two lists of bytes are compared for
/// this.
struct ShortOutput {
  /// The maximum number of bytes that are held.
  static let limit = 4 << 10

  private(set) var bytes: [UInt8] = []
  private var told: [UInt8] = []

  func hasRoom(for bytes: [UInt8]) -> Bool { bytes.count <= Self.limit - self.bytes.count }

  mutating func take(_ bytes: [UInt8]) { self.bytes += bytes }

  /// Takes the lines made of the bytes, without the ones that may still change.
  mutating func take(_ lines: [OperationLogLine]) {
    for line in lines where !line.isUnfinished {
      told += line.text.utf8
      told.append(UInt8(ascii: "\n"))
    }
  }

  /// Whether the lines contain every byte, in the same order.
  var isTold: Bool { bytes == told }
}
