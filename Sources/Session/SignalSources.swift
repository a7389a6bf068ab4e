import CTerminal
import Dispatch
import Foundation

/// Delivers signals on the main queue; from `add` on, none is lost.
@MainActor
package final class SignalSources {
  private var receivers: [Int32: @MainActor () -> Void] = [:]
  private let pipe: Int32
  /// The previous action of SIGPIPE.
  private let brokenPipe: (@convention(c) (Int32) -> Void)?
  private let source: (any DispatchSourceRead)?

  /// Handles SIGINT, SIGTERM and SIGHUP; a signal that was ignored at the start, as by nohup, stays ignored.
  package init(_ receive: @escaping @MainActor (StopSequence.Cause) -> Void) {
    // A write to a closed pipe must fail instead of ending the program while jobs execute.
    brokenPipe = signal(SIGPIPE, SIG_IGN)
    pipe = signal_pipe_open()
    // Without a free descriptor the signals keep their default actions.
    source = pipe < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: pipe, queue: .main)
    source?.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
    source?.activate()
    let causes: [(Int32, StopSequence.Cause)] = [(SIGINT, .interrupt), (SIGTERM, .terminate), (SIGHUP, .hangup)]
    for (number, cause) in causes where signal_is_ignored(number) == 0 {
      add(number) { receive(cause) }
    }
  }

  /// Replaces the action of signal `number` by a call of `receive`.
  package func add(_ number: Int32, _ receive: @escaping @MainActor () -> Void) {
    guard source != nil else { return }
    receivers[number] = receive
    _ = signal_pipe_watch(number)
  }

  /// Restores the previous action of every signal.
  package func close() {
    for number in receivers.keys { signal_pipe_unwatch(number) }
    receivers = [:]
    source?.cancel()
    signal(SIGPIPE, brokenPipe)
  }

  private func read() {
    var numbers = [UInt8](repeating: 0, count: 64)
    while true {
      let count = Foundation.read(pipe, &numbers, numbers.count)
      guard count > 0 else { return }
      for number in numbers.prefix(count) { receivers[Int32(number)]?() }
    }
  }
}
