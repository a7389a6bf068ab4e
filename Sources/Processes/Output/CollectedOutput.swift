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
