/// The collected output of one stream.
public struct CollectedOutput: Sendable, Equatable {
  private enum Content: Sendable, Equatable {
    case text(String)
    case bytes([UInt8])
  }

  private var content: Content
  /// Whether a part is missing because the output was longer than its limit.
  public var isCut: Bool

  /// Creates the output of a stream that was collected as text.
  public init(_ text: String = "", isCut: Bool = false) {
    content = .text(text)
    self.isCut = isCut
  }

  /// Creates the output of a stream that was collected as bytes.
  public init(bytes: [UInt8], isCut: Bool = false) {
    content = .bytes(bytes)
    self.isCut = isCut
  }

  /// The output as text; U+FFFD replaces bytes that are not valid UTF-8.
  ///
  /// If the output was collected as bytes, each call creates the text.
  public var text: String {
    switch content {
    case .text(let text): text
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The bytes as the program wrote them, or the UTF-8 of `text` if the output was collected as text.
  public var bytes: [UInt8] {
    switch content {
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    }
  }

  /// The lines of the text without their line feeds and carriage returns; an empty text has none.
  public var lines: [String] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map(\.lineText)
  }
}

extension CollectedOutput: ExpressibleByStringLiteral, CustomStringConvertible {
  /// The same as `text`.
  public var description: String { text }

  /// Creates the output of a stream that was collected as text.
  public init(stringLiteral text: String) { self.init(text) }
}

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
