import Foundation

/// One operation's place among those that it depends on and that depend on it, and in its feeder.
final class DependencyNode: @unchecked Sendable {
  // Safe: everything that varies is touched only under the graph's lock.

  /// Where a member of a feeder is.
  enum Place: Equatable {
    /// Not in a feeder, or out of it again.
    case outside
    /// Waits for what it depends on.
    case waiting
    /// In its feeder's line; the ticket tells the valid entry of the line from those it has left behind.
    case inLine(ticket: Int)
    /// In the queue, or on the way there.
    case entered(OperationFeeder.Level)
  }

  /// Whether the operation is an `AsyncOperation`.
  let isOurs: Bool

  // Weak, so that a dependency does not keep what depends on it: its queue, its feeder or its maker does that.
  private weak var linked: Operation?
  /// The operation, kept while its feeder holds it.
  var held: Operation?

  var isFinished = false
  /// How many of its dependencies are unfinished.
  var unfinished = 0
  /// Whether one of them is no operation but the gate: conditions that have to hold first.
  var isGated = false
  /// What it depends on.
  var upstream = OperationList()
  /// Those that wait for it, in the order in which they were linked.
  var dependents: [DependencyNode] = []
  /// The unfinished dependencies that are not of our class, and whether they had dependencies when they were linked.
  var foreign: [ObjectIdentifier: Bool] = [:]
  /// A dependency has a lower rank than all that depend on it.
  var rank: Int?

  var feeder: OperationFeeder?
  var place = Place.outside
  var ticket = 0
  /// Where it stands among the members of its feeder.
  var index = 0

  var isEntered: Bool {
    guard case .entered = place else { return false }
    return true
  }

  var operation: Operation? { held ?? linked }

  init(isOurs: Bool) { self.isOurs = isOurs }

  /// Makes the operation known, for when what it waits for has finished.
  func link(to operation: Operation) {
    if linked == nil { linked = operation }
  }
}
