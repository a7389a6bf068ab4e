import Foundation

// A child that would wait for its group, or its group for it, is refused. Operations that wait for each other all the
// same are found by a search, and one of them is cancelled.

extension DependencyGraph {
  /// A path on which a group and one of `children`, which are to be added to it, would wait for each other.
  static func cycle(of group: AsyncOperation, with children: [AsyncOperation]) -> [Operation]? {
    change { contents, effects in
      contents.mayDeadlock = true
      group.parts.node.touchesGroup = true
      group.parts.node.hasChildren = true
      for child in children { child.parts.node.touchesGroup = true }
      // The usual case, independent children in an independent group, needs no search.
      let linked = children.filter { $0.parts.has(.isLinked) }
      var search = contents.search(budget: max(DeadlockSearch.shortBudget, 2 * linked.count), except: group)
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
    while let next = last.parts.existingNode?.outer as? AsyncOperation ?? last.parts.existingRareState?.group {
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
      let events = exchange(&contents.suspects, with: [])
      var search = contents.search(budget: DeadlockSearch.longBudget + 100 * events.count)
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
