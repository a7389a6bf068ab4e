import Foundation
import Operations

/// The cost of one change of state on the thread that makes it, with an observer whose delivery waits, and without.
///
/// In small portions, because operations are observed while they run and not long after.
func measureChanges(_ rounds: Int) {
  let portions = 100
  let count = 500
  let queue = DispatchQueue(label: "nobody-draws")
  // As in a program that runs for a while, there is an observer all the time.
  let lasting = EmptyOperation()
  let token = lasting.observe(\.state, on: queue) { _, _ in }
  defer { token.cancel() }
  for round in 0...rounds {
    var plain = 0.0
    var observed = 0.0
    var served = 0.0
    for _ in 0..<portions {
      let silent = (0..<count).map { _ in EmptyOperation() }
      plain += processorSeconds { for operation in silent { operation.start() } }
      queue.suspend()
      let watched = (0..<count).map { _ in EmptyOperation() }
      let tokens = watched.map { $0.observe(\.state, on: queue) { _, _ in } }
      observed += processorSeconds { for operation in watched { operation.start() } }
      served += seconds {
        queue.resume()
        queue.sync {}
      }
      withExtendedLifetime(tokens) {}
    }
    guard round > 0 else { continue }
    // Two changes each: executing, finished.
    let changes = Double(2 * count * portions)
    tell("unobserved", plain / changes)
    tell("change", (observed - plain) / changes)
    tell("delivery", served / changes)
  }
}

/// The cost of adding handlers to the result of one operation, by their number.
func measureHandlers(_ rounds: Int) {
  for round in 0...rounds {
    for count in [2000, 20_000] {
      let operation = ClosureOperation { 1 }
      let time = processorSeconds { for _ in 0..<count { operation.result { _ in } } }
      if round > 0 { tell("handlers \(count)", time) }
    }
  }
}

/// A million changes of state with observers on the main queue: how often that queue is called, and for how many frames
/// it lasts.
@MainActor func measureDrains() -> Never {
  let drains = Drains()
  let began = DispatchTime.now().uptimeNanoseconds
  Thread.detachNewThread {
    for _ in 0..<Drains.whole / 2 {
      let operation = EmptyOperation()
      let keeper = Keeper()
      keeper.token = operation.observe(\.state) { _, change in
        MainActor.assumeIsolated {
          if change.newValue == .finished { keeper.token = nil }
          drains.count(since: began)
        }
      }
      operation.start()
    }
  }
  dispatchMain()
}

/// Keeps an observation until its last change has been delivered.
private final class Keeper: @unchecked Sendable {
  // Safe: set before the operation starts, and later on the main queue alone.
  var token: ObservationToken?
}

@MainActor private final class Drains {
  static nonisolated let whole = 1_000_000
  private var changes = 0
  private var drains = 0
  private var isInDrain = false

  func count(since began: UInt64) {
    changes += 1
    if changes == Self.whole {
      tell("drains", Double(drains + (isInDrain ? 0 : 1)))
      tell("frames", (Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9 * 60).rounded(.up))
      exit(0)
    }
    guard !isInDrain else { return }
    isInDrain = true
    drains += 1
    // Executed after the drain.
    DispatchQueue.main.async { self.isInDrain = false }
  }
}
