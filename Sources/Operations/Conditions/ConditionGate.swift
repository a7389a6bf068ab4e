import Foundation

// An operation with conditions has a gate, which the graph counts as one more unfinished dependency. It opens when the
// conditions hold and, where the operation excludes others, when it has its turn.

extension AsyncOperation {
  /// Lets the operation execute only if `condition` holds, beside those that it has.
  ///
  /// Before the operation enters a queue or is started; in one already, it is a programmer error if the conditions have
  /// been asked. They are asked in the order in which they were added, until one fails.
  public final func addCondition(_ condition: OperationCondition) {
    let sideState = parts.sideState
    sideState.add(condition)
    DependencyGraph.change { _, effects in
      if sideState.gate.phase == .closed { return }
      precondition(
        sideState.gate.phase == .none && state < .executing,
        "a condition was added to \(self) after its conditions had been asked")
      parts.set(.isLinked)
      let node = parts.node
      sideState.gate.phase = .closed
      sideState.gate.isAttached = sideState.gate.isAttached || node.holder != nil
      node.isGated = true
      DependencyGraph.addWait(node, self, &effects)
      DependencyGraph.askIfDue(self, sideState, &effects)
    }
  }

  /// The conditions, in the order in which they are asked; empty once the operation has finished.
  public final var conditions: [OperationCondition] { parts.existingSideState?.conditions ?? [] }

  /// Called when the operation is in a queue or a feeder, so that its conditions may be asked.
  final func didAttach(to queue: OperationQueue?) {
    guard let sideState = parts.existingSideState, sideState.attach(to: queue) else { return }
    post(.attached)
    DependencyGraph.change { _, effects in
      sideState.gate.isAttached = true
      if sideState.gate.phase == .closed { DependencyGraph.askIfDue(self, sideState, &effects) }
    }
  }

  /// Called at the start: true if the conditions have not been asked; the operation is started again when they hold.
  final func mustWaitForConditions() -> Bool {
    guard let sideState = parts.existingSideState, !isCancelled else { return false }
    // By hand, it is for the caller to see that the dependencies have finished.
    let isByHand = OperationQueue.current == nil
    return DependencyGraph.change { contents, effects in
      switch sideState.gate.phase {
      case .none, .open: return false
      case .onTurn:
        guard let request = sideState.request else { preconditionFailure("an operation on turn has a request") }
        sideState.gate.phase = .open
        DependencyGraph.apply(contents.exclusion.take(request), &effects)
        return false
      case .closed, .asking, .failing, .inLine:
        if isByHand, parts.node.unfinished > 1 { return false }
        sideState.gate.isStartDeferred = true
        sideState.gate.isAttached = true
        if let request = sideState.request { DependencyGraph.apply(contents.exclusion.hurry(request), &effects) }
        DependencyGraph.askIfDue(self, sideState, &effects)
        return true
      }
    }
  }

  /// Called after a cancellation: true if the start was deferred, so that no queue will start the operation again.
  final func abandonConditions() -> Bool {
    guard let sideState = parts.existingSideState else { return false }
    let wasDeferred = DependencyGraph.change { contents, effects -> Bool? in
      switch sideState.gate.phase {
      case .none, .open: return nil
      case .closed, .asking, .failing, .inLine, .onTurn:
        // It stays counted as a dependency: a cancelled operation waits for none.
        sideState.gate.phase = .open
        let node = parts.node
        node.isGated = false
        if let request = sideState.request { DependencyGraph.apply(contents.exclusion.leave(request), &effects) }
        defer { sideState.gate.isStartDeferred = false }
        return sideState.gate.isStartDeferred
      }
    }
    if wasDeferred != nil { sideState.setEvaluation(nil) }
    return wasDeferred == true
  }

  /// Called when the operation is over, or is being freed.
  static func leaveExclusion(_ sideState: SideState) {
    guard !sideState.conditions.isEmpty else { return }
    DependencyGraph.change { contents, effects in
      if let request = sideState.request { DependencyGraph.apply(contents.exclusion.leave(request), &effects) }
      sideState.request = nil
    }
  }

  /// Asks all conditions and tells the graph.
  fileprivate final func askConditions(_ sideState: SideState, round: Int) {
    let conditions = sideState.conditions
    guard !conditions.allSatisfy(\.isAtOnce) else {
      do {
        for condition in conditions { try condition.checkAtOnce(self) }
        DependencyGraph.conditionsHold(self, sideState, round)
      } catch {
        DependencyGraph.conditionFailed(self, sideState, round, error)
      }
      return
    }
    sideState.setEvaluation(
      Task {
        do {
          for condition in conditions { try await condition.check(self) }
          DependencyGraph.conditionsHold(self, sideState, round)
        } catch {
          DependencyGraph.conditionFailed(self, sideState, round, error)
        }
      })
  }
}

extension DependencyGraph {
  /// Only the gate is left of the dependencies of `node`.
  static func gateIsLast(_ node: DependencyNode, _ effects: inout DeferredEffects) {
    guard let operation = node.operation as? AsyncOperation, let sideState = operation.parts.existingSideState else {
      return
    }
    // A dependency came and went while the conditions were being asked: that was too early.
    if case .asking = sideState.gate.phase { sideState.gate.phase = .closed }
    askIfDue(operation, sideState, &effects)
    effects.release([operation])
  }

  fileprivate static func askIfDue(
    _ operation: AsyncOperation, _ sideState: SideState, _ effects: inout DeferredEffects
  ) {
    guard sideState.gate.phase == .closed, sideState.gate.isAttached, operation.parts.node.unfinished == 1,
      !operation.isCancelled
    else { return }
    sideState.gate.round += 1
    let round = sideState.gate.round
    sideState.gate.phase = .asking(round: round)
    effects.actions.append { operation.askConditions(sideState, round: round) }
  }

  fileprivate static func conditionsHold(_ operation: AsyncOperation, _ sideState: SideState, _ round: Int) {
    let categories = sideState.conditions.reduce(into: Set<ExclusionCategory>()) { $0.formUnion($1.categories) }
    // Walked before the lock is taken: a group that is freed by it takes it.
    let groups = sequence(first: operation) { $0.parts.existingSideState?.group }.dropFirst().map(ObjectIdentifier.init)
    let request = ExclusionTable.Request(operation, categories, in: Set(groups))
    change { contents, effects in
      guard sideState.gate.phase == .asking(round: round) else { return }
      guard operation.parts.node.unfinished == 1 else {
        // A dependency was added meanwhile; when it has finished, all are asked again.
        sideState.gate.phase = .closed
        return
      }
      guard !categories.isEmpty else { return open(operation, sideState, as: .open, &effects) }
      sideState.request = request
      sideState.gate.phase = .inLine
      apply(contents.exclusion.enter(request), &effects)
      if sideState.gate.isStartDeferred { apply(contents.exclusion.hurry(request), &effects) }
    }
  }

  fileprivate static func conditionFailed(
    _ operation: AsyncOperation, _ sideState: SideState, _ round: Int, _ error: any Error
  ) {
    let isAwaited = change { _, _ in
      guard sideState.gate.phase == .asking(round: round) else { return false }
      sideState.gate.phase = .failing
      return true
    }
    guard isAwaited else { return }
    // Not started yet, so this only makes it finish when it is.
    operation.finish(with: (error as? SourceFailure)?.cause ?? error)
    change { _, effects in
      if sideState.gate.phase == .failing { open(operation, sideState, as: .open, &effects) }
    }
  }

  /// Opens the gate: only dependencies that came late hold the operation up any more.
  private static func open(
    _ operation: AsyncOperation, _ sideState: SideState, as phase: SideState.Gate.Phase,
    _ effects: inout DeferredEffects
  ) {
    sideState.gate.phase = phase
    let node = operation.parts.node
    node.isGated = false
    removeWait(node, &effects)
    guard sideState.gate.isStartDeferred else { return }
    sideState.gate.isStartDeferred = false
    effects.actions.append { operation.start() }
  }

  // MARK: Mutual exclusion

  /// Applies changes of the exclusion table to the operations behind the requests.
  fileprivate static func apply(_ changes: ExclusionTable.Changes, _ effects: inout DeferredEffects) {
    for request in changes.revoked {
      guard let operation = request.operation as? AsyncOperation, let sideState = operation.parts.existingSideState
      else { continue }
      sideState.gate.phase = .inLine
      let node = operation.parts.node
      node.isGated = true
      addWait(node, operation, &effects)
      effects.release([operation])
    }
    for request in changes.allowed {
      guard let operation = request.operation as? AsyncOperation, let sideState = operation.parts.existingSideState
      else { continue }
      open(operation, sideState, as: .onTurn, &effects)
      effects.release([operation])
    }
    for (category, watch) in changes.watches {
      effects.actions.append {
        DispatchQueue.global().asyncAfter(deadline: .now() + ExclusionTable.patience) {
          change { contents, effects in apply(contents.exclusion.look(at: category, watch), &effects) }
        }
      }
    }
  }
}
