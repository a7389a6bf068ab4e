import Foundation

/// The place of an operation in the dependency graph, and in the dependency queue that holds it.
final class DependencyNode: @unchecked Sendable {
  // Safe: all mutable state is accessed only under the graph's lock.

  /// The place of a member in its dependency queue.
  enum Place: Equatable {
    /// Not in a dependency queue, or no longer in one.
    case outside
    /// Waits for its dependencies.
    case waiting
    /// Its conditions are being evaluated; it takes no slot meanwhile.
    case asking
    /// In a ready queue; the ticket distinguishes the valid entry there from entries left behind.
    case inLine(ticket: Int)
    /// In the operation queue, or about to enter it, counted at this level.
    case entered(PriorityLevel)
  }

  /// Whether the operation is an `AsyncOperation`.
  let isOurs: Bool

  // Weak, so that a dependency does not retain its dependents: their queue, dependency queue or creator does.
  private weak var linked: Operation?
  /// The operation, retained while its dependency queue holds it; a foreign one also while a dependency of it is
  /// unfinished.
  var held: Operation?
  var operation: Operation? { held ?? linked }

  var isFinished = false
  /// The number of unfinished dependencies.
  var unfinished = 0
  /// Whether one of these is not an operation but the gate: conditions that have to hold first.
  var isGated = false
  /// Whether its conditions take time, so that a dependency queue evaluates them before the operation enters the queue.
  var mustAsk = false
  var upstream = IdentityList<Operation>()
  /// The nodes that wait for it, in the order of their links.
  var dependents = IdentityList<DependencyNode>()
  /// The unfinished dependencies of other classes, and whether they had dependencies when they were linked.
  var foreign: [ObjectIdentifier: Bool] = [:]
  /// Whether it is a group, is in one, or depends on such an operation, if this was known when it was linked.
  var touchesGroup = false
  /// Whether another operation receives its value.
  var isSource = false
  /// Whether it is or was around other operations: a group that has got children, or an operation with attempts.
  var hasChildren = false
  /// A group that contains it, perhaps not directly, as a short cut to the outermost one.
  weak var outer: Operation?
  /// Lower than the ranks of all its dependents.
  var rank: Int?

  var holder: (any AdmittingQueue)?
  var place = Place.outside
  /// Read outside the lock: client code may override the getter of `queuePriority`.
  var level = PriorityLevel.normal
  /// Whether it has entered the queue and has to wait again: for its turn, or for a late dependency.
  var isHeldBack = false
  var isEntered: Bool { if case .entered = place { true } else { false } }
  var ticket = 0
  /// Its position among the members of its dependency queue.
  var index = 0

  init(isOurs: Bool) { self.isOurs = isOurs }

  /// Releases the finished operation, unless Foundation may still read it.
  ///
  /// A cancelled operation of another class can finish before its dependencies; Foundation on Linux reads it at their
  /// ends and does not retain it.
  func letGo() {
    if isOurs || unfinished == 0 { held = nil }
  }

  /// Records the operation, for use when its dependencies have finished.
  func link(to operation: Operation) {
    if linked == nil { linked = operation }
  }
}

extension DependencyNode: Identifying {
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// The dependency queue of a node, as the graph knows it.
protocol AdmittingQueue: AnyObject, Sendable {
  // MARK: Under the graph's lock

  /// The node may run, before all others of its priority if `first`; `nodesAreReady` follows.
  func nodeIsReady(_ node: DependencyNode, first: Bool)

  /// A node that has entered the queue waits again, or waits no longer.
  func nodeIsHeldBack(_ node: DependencyNode, _ isHeldBack: Bool)

  /// The operation is over.
  func nodeHasFinished(_ node: DependencyNode, _ operation: Operation)

  /// Called as the last step: the operations to be passed to `admit` afterwards.
  func takeAdmission() -> Admission

  // MARK: Without the lock

  /// Called after `nodeHasFinished`, when the operation's queue has been notified too.
  func nodeHasLeft()

  /// Lets nodes that are ready run.
  func nodesAreReady()

  /// Lets operations enter the queue, and then others that have become ready meanwhile.
  func admit(_ first: Admission)

  /// Adds operations, to be held as well.
  func add(_ operations: [Operation]) throws(OperationError)
}

/// Operations that enter a queue together.
struct Admission {
  var operations: [Operation] = []
  /// The operations of other classes among them, in the same order.
  var foreign: [Operation] = []
  /// The adapters among them that stand for an operation, which has to be ready.
  var adapters: [Operation] = []
  /// Operations that don't enter yet: their conditions have to be evaluated.
  var asked: [Operation] = []

  var isEmpty: Bool { operations.isEmpty && asked.isEmpty }
}

/// The levels of `Operation.QueuePriority`, most urgent first.
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
