import Foundation

/// One operation's place in the dependency graph, and in the feeder that holds it.
final class DependencyNode: @unchecked Sendable {
  // Safe: everything that varies is touched only under the graph's lock.

  /// Where a member of a feeder is.
  enum Place: Equatable {
    /// Not in a feeder, or out of it again.
    case outside
    /// Waits for its dependencies.
    case waiting
    /// Its conditions are being asked; it takes no slot meanwhile.
    case asking
    /// In a ready queue; the ticket tells its valid entry there from entries that it has left behind.
    case inLine(ticket: Int)
    /// In the operation queue, or on the way there, counted at this level.
    case entered(PriorityLevel)
  }

  /// Whether the operation is an `AsyncOperation`.
  let isOurs: Bool

  // Weak, so that a dependency does not keep what depends on it: its queue, its feeder or its maker does that.
  private weak var linked: Operation?
  /// The operation, kept while its feeder holds it; of another class also while one that it depends on has not finished.
  var held: Operation?
  var operation: Operation? { held ?? linked }

  var isFinished = false
  /// How many of its dependencies are unfinished.
  var unfinished = 0
  /// Whether one of them is not an operation but the gate: conditions that have to hold first.
  var isGated = false
  /// Whether its conditions take their time, so that a feeder asks them before the operation enters the queue.
  var mustAsk = false
  var upstream = IdentityList<Operation>()
  /// The nodes that wait for it, in the order in which they were linked.
  var dependents = IdentityList<DependencyNode>()
  /// The unfinished dependencies of other classes, and whether they had dependencies when they were linked.
  var foreign: [ObjectIdentifier: Bool] = [:]
  /// Whether it is a group or in one, or depends on such an operation, as far as that was known when it was linked.
  var touchesGroup = false
  /// Whether another operation receives its value.
  var isSource = false
  /// Whether it is a group that has been given children.
  var hasChildren = false
  /// Lower than the ranks of all that depend on it.
  var rank: Int?

  var holder: (any NodeHolder)?
  var place = Place.outside
  /// Read outside the lock: the getter of `queuePriority` may be anybody's.
  var level = PriorityLevel.normal
  /// Whether it has entered the queue and has to wait again: for its turn, or for a late dependency.
  var isHeldBack = false
  var isEntered: Bool { if case .entered = place { true } else { false } }
  var ticket = 0
  /// Its position among the members of its feeder.
  var index = 0

  init(isOurs: Bool) { self.isOurs = isOurs }

  /// Keeps the operation no longer, which has finished, unless Foundation may still read it.
  ///
  /// One of another class can finish, cancelled, before its dependencies; Foundation on Linux reads it at their ends
  /// and does not retain it.
  func letGo() {
    if isOurs || unfinished == 0 { held = nil }
  }

  /// Makes the operation known, for when its dependencies have finished.
  func link(to operation: Operation) {
    if linked == nil { linked = operation }
  }
}

/// Holds the operations of nodes until they have finished, and lets them run when they are ready.
protocol NodeHolder: AnyObject, Sendable {
  /// Called under the graph's lock: the node may run, before all others of its priority if `first`; `nodesAreReady` follows.
  func nodeIsReady(_ node: DependencyNode, first: Bool)
  /// Called under the graph's lock: a node that has entered the queue waits again, or waits no longer.
  func nodeIsHeldBack(_ node: DependencyNode, _ isHeldBack: Bool)
  /// Called under the graph's lock: the operation is over.
  func nodeHasFinished(_ node: DependencyNode, _ operation: Operation)
  /// Called under the graph's lock, as the last thing: the operations to be given to `admit` after it.
  func takeAdmission() -> Admission
  func admit(_ admission: Admission)
  /// Lets nodes that are ready run.
  func nodesAreReady()
  /// Called after `nodeHasFinished`, when the operation's queue has been told too.
  func nodeHasLeft()
}

/// Operations that enter a queue together.
struct Admission {
  var operations: [Operation] = []
  /// The operations of other classes among them, in the same order.
  var foreign: [Operation] = []
  /// Operations that do not enter yet: their conditions are to be asked.
  var asked: [AsyncOperation] = []

  var isEmpty: Bool { operations.isEmpty && asked.isEmpty }
}

/// The levels of `Operation.QueuePriority`, the first to run first.
enum PriorityLevel: Int, CaseIterable {
  case veryHigh, high, normal, low, veryLow

  init(_ priority: Operation.QueuePriority) {
    switch priority {
    case .veryHigh: self = .veryHigh
    case .high: self = .high
    case .low: self = .low
    case .veryLow: self = .veryLow
    default: self = .normal
    }
  }
}
