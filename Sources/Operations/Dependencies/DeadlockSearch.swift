import Foundation

/// A search for operations that wait for each other indefinitely.
///
/// Operations may wait for each other through dependencies, through groups (a group ends after its children, and no
/// child begins before the group), through categories that an executing operation has to itself, through an operation
/// that a condition runs first or awaits, through an operation that the task or a handler of an operation awaits, and
/// through attempts.
///
/// Used under the dependency graph's lock, and only for operations of this library: client code may override the
/// getters of others.
struct DeadlockSearch {
  /// The start or the end of an operation, as an event that another operation may wait for.
  struct Event {
    enum Kind { case start, end }

    let operation: AsyncOperation
    let kind: Kind

    static func start(_ operation: AsyncOperation) -> Event { Event(operation: operation, kind: .start) }
    static func end(_ operation: AsyncOperation) -> Event { Event(operation: operation, kind: .end) }

    fileprivate struct Key: Hashable {
      let operation: ObjectIdentifier
      let kind: Kind
    }

    fileprivate var key: Key { Key(operation: ObjectIdentifier(operation), kind: kind) }
  }

  /// Kept until the lock is free: a last reference must not be released under it.
  private(set) var visited: [AsyncOperation] = []
  private let exclusion: ExclusionTable
  private let awaits: AwaitTable
  /// A group whose children are skipped: they were searched when they were added to it.
  private let known: AsyncOperation?
  /// The number of events after which the search stops.
  private var budget: Int
  /// Whether the search is a part of another, and skips waits for any one of several operations.
  private var isInner = false

  /// The number of events searched when a dependency is added; a longer cycle is found when the group stalls.
  static let shortBudget = 16
  static let longBudget = 100_000

  init(_ exclusion: ExclusionTable, _ awaits: AwaitTable, budget: Int, except known: AsyncOperation?) {
    self.exclusion = exclusion
    self.awaits = awaits
    self.budget = budget
    self.known = known
  }

  /// A path from one of the events to one that satisfies `isGoal`, along the events that each event waits for.
  mutating func path(from events: [Event], to isGoal: (Event) -> Bool) -> [AsyncOperation]? {
    GraphWalk.path(from: events, key: \.key, next: { next(after: $0) }, to: isGoal).map(Self.operations)
  }

  /// A cycle of events that each wait for the next and that satisfies `isBreakable`, if one can be reached.
  mutating func cycle(from events: [Event], where isBreakable: ([AsyncOperation]) -> Bool) -> [AsyncOperation]? {
    GraphWalk.cycle(from: events, key: \.key, next: { next(after: $0) }, where: { isBreakable(Self.operations($0)) })
      .map(Self.operations)
  }

  /// A path on which a group and one of its children would wait for each other if `operation` got this dependency.
  ///
  /// Called when one of the operations has to do with a group.
  mutating func cycle(linking operation: AsyncOperation, to dependency: AsyncOperation) -> [Operation]? {
    let groups = sequence(first: operation) { $0.parts.existingRareState?.group }.dropFirst().map { $0 }
    defer { visited += groups }
    let isGoal = { (event: Event) in
      event.operation === operation || event.kind == .end && groups.contains { $0 === event.operation }
    }
    let first = Event.end(dependency)
    let path = isGoal(first) ? [dependency] : self.path(from: [first], to: isGoal)
    return path.map { [operation] + $0 + ($0.last === operation ? [] : [operation]) }
  }

  /// The operations of a path, on which the end of an operation is followed by its start.
  private static func operations(_ events: [Event]) -> [AsyncOperation] {
    events.reduce(into: []) { if $0.last !== $1.operation { $0.append($1.operation) } }
  }

  private mutating func next(after event: Event) -> [Event] {
    guard budget > 0 else { return [] }
    budget -= 1
    let events = conditions(of: event)
    visited.append(event.operation)
    visited += events.map(\.operation)
    return events
  }

  /// The operations whose ends an operation awaits.
  ///
  /// Where any one of several operations is enough: the first, but only if each of them waits for the operation.
  private mutating func awaited(by operation: AsyncOperation) -> [AsyncOperation] {
    var found: [AsyncOperation] = []
    for choice in awaits.ends(before: operation) {
      visited += choice
      if choice.count <= 1 || !isInner && choice.allSatisfy({ waits($0, for: operation) }) { found += choice.prefix(1) }
    }
    return found
  }

  private mutating func waits(_ operation: AsyncOperation, for other: AsyncOperation) -> Bool {
    guard operation !== other else { return true }
    var inner = self
    inner.isInner = true
    inner.visited = []
    let path = inner.path(from: [.end(operation)]) { $0.operation === other }
    visited += inner.visited
    budget = inner.budget
    return path != nil
  }

  /// The events that `event` waits for.
  private mutating func conditions(of event: Event) -> [Event] {
    let operation = event.operation
    switch event.kind {
    case .end:
      guard !operation.isFinished else { return [] }
      guard operation.isExecuting else { return [.start(operation)] }
      return (awaited(by: operation) + operation.stuckChildren).map(Event.end)
    case .start:
      // A cancelled operation waits for nothing.
      guard operation.state < .executing, !operation.isCancelled else { return [] }
      // The operations that one of its conditions awaits.
      var events = awaited(by: operation).map(Event.end)
      for case let dependency as AsyncOperation in operation.parts.existingNode?.upstream.items ?? []
      where !dependency.isFinished && !isKnown(dependency) {
        events.append(.end(dependency))
      }
      guard let rareState = operation.parts.existingRareState else { return events }
      if let group = rareState.group {
        visited.append(group)
        if group.state < .executing { events.append(.start(group)) }
      }
      if let request = rareState.request {
        for case let holder as AsyncOperation in exclusion.holders(before: request) { events.append(.end(holder)) }
      }
      return events
    }
  }

  private mutating func isKnown(_ operation: AsyncOperation) -> Bool {
    guard let known, let group = operation.parts.existingRareState?.group else { return false }
    visited.append(group)
    return group === known
  }
}
