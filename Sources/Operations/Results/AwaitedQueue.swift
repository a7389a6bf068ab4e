import Foundation

extension OperationQueue {
  /// Waits until no operation in the queue is unfinished, including operations added meanwhile.
  ///
  /// Cancelling the waiting task ends the wait with a `CancellationError` and does not affect the operations. The wait
  /// adds no barrier and changes nothing for the operations. For a suspended queue, the wait lasts until the queue has
  /// been resumed and has finished its work. For the queue of a `DependencyQueue`, wait for the dependency queue
  /// instead: most of its operations are in no queue.
  public func untilEmpty() async throws {
    while true {
      // The last added comes first, because it usually ends last: most of the others then need no wait.
      var unfinished = operations.filter { !$0.isFinished }
      guard !unfinished.isEmpty else {
        await waitForRemoval()
        return
      }
      while let operation = unfinished.popLast() {
        guard !operation.isFinished else { continue }
        let end = PendingAnswer<Void>()
        // By a dependent operation, which runs when the queue knows of the end too.
        operation.whenFinished { end.give(.success(())) }
        try await end.wait { end.give(.failure(CancellationError())) }
      }
    }
  }

  /// Waits, for a short time, until the queue has removed its finished operations.
  ///
  /// On Linux the queue removes an operation a moment after it has notified the dependents of the end, and posts no
  /// notification of the removal.
  private func waitForRemoval() async {
    for _ in 0..<100 where operationCount > 0 { await Task.yield() }
    var waits = 0
    while operationCount > 0, waits < 100, operations.allSatisfy(\.isFinished) {
      waits += 1
      try? await Task.sleep(for: .milliseconds(waits))
    }
  }
}

extension DependencyQueue {
  private static let ends = DispatchQueue(label: "DependencyQueue.untilEmpty")

  /// Waits until no operation is left, including operations added meanwhile.
  ///
  /// Cancelling the waiting task ends the wait with a `CancellationError` and does not affect the operations.
  public func untilEmpty() async throws {
    let end = PendingAnswer<Void>()
    whenEmpty(on: Self.ends) { end.give(.success(())) }
    try await end.wait { end.give(.failure(CancellationError())) }
  }
}
