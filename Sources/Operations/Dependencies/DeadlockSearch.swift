import Foundation

/// Looks for operations that wait for each other for ever: through dependencies, through groups, which end after their
/// children and before which no child begins, and through categories that an executing group has to itself.
///
/// Used under the dependency graph's lock, and only for our own operations: of others the getters may be anybody's.
struct DeadlockSearch {
  /// The start or the end of an operation, for which another may wait.
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

  /// Kept until the lock is free: a last reference may not go under it.
  private(set) var visited: [AsyncOperation] = []
  private let exclusion: ExclusionTable
  /// A group whose children are not looked at: they were when they were added to it.
  private let known: AsyncOperation?
  /// The search is given up after so many events.
  private var budget: Int

  /// The number of events that are looked at when a dependency is added; a longer cycle is found when the group stalls.
  static let shortBudget = 16
  static let longBudget = 100_000

  init(_ exclusion: ExclusionTable, budget: Int, except known: AsyncOperation? = nil) {
    self.exclusion = exclusion
    self.budget = budget
    self.known = known
  }

  /// A way from one of the events to one for which `isGoal`, along what each waits for.
  mutating func path(from events: [Event], to isGoal: (Event) -> Bool) -> [AsyncOperation]? {
    var isSeen: Set<Event.Key> = []
    // Depth first without recursion: the stack is the way to the event that is looked at.
    for first in events where isSeen.insert(first.key).inserted {
      var way = [(event: first, rest: next(after: first)[...])]
      while let top = way.last {
        guard let event = top.rest.first else {
          way.removeLast()
          continue
        }
        way[way.count - 1].rest.removeFirst()
        if isGoal(event) { return Self.operations(way.map(\.event) + [event]) }
        guard isSeen.insert(event.key).inserted else { continue }
        way.append((event, next(after: event)[...]))
      }
    }
    return nil
  }

  /// A cycle of events that each wait for the next, if one can be reached from the events.
  mutating func cycle(from events: [Event]) -> [AsyncOperation]? {
    var isSeen: Set<Event.Key> = []
    var isOnWay: Set<Event.Key> = []
    for first in events where isSeen.insert(first.key).inserted {
      var way = [(event: first, rest: next(after: first)[...])]
      isOnWay = [first.key]
      while let top = way.last {
        guard let event = top.rest.first else {
          isOnWay.remove(top.event.key)
          way.removeLast()
          continue
        }
        way[way.count - 1].rest.removeFirst()
        if isOnWay.contains(event.key) {
          return Self.operations(way.map(\.event).drop { $0.key != event.key } + [event])
        }
        guard isSeen.insert(event.key).inserted else { continue }
        isOnWay.insert(event.key)
        way.append((event, next(after: event)[...]))
      }
    }
    return nil
  }

  /// The operations of a way, on which the end of one is followed by its start.
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

  /// The events that `event` waits for.
  private mutating func conditions(of event: Event) -> [Event] {
    let operation = event.operation
    switch event.kind {
    case .end:
      guard !operation.isFinished else { return [] }
      guard operation.isExecuting else { return [.start(operation)] }
      guard let group = operation as? GroupOperation else { return [] }
      return group.stuckChildren.map(Event.end)
    case .start:
      // A cancelled operation waits for nothing.
      guard operation.state < .executing, !operation.isCancelled else { return [] }
      var events: [Event] = []
      for case let dependency as AsyncOperation in operation.parts.existingNode?.upstream.items ?? []
      where !dependency.isFinished && !isKnown(dependency) {
        events.append(.end(dependency))
      }
      guard let sideState = operation.parts.existingSideState else { return events }
      if let group = sideState.group {
        visited.append(group)
        if group.state < .executing { events.append(.start(group)) }
      }
      if let request = sideState.request {
        for case let holder as AsyncOperation in exclusion.holders(before: request) { events.append(.end(holder)) }
      }
      return events
    }
  }
}

extension DeadlockSearch {
  private mutating func isKnown(_ operation: AsyncOperation) -> Bool {
    guard let known, let group = operation.parts.existingSideState?.group else { return false }
    visited.append(group)
    return group === known
  }
}

extension DependencyGraph {
  /// Refuses a dependency of `operation` that would make a group and one of its children wait for each other.
  ///
  /// Called under the lock, where one of them has to do with a group; only a short way is looked for.
  static func refuseWaitForGroup(
    _ operation: AsyncOperation, on dependency: AsyncOperation, _ contents: Contents, _ effects: inout DeferredEffects
  ) throws(DependencyRanks.Cycle) {
    var search = DeadlockSearch(contents.exclusion, budget: DeadlockSearch.shortBudget)
    let groups = sequence(first: operation) { $0.parts.existingSideState?.group }.dropFirst().map { $0 }
    let isGoal = { (event: DeadlockSearch.Event) in
      event.operation === operation || event.kind == .end && groups.contains { $0 === event.operation }
    }
    let first = DeadlockSearch.Event.end(dependency)
    let path = isGoal(first) ? [dependency] : search.path(from: [first], to: isGoal)
    effects.release(search.visited + groups)
    if let path {
      throw DependencyRanks.Cycle(operations: [operation] + path + (path.last === operation ? [] : [operation]))
    }
  }

  /// A way on which a group and one of `children`, which are to be added to it, would wait for each other.
  static func cycle(of group: AsyncOperation, with children: [AsyncOperation]) -> DependencyCycle? {
    change { contents, effects in
      contents.hasGroups = true
      group.parts.node.touchesGroup = true
      for child in children { child.parts.node.touchesGroup = true }
      // Independent children and an independent group, which are the rule, need no search.
      let linked = children.filter { $0.parts.has(.isLinked) }
      let isChild = Set(children.map(ObjectIdentifier.init))
      var search = DeadlockSearch(
        contents.exclusion, budget: max(DeadlockSearch.shortBudget, 2 * linked.count), except: group)
      let groups = Array(sequence(first: group) { $0.parts.existingSideState?.group })
      defer { effects.release(search.visited + groups) }
      // A group in itself, or in a group that is in it.
      if let index = groups.firstIndex(where: { isChild.contains(ObjectIdentifier($0)) }) {
        return DependencyCycle([group] + groups[...index].reversed())
      }
      if let path = search.path(
        from: linked.map(DeadlockSearch.Event.start),
        to: { event in event.kind == .end && groups.contains { $0 === event.operation } })
      {
        return DependencyCycle([group] + path)
      }
      guard group.parts.has(.isLinked) else { return nil }
      let path = search.path(from: [.start(group)]) { isChild.contains(ObjectIdentifier($0.operation)) }
      return path.map { DependencyCycle($0 + [group]) }
    }
  }

  /// Cancels one of the operations that wait for each other for ever, if there are any that `operations` wait for.
  ///
  /// Called where that may have come about: a group whose children all wait, an operation that stands in a line.
  static func breakDeadlock(of events: [DeadlockSearch.Event]) {
    change { contents, effects in
      guard contents.hasGroups else { return }
      var search = DeadlockSearch(contents.exclusion, budget: DeadlockSearch.longBudget)
      defer { effects.release(search.visited) }
      guard let cycle = search.cycle(from: events),
        let victim = cycle.first(where: { $0.state < .executing && !$0.isCancelled })
      else { return }
      effects.actions.append { victim.cancel(with: OperationDeadlock(cycle, cancelled: victim)) }
    }
  }
}

/// Operations waited for each other for ever; one of them was cancelled, so that the others go on.
///
/// Found where a group takes part: it ends after its children, and while it executes others may wait for a category that
/// it has to itself.
public struct OperationDeadlock: Error, Equatable, CustomStringConvertible {
  /// The names of the operations, each waiting for the next; the last is the first again.
  public let path: [String]
  /// The name of the operation that was cancelled.
  public let cancelled: String

  init(_ operations: [AsyncOperation], cancelled: AsyncOperation) {
    path = operations.map(\.displayName)
    self.cancelled = cancelled.displayName
  }

  /// One sentence with the path.
  public var description: String {
    "\(cancelled) was cancelled because these wait for each other: \(path.joined(separator: " -> "))"
  }
}
