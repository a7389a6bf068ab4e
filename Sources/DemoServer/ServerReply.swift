import Foundation

/// An answer of the server.
struct ServerReply {
  enum Body {
    case bytes([UInt8])
    case content(DemoContent, Range<Int>)
  }

  var status: Int
  var headers: [(name: String, value: String)] = []
  var body: Body = .bytes([])
  /// Called when the last byte of the body is passed to the library.
  var onSent: (() -> Void)?

  static func text(_ status: Int, _ text: String) -> ServerReply {
    ServerReply(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array((text + "\n").utf8)))
  }

  static func json(_ status: Int, _ value: some Encodable) -> ServerReply {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard var bytes = try? encoder.encode(value) else { return .text(500, "the answer could not be encoded") }
    bytes.append(0x0a)
    return ServerReply(status: status, headers: [("Content-Type", "application/json")], body: .bytes(Array(bytes)))
  }

  var length: Int {
    switch body {
    case .bytes(let bytes): bytes.count
    case .content(_, let range): range.count
    }
  }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    switch body {
    case .bytes(let bytes):
      let part = bytes[min(offset, bytes.count)...].prefix(buffer.count)
      buffer.copyBytes(from: part)
      return part.count
    case .content(let content, let range):
      let count = min(buffer.count, range.count - offset)
      guard count > 0 else { return 0 }
      return content.read(
        at: range.lowerBound + offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
