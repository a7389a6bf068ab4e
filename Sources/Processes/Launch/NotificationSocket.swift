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
  private let source: any DispatchSourceRead
  private let whenReady = Lock<(@Sendable () -> Void)?>(nil)

  /// Opens a socket; `ProcessError` if that fails.
  package init() throws(ProcessError) {
    var name = [CChar](repeating: 0, count: 32)
    let descriptor = cprocess_notify_open(&name)
    guard descriptor >= 0 else {
      throw ProcessError(.system(errno), "no socket for NOTIFY_SOCKET can be made: \(ProcessError.text(errno))")
    }
    self.name = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "opdash.notify"))
    source.setCancelHandler { close(descriptor) }
    source.setEventHandler { [weak self] in self?.take(from: descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  /// Calls `body` once, on another thread, when the program has said `READY=1`.
  package func whenReady(_ body: @escaping @Sendable () -> Void) { whenReady.withLock { $0 = body } }

  private func take(from descriptor: Int32) {
    var message = [CChar](repeating: 0, count: Self.limit)
    while true {
      let count = cprocess_notify_take(descriptor, &message, message.count)
      guard count >= 0 else { return }
      let lines = message.prefix(count).map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: "\n"))
      if lines.contains(where: { $0.elementsEqual("READY=1".utf8) }) { whenReady.withLock { $0.take() }?() }
    }
  }
}
