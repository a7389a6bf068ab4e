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

  /// The ends in order, and the readers that wait for one.
  ///
  /// The operations, which don't know each other, refer to this object, and it does not refer to them.
  private final class Ends: Sendable {
    private struct State {
      var ends: [End] = []
      /// How many ends have been read.
      var read = 0
      /// The readers, in the order of their coming; without a continuation before they wait.
      var readers: [(id: Int, continuation: CheckedContinuation<End?, Never>?)] = []
      var lastID = 0

      mutating func takeNext() -> End? {
        guard read < ends.count else { return nil }
        read += 1
        return ends[read - 1]
      }
    }

    private let state = Lock(State())
    private let count: Int

    init(count: Int) { self.count = count }

    func give(_ end: End) {
      state.withLock { $0.ends.append(end) }
      wake()
    }

    /// The next end or, unless all have been read, the number of a reader that has to wait for it.
    func enter() -> (end: End?, reader: Int?) {
      state.withLock { state in
        if let end = state.takeNext() { return (end, nil) }
        guard state.read < count else { return (nil, nil) }
        state.lastID += 1
        state.readers.append((state.lastID, nil))
        return (nil, state.lastID)
      }
    }

    /// The number of ends that come before the reader's; nil if the reader no longer waits.
    func ends(before reader: Int) -> Int? {
      state.withLock { state in
        state.readers.firstIndex { $0.id == reader }.map { state.read + $0 }
      }
    }

    /// The end that the reader waits for; nil if all others have been read, or the task was cancelled.
    func wait(_ reader: Int) async -> End? {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          state.withLock { state in
            if let place = state.readers.firstIndex(where: { $0.id == reader }) {
              state.readers[place].continuation = continuation
            }
          }
          // An end that was given meanwhile found no continuation, and neither did a cancellation.
          wake()
          if Task.isCancelled { giveUp(reader) }
        }
      } onCancel: {
        giveUp(reader)
      }
    }

    private func wake() {
      while let (continuation, end) = state.withLock({ state -> (CheckedContinuation<End?, Never>, End?)? in
        guard state.read < state.ends.count || state.read == count,
          let place = state.readers.firstIndex(where: { $0.continuation != nil }),
          let continuation = state.readers.remove(at: place).continuation
        else { return nil }
        return (continuation, state.takeNext())
      }) {
        continuation.resume(returning: end)
      }
    }

    private func giveUp(_ id: Int) {
      let continuation = state.withLock { state -> CheckedContinuation<End?, Never>? in
        guard let place = state.readers.firstIndex(where: { $0.id == id && $0.continuation != nil }) else { return nil }
        return state.readers.remove(at: place).continuation
      }
      continuation?.resume(returning: nil)
    }
  }

  private let operations: [ResultOperation<Value>]
  private let ends: Ends

  fileprivate init(_ operations: [ResultOperation<Value>]) {
    self.operations = operations
    ends = Ends(count: operations.count)
    for (index, operation) in operations.enumerated() {
      operation.whenDone { [ends] outcome in ends.give((index, outcome)) }
    }
  }

  /// A reader of the results that have not been read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(outcomes: self) }

  private func next() async -> Element? {
    guard !Task.isCancelled else { return nil }
    let (next, reader) = ends.enter()
    guard let reader else { return next.map(element) }
    // Nothing is awaited if more operations have finished than results have been read.
    let wait = AwaitingWork.wait(for: { [operations, ends] in
      guard let number = ends.ends(before: reader) else { return [] }
      let unfinished = operations.filter { !$0.isFinished }
      return operations.count - unfinished.count > number ? [] : unfinished
    })
    defer { withExtendedLifetime(wait) {} }
    return await ends.wait(reader).map(element)
  }

  private func element(_ end: End) -> Element { (operations[end.index], end.outcome) }
}

extension Sequence {
  /// These operations with their results, in the order of their ends; add them to a queue, before or after.
  ///
  ///     for await (download, outcome) in downloads.outcomes() { … }
  public func outcomes<Value: Sendable>() -> OperationOutcomes<Value> where Element: ResultOperation<Value> {
    OperationOutcomes(Array(self))
  }
}
