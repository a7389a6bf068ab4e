import Synchronization

/// Operations with their results, in the order of their ends, for `for await` on any actor.
///
/// The sequence ends after the last result, or when the reading task is cancelled, which does not affect the
/// operations. It retains the operations and the results as long as it or an iterator exists. Iterators share the
/// results: each result goes to one iterator.
public struct OperationOutcomes<Value: Sendable>: AsyncSequence, Sendable {
  /// A finished operation and its result.
  public typealias Element = (operation: ResultOperation<Value>, outcome: ResultOperation<Value>.Outcome)
  /// The sequence does not fail; the failure of an operation is its result.
  public typealias Failure = Never

  /// Reads results one by one.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let outcomes: OperationOutcomes

    /// The next result, once there is one; nil after the last, or when the task has been cancelled.
    public func next(isolation actor: isolated (any Actor)?) async -> Element? { await outcomes.next() }
  }

  private typealias End = (index: Int, outcome: ResultOperation<Value>.Outcome)

  /// The ends in order; the operations, which don't know each other, refer to this object, and it does not refer to
  /// them.
  private final class Ends: Sendable {
    let all: [PendingAnswer<End>]
    let given = Atomic(0)
    let taken = Atomic(0)

    init(count: Int) { all = (0..<count).map { _ in PendingAnswer() } }
  }

  private let operations: [ResultOperation<Value>]
  private let ends: Ends

  fileprivate init(_ operations: [ResultOperation<Value>]) {
    self.operations = operations
    ends = Ends(count: operations.count)
    for (index, operation) in operations.enumerated() {
      operation.whenDone { [ends] outcome in
        ends.all[ends.given.wrappingAdd(1, ordering: .relaxed).oldValue].give(.success((index, outcome)))
      }
    }
  }

  /// A reader of the results that have not been read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(outcomes: self) }

  private func next() async -> Element? {
    let number = ends.taken.wrappingAdd(1, ordering: .relaxed).oldValue
    guard number < ends.all.count else { return nil }
    let answer = ends.all[number]
    // Nothing is awaited if more operations have finished than results have been read.
    let wait = AwaitingWork.wait(for: { [operations] in
      let unfinished = operations.filter { !$0.isFinished }
      return operations.count - unfinished.count > number ? [] : unfinished
    })
    defer { withExtendedLifetime(wait) {} }
    let end = try? await answer.wait { answer.give(.failure(CancellationError())) }
    return end.map { (operations[$0.index], $0.outcome) }
  }
}

extension Sequence {
  /// These operations with their results, in the order of their ends; add them to a queue, before or after.
  ///
  ///     for await (download, outcome) in downloads.outcomes() { … }
  public func outcomes<Value: Sendable>() -> OperationOutcomes<Value> where Element: ResultOperation<Value> {
    OperationOutcomes(Array(self))
  }
}
