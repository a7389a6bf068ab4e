import Foundation
import Support

/// The server of the soak: files that it sends in several manners, and uploads that it takes.
final class SoakServer: Sendable {
  enum Manner: String, CaseIterable {
    case whole
    case slow
    /// The first reply is cut in the middle.
    case cut
    /// The first reply is 503.
    case busy
    /// Sends half and no more.
    case stalled
    case reset
  }

  struct File {
    let size: Int
    let manner: Manner

    var path: String { "file/\(size)/\(manner)" }

    /// Another one for each size, and without repetition: bytes in a wrong place are seen.
    var content: Data { Self.bytes.dropFirst(size % 997).prefix(size) }

    private static let bytes: Data = {
      var random = SplitMix(seed: 1)
      var words = (0..<252_000).map { _ in random.next() }
      return Data(bytes: &words, count: words.count * 8)
    }()
  }

  let address: String
  private let server: RawServer
  /// The paths of what has arrived whole, and of files of which a first reply was sent.
  private let seen: Lock<Set<String>>

  init() throws {
    let seen = Lock<Set<String>>([])
    self.seen = seen
    server = try RawServer { request in
      let words = request.path.split(separator: "/").map(String.init)
      if words.first == "up" {
        return [.readBody(), .run { seen.withLock { _ = $0.insert(request.path) } }, .send(Self.head(201, 0)), .next]
      }
      guard words.count > 2, let size = Int(words[1]), let manner = Manner(rawValue: words[2]) else {
        return [.send(Self.head(404, 0)), .next]
      }
      let isFirst = seen.withLock { $0.insert(request.path).inserted }
      return Self.reply(to: request, File(size: size, manner: manner), isFirst: isFirst)
    }
    address = "http://127.0.0.1:\(server.port)"
  }

  deinit { server.stop() }

  func hasTaken(_ path: String) -> Bool { seen.withLock { $0.contains(path) } }

  private static func head(_ status: Int, _ length: Int, _ more: String = "") -> String {
    "HTTP/1.1 \(status) -\r\nContent-Length: \(length)\r\nETag: \"1\"\r\n\(more)\r\n"
  }

  private static func reply(to request: RawServer.Request, _ file: File, isFirst: Bool) -> [RawServer.Step] {
    if isFirst, file.manner == .busy { return [.send(head(503, 0)), .next] }
    let start = min(request.rangeStart ?? 0, file.size)
    let body = Array(file.content.dropFirst(start))
    let isPart = start > 0 && start < file.size
    let range = isPart ? "Content-Range: bytes \(start)-\(file.size - 1)/\(file.size)\r\n" : ""
    let begin = RawServer.Step.send(head(isPart ? 206 : 200, body.count, range))
    let half = RawServer.Step.sendBytes(Array(body.prefix(body.count / 2)))
    switch file.manner {
    case .cut where isFirst: return [begin, half]
    case .reset where isFirst: return [begin, half, .reset]
    case .stalled: return [begin, half, .hold]
    case .slow:
      let piece = max(1, body.count / 8)
      return [begin]
        + stride(from: 0, to: body.count, by: piece).flatMap { at in
          [.sendBytes(Array(body[at..<min(at + piece, body.count)])), .run { _ = poll(nil, 0, 10) }]
        } + [.next]
    case .whole, .busy, .cut, .reset: return [begin, .sendBytes(body), .next]
    }
  }
}
