import CTerminal
import Dispatch
import Foundation

/// Signals as calls on the main queue, none lost from the moment that one is watched.
@MainActor
package final class SignalSources {
  private var receivers: [Int32: @MainActor () -> Void] = [:]
  private let pipe: Int32
  /// What the broken pipe's signal did before.
  private let brokenPipe: (@convention(c) (Int32) -> Void)?
  private let source: (any DispatchSourceRead)?

  /// Takes over the signals that end a program; one that was ignored when the program started stays ignored (nohup).
  package init(_ receive: @escaping @MainActor (StopSequence.Cause) -> Void) {
    // Writing to a pipe that nobody reads must fail, not end the program in the middle of its jobs.
    brokenPipe = signal(SIGPIPE, SIG_IGN)
    pipe = signal_pipe_open()
    // Without a descriptor to spare the signals do what they do by themselves.
    source = pipe < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: pipe, queue: .main)
    source?.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
    source?.activate()
    let causes: [(Int32, StopSequence.Cause)] = [(SIGINT, .interrupt), (SIGTERM, .terminate), (SIGHUP, .hangup)]
    for (number, cause) in causes where !Self.isIgnored(number) {
      add(number) { receive(cause) }
    }
  }

  /// Calls `receive` at each `number` instead of what the signal does by itself.
  package func add(_ number: Int32, _ receive: @escaping @MainActor () -> Void) {
    guard source != nil else { return }
    receivers[number] = receive
    _ = signal_pipe_watch(number)
  }

  /// Lets every signal do again what it did before.
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

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
    let handler = action.__sigaction_u.__sa_handler
    #else
    let handler = action.__sigaction_handler.sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
