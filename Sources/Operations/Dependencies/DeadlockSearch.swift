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

  init(_ contents: DependencyGraph.Contents, budget: Int, except known: AsyncOperation? = nil) {
    exclusion = contents.exclusion
    awaits = contents.awaits
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

extension DependencyGraph {
  /// A path on which a group and one of its children would wait for each other if `operation` got this dependency.
  ///
  /// Called under the lock, when one of the operations has to do with a group; only short paths are searched.
  static func cycleThroughGroup(
    _ operation: AsyncOperation, _ dependency: AsyncOperation, _ contents: Contents, _ effects: inout DeferredEffects
  ) -> [Operation]? {
    var search = DeadlockSearch(contents, budget: DeadlockSearch.shortBudget)
    let groups = sequence(first: operation) { $0.parts.existingRareState?.group }.dropFirst().map { $0 }
    let isGoal = { (event: DeadlockSearch.Event) in
      event.operation === operation || event.kind == .end && groups.contains { $0 === event.operation }
    }
    let first = DeadlockSearch.Event.end(dependency)
    let path = isGoal(first) ? [dependency] : search.path(from: [first], to: isGoal)
    effects.release(search.visited + groups)
    return path.map { [operation] + $0 + ($0.last === operation ? [] : [operation]) }
  }

  /// A path on which a group and one of `children`, which are to be added to it, would wait for each other.
  static func cycle(of group: AsyncOperation, with children: [AsyncOperation]) -> [Operation]? {
    change { contents, effects in
      contents.mayDeadlock = true
      group.parts.node.touchesGroup = true
      group.parts.node.hasChildren = true
      for child in children { child.parts.node.touchesGroup = true }
      // The usual case, independent children in an independent group, needs no search.
      let linked = children.filter { $0.parts.has(.isLinked) }
      var search = DeadlockSearch(contents, budget: max(DeadlockSearch.shortBudget, 2 * linked.count), except: group)
      // The group and the groups that contain it, walked only if needed: nests may be deep.
      var groups = IdentityList<Operation>()
      var passed: [AsyncOperation] = []
      defer { effects.release(search.visited + groups.items + passed) }
      func isAround(_ operation: AsyncOperation) -> Bool {
        guard operation.parts.existingNode?.hasChildren == true else { return false }
        if let outer = operation.parts.existingRareState?.group {
          passed.append(outer)
        } else if outermost(around: group, &passed) !== operation {
          return false
        }
        if groups.isEmpty {
          for group in sequence(first: group, next: { $0.parts.existingRareState?.group }) { groups.append(group) }
        }
        return groups.contains(operation)
      }
      // A group in itself, or in a group that it contains.
      if let child = children.first(where: isAround) {
        return [group] + groups.items.prefix { $0 !== child }.reversed().dropLast() + [child, group]
      }
      if let path = search.path(
        from: linked.map(DeadlockSearch.Event.start), to: { event in event.kind == .end && isAround(event.operation) })
      {
        return [group] + path
      }
      guard group.parts.has(.isLinked) else { return nil }
      let isChild = Set(children.map(ObjectIdentifier.init))
      let path = search.path(from: [.start(group)]) { isChild.contains(ObjectIdentifier($0.operation)) }
      return path.map { $0 + [group] }
    }
  }

  /// The outermost of the groups that contain an operation; the operation itself if it is in none.
  ///
  /// Called under the lock; `passed` gets operations to be released after it. Each operation on the way stores the
  /// answer, so that further calls skip the way: an operation gets a group once, and stays in it.
  private static func outermost(around operation: AsyncOperation, _ passed: inout [AsyncOperation]) -> AsyncOperation {
    var way = [operation]
    var last = operation
    while let next = last.parts.existingNode?.outer ?? last.parts.existingRareState?.group {
      way.append(next)
      last = next
    }
    for operation in way.dropLast(2) { operation.parts.node.outer = last }
    passed += way
    return last
  }

  private static let searches = DispatchQueue(label: "DeadlockSearch")

  /// Cancels, soon, one of the operations in a deadlock, if these events lead to one.
  ///
  /// Called where a deadlock may have arisen: in a group whose children all wait, for an operation that stands in a
  /// line, for the wait of a condition or a task. Events that arrive together share one search.
  static func breakDeadlock(of events: [DeadlockSearch.Event]) {
    change { contents, effects in
      guard contents.mayDeadlock else { return }
      defer { contents.suspects += events }
      guard contents.suspects.isEmpty else { return }
      // If a search takes long, searches use a tenth of the time.
      let time = DispatchTime.now() + .nanoseconds(min(contents.searchTime * 10, 250_000_000))
      effects.actions.append { searches.asyncAfter(deadline: time) { searchForDeadlock() } }
    }
  }

  private static func searchForDeadlock() {
    change { contents, effects in
      let began = DispatchTime.now().uptimeNanoseconds
      defer { contents.searchTime = Int(DispatchTime.now().uptimeNanoseconds - began) }
      let events = contents.suspects
      var search = DeadlockSearch(contents, budget: DeadlockSearch.longBudget + 100 * events.count)
      contents.suspects = []
      defer { effects.release(search.visited + events.map(\.operation)) }
      var victim: AsyncOperation?
      let cycle = search.cycle(from: events) { cycle in
        let waiting = cycle.filter { $0.state < .executing && !$0.isCancelled }
        // In a dependency queue the victim finishes at once; in Foundation's queue, which may be suspended, when the
        // queue starts it.
        victim = waiting.first { $0.parts.existingNode?.place == .waiting } ?? waiting.first
        return victim != nil
      }
      guard let cycle, let victim else { return }
      effects.actions.append {
        victim.cancel(with: OperationError(.deadlock, of: victim.displayName, names: cycle.map(\.displayName)))
        // There may be other deadlocks.
        breakDeadlock(of: events)
      }
    }
  }
}
