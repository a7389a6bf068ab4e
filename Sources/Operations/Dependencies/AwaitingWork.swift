import Foundation

/// The work of an operation that the current task does: its closure, its conditions or its awaited handlers.
struct AwaitingWork: @unchecked Sendable {
  // Safe: a weak reference that is never reassigned, and a constant.
  private weak var operation: AsyncOperation?
  private let task: Int?

  /// Also set in tasks that the work has created, which are not the work.
  @TaskLocal private static var current: AwaitingWork?

  /// The operation whose work the current task is.
  static var currentOperation: AsyncOperation? {
    guard let current, current.task == currentTask else { return nil }
    return current.operation
  }

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Does work of `operation` in the current task.
  static func perform<Value>(for operation: AsyncOperation, _ work: () async throws -> Value) async rethrows -> Value {
    try await $current.withValue(AwaitingWork(operation: operation, task: currentTask), operation: work)
  }

  /// Records that the current task waits for `awaited`, if the task does the work of an operation.
  static func wait(for awaited: Operation) -> AwaitToken? {
    guard let operation = currentOperation, operation !== awaited, let awaited = awaited as? AsyncOperation,
      !awaited.isFinished
    else { return nil }
    return operation.beginAwait(of: awaited)
  }

  /// As the other, for the end of any one of several operations, which the caller retains.
  static func wait(for awaited: @escaping @Sendable () -> [AsyncOperation]) -> AwaitToken? {
    currentOperation?.beginAwait(awaited)
  }
}

extension AsyncOperation {
  /// Records that this operation waits for the end of another until the token is freed; searches for a deadlock.
  final func beginAwait(of awaited: AsyncOperation) -> AwaitToken {
    beginAwait { [weak awaited] in awaited.map { [$0] } ?? [] }
  }

  /// As the other, for the end of any one of several operations, which `awaited` returns under the graph's lock.
  fileprivate final func beginAwait(_ awaited: @escaping @Sendable () -> [AsyncOperation]) -> AwaitToken {
    let number = DependencyGraph.change { contents, effects in
      contents.mayDeadlock = true
      var passed: [AsyncOperation] = []
      defer { effects.release(passed) }
      return contents.awaits.begin(self, awaited, &passed)
    }
    DependencyGraph.breakDeadlock(of: [isExecuting ? .end(self) : .start(self)])
    return AwaitToken(number: number, operation: ObjectIdentifier(self))
  }
}

/// Ends an entry of the `AwaitTable`.
final class AwaitToken: Sendable {
  private let number: Int
  private let operation: ObjectIdentifier

  fileprivate init(number: Int, operation: ObjectIdentifier) {
    self.number = number
    self.operation = operation
  }

  deinit { DependencyGraph.contents.withLock { $0.awaits.end(number, of: operation) } }
}
