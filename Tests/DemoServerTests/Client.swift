import Foundation

@testable import DemoServer

#if canImport(Glibc)
import Glibc
private let stream = Int32(SOCK_STREAM.rawValue)
private let quiet = Int32(MSG_NOSIGNAL)
#else
private let stream = SOCK_STREAM
private let quiet: Int32 = 0
#endif

/// A plain client that shows every byte and every kind of end: one request per socket.
struct Client {
  let server: DemoServer

  struct Answer {
    enum End {
      case orderly
      case reset
    }

    var head = ""
    var body: [UInt8] = []
    var end = End.orderly

    var status: Int? { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(name: String) -> String? {
      head.split(separator: "\r\n").dropFirst().lazy
        .map { $0.split(separator: ":", maxSplits: 1) }
        .first { $0.first?.lowercased() == name.lowercased() }
        .flatMap { $0.last?.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// A connected socket, which the caller closes.
  func connect() -> Int32 {
    let socket = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = server.port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 {
      close(socket)
      return -1
    }
    return socket
  }

  func write(_ method: String, _ address: String, headers: [String] = [], body: [UInt8] = [], to socket: Int32) {
    var lines = ["\(method) \(address) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
    if !body.isEmpty { lines.append("Content-Length: \(body.count)") }
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, quiet) }
      guard count > 0 else { return }
      sent += count
    }
  }

  func ask(_ method: String, _ address: String, headers: [String] = [], body: [UInt8] = []) -> Answer {
    let socket = connect()
    defer { close(socket) }
    write(method, address, headers: headers, body: body, to: socket)
    return read(from: socket)
  }

  func get(_ address: String, headers: [String] = []) -> Answer { ask("GET", address, headers: headers) }

  /// How many bytes have arrived that nobody has read, as far as a thousand.
  func waiting(on socket: Int32) -> Int {
    var buffer = [UInt8](repeating: 0, count: 1000)
    return max(0, recv(socket, &buffer, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
  }

  /// Reads to the end of the connection.
  func read(from socket: Int32) -> Answer {
    var answer = Answer()
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    reading: while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      switch count {
      case 0: break reading
      case ..<0:
        answer.end = .reset
        break reading
      default: bytes += buffer[..<count]
      }
    }
    var split = bytes.count
    if let end = bytes.indices.dropLast(3).first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) }) {
      split = end
    }
    answer.head = String(decoding: bytes[..<split], as: UTF8.self)
    answer.body = Array(bytes.dropFirst(split + 4))
    return answer
  }
}
