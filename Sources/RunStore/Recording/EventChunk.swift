import CZlib

/// Consecutive events of a run as NDJSON: a row of the store, compressed there.
struct EventChunk: Sendable {
  /// The number of its first event.
  var first: Int
  var count = 0
  /// As they are, or compressed.
  var bytes: [UInt8] = []
  /// How many bytes they are before compression; nil until then.
  var size: Int?

  /// A chunk is closed once it has so many bytes, so that a reader holds little at a time.
  static let size = 256 << 10
  /// More than a chunk has with the largest event.
  static let limit = 64 << 20
  /// Level 1 takes 9 ms for a megabyte of events and makes it 13 times smaller; level 6 22 ms, and 17 times.
  static let level: Int32 = 1

  /// Compresses the content; returns false if memory is short.
  mutating func deflate() -> Bool {
    guard size == nil else { return true }
    guard let deflated = deflated() else { return false }
    size = bytes.count
    bytes = deflated
    return true
  }

  private func deflated() -> [UInt8]? {
    var size = compressBound(uLong(bytes.count))
    // An array with room for the bound would keep it while it waits for the disk.
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(size)) { buffer in
      guard compress2(buffer.baseAddress, &size, bytes, uLong(bytes.count), Self.level) == Z_OK else { return nil }
      return Array(buffer[..<Int(size)])
    }
  }

  /// The content of `size` bytes; nil if it is damaged.
  static func inflated(_ deflated: UnsafeRawBufferPointer, size: Int) -> [UInt8]? {
    // The size may be damaged as well. Deflate makes nothing a thousand and thirty-two times smaller.
    guard (0...Self.limit).contains(size), size <= (deflated.count + 1) * 1032 else { return nil }
    var length = uLong(size)
    var isGood = false
    let result = [UInt8](unsafeUninitializedCapacity: max(1, size)) { buffer, count in
      let source = deflated.bindMemory(to: UInt8.self).baseAddress
      isGood = uncompress(buffer.baseAddress, &length, source, uLong(deflated.count)) == Z_OK && Int(length) == size
      count = isGood ? size : 0
    }
    return isGood ? result : nil
  }
}
