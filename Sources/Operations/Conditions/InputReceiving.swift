/// An operation that works on the value of another.
///
///     upload.takeInput(from: download)
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
  public func takeInput(from source: ResultOperation<Input>) {
    takeInput(from: source) { $0 }
  }

  /// As `takeInput(from:)`, with the value changed by `transform`; an error that it throws fails this operation.
  public func takeInput<Value: Sendable>(
    from source: ResultOperation<Value>, _ transform: @escaping @Sendable (Value) throws -> Input
  ) {
    receive(from: [source]) { [weak self] values in
      for value in values { self?.receive(try transform(value)) }
    }
  }
}
