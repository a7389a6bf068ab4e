import Checksums
import Operations

/// Content determined by a size and a seed, so that both ends of a transfer can be checked without a file.
package struct DemoContent: Sendable, Equatable {
  package var size: Int
  package var seed: UInt64

  package init(size: Int, seed: UInt64 = 0) {
    self.size = size
    self.seed = seed
  }

  /// Writes the bytes from `offset` on, as many as fit, and returns their number.
  package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, size - offset)
    guard count > 0 else { return 0 }
    var position = 0
    // Whole words where the offset allows, single bytes at the ends.
    while position < count {
      let at = offset + position
      let word = word(at / 8)
      if at % 8 == 0, count - position >= 8 {
        buffer.storeBytes(of: word.littleEndian, toByteOffset: position, as: UInt64.self)
        position += 8
      } else {
        buffer[position] = UInt8(truncatingIfNeeded: word >> UInt64(at % 8 * 8))
        position += 1
      }
    }
    return count
  }

  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = read(at: 0, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// Lower-case hexadecimal.
  package var sha256: String {
    let sum = SHA256Sum()
    var offset = 0
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
      while offset < size {
        let count = read(at: offset, into: buffer)
        sum.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += count
      }
    }
    return sum.hex
  }

  /// A hash of the seed and the index, so that any word can be computed alone.
  private func word(_ index: Int) -> UInt64 {
    SplitMix.mixed(seed &* 0xd134_2543_de82_ef95 &+ UInt64(truncatingIfNeeded: index) &* 0x9e37_79b9_7f4a_7c15)
  }
}
