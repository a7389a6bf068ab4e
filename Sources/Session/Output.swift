import Basics
import CTerminal
import Foundation

/// A file descriptor that is written to completely, until a write fails.
package final class Output: Sendable {
  private let descriptor: Int32
  private let state: Lock<State>

  private struct State {
    var isLost = false
    var whenLost: (@Sendable (Int32) -> Void)?
  }

  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
    state = Lock(State())
  }

  package static let standardOutput = Output(1)
  package static let standardError = Output(2)

  /// Creates a file, which only its owner can read, or truncates one and leaves its mode alone.
  package static func file(_ path: String) throws(UsageError) -> Output {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw UsageError("can't write \(path): \(String(cString: strerror(errno)))") }
    return Output(descriptor)
  }

  /// Has `body` called once, with errno, when a write fails; later writes are dropped.
  package func whenLost(_ body: @escaping @Sendable (Int32) -> Void) { state.withLock { $0.whenLost = body } }

  /// Returns when all bytes are written or a write has failed; blocks while the reader is slow.
  package func write(_ bytes: [UInt8]) {
    guard !state.withLock({ $0.isLost }) else { return }
    let failure = bytes.withUnsafeBytes { terminal_write(descriptor, $0.baseAddress, $0.count, -1) }
    guard failure != 0 else { return }
    let whenLost = state.withLock { state -> (@Sendable (Int32) -> Void)? in
      defer { state.whenLost = nil }
      state.isLost = true
      return state.whenLost
    }
    whenLost?(failure)
  }

  package func write(line: String) { write(Array("\(line)\n".utf8)) }
}
