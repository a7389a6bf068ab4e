import Basics
import Foundation
import JobModel
import Operations
import Processes
import Transfers

/// Polls whether the program of a service can be used, until it can.
///
/// The operations of probes have their own queue; each may take as long as the interval, and at least two seconds.
final class ServiceProbe: Sendable {
  private struct State {
    var whenReady: (@Sendable () -> Void)?
    var timer: (any OperationTimer)?
    var current: AsyncOperation?
    var isOver = false
  }

  private static let leastTime: Duration = .seconds(2)

  private let probe: Service.Probe
  private let interval: Duration
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
  init(
    _ probe: Service.Probe, interval: Duration, launch: ProcessLaunch, shell: [String], clock: any OperationClock
  ) {
    self.probe = probe
    self.interval = interval
    self.launch = launch
    self.shell = shell
    self.clock = clock
    queue = DispatchQueue(label: "opdash.probe")
    operations.underlyingQueue = queue
  }

  /// Checks once, before the program is started, whether its port or URL answers, and calls `occupied` with the failure
  /// if so.
  ///
  /// Without this check, the service would be ready at once, because the other program answers its probe. `operation`,
  /// the service's own, starts after the call. Other probes check nothing.
  func ask(before operation: Operation, _ occupied: @escaping @Sendable (JobFailure) -> Void) {
    let (place, holder): (String, String)
    switch probe {
    case .url(let text): (place, holder) = (text.maskedURL, "serves it")
    case .port(let host, let port):
      (place, holder) = ("\(host.contains(":") ? "[\(host)]" : host):\(port)", "has the port")
    case .command, .output: return
    }
    ask(before: operation) { isAnswered in
      guard isAnswered else { return }
      occupied(JobFailure(.launch, "\(place) answers before the service is started: another program \(holder)"))
    }
  }

  /// Calls `whenReady` once, on any thread, when the program can be used.
  func start(_ whenReady: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.isOver { $0.whenReady = whenReady } }
    look()
  }

  /// Ends the probe in progress; nothing is called after that.
  func stop() {
    let (timer, operation) = state.withLock { state in
      state.isOver = true
      state.whenReady = nil
      return (state.timer.take(), state.current.take())
    }
    timer?.cancel()
    operation?.cancel()
  }

  private func look() { ask { [weak self] isReady in self?.looked(isReady: isReady) } }

  /// Probes once and calls `body` with the answer, before `dependent` can start; no effect after the end.
  private func ask(before dependent: Operation? = nil, _ body: @escaping @Sendable (_ isReady: Bool) -> Void) {
    let operation = makeOperation()
    let isOver = state.withLock { state in
      if !state.isOver { state.current = operation }
      return state.isOver
    }
    guard !isOver else { return }
    operation.whenEnded { _, failure in body(failure == nil) }
    let limit = clock.schedule(after: max(interval, Self.leastTime), on: queue) { operation.cancel() }
    operation.whenEnded { _, _ in limit.cancel() }
    // Added before the probe can end: a dependency that has finished, and has not called `body` yet, delays nothing.
    dependent?.addDependency(operation)
    operations.addOperation(operation)
  }

  private func looked(isReady: Bool) {
    let body = state.withLock { state -> (@Sendable () -> Void)? in
      state.current = nil
      guard !state.isOver else { return nil }
      if !isReady {
        state.timer = clock.schedule(after: interval, on: queue) { [weak self] in self?.look() }
        return nil
      }
      state.isOver = true
      return state.whenReady.take()
    }
    body?()
  }

  private func makeOperation() -> AsyncOperation {
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
    case .output: return ClosureOperation<Void> {}
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
