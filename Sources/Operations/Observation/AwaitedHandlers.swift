extension ObservableOperation {
  /// Awaits `handler` before `main` is called, with the operation's slot taken and its conditions held.
  ///
  /// To be called before the operation is started. Handlers run in a task, one after another in the order of the calls;
  /// `main` is called on another thread then. Cancelling the operation cancels the task, and the operation finishes without
  /// waiting for the handler.
  public func willExecute(_ handler: @escaping @Sendable (Self) async -> Void) {
    require(state < .executing, "\(self) was started before its handler for the start was added")
    parts.sideState.addBeforeExecuting { await handler(unsafeDowncast($0, to: Self.self)) }
  }

  /// Awaits `handler` when the work is over, before the operation is finished: its slot and its dependents wait.
  ///
  /// To be called before the first `finish`. Handlers run in a task, one after another in the order of the calls, and not
  /// where the operation has not executed. The result is given already: a cancellation meanwhile does not change it.
  public func willFinish(_ handler: @escaping @Sendable (Self) async -> Void) {
    parts.sideState.addBeforeFinishing { await handler(unsafeDowncast($0, to: Self.self)) }
  }
}
