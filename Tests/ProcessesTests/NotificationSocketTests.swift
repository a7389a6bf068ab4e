import Foundation
import Support
import Testing

@testable import Processes

struct NotificationSocketTests {
  private func send(_ message: String, to name: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The name in the abstract namespace begins with a zero byte.
    let bytes = [0] + name.utf8.dropFirst()
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let sent = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, message, message.utf8.count, 0, $0, length)
      }
    }
    #expect(sent == message.utf8.count)
  }

  @Test func readinessIsALineOfAMessageAndIsToldOnce() throws {
    let socket = try NotificationSocket()
    #expect(socket.name.hasPrefix("@"))
    let count = Lock(0)
    socket.whenReady { count.withLock { $0 += 1 } }
    for message in ["", "READY=0", "STATUS=READY=1", "READY=1x", "XREADY=1"] { try send(message, to: socket.name) }
    try send("STATUS=up\nREADY=1\nMAINPID=4", to: socket.name)
    #expect(eventually { count.withLock(\.self) == 1 })
    try send("READY=1", to: socket.name)
    #expect(stays { count.withLock(\.self) == 1 })
  }

  @Test func aProgramMayBeReadyBeforeAnybodyAsks() throws {
    let socket = try NotificationSocket()
    try send("READY=1", to: socket.name)
    #expect(eventually { socket.isReady })
    let count = Lock(0)
    socket.whenReady { count.withLock { $0 += 1 } }
    #expect(eventually { count.withLock(\.self) == 1 })
  }

  @Test func eachSocketHasANameOfItsOwnAndClosesIt() throws {
    var first: NotificationSocket? = try NotificationSocket()
    let second = try NotificationSocket()
    let name = try #require(first?.name)
    #expect(name != second.name)
    first = nil
    let isOpen = { (try? String(contentsOfFile: "/proc/net/unix", encoding: .utf8))?.contains(name) == true }
    #expect(eventually { !isOpen() })
  }
}
