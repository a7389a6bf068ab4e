import Basics
import CTerminal
import Dispatch
import Foundation

/// Delivers signals on a queue that waits for nothing; from `add` on, none is lost.
package final class SignalSources: @unchecked Sendable {
  // Safe: all is constant or locked, and dispatch sources may be cancelled from any thread.
  private typealias Action = @convention(c) (Int32) -> Void

  private let receivers = Lock<[Int32: @Sendable () -> Void]>([:])
  private let pipe: Int32
  private let source: (any DispatchSourceRead)?
  private let answering: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  /// The previous actions of signals that only report that a write fails.
  private let failedWrites = Lock<[(signal: Int32, action: Action?)]>([])

  /// Handles SIGINT, SIGTERM and SIGHUP; a signal that was ignored at the start, as by nohup, stays ignored.
  ///
  /// `receive` and `answering` are called on the queue of the signals and must not block. `answering` calls `done` once all that
  /// ends the run works: if it does not for as long as `patience` after a signal, the process ends by that signal.
  package init(
    patience: Duration = .seconds(15), answering: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void,
    _ receive: @escaping @Sendable (StopSequence.Cause) -> Void
  ) {
    self.answering = answering
    pipe = signal_pipe_open(Int32(patience / .milliseconds(100)))
    // Without a free descriptor the signals keep their default actions.
    source =
      pipe < 0
      ? nil : DispatchSource.makeReadSource(fileDescriptor: pipe, queue: DispatchQueue(label: "opdash.signals"))
    source?.setEventHandler { [weak self] in self?.read() }
    source?.activate()
    let causes: [(Int32, StopSequence.Cause)] = [(SIGINT, .interrupt), (SIGTERM, .terminate), (SIGHUP, .hangup)]
    for (number, cause) in causes where signal_is_ignored(number) == 0 {
      watch(number) { receive(cause) }
    }
    // A write to a closed pipe, or past the limit of file sizes, must fail instead of ending the program while jobs execute.
    // Last: where SIGPIPE is ignored, the others are answered in order.
    failedWrites.withLock { $0 = [SIGPIPE, SIGXFSZ].map { ($0, signal($0, SIG_IGN)) } }
  }

  /// Replaces the action of signal `number` by a call of `receive` on the main queue.
  package func add(_ number: Int32, _ receive: @escaping @MainActor @Sendable () -> Void) {
    watch(number) { onMain(receive) }
  }

  private func watch(_ number: Int32, _ receive: @escaping @Sendable () -> Void) {
    guard source != nil else { return }
    receivers.withLock { $0[number] = receive }
    _ = signal_pipe_watch(number)
  }

  /// Restores the previous action of every signal.
  package func close() {
    receivers.withLock { receivers in
      for number in receivers.keys { signal_pipe_unwatch(number) }
      receivers = [:]
    }
    source?.cancel()
    for (number, action) in failedWrites.withLock(\.self) { signal(number, action) }
  }

  private func read() {
    var numbers = [UInt8](repeating: 0, count: 64)
    while true {
      let count = Foundation.read(pipe, &numbers, numbers.count)
      guard count > 0 else { break }
      // Typing ^C or ^Z discards the output that the writers wait for.
      if numbers.prefix(count).contains(where: { $0 == SIGINT || $0 == SIGTSTP }) {
        output_wake_writers()
      }
      for number in numbers.prefix(count) { receivers.withLock { $0[Int32(number)] }?() }
    }
    answering { signal_pipe_answer() }
  }
}
