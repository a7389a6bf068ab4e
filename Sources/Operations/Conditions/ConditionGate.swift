import Foundation

// An operation with conditions passes two gates. Before its queue, the graph counts the turn among operations that
// exclude each other as one more unfinished dependency. At its start, the conditions are evaluated. In a dependency
// queue, conditions that take time are evaluated before the start, when a slot is free, and so take no slot.

extension AsyncOperation: ConditionalOperation {
  /// Lets the operation execute only if `condition` holds, in addition to its other conditions.
  ///
  /// To be called before the operation is started; it is a programmer error if its conditions have been evaluated.
  /// Conditions are evaluated in the order of their addition, until one fails.
  public final func addCondition(_ condition: OperationCondition) {
    let rareState = parts.rareState
    let isInTime = DependencyGraph.change { _, effects -> Bool in
      guard state < .executing else { return false }
      let action = rareState.gate.add(hasQuestion: condition.hasQuestion, excludes: !condition.categories.isEmpty)
      if action == .refuse { return false }
      rareState.add(condition)
      parts.set(.isLinked)
      let node = parts.node
      if condition.hasQuestion { node.mustAsk = node.mustAsk || !condition.isAtOnce }
      guard action == .countTurn else { return true }
      if node.holder != nil { parts.set(.mayBeQueued) }
      node.isGated = true
      DependencyGraph.addWait(node, self, &effects)
      DependencyGraph.enterLineIfDue(self, rareState, &effects)
      return true
    }
    // Not under the graph's lock: client code may override the operation's description.
    require(isInTime, "a condition was added to \(self) after its conditions had been asked")
  }

  /// The conditions, in the order of their evaluation; empty once the operation has finished.
  public final var conditions: [OperationCondition] { parts.existingRareState?.conditions ?? [] }

  /// Called when the operation is in a queue or a dependency queue.
  final func didAttach(to queue: OperationQueue) {
    guard let rareState = parts.existingRareState else { return }
    if rareState.attach(to: queue) { post(.attached) }
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
    if let rareState = parts.existingRareState {
      DependencyGraph.change { _, effects in DependencyGraph.enterLineIfDue(self, rareState, &effects) }
    }
    DependencyGraph.runUnnamedDependencies(of: self)
    return true
  }

  /// Called at the start; true if a gate is closed: the operation is started again when it may execute.
  final func mustWaitForConditions() -> Bool {
    guard let rareState = parts.existingRareState else { return false }
    // On the main thread the main queue is the current one, no matter which code starts the operation.
    if let queue = OperationQueue.current, queue !== OperationQueue.main || isInCurrentQueue {
      if rareState.start(in: queue) { post(.attached) }
    }
    guard !isCancelled, !parts.lifecycle.isEndRequested else { return false }
    // Before the start can be deferred: if its turn comes at once, the operation begins on this thread.
    mayBeInQueue()
    let action = DependencyGraph.change { contents, effects in
      if rareState.gate.takeTurn() {
        guard let request = rareState.request else { programmerError("an operation on turn has a request") }
        DependencyGraph.apply(contents.exclusion.take(request), &contents, &effects)
      }
      let action = rareState.gate.start()
      if action == .waitInLine {
        if let request = rareState.request {
          DependencyGraph.apply(contents.exclusion.hurry(request), &contents, &effects)
        }
        DependencyGraph.enterLineIfDue(self, rareState, &effects)
      }
      return action
    }
    switch action {
    case .begin: return false
    case .wait, .waitInLine: return true
    case .waitAndAsk(let round):
      let conditions = rareState.conditions
      guard conditions.allSatisfy(\.isAtOnce) else {
        askConditions(rareState, round: round)
        return true
      }
      if let refusal = conditions.refusalAtOnce(of: self) {
        DependencyGraph.evaluated(self, rareState, round, refusal)
        return true
      }
      // Continues the start here, unless a cancellation has taken it over.
      return !DependencyGraph.change { _, _ in
        rareState.gate.accept(round: round) && rareState.gate.takeDeferredStart()
      }
    }
  }

  /// Called after a cancellation; true if the start was deferred, so that no queue will start the operation again.
  final func abandonConditions() -> Bool {
    guard let rareState = parts.existingRareState else { return false }
    let wasDeferred = DependencyGraph.change { contents, effects -> Bool in
      // The turn stays counted as a dependency: a cancelled operation waits for none.
      parts.existingNode?.isGated = false
      if let request = rareState.request, !request.isHolding {
        DependencyGraph.apply(contents.exclusion.leave(request), &contents, &effects)
      }
      return rareState.gate.abandon()
    }
    rareState.setEvaluation(nil)
    return wasDeferred
  }

  /// Called when the operation has finished, or is being freed.
  static func leaveExclusion(_ rareState: RareState<AsyncOperation>) {
    guard !rareState.conditions.isEmpty else { return }
    DependencyGraph.change { contents, effects in
      if let request = rareState.request {
        DependencyGraph.apply(contents.exclusion.leave(request), &contents, &effects)
      }
      rareState.request = nil
    }
  }

  /// Evaluates all conditions in a task and notifies the graph.
  fileprivate final func askConditions(_ rareState: RareState<AsyncOperation>, round: Int) {
    let conditions = rareState.conditions
    rareState.setEvaluation(
      Task {
        let refusal = await AwaitingWork.perform(for: self) { await conditions.refusal(of: self) }
        DependencyGraph.evaluated(self, rareState, round, refusal)
      })
  }

  /// Restarts an operation whose start was deferred; not on a thread of Swift's pool, which `main` may block.
  fileprivate final func startDeferred(_ rareState: RareState<AsyncOperation>) {
    if rareState.conditions.allSatisfy(\.isAtOnce) { begin() } else { beginElsewhere(rareState) }
  }

  /// Begins the operation on a thread of its queue, or on a global one.
  final func beginElsewhere(_ rareState: RareState<AsyncOperation>) {
    (rareState.startQueue?.underlyingQueue ?? .global()).async { self.begin() }
  }
}

extension DependencyGraph {
  /// Called when only the turn is left among the dependencies of `node`.
  static func gateIsLast(_ node: DependencyNode, _ effects: inout DeferredEffects) {
    guard let operation = node.operation as? AsyncOperation, let rareState = operation.parts.existingRareState else {
      return
    }
    enterLineIfDue(operation, rareState, &effects)
    effects.release([operation])
  }

  // MARK: Questions

  /// Called when the operation has to wait again before its start: its conditions are evaluated once more afterwards.
  static func forgetAnswer(_ operation: AsyncOperation) {
    operation.parts.existingRareState?.gate.forgetAnswer()
  }

  /// Whether a dependency queue has to evaluate the operation's conditions before the operation enters the queue.
  ///
  /// False for an operation that excludes others: its conditions are evaluated while it holds its categories, which it
  /// takes when it starts, because otherwise others would take its turn during the evaluation.
  static func mustAsk(_ operation: AsyncOperation) -> Bool {
    guard let gate = operation.parts.existingRareState?.gate else { return false }
    return gate.mayAskEarly && !operation.isCancelled && !operation.parts.lifecycle.isEndRequested
  }

  fileprivate static func evaluated(
    _ operation: AsyncOperation, _ rareState: RareState<AsyncOperation>, _ round: Int,
    _ refusal: OperationCondition.Refusal?
  ) {
    guard let refusal else {
      return change { _, effects in
        if rareState.gate.accept(round: round) { answered(operation, rareState, &effects) }
      }
    }
    guard change({ _, _ in rareState.gate.refuse(round: round) }) else { return }
    // Not started yet, so this only makes it end when it is started.
    switch refusal {
    case .failure(let error): operation.finish(with: error)
    case .cancellation: operation.cancel()
    }
    change { _, effects in
      if rareState.gate.setRefused() { answered(operation, rareState, &effects) }
    }
  }

  private static func answered(
    _ operation: AsyncOperation, _ rareState: RareState<AsyncOperation>, _ effects: inout DeferredEffects
  ) {
    if rareState.gate.takeDeferredStart() {
      effects.actions.append { operation.startDeferred(rareState) }
    } else if let node = operation.parts.existingNode, let holder = node.holder, node.place == .asking {
      holder.nodeIsReady(node, first: true)
      effects.feed(holder)
    }
  }

  // MARK: Mutual exclusion

  fileprivate static func enterLineIfDue(
    _ operation: AsyncOperation, _ rareState: RareState<AsyncOperation>, _ effects: inout DeferredEffects
  ) {
    guard operation.parts.has(.mayBeQueued), operation.parts.node.unfinished == 1, !operation.isCancelled,
      rareState.gate.enterLine()
    else { return }
    effects.actions.append { enterLine(operation, rareState) }
  }

  private static func enterLine(_ operation: AsyncOperation, _ rareState: RareState<AsyncOperation>) {
    let categories = rareState.conditions.reduce(into: Set<ExclusionCategory>()) { $0.formUnion($1.categories) }
    // Walked before the lock is taken: a group that is freed by the walk takes the lock.
    let groups = sequence(first: operation) { $0.parts.existingRareState?.group }.dropFirst().map(ObjectIdentifier.init)
    let request = ExclusionTable.Request(operation, categories, in: Set(groups))
    change { contents, effects in
      guard rareState.gate.turn == .inLine, rareState.request == nil else { return }
      guard operation.parts.node.unfinished == 1 else {
        // A dependency was added meanwhile; the operation enters the line when the dependency has finished.
        return rareState.gate.leaveLine()
      }
      rareState.request = request
      apply(contents.exclusion.enter(request), &contents, &effects)
      if rareState.gate.isStartDeferred { apply(contents.exclusion.hurry(request), &contents, &effects) }
      if contents.exclusion.isWaiting(request) {
        effects.actions.append { breakDeadlock(of: [.start(operation)]) }
      }
    }
  }

  /// Gives the turn: from now on, only dependencies that were added late hold up the operation.
  private static func giveTurn(
    _ operation: AsyncOperation, _ rareState: RareState<AsyncOperation>, _ effects: inout DeferredEffects
  ) {
    rareState.gate.giveTurn()
    let node = operation.parts.node
    node.isGated = false
    removeWait(node, &effects)
  }

  /// Evaluates the conditions of a dependency queue's member, which takes no slot meanwhile.
  static func ask(_ operation: AsyncOperation) {
    change { _, effects in
      guard let rareState = operation.parts.existingRareState, operation.parts.node.place == .asking,
        rareState.gate.answer == .unasked
      else { return }
      let round = rareState.gate.ask()
      effects.actions.append { operation.askConditions(rareState, round: round) }
    }
  }

  /// Applies changes of the exclusion table to the operations of the requests.
  fileprivate static func apply(
    _ changes: ExclusionTable.Changes, _ contents: inout Contents, _ effects: inout DeferredEffects
  ) {
    for request in changes.revoked {
      guard let operation = request.operation as? AsyncOperation, let rareState = operation.parts.existingRareState
      else { continue }
      rareState.gate.revokeTurn()
      let node = operation.parts.node
      node.isGated = true
      addWait(node, operation, &effects)
      effects.release([operation])
      effects.actions.append { breakDeadlock(of: [.start(operation)]) }
    }
    for request in changes.allowed {
      guard let operation = request.operation as? AsyncOperation, let rareState = operation.parts.existingRareState
      else { continue }
      giveTurn(operation, rareState, &effects)
      effects.release([operation])
    }
    // When all have their turn: an operation that starts takes the turn from the others.
    for request in changes.allowed {
      guard let operation = request.operation as? AsyncOperation, let rareState = operation.parts.existingRareState,
        rareState.gate.takeTurnForDeferredStart()
      else { continue }
      apply(contents.exclusion.take(request), &contents, &effects)
      // On another thread: this one may be ending the previous holder, whose dependents and queue must not wait.
      effects.actions.append { operation.beginElsewhere(rareState) }
    }
    if let disorder = changes.disorder {
      let sighting = OperationSighting.exclusionOrder(
        disorder.first.name, disorder.second.name, disorder.requests.compactMap(\.operation))
      effects.actions.append { QueueEntryObserver.see(sighting) }
    }
    for (category, watch) in changes.watches {
      effects.actions.append {
        DispatchQueue.global().asyncAfter(deadline: .now() + ExclusionTable.patience) {
          change { contents, effects in apply(contents.exclusion.look(at: category, watch), &contents, &effects) }
        }
      }
    }
  }
}
