extension AsyncOperation {
  /// Makes this operation wait for `sources`, and calls `body` with their values, in this order, before `main`.
  ///
  /// If sources fail, this operation fails without executing, with the error of the first failed source in this order.
  final func receive<Value>(
    from sources: [ResultOperation<Value>], _ body: @escaping @Sendable ([Value]) throws -> Void
  ) {
    for source in sources { addDependency(source) }
    let nodes = sources.map { $0.parts.node }
    DependencyGraph.contents.withLock { _ in for node in nodes { node.isSource = true } }
    // Weak references: the dependencies retain the sources, and free even a long chain without recursion.
    let weakSources = sources.map(WeakSource.init)
    let text: @Sendable () -> String = {
      weakSources.count == 1 ? "input from \(weakSources[0].name)" : "input from \(weakSources.count) operations"
    }
    addCondition(
      OperationCondition(
        text(),
        .atOnce { operation in
          var values: [Value] = []
          for source in weakSources {
            // Freed, or not finished, if the dependency was removed.
            guard let outcome = source.operation?.outcome else {
              return .reason(OperationError(.missingResult, of: source.name), text(), operation)
            }
            switch outcome {
            case .success(let value): values.append(value)
            case .failure(let error): return .failure(error)
            }
          }
          do { try body(values) } catch { return .failure(error) }
          return nil
        }))
  }
}

private struct WeakSource<Value: Sendable>: @unchecked Sendable {
  // Safe: a weak reference that is never reassigned.
  weak var operation: ResultOperation<Value>?
  // The operation may have been freed when its name is needed, and most names never are.
  private let ownName: String?
  private let type: AsyncOperation.Type

  var name: String { AsyncOperation.displayName(ownName, of: type) }

  init(_ operation: ResultOperation<Value>) {
    self.operation = operation
    (ownName, type) = (operation.name, Swift.type(of: operation))
  }
}

/// A value between the operation that made it and the one that uses it.
private final class Parcel<Value: Sendable>: Sendable {
  private let value = Lock<Value?>(nil)

  func put(_ value: Value) { self.value.withLock { $0 = value } }

  /// Given away once, because the value may be large.
  func take(for operation: AsyncOperation) throws -> Value {
    guard let value = value.withLock({ $0.take() }) else {
      throw OperationError(.missingResult, of: operation.displayName)
    }
    return value
  }
}

extension ResultOperation {
  /// A new operation that works on this one's value; add it to a queue like this one (or both, by `withDependencies`).
  ///
  ///     let size = fetch.then { file in try measure(file) }
  ///
  /// The new operation depends on this one. Its outcome is the value returned or the error thrown by `body`, called on
  /// the thread that its queue provides. If this operation fails or is cancelled, the new one fails with the same error
  /// without executing.
  public final func then<Value: Sendable>(
    _ body: @escaping @Sendable (Success) throws -> Value
  ) -> ResultOperation<Value> {
    derived { parcel in ClosureOperation { try body(parcel.take(for: $0)) } }
  }

  /// As the other `then`, with an asynchronous closure, which holds no thread while it waits.
  ///
  /// Cancelling the new operation cancels the task that the closure runs in.
  public final func then<Value: Sendable>(
    _ body: @escaping @Sendable (Success) async throws -> Value
  ) -> ResultOperation<Value> {
    derived { parcel in TaskOperation { try await body(parcel.take(for: $0)) } }
  }

  /// A new operation with this one's value changed by `transform`; the same as `then`, under `Result`'s name for it.
  public final func map<Value: Sendable>(
    _ transform: @escaping @Sendable (Success) throws -> Value
  ) -> ResultOperation<Value> { then(transform) }

  /// A new operation that runs the operation made by `make` from this one's value, and ends with its outcome.
  ///
  /// Use it to pass a value to a retry, a repetition or a group:
  ///
  ///     let upload = fetch.flatMap { file in RetryOperation(retries: 3) { _ in Upload(file) } }
  ///
  /// The new operation depends on this one, and fails with its error without executing. It keeps its slot while the
  /// inner operation, which is in no other queue, executes. It reports the progress of the inner operation, and
  /// cancelling it cancels the inner operation.
  public final func flatMap<Value: Sendable>(
    _ make: @escaping @Sendable (Success) throws -> ResultOperation<Value>
  ) -> ResultOperation<Value> {
    derived { parcel in FlatMapOperation { try make(parcel.take(for: $0)) } }
  }

  /// A new operation with the values of this operation and another one, of any type; add it to a queue as well.
  ///
  ///     let page = fetch.zip(template).then { text, template in template.filled(with: text) }
  ///
  /// The new operation depends on both. If both fail, it fails with the error of this one, without executing.
  public final func zip<Other: Sendable>(_ other: ResultOperation<Other>) -> ResultOperation<(Success, Other)> {
    let (parcel, otherParcel) = (Parcel<Success>(), Parcel<Other>())
    let operation = ClosureOperation { (try parcel.take(for: $0), try otherParcel.take(for: $0)) }
    operation.receive(from: [self]) { parcel.put($0[0]) }
    operation.receive(from: [other]) { otherParcel.put($0[0]) }
    return operation
  }

  private func derived<Value>(_ make: (Parcel<Success>) -> ResultOperation<Value>) -> ResultOperation<Value> {
    let parcel = Parcel<Success>()
    let operation = make(parcel)
    operation.receive(from: [self]) { parcel.put($0[0]) }
    return operation
  }
}

extension ResultOperation where Success: Sequence, Success.Element: Sendable {
  /// A new operation with the elements of this one's value that satisfy `isIncluded`, in their order.
  public final func filter(
    _ isIncluded: @escaping @Sendable (Success.Element) throws -> Bool
  ) -> ResultOperation<[Success.Element]> {
    then { try $0.filter(isIncluded) }
  }

  /// A new operation with the elements of this one's value combined, beginning with `initial`.
  public final func reduce<Value: Sendable>(
    _ initial: Value, _ next: @escaping @Sendable (Value, Success.Element) throws -> Value
  ) -> ResultOperation<Value> {
    then { try $0.reduce(initial, next) }
  }
}

extension Sequence {
  /// A new operation whose value is the array of these operations' values, in this order; add it to a queue as well.
  ///
  ///     let total = downloads.collected().reduce(0) { $0 + $1.count }
  ///
  /// The new operation depends on all of them. If some fail, it fails with the error of the first failed one in this
  /// order, without executing. To run operations as the children of one operation instead, make a `ResultGroup`.
  public func collected<Value: Sendable>() -> ResultOperation<[Value]> where Element: ResultOperation<Value> {
    let parcel = Parcel<[Value]>()
    let operation = ClosureOperation { try parcel.take(for: $0) }
    operation.receive(from: Array(self)) { parcel.put($0) }
    return operation
  }
}

/// An operation that runs another operation, made when it executes, and ends with its outcome.
final class FlatMapOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: set in the initialiser.
  private let make: @Sendable (AsyncOperation) throws -> ResultOperation<Success>
  private let inner = Lock<AttemptSeries<Success>?>(nil)

  init(_ make: @escaping @Sendable (AsyncOperation) throws -> ResultOperation<Success>) { self.make = make }

  override func main() {
    do {
      let operation = try make(self)
      let series = AttemptSeries(clock: .system, make: { _ in operation }, judge: { outcome, _ in .end(outcome) })
      inner.withLock { $0 = series }
      series.begin(1, of: self)
    } catch {
      finish(.failure(error))
    }
  }

  override func didCancel() { inner.withLock { $0 }?.cancel(self) }
}
