import Foundation

// An operation with conditions passes two gates. Before its queue, the graph counts the turn among operations that
// exclude each other as one more unfinished dependency. At its start, the conditions are evaluated. In a feeder,
// conditions that take time are evaluated before the start, when a slot is free, and so take no slot.

extension AsyncOperation {
  /// Lets the operation execute only if `condition` holds, in addition to its other conditions.
  ///
  /// To be called before the operation is started; it is a programmer error if its conditions have been evaluated.
  /// Conditions are evaluated in the order of their addition, until one fails.
  public final func addCondition(_ condition: OperationCondition) {
    let sideState = parts.sideState
    let isInTime = DependencyGraph.change { _, effects -> Bool in
      guard sideState.gate.isUntouched, state < .executing else { return false }
      sideState.add(condition)
      parts.set(.isLinked)
      let node = parts.node
      if condition.hasQuestion {
        sideState.gate.answer = .unasked
        node.mustAsk = node.mustAsk || !condition.isAtOnce
      }
      guard !condition.categories.isEmpty, sideState.gate.turn == .none else { return true }
      sideState.gate.turn = .closed
      if node.holder != nil { parts.set(.mayBeQueued) }
      node.isGated = true
      DependencyGraph.addWait(node, self, &effects)
      DependencyGraph.enterLineIfDue(self, sideState, &effects)
      return true
    }
    // Not under the graph's lock: client code may override the operation's description.
    require(isInTime, "a condition was added to \(self) after its conditions had been asked")
  }

  /// The conditions, in the order of their evaluation; empty once the operation has finished.
  public final var conditions: [OperationCondition] { parts.existingSideState?.conditions ?? [] }

  /// Called when the operation is in a queue or a feeder.
  final func didAttach(to queue: OperationQueue) {
    guard let sideState = parts.existingSideState else { return }
    if sideState.attach(to: queue) { post(.attached) }
    mayBeInQueue()
  }

  /// Called when a queue holds the operation, or seems to; true for the first call.
  ///
  /// From then on, an operation that excludes others stands in line for its turn.
  ///
  /// An operation that is in no queue delays others only by `ExclusionTable.patience`.
  @discardableResult
  final func mayBeInQueue() -> Bool {
    guard parts.setFirst(.mayBeQueued) else { return false }
    if let sideState = parts.existingSideState {
      DependencyGraph.change { _, effects in DependencyGraph.enterLineIfDue(self, sideState, &effects) }
    }
    DependencyGraph.runUnnamedDependencies(of: self)
    return true
  }

  /// Called at the start; true if a gate is closed: the operation is started again when it may execute.
  final func mustWaitForConditions() -> Bool {
    guard let sideState = parts.existingSideState else { return false }
    // On the main thread the main queue is the current one, no matter which code starts the operation.
    if let queue = OperationQueue.current, queue !== OperationQueue.main || isInCurrentQueue {
      if sideState.start(in: queue) { post(.attached) }
    }
    guard !isCancelled, !parts.lifecycle.isEndRequested else { return false }
    return DependencyGraph.change { contents, effects in
      // Started by hand once more.
      if sideState.gate.isStartDeferred { return true }
      switch sideState.gate.turn {
      case .none, .open: break
      case .onTurn:
        guard let request = sideState.request else { programmerError("an operation on turn has a request") }
        sideState.gate.turn = .open
        DependencyGraph.apply(contents.exclusion.take(request), &effects)
      case .closed, .inLine:
        sideState.gate.isStartDeferred = true
        parts.set(.mayBeQueued)
        if let request = sideState.request { DependencyGraph.apply(contents.exclusion.hurry(request), &effects) }
        DependencyGraph.enterLineIfDue(self, sideState, &effects)
        return true
      }
      switch sideState.gate.answer {
      case .none, .given: return false
      case .unasked: DependencyGraph.ask(self, sideState, &effects)
      case .asking, .failing: break
      }
      sideState.gate.isStartDeferred = true
      return true
    }
  }

  /// Called after a cancellation; true if the start was deferred, so that no queue will start the operation again.
  final func abandonConditions() -> Bool {
    guard let sideState = parts.existingSideState else { return false }
    let wasDeferred = DependencyGraph.change { contents, effects -> Bool in
      // The gate stays counted as a dependency: a cancelled operation waits for none.
      if sideState.gate.turn != .none { sideState.gate.turn = .open }
      if sideState.gate.answer != .none { sideState.gate.answer = .given }
      parts.existingNode?.isGated = false
      if let request = sideState.request, !request.isHolding {
        DependencyGraph.apply(contents.exclusion.leave(request), &effects)
      }
      defer { sideState.gate.isStartDeferred = false }
      return sideState.gate.isStartDeferred
    }
    sideState.setEvaluation(nil)
    return wasDeferred
  }

  /// Called when the operation has finished, or is being freed.
  static func leaveExclusion(_ sideState: SideState) {
    guard !sideState.conditions.isEmpty else { return }
    DependencyGraph.change { contents, effects in
      if let request = sideState.request { DependencyGraph.apply(contents.exclusion.leave(request), &effects) }
      sideState.request = nil
    }
  }

  /// Evaluates all conditions and notifies the graph.
  fileprivate final func askConditions(_ sideState: SideState, round: Int) {
    let conditions = sideState.conditions
    guard !conditions.allSatisfy(\.isAtOnce) else {
      return DependencyGraph.evaluated(self, sideState, round, conditions.refusalAtOnce(of: self))
    }
    sideState.setEvaluation(
      Task {
        let refusal = await AwaitingWork.perform(for: self) { await conditions.refusal(of: self) }
        DependencyGraph.evaluated(self, sideState, round, refusal)
      })
  }

  /// Restarts an operation whose start was deferred; not on a thread of Swift's pool, which `main` may block.
  fileprivate final func startDeferred(_ sideState: SideState) {
    if sideState.conditions.allSatisfy(\.isAtOnce) { begin() } else { beginElsewhere(sideState) }
  }

  private func beginElsewhere(_ sideState: SideState) {
    (sideState.startQueue?.underlyingQueue ?? .global()).async { self.begin() }
  }

  // MARK: Awaited handlers

  /// Called at the start; true if handlers are awaited first: the operation is started again after them.
  final func mustAwaitHandlers() -> Bool {
    guard let sideState = parts.existingSideState, !isCancelled, !parts.lifecycle.isEndRequested else { return false }
    let handlers = sideState.takeBeforeExecuting()
    guard !handlers.isEmpty else { return false }
    DependencyGraph.change { _, _ in sideState.gate.isStartDeferred = true }
    sideState.setEvaluation(
      Task {
        await AwaitingWork.perform(for: self) { for handler in handlers { await handler(self) } }
        let isAwaited = DependencyGraph.change { _, _ in
          defer { sideState.gate.isStartDeferred = false }
          return sideState.gate.isStartDeferred
        }
        if isAwaited { beginElsewhere(sideState) }
      })
    // The operation was cancelled meanwhile, before its start was deferred.
    if isCancelled, abandonConditions() { begin() }
    return true
  }
}

extension DependencyGraph {
  /// Called when only the turn is left among the dependencies of `node`.
  static func gateIsLast(_ node: DependencyNode, _ effects: inout DeferredEffects) {
    guard let operation = node.operation as? AsyncOperation, let sideState = operation.parts.existingSideState else {
      return
    }
    enterLineIfDue(operation, sideState, &effects)
    effects.release([operation])
  }

  // MARK: Questions

  /// Begins to evaluate the conditions of an operation that would start now.
  fileprivate static func ask(
    _ operation: AsyncOperation, _ sideState: SideState, _ effects: inout DeferredEffects
  ) {
    sideState.gate.round += 1
    let round = sideState.gate.round
    sideState.gate.answer = .asking(round: round)
    effects.actions.append { operation.askConditions(sideState, round: round) }
  }

  /// Called when the operation has to wait again before its start: its conditions are evaluated once more afterwards.
  static func forgetAnswer(_ operation: AsyncOperation) {
    guard let sideState = operation.parts.existingSideState else { return }
    switch sideState.gate.answer {
    case .asking, .given: sideState.gate.answer = .unasked
    case .none, .unasked, .failing: break
    }
  }

  /// Whether a feeder has to evaluate the operation's conditions before the operation enters the queue.
  ///
  /// False for an operation that excludes others: its conditions are evaluated while it holds its categories, which it
  /// takes when it starts, because otherwise others would take its turn during the evaluation.
  static func mustAsk(_ operation: AsyncOperation) -> Bool {
    guard let gate = operation.parts.existingSideState?.gate else { return false }
    return gate.answer == .unasked && gate.turn == .none && !operation.isCancelled
      && !operation.parts.lifecycle.isEndRequested
  }

  fileprivate static func evaluated(
    _ operation: AsyncOperation, _ sideState: SideState, _ round: Int, _ refusal: OperationCondition.Refusal?
  ) {
    let isAwaited = change { _, effects in
      guard sideState.gate.answer == .asking(round: round) else { return false }
      if refusal == nil { answered(operation, sideState, &effects) } else { sideState.gate.answer = .failing }
      return true
    }
    guard isAwaited, let refusal else { return }
    // Not started yet, so this only makes it end when it is started.
    switch refusal {
    case .failure(let error): operation.finish(with: error)
    case .cancellation: operation.cancel()
    }
    change { _, effects in
      if sideState.gate.answer == .failing { answered(operation, sideState, &effects) }
    }
  }

  private static func answered(
    _ operation: AsyncOperation, _ sideState: SideState, _ effects: inout DeferredEffects
  ) {
    sideState.gate.answer = .given
    if sideState.gate.isStartDeferred {
      sideState.gate.isStartDeferred = false
      effects.actions.append { operation.startDeferred(sideState) }
    } else if let node = operation.parts.existingNode, let holder = node.holder, node.place == .asking {
      holder.nodeIsReady(node, first: true)
      effects.feed(holder)
    }
  }

  // MARK: Mutual exclusion

  fileprivate static func enterLineIfDue(
    _ operation: AsyncOperation, _ sideState: SideState, _ effects: inout DeferredEffects
  ) {
    guard sideState.gate.turn == .closed, operation.parts.has(.mayBeQueued),
      operation.parts.node.unfinished == 1, !operation.isCancelled
    else { return }
    sideState.gate.turn = .inLine
    effects.actions.append { enterLine(operation, sideState) }
  }

  private static func enterLine(_ operation: AsyncOperation, _ sideState: SideState) {
    let categories = sideState.conditions.reduce(into: Set<ExclusionCategory>()) { $0.formUnion($1.categories) }
    // Walked before the lock is taken: a group that is freed by the walk takes the lock.
    let groups = sequence(first: operation) { $0.parts.existingSideState?.group }.dropFirst().map(ObjectIdentifier.init)
    let request = ExclusionTable.Request(operation, categories, in: Set(groups))
    change { contents, effects in
      guard sideState.gate.turn == .inLine, sideState.request == nil else { return }
      guard operation.parts.node.unfinished == 1 else {
        // A dependency was added meanwhile; the operation enters the line when the dependency has finished.
        sideState.gate.turn = .closed
        return
      }
      sideState.request = request
      apply(contents.exclusion.enter(request), &effects)
      if sideState.gate.isStartDeferred { apply(contents.exclusion.hurry(request), &effects) }
      if contents.exclusion.isWaiting(request) {
        effects.actions.append { breakDeadlock(of: [.start(operation)]) }
      }
    }
  }

  /// Gives the turn: from now on, only dependencies that were added late hold up the operation.
  private static func giveTurn(
    _ operation: AsyncOperation, _ sideState: SideState, _ effects: inout DeferredEffects
  ) {
    sideState.gate.turn = .onTurn
    let node = operation.parts.node
    node.isGated = false
    removeWait(node, &effects)
    guard sideState.gate.isStartDeferred else { return }
    sideState.gate.isStartDeferred = false
    effects.actions.append { operation.begin() }
  }

  /// Evaluates the conditions of a feeder's member, which takes no slot meanwhile.
  static func ask(_ operation: AsyncOperation) {
    change { _, effects in
      guard let sideState = operation.parts.existingSideState, operation.parts.node.place == .asking,
        sideState.gate.answer == .unasked
      else { return }
      ask(operation, sideState, &effects)
    }
  }

  /// Applies changes of the exclusion table to the operations of the requests.
  fileprivate static func apply(_ changes: ExclusionTable.Changes, _ effects: inout DeferredEffects) {
    for request in changes.revoked {
      guard let operation = request.operation as? AsyncOperation, let sideState = operation.parts.existingSideState
      else { continue }
      sideState.gate.turn = .inLine
      let node = operation.parts.node
      node.isGated = true
      addWait(node, operation, &effects)
      effects.release([operation])
      effects.actions.append { breakDeadlock(of: [.start(operation)]) }
    }
    for request in changes.allowed {
      guard let operation = request.operation as? AsyncOperation, let sideState = operation.parts.existingSideState
      else { continue }
      giveTurn(operation, sideState, &effects)
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
