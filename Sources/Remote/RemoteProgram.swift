import Basics
import Foundation
import JobModel

/// A connection to a program of this user that has a run, after its greeting.
package final class RemoteProgram: Sendable {
  package let greeting: Greeting
  private let descriptor: Lock<Int32?>

  private init(_ descriptor: Int32, _ greeting: Greeting) {
    self.greeting = greeting
    self.descriptor = Lock(descriptor)
  }

  deinit { if let descriptor = takeDescriptor() { close(descriptor) } }

  /// The connection, once.
  func takeDescriptor() -> Int32? { descriptor.withLock { $0.take() } }

  /// The programs that have a socket in one of the folders, and the errors of the others.
  ///
  /// Sockets of dead programs are removed. Waits for a program at most for `patience`.
  package static func all(
    in paths: [String], patience: Duration = .seconds(2)
  ) -> (programs: [RemoteProgram], problems: [RemoteError]) {
    var programs: [RemoteProgram] = []
    var problems: [RemoteError] = []
    for path in paths {
      do throws(RemoteError) {
        guard let folder = try SocketFolder(path, makes: false) else { continue }
        for name in folder.names {
          do throws(RemoteError) {
            guard let (descriptor, pid) = try folder.connect(to: name) else { continue }
            programs.append(try greeted(descriptor, pid, patience))
          } catch {
            problems.append(error)
          }
        }
      } catch {
        problems.append(error)
      }
    }
    programs.sort { ($0.greeting.startedAt ?? .distantFuture) < ($1.greeting.startedAt ?? .distantFuture) }
    return (programs, problems)
  }

  /// Reads the first line of a program that was connected to.
  private static func greeted(
    _ descriptor: Int32, _ pid: Int32, _ patience: Duration
  ) throws(RemoteError) -> RemoteProgram {
    do throws(RemoteError) {
      let line = try firstLine(of: descriptor, pid, patience)
      return RemoteProgram(descriptor, try greeting(line, pid))
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func greeting(_ line: [UInt8], _ pid: Int32) throws(RemoteError) -> Greeting {
    do {
      let fields = try line.withUnsafeBufferPointer { try JSONScanner.fields(of: $0) }
      if try fields.text("type") == "refused" { throw RemoteError.refused(try fields.text("reason")) }
      return try Greeting(fields, pid: pid)
    } catch let error as RemoteError {
      throw error
    } catch {
      throw .garbled((error as? JSONFault)?.message ?? "\(error)", pid: pid)
    }
  }

  /// The longest greeting.
  private static let limit = 1 << 16

  /// Leaves what follows the line unread.
  private static func firstLine(of descriptor: Int32, _ pid: Int32, _ patience: Duration) throws(RemoteError) -> [UInt8]
  {
    let end = ContinuousClock.now + patience
    var buffer = [UInt8](repeating: 0, count: limit)
    while true {
      let left = Int32(clamping: Int64(clamping: (end - .now) / .milliseconds(1)))
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&request, 1, left) > 0 else {
        if errno == EINTR, left > 0 { continue }
        throw .silent(pid: pid)
      }
      let peeked = recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK))
      if peeked == 0 { throw .ended }
      guard peeked > 0 else {
        if [EAGAIN, EINTR].contains(errno) { continue }
        throw .system("recv", errno)
      }
      guard let feed = buffer[..<peeked].firstIndex(of: UInt8(ascii: "\n")) else {
        guard peeked < buffer.count else { throw .garbled("its first line is too long", pid: pid) }
        // The line comes in parts, and the first part makes `poll` return at once.
        usleep(1000)
        continue
      }
      guard recv(descriptor, &buffer, feed + 1, 0) == feed + 1 else { throw .system("recv", errno) }
      return Array(buffer[..<feed])
    }
  }
}
