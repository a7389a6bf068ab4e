import CProcess
import Dispatch
import Foundation
import Operations

/// A socket for messages of sd_notify, with which a program reports that it is ready.
///
/// Messages of other users are ignored.
package final class NotificationSocket: @unchecked Sendable {
  // Safe: the source and the descriptor don't change after init; the handler is called on one queue.
  private static let limit = 4096

  /// The value of `NOTIFY_SOCKET` for the program.
  package let name: String
  private let queue = DispatchQueue(label: "opdash.notify")
  private let source: any DispatchSourceRead
  private let state = Lock((isReady: false, body: nil as (@Sendable () -> Void)?))

  /// Opens a socket; `ProcessError` if that fails.
  package init() throws(ProcessError) {
    var name = [CChar](repeating: 0, count: 32)
    let descriptor = cprocess_notify_open(&name)
    guard descriptor >= 0 else {
      throw ProcessError(.system(errno), "no socket for NOTIFY_SOCKET can be made: \(ProcessError.text(errno))")
    }
    self.name = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setCancelHandler { close(descriptor) }
    source.setEventHandler { [weak self] in self?.take(from: descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  /// Whether the program has said `READY=1`.
  var isReady: Bool { state.withLock(\.isReady) }

  /// Calls `body` once, on another thread, when the program has said `READY=1`, which it may have done already.
  package func whenReady(_ body: @escaping @Sendable () -> Void) {
    let isReady = state.withLock { state in
      if !state.isReady { state.body = body }
      return state.isReady
    }
    if isReady { queue.async(execute: body) }
  }

  private func take(from descriptor: Int32) {
    var message = [CChar](repeating: 0, count: Self.limit)
    while true {
      let count = cprocess_notify_take(descriptor, &message, message.count)
      guard count >= 0 else { return }
      let lines = message.prefix(count).map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: "\n"))
      if lines.contains(where: { $0.elementsEqual("READY=1".utf8) }) {
        let body = state.withLock { state in
          state.isReady = true
          return state.body.take()
        }
        body?()
      }
    }
  }
}
