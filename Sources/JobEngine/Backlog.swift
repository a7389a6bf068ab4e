import Synchronization

/// How many attempts stand in the operation queue and have not begun.
final class Backlog: Sendable {
  private let count = Atomic(0)

  func grow() { count.wrappingAdd(1, ordering: .relaxed) }
  func shrink() { count.wrappingSubtract(1, ordering: .relaxed) }

  /// Whether a slot might soon wait for the engine: news of an end can't wait for company.
  var isLow: Bool { count.load(ordering: .relaxed) < Scheduler.ahead / 4 }
}
