import CCurl
import Checksums
import Foundation
import Operations
import Synchronization

/// The thread that moves the bytes of all transfers; it sleeps while none moves.
///
/// libcurl's multi handle, the exchanges and the variables of the operations are used on this thread only and need no
/// locks. It serves all transfers, so no call on it may block for longer than a write to a file.
package final class TransferThread: @unchecked Sendable {
  // Safe: the private variables are used on the thread only.
  package static let shared = TransferThread()

  private struct Inbox {
    var bodies: [@Sendable () -> Void] = []
    /// For `curl_multi_wakeup`, the one call that other threads make; nil while the thread has no handle.
    var multi: UnsafeMutableRawPointer?
  }

  private let inbox = Lock(Inbox())
  private let wakes = Atomic(0)
  /// Nil until there is memory for it.
  private var multi: UnsafeMutableRawPointer?
  private var exchanges: [UnsafeMutableRawPointer: Exchange] = [:]
  private var timers: [(deadline: Duration, body: () -> Void)] = []
  /// When the next look at silent exchanges is due.
  private var nextLook: Duration?
  private let clock: any OperationClock
  let certificates: CertificateStore

  private static let isLibraryReady = Lock(false)

  /// Starts a thread that lives as long as the process; programs share `shared`.
  package init(
    environment: [String: String] = ProcessVariables.current, clock: any OperationClock = .system
  ) {
    self.clock = clock
    certificates = CertificateStore(environment: environment)
    let thread = Thread { self.run() }
    thread.name = "transfers"
    thread.start()
  }

  /// How often the thread has woken: constant while nothing moves, except for one wake 30 s after a transfer's start and
  /// four in its stall time.
  package var wakeUps: Int { wakes.load(ordering: .relaxed) }

  /// The time that the timers count in.
  var now: Duration { clock.now }

  /// Runs `body` on the thread, in the order of the calls, within a fraction of a millisecond if the thread is asleep.
  package func async(_ body: @escaping @Sendable () -> Void) {
    let multi = inbox.withLock { inbox in
      inbox.bodies.append(body)
      return inbox.bodies.count == 1 ? inbox.multi : nil
    }
    if let multi { curl_multi_wakeup(multi) }
  }

  // On the thread, outside of libcurl's callbacks except for `after`.

  /// Runs `body` once on the thread after the delay.
  func after(_ delay: Duration, _ body: @escaping () -> Void) {
    let deadline = now + delay
    let place = timers.firstIndex { $0.deadline > deadline } ?? timers.endIndex
    timers.insert((deadline, body), at: place)
  }

  func add(_ exchange: Exchange) throws(TransferError) {
    guard let multi, curl_multi_add_handle(multi, exchange.easy) == CURLM_OK else { throw .curl(CURLE_OUT_OF_MEMORY) }
    exchanges[exchange.easy] = exchange
    scheduleLook(at: exchange)
  }

  private func scheduleLook(at exchange: Exchange) {
    guard let interval = exchange.lookInterval else { return }
    exchange.nextLook = now + interval
    wakeToLook(after: interval)
  }

  /// One timer serves all exchanges: they may be many and short, and timers can't be taken back.
  private func wakeToLook(after interval: Duration) {
    let time = now + interval
    if let nextLook, nextLook <= time { return }
    nextLook = time
    after(interval) { [self] in
      guard nextLook == time else { return }
      nextLook = nil
      lookAtExchanges()
    }
  }

  private func lookAtExchanges() {
    let now = now
    for exchange in Array(exchanges.values) {
      guard let time = exchange.nextLook else { continue }
      if time > now { wakeToLook(after: time - now) } else { scheduleLook(at: exchange) }
      if time <= now { exchange.look() }
    }
  }

  /// Takes the exchange from libcurl, if it is there.
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
      if multi == nil { makeMulti() }
      runInbox()
      fireTimers()
      if let multi {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        takeMessages(multi)
        curl_multi_poll(multi, nil, 0, timeout(), nil)
      } else {
        // Without a handle nothing can wake the thread; transfers fail meanwhile.
        usleep(50_000)
      }
      wakes.add(1, ordering: .relaxed)
    }
  }

  private func makeMulti() {
    let isReady = Self.isLibraryReady.withLock { isReady in
      if !isReady { isReady = CryptoLibrary.isReady && curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK }
      return isReady
    }
    guard isReady, let multi = curl_multi_init() else { return }
    self.multi = multi
    inbox.withLock { $0.multi = multi }
  }

  private func runInbox() {
    for body in inbox.withLock({ exchange(&$0.bodies, with: []) }) { body() }
  }

  private func fireTimers() {
    guard let first = timers.first else { return }
    let now = now
    guard first.deadline <= now else { return }
    let due = timers.prefix { $0.deadline <= now }
    timers.removeFirst(due.count)
    for timer in due { timer.body() }
  }

  private func takeMessages(_ multi: UnsafeMutableRawPointer) {
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

  /// Milliseconds to the next timer; libcurl shortens them to its own next one.
  private func timeout() -> Int32 {
    guard let first = timers.first else { return .max }
    return Int32(clamping: (max(.zero, first.deadline - now) / .milliseconds(1)).rounded(.up))
  }
}

/// The certificates that servers are checked against, where the environment names some: as in the curl tool.
///
/// libcurl itself reads none of these variables.
struct CertificateStore: Equatable {
  /// Nil for the one that libcurl was built with.
  private(set) var file: String?
  private(set) var folder: String?

  init(environment: [String: String]) {
    func path(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    file = path("CURL_CA_BUNDLE")
    guard file == nil else { return }
    folder = path("SSL_CERT_DIR")
    file = path("SSL_CERT_FILE")
  }
}
