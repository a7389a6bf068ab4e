import CCurl
import Foundation
import Operations
import Synchronization

/// The one thread that moves the bytes of all transfers, asleep while none moves.
///
/// libcurl's multi handle, the exchanges and what owns them live on this thread and need no locks. It serves all
/// transfers, so nothing on it may wait; a write to a file is as long as a call may take.
package final class TransferThread: @unchecked Sendable {
  // Safe: `exchanges` and `timers` are touched only on the thread, and libcurl allows `curl_multi_wakeup`, the only
  // use of `multi` elsewhere, on any.
  package static let shared = TransferThread()

  private let multi: UnsafeMutableRawPointer
  private let inbox = Lock<[@Sendable () -> Void]>([])
  private let wakes = Atomic(0)
  private var exchanges: [UnsafeMutableRawPointer: Exchange] = [:]
  private var timers: [(deadline: ContinuousClock.Instant, body: () -> Void)] = []

  private static let isLibraryReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Starts a thread that lives as long as the process; programs share `shared`.
  package init() {
    guard Self.isLibraryReady, let multi = curl_multi_init() else { fatalError("libcurl cannot start: out of memory") }
    self.multi = multi
    let thread = Thread { self.run() }
    thread.name = "transfers"
    thread.start()
  }

  /// How often the thread has woken: stands still while nothing moves.
  package var wakeUps: Int { wakes.load(ordering: .relaxed) }

  /// Runs `body` on the thread, in the order of the calls, within a fraction of a millisecond if it is asleep.
  package func async(_ body: @escaping @Sendable () -> Void) {
    let mustWake = inbox.withLock { inbox in
      inbox.append(body)
      return inbox.count == 1
    }
    if mustWake { curl_multi_wakeup(multi) }
  }

  /// Runs `body` once, on the thread, which must be the caller's too.
  func after(_ delay: Duration, _ body: @escaping () -> Void) {
    let deadline = ContinuousClock.now + delay
    let place = timers.firstIndex { $0.deadline > deadline } ?? timers.endIndex
    timers.insert((deadline, body), at: place)
  }

  /// Must be called on the thread, outside of libcurl's callbacks.
  func add(_ exchange: Exchange) {
    exchanges[exchange.easy] = exchange
    curl_multi_add_handle(multi, exchange.easy)
  }

  /// Must be called on the thread, outside of libcurl's callbacks; the exchange says nothing after it.
  func remove(_ exchange: Exchange) {
    guard exchanges.removeValue(forKey: exchange.easy) != nil else { return }
    curl_multi_remove_handle(multi, exchange.easy)
  }

  private func run() {
    // OpenSSL writes to sockets without MSG_NOSIGNAL, and a signal for a lost peer must not end the program.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while true {
      takeInbox()
      fireTimers()
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      takeMessages()
      curl_multi_poll(multi, nil, 0, patience(), nil)
      wakes.add(1, ordering: .relaxed)
    }
  }

  private func takeInbox() {
    let bodies = inbox.withLock { inbox in
      defer { inbox = [] }
      return inbox
    }
    for body in bodies { body() }
  }

  private func fireTimers() {
    guard let first = timers.first else { return }
    let now = ContinuousClock.now
    guard first.deadline <= now else { return }
    let due = timers.prefix { $0.deadline <= now }
    timers.removeFirst(due.count)
    for timer in due { timer.body() }
  }

  private func takeMessages() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let exchange = exchanges[easy]
      else { continue }
      let result = ccurl_result(message)
      remove(exchange)
      exchange.end(result)
    }
  }

  /// Milliseconds to the next timer; libcurl shortens it to its own, and a command wakes the thread anyway.
  private func patience() -> Int32 {
    guard let first = timers.first else { return .max }
    let wait = max(.zero, ContinuousClock.now.duration(to: first.deadline))
    return Int32(clamping: Int64((wait / .milliseconds(1)).rounded(.up)))
  }
}
