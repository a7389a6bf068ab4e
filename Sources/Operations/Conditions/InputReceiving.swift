/// An operation that works on the value of another.
///
///     upload.receives(from: download)
public protocol InputReceiving: AsyncOperation {
  /// The type of the value.
  associatedtype Input: Sendable

  /// Called once, before `main`, on some thread; keep the value for `main`.
  func receive(_ input: Input)
}

extension InputReceiving {
  /// Makes this operation wait for `source`, and gives it the value that `source` ends with.
  ///
  /// If `source` fails, so does this operation, with the same error and without executing. Any number of operations may
  /// receive from one; one that receives from several gets each value when all have finished, in the order of these calls.
  /// To be called before the operation enters a queue.
  public func receives(from source: ResultOperation<Input>) {
    receives(from: source) { $0 }
  }

  /// As `receives(from:)`, with the value changed by `transform`; an error that it throws fails this operation.
  public func receives<Value: Sendable>(
    from source: ResultOperation<Value>, _ transform: @escaping @Sendable (Value) throws -> Input
  ) {
    addDependency(source)
    addCondition(
      OperationCondition(
        "input from \(source.displayName)",
        .atOnce { operation in
          guard let receiver = operation as? Self, let outcome = source.outcome else {
            // The dependency was removed.
            throw MissingResult(operation: source.displayName)
          }
          do { receiver.receive(try transform(outcome.get())) } catch { throw SourceFailure(cause: error) }
        }))
  }
}
