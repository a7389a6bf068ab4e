extension ObservableOperation {
  /// Awaits `handler` before `main` is called, when the operation has its slot and its conditions hold.
  ///
  /// To be called before the operation is started. Handlers run in a task, one after another in the order of the calls;
  /// `main` is then called on another thread. Cancelling the operation cancels the task, and the operation finishes
  /// without waiting for the handler.
  public func beforeExecuting(_ handler: @escaping @Sendable (Self) async -> Void) {
    require(state < .executing, "\(self) was started before its handler for the start was added")
    parts.rareState.addBeforeExecuting { await handler(unsafeDowncast($0, to: Self.self)) }
  }

  /// Awaits `handler` when the work is over, before the operation is finished: its slot and its dependents wait.
  ///
  /// To be called before the first `finish`. Handlers run in a task, one after another in the order of the calls, and
  /// are not called if the operation has not executed. The result is set already: neither a cancellation nor the time
  /// limit changes it meanwhile.
  public func beforeFinishing(_ handler: @escaping @Sendable (Self) async -> Void) {
    parts.rareState.addBeforeFinishing { await handler(unsafeDowncast($0, to: Self.self)) }
  }
}

extension AsyncOperation {
  /// Called at the start; true if handlers are awaited first: the operation is started again after them.
  final func mustAwaitHandlers() -> Bool {
    guard let rareState = parts.existingRareState, !isCancelled, !parts.lifecycle.isEndRequested else { return false }
    let handlers = rareState.takeBeforeExecuting()
    guard !handlers.isEmpty else { return false }
    DependencyGraph.change { _, _ in rareState.gate.deferStart() }
    rareState.setEvaluation(
      Task {
        await AwaitingWork.perform(for: self) { for handler in handlers { await handler(self) } }
        let isAwaited = DependencyGraph.change { _, _ in rareState.gate.takeDeferredStart() }
        if isAwaited { beginElsewhere(rareState) }
      })
    // The operation was cancelled meanwhile, before its start was deferred.
    if isCancelled, abandonConditions() { begin() }
    return true
  }

  /// Called when the end is claimed; true if handlers are awaited first: the operation ends after them.
  final func mustAwaitHandlersOfEnd() -> Bool {
    guard let rareState = parts.existingRareState, isExecuting else { return false }
    let handlers = rareState.takeBeforeFinishing()
    guard !handlers.isEmpty else { return false }
    rareState.fixResult(isCancelled: isCancelled)
    Task {
      await AwaitingWork.perform(for: self) { for handler in handlers { await handler(self) } }
      endNow()
    }
    return true
  }
}
