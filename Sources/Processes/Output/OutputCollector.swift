/// Collects the bytes of one stream up to a limit.
struct OutputCollector {
  let limit: Int
  private let overflow: ProcessOutput.Overflow
  private let isText: Bool
  private var bytes: [UInt8] = []
  private var isCut = false

  init(limit: Int, whenExceeded overflow: ProcessOutput.Overflow, isText: Bool) {
    self.limit = limit
    self.overflow = overflow
    self.isText = isText
  }

  /// Adds a chunk; returns false if the chunk exceeds a limit that must not be exceeded.
  mutating func append(_ chunk: [UInt8]) -> Bool {
    if overflow == .keepEnd {
      bytes += chunk.suffix(limit)
      isCut = isCut || chunk.count > limit
      // Twice the limit, so that not every chunk moves all bytes.
      if bytes.count - limit > limit { cutBeginning() }
      return true
    }
    let room = limit - bytes.count
    bytes += chunk.prefix(room)
    guard chunk.count > room else { return true }
    isCut = true
    return overflow != .fail
  }

  private mutating func cutBeginning() {
    guard bytes.count > limit else { return }
    bytes.removeFirst(bytes.count - limit)
    isCut = true
  }

  /// The collected output; a cut text contains no part of a character at the cut.
  mutating func finish() -> CollectedOutput {
    if overflow == .keepEnd { cutBeginning() }
    guard isText else { return CollectedOutput(bytes: bytes, isCut: isCut) }
    var text = bytes[...]
    if isCut, overflow == .keepEnd {
      // At most three bytes that continue a scalar.
      text = text.dropFirst(text.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count)
    } else if isCut {
      text = text[..<text.wholeScalars]
    }
    return CollectedOutput(String(decoding: text, as: UTF8.self), isCut: isCut)
  }
}
