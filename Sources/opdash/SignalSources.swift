import Dispatch
import Foundation

/// Signals as calls on the main queue.
@MainActor
final class SignalSources {
  private var sources: [any DispatchSourceSignal] = []

  /// Takes over the signals that end a program; one that was ignored when the program started stays ignored (nohup).
  init(_ receive: @escaping @MainActor (StopSequence.Cause) -> Void) {
    // Writing to a pipe that nobody reads must fail, not end the program in the middle of its jobs.
    signal(SIGPIPE, SIG_IGN)
    let causes: [(Int32, StopSequence.Cause)] = [(SIGINT, .interrupt), (SIGTERM, .terminate), (SIGHUP, .hangup)]
    for (number, cause) in causes where !Self.isIgnored(number) {
      add(number) { receive(cause) }
    }
  }

  /// Calls `receive` at each `number` instead of what the signal does by itself.
  func add(_ number: Int32, _ receive: @escaping @MainActor () -> Void) {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
    source.setEventHandler { MainActor.assumeIsolated(receive) }
    source.resume()
    sources.append(source)
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
