import CProcess
import Dispatch
import Foundation
import Operations

/// The thread that hears when a program was stopped or continued by a signal, which a pidfd doesn't report.
///
/// The system reports it for any child of this process, and once: listens only where all of them are the supervisor's.
final class StopListener: Sendable {
  private enum Phase {
    case off
    /// The thread, if there is one, waits for the first child.
    case idle(hasThread: Bool)
    case listening
  }

  private let registry: ProcessRegistry
  private let phase = Lock(Phase.off)
  private let wake = DispatchSemaphore(value: 0)

  init(registry: ProcessRegistry) { self.registry = registry }

  func enable() { phase.withLock { if case .off = $0 { $0 = .idle(hasThread: false) } } }

  /// Must be called after each launch.
  func childWasStarted() {
    phase.withLock { phase in
      guard case .idle(let hasThread) = phase else { return }
      phase = .listening
      if hasThread {
        wake.signal()
      } else {
        let thread = Thread { self.run() }
        thread.name = "stops"
        thread.start()
      }
    }
  }

  private func run() {
    while true {
      listen()
      phase.withLock { $0 = .idle(hasThread: true) }
      // A child that was started just before has not made it listen again.
      if cprocess_has_children() { childWasStarted() }
      wake.wait()
    }
  }

  /// Returns when this process has no children.
  private func listen() {
    var signal: Int32 = 0
    while case let pid = cprocess_next_stop(&signal), pid > 0 {
      guard let number = registry.launch(ledBy: pid), let child = registry[number] else { continue }
      child.stopped(signal == 0 ? nil : signal)
    }
  }
}
