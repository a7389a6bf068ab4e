import Basics
import Foundation
import JobModel
import Operations
import Processes
import Transfers

/// Polls whether the program of a service can be used, until it can, then whether it still can be.
///
/// The operations of probes have their own queue; each of the first kind may take as long as the interval, and at least
/// two seconds.
final class ServiceProbe: Sendable {
  private struct State {
    var whenReady: (@Sendable () -> Void)?
    var whenDead: (@Sendable (JobFailure) -> Void)?
    /// The probes in a row that have failed since the program could be used.
    var misses = 0
    var timer: (any OperationTimer)?
    var current: AsyncOperation?
    var isPaused = false
    var isOver = false
  }

  private static let leastTime: Duration = .seconds(2)

  private let service: Service
  private let launch: ProcessLaunch
  private let shell: [String]
  private let clock: any OperationClock
  private let queue: DispatchQueue
  private let operations = OperationQueue()
  private let state = Lock(State())

  /// Creates a probe of a service.
  ///
  /// `launch` has the directory and the environment of the service, for a probe that is a command; `shell` executes a
  /// command that is a script.
  init(_ service: Service, launch: ProcessLaunch, shell: [String], clock: any OperationClock) {
    self.service = service
    self.launch = launch
    self.shell = shell
    self.clock = clock
    queue = DispatchQueue(label: "opdash.probe")
    operations.underlyingQueue = queue
  }

  /// While the program is paused, no probe says that it can't be used any more.
  var isPaused: Bool {
    get { state.withLock(\.isPaused) }
    set {
      state.withLock { state in
        state.isPaused = newValue
        state.misses = 0
      }
    }
  }

  /// Checks once, before the program is started, whether its port or URL answers, and calls `occupied` with the failure
  /// if so.
  ///
  /// Without this check, the service would be ready at once, because the other program answers its probe. `operation`,
  /// the service's own, starts after the call. Other probes check nothing.
  func ask(before operation: Operation, _ occupied: @escaping @Sendable (JobFailure) -> Void) {
    guard let probe = service.probe, let place = probe.place else { return }
    let holder = if case .port = probe { "has the port" } else { "serves it" }
    ask(probe, atMost: startLimit, before: operation) { failure in
      guard failure == nil || Self.isReply(failure) else { return }
      occupied(JobFailure(.launch, "\(place) answers before the service is started: another program \(holder)"))
    }
  }

  /// Calls `whenReady` once, on any thread, when the program can be used; never where a probe can't tell.
  func start(_ whenReady: @escaping @Sendable () -> Void) {
    switch service.probe {
    case .url, .port, .command: break
    case .output, .notification, nil: return
    }
    state.withLock { if !$0.isOver { $0.whenReady = whenReady } }
    look()
  }

  /// Calls `whenDead` once, on any thread, when a program that could be used can't be any more.
  func watch(_ whenDead: @escaping @Sendable (JobFailure) -> Void) {
    guard let alive = service.alive else { return }
    state.withLock { if !$0.isOver { $0.whenDead = whenDead } }
    schedule(after: alive.interval) { $0.lookAgain(alive) }
  }

  /// Ends the probe in progress; nothing is called after that.
  func stop() {
    let (timer, operation) = state.withLock { state in
      state.isOver = true
      (state.whenReady, state.whenDead) = (nil, nil)
      return (state.timer.take(), state.current.take())
    }
    timer?.cancel()
    operation?.cancel()
  }

  private var startLimit: Duration { max(service.interval, Self.leastTime) }

  private func look() {
    guard let probe = service.probe else { return }
    ask(probe, atMost: startLimit) { [weak self] failure in
      guard let self else { return }
      guard failure == nil else { return schedule(after: service.interval) { $0.look() } }
      state.withLock { $0.whenReady.take() }?()
    }
  }

  private func lookAgain(_ alive: Service.Liveness) {
    guard !isPaused else { return schedule(after: alive.interval) { $0.lookAgain(alive) } }
    ask(alive.probe, atMost: alive.limit) { [weak self] failure in
      guard let self else { return }
      let whenDead = state.withLock { state -> (@Sendable (JobFailure) -> Void)? in
        state.misses = failure == nil || state.isPaused ? 0 : state.misses + 1
        return state.misses < alive.failures ? nil : state.whenDead.take()
      }
      guard let whenDead else { return schedule(after: alive.interval) { $0.lookAgain(alive) } }
      let count = alive.failures == 1 ? "" : " \(alive.failures) times in a row"
      whenDead(
        JobFailure(.error, alive.probe.place.map { "\($0) did not answer\(count)" } ?? "service.alive failed\(count)"))
    }
  }

  private func schedule(after time: Duration, _ body: @escaping @Sendable (ServiceProbe) -> Void) {
    state.withLock { state in
      guard !state.isOver else { return }
      state.timer = clock.schedule(after: time, on: queue) { [weak self] in
        if let self { body(self) }
      }
    }
  }

  /// Whether a server has replied, if only with an error; a gateway says by 502 and 504 that it reaches no server.
  private static func isReply(_ failure: (any Error)?) -> Bool {
    if case .http(let status) = (failure as? TransferError)?.code { status != 502 && status != 504 } else { false }
  }

  /// Probes once and calls `body`, without a failure if the probe succeeds, before `dependent` can start; no effect after
  /// the end.
  private func ask(
    _ probe: Service.Probe, atMost time: Duration, before dependent: Operation? = nil,
    _ body: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let operation = makeOperation(probe)
    let isOver = state.withLock { state in
      if !state.isOver { state.current = operation }
      return state.isOver
    }
    guard !isOver else { return }
    operation.whenEnded { [weak self] _, failure in
      if self?.endProbe() == true { body(failure) }
    }
    let limit = clock.schedule(after: time, on: queue) { operation.cancel() }
    operation.whenEnded { _, _ in limit.cancel() }
    // Added before the probe can end: a dependency that has finished, and has not called `body` yet, delays nothing.
    dependent?.addDependency(operation)
    operations.addOperation(operation)
  }

  /// Whether the answer of the probe that has ended is still wanted.
  private func endProbe() -> Bool {
    state.withLock { state in
      state.current = nil
      return !state.isOver
    }
  }

  private func makeOperation(_ probe: Service.Probe) -> AsyncOperation {
    switch probe {
    case .url(let text): return StatusOperation(of: text)
    case .port(let host, let port):
      return ClosureOperation<Void> {
        guard Self.accepts(host, port) else { throw TransferError(.network, "no connection to \(host):\(port)") }
      }
    case .command(let command):
      var launch = launch
      switch command {
      case .script(let text): launch.arguments = shell + [text]
      case .argv(let words): launch.arguments = words
      }
      return ShellOperation(launch, output: .discarded, error: .discarded)
    case .output, .notification: preconditionFailure("the program says it itself")
    }
  }

  /// Whether a port accepts a connection within two seconds; blocks.
  private static func accepts(_ host: String, _ port: UInt16) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = streamSocket
    var addresses: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &addresses) == 0 else { return false }
    defer { freeaddrinfo(addresses) }
    var next = addresses
    while let address = next {
      if connects(to: address.pointee) { return true }
      next = address.pointee.ai_next
    }
    return false
  }

  private static func connects(to address: addrinfo) -> Bool {
    let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return true }
    guard errno == EINPROGRESS else { return false }
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&request, 1, 2000) == 1 else { return false }
    var problem: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &length) == 0 && problem == 0
  }

  private static let streamSocket = Int32(SOCK_STREAM.rawValue)
}

extension Service.Probe {
  /// The address that it asks; nil if it asks none.
  fileprivate var place: String? {
    switch self {
    case .url(let text): text.maskedURL
    case .port(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    case .command, .output, .notification: nil
    }
  }
}
