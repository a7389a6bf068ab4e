import Foundation

/// A server whose replies are written byte for byte by the test, broken ones above all.
///
/// Each connection has its own thread, so a step may wait.
package final class RawServer: @unchecked Sendable {
  // Safe: what changes is behind `lock`.

  package struct Request: Sendable {
    /// 0 for the first request to this server.
    package var number: Int
    package var method: String
    package var path: String
    /// Names in lower case.
    package var headers: [String: String]

    /// The first byte that a `Range` header asks for.
    package var rangeStart: Int? {
      headers["range"].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
    }
  }

  /// What is done on a connection; after the last step it is closed.
  package enum Step: Sendable {
    case send(String)
    case sendBytes([UInt8])
    /// Reads as many bytes of the request's body, or all that `Content-Length` tells, and hands over those that came.
    case readBody(Int? = nil, then: (@Sendable ([UInt8]) -> Void)? = nil)
    /// Waits until the client closes, or the server is stopped.
    case hold
    /// Runs on the connection's thread and may wait.
    case run(@Sendable () -> Void)
    /// Breaks the connection with RST.
    case reset
    /// Reads the next request from the same connection.
    case next
  }

  package let port: UInt16
  private let host: String
  private let listener: Int32
  private let script: @Sendable (Request) -> [Step]
  private let lock = NSLock()
  private var open: Set<Int32> = []
  private var seen: [Request] = []
  private var accepted = 0
  private var answering = 0
  private var isStopped = false

  /// A server on 127.0.0.1, or on ::1.
  package init(isIPv6: Bool = false, _ script: @escaping @Sendable (Request) -> [Step]) throws {
    (listener, port) = isIPv6 ? try Loopback.listenIPv6() : try Loopback.listen()
    host = isIPv6 ? "[::1]" : "127.0.0.1"
    self.script = script
    Thread { [self, listener] in accept(on: listener) }.start()
  }

  /// The whole URL of a path that begins with a slash.
  package func url(_ path: String) -> URL {
    guard let url = URL(string: "http://\(host):\(port)\(path)") else { fatalError("no URL: \(path)") }
    return url
  }

  package var requests: [Request] { lock.withLock { seen } }
  package var connections: Int { lock.withLock { accepted } }
  package var openConnections: Int { lock.withLock { open.count } }
  /// Whether no step is left to be done of any request so far.
  package var isIdle: Bool { lock.withLock { answering == 0 } }

  /// Ends every connection; the server cannot be used again.
  package func stop() {
    lock.withLock {
      isStopped = true
      for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func accept(on listener: Int32) {
    while let descriptor = Loopback.accept(on: listener) {
      let isWelcome = lock.withLock {
        guard !isStopped else { return false }
        open.insert(descriptor)
        accepted += 1
        return true
      }
      guard isWelcome else {
        close(descriptor)
        break
      }
      Thread { [self] in serve(descriptor) }.start()
    }
    close(listener)
  }

  private func serve(_ descriptor: Int32) {
    var connection = Connection(descriptor: descriptor)
    while let head = connection.readHead() {
      let request = lock.withLock {
        let request = Self.parse(head, number: seen.count)
        seen.append(request)
        answering += 1
        return request
      }
      let isNextRead = perform(script(request), for: request, on: &connection)
      lock.withLock { answering -= 1 }
      guard isNextRead else { break }
    }
    // A number that is closed may be given out again at once, so it leaves the set first.
    lock.withLock { _ = open.remove(descriptor) }
    close(descriptor)
  }

  /// Whether another request is to be read.
  private func perform(_ steps: [Step], for request: Request, on connection: inout Connection) -> Bool {
    for step in steps {
      switch step {
      case .send(let text): guard Loopback.send(Array(text.utf8), to: connection.descriptor) else { return false }
      case .sendBytes(let bytes): guard Loopback.send(bytes, to: connection.descriptor) else { return false }
      case .readBody(let count, let then):
        let body = connection.readBody(count ?? request.headers["content-length"].flatMap { Int($0) } ?? 0)
        then?(body)
      case .hold: while Loopback.receive(from: connection.descriptor) != nil {}
      case .run(let body): body()
      case .reset:
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        return false
      case .next: return true
      }
    }
    return false
  }

  private static func parse(_ head: String, number: Int) -> Request {
    let lines = head.components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ").map(String.init) + ["", ""]
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    return Request(number: number, method: words[0], path: words[1], headers: headers)
  }
}

private struct Connection {
  let descriptor: Int32
  private var buffer: [UInt8] = []

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// The request's lines, or nil where the client has closed.
  mutating func readHead() -> String? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let place = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) {
        defer { buffer.removeFirst(place + end.count) }
        return String(decoding: buffer[..<place], as: UTF8.self)
      }
      guard let bytes = Loopback.receive(from: descriptor) else { return nil }
      buffer += bytes
    }
  }

  mutating func readBody(_ count: Int) -> [UInt8] {
    var body = Array(buffer.prefix(count))
    buffer.removeFirst(body.count)
    while body.count < count, let bytes = Loopback.receive(from: descriptor, atMost: min(count - body.count, 64 << 10))
    {
      body += bytes
    }
    return body
  }
}

extension RawServer {
  /// A script that serves one file with ranges and a strong tag; the first requests are cut after so many bytes of body.
  package static func file(
    _ content: [UInt8], tag: String = "\"1\"", cuts: [Int] = []
  ) -> @Sendable (Request) -> [Step] {
    { request in
      let start = request.headers["if-range"].map { $0 == tag } ?? true ? request.rangeStart ?? 0 : 0
      let isPart = start > 0 && start < content.count
      let body = Array(content[(isPart ? start : 0)...])
      let status = isPart ? "206 Partial Content" : "200 OK"
      let range = isPart ? "Content-Range: bytes \(start)-\(content.count - 1)/\(content.count)\r\n" : ""
      let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nETag: \(tag)\r\n\(range)\r\n"
      guard request.number < cuts.count else { return [.send(head), .sendBytes(body), .next] }
      return [.send(head), .sendBytes(Array(body.prefix(cuts[request.number])))]
    }
  }
}
