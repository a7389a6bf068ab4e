import Foundation

private let streamType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
private let sendFlags = Int32(MSG_NOSIGNAL)

/// TCP on 127.0.0.1, as far as tests need it.
package enum Loopback {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    init(_ call: String, error: Int32 = errno) { description = "\(call): \(String(cString: strerror(error)))" }
  }

  /// A listening socket, kept from programs that are started, and its port; 0 asks for a free one.
  package static func listen(port: UInt16 = 0, backlog: Int32 = 512) throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = try makeSocket()
    var address = address(port)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, Foundation.listen(descriptor, backlog) == 0 else {
      let failure = Failure("bind")
      close(descriptor)
      throw failure
    }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  /// As `listen`, on ::1.
  package static func listenIPv6() throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = try makeSocket(AF_INET6)
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && Foundation.listen(descriptor, 512) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard bound else {
      let failure = Failure("bind")
      close(descriptor)
      throw failure
    }
    return (descriptor, UInt16(bigEndian: address.sin6_port))
  }

  /// Whether this machine has ::1.
  package static let hasIPv6: Bool = {
    guard let descriptor = try? listenIPv6().descriptor else { return false }
    close(descriptor)
    return true
  }()

  /// A port that was free a moment ago.
  package static func freePort() throws -> UInt16 {
    let (descriptor, port) = try listen()
    close(descriptor)
    return port
  }

  package static func connect(to port: UInt16) throws -> Int32 {
    let descriptor = try makeSocket()
    var address = address(port)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      let failure = Failure("connect")
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  /// The next connection, or nil once the socket is shut.
  package static func accept(on listener: Int32) -> Int32? {
    while true {
      let descriptor = Foundation.accept(listener, nil, nil)
      if descriptor < 0, errno == EINTR || errno == ECONNABORTED { continue }
      guard descriptor >= 0 else { return nil }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      return descriptor
    }
  }

  /// Two connected ends that no program started meanwhile inherits.
  static func pair(_ ends: inout [Int32]) -> Bool {
    guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else { return false }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return true
  }

  /// Whether all bytes went out.
  package static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, sendFlags)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// What has arrived, waiting for the first byte; nil at the end.
  package static func receive(from descriptor: Int32, atMost limit: Int = 64 << 10) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: limit)
    while true {
      let count = recv(descriptor, &buffer, limit, 0)
      if count < 0, errno == EINTR { continue }
      return count > 0 ? Array(buffer[..<count]) : nil
    }
  }

  private static func makeSocket(_ family: Int32 = AF_INET) throws -> Int32 {
    let descriptor = socket(family, streamType, 0)
    guard descriptor >= 0 else { throw Failure("socket") }
    return descriptor
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return address
  }
}
