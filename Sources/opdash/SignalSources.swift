import CTerminal
import Dispatch
import Foundation

/// Signals as calls on the main queue, none lost from the moment that one is watched.
@MainActor
final class SignalSources {
  private var receivers: [Int32: @MainActor () -> Void] = [:]
  private let pipe: Int32
  private let source: (any DispatchSourceRead)?

  /// Takes over the signals that end a program; one that was ignored when the program started stays ignored (nohup).
  init(_ receive: @escaping @MainActor (StopSequence.Cause) -> Void) {
    // Writing to a pipe that nobody reads must fail, not end the program in the middle of its jobs.
    signal(SIGPIPE, SIG_IGN)
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
  func add(_ number: Int32, _ receive: @escaping @MainActor () -> Void) {
    guard source != nil else { return }
    receivers[number] = receive
    _ = signal_pipe_watch(number)
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
