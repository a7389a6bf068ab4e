import Foundation

extension OperationQueue {
  /// Waits until no operation in the queue is left unfinished, those included that are added meanwhile.
  ///
  /// Cancelling the waiting task ends the wait with a `CancellationError` and leaves the operations alone. No barrier is
  /// added: the wait changes nothing for the operations. A suspended queue is waited for until it has been resumed and has
  /// ended its work. Of the queue of an `OperationFeeder`, wait for the feeder instead: most of its operations are in no queue.
  public func untilEmpty() async throws {
    while true {
      // The last added first, because they end last as a rule: most of the others need not be waited for.
      var unfinished = operations.filter { !$0.isFinished }
      guard !unfinished.isEmpty else {
        await waitForRemoval()
        return
      }
      while let operation = unfinished.popLast() {
        guard !operation.isFinished else { continue }
        let end = PendingAnswer<Void>()
        // By a dependent, which runs when the queue has been told of the end too.
        operation.whenFinished { end.give(.success(())) }
        try await end.wait { end.give(.failure(CancellationError())) }
      }
    }
  }

  /// Waits, not for long, until the queue has removed its finished operations.
  ///
  /// On Linux it removes one a moment after it has told the dependents of the end, and tells nobody of that.
  private func waitForRemoval() async {
    for _ in 0..<100 where operationCount > 0 { await Task.yield() }
    var waits = 0
    while operationCount > 0, waits < 100, operations.allSatisfy(\.isFinished) {
      waits += 1
      try? await Task.sleep(for: .milliseconds(waits))
    }
  }
}

extension OperationFeeder {
  private static let ends = DispatchQueue(label: "OperationFeeder.untilEmpty")

  /// Waits until no operation is left, those included that are added meanwhile.
  ///
  /// Cancelling the waiting task ends the wait with a `CancellationError` and leaves the operations alone.
  public func untilEmpty() async throws {
    let end = PendingAnswer<Void>()
    whenEmpty(on: Self.ends) { end.give(.success(())) }
    try await end.wait { end.give(.failure(CancellationError())) }
  }
}
