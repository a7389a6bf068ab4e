/// An operation that works on the value of another.
///
///     upload.takeInput(from: download)
public protocol InputReceiving: AsyncOperation {
  /// The type of the value.
  associatedtype Input: Sendable

  /// Called once, before `main`, on any thread; store the value for `main`.
  func receive(_ input: Input)
}

extension InputReceiving {
  /// Makes this operation wait for `source`, and passes it the value that `source` ends with.
  ///
  /// If `source` fails, this operation fails with the same error, without executing. Any number of operations may
  /// receive from one source; an operation that receives from several gets each value when all have finished, in the
  /// order of these calls. To be called before the operation enters a queue.
  public func takeInput(from source: ResultOperation<Input>) {
    takeInput(from: source) { $0 }
  }

  /// As `takeInput(from:)`, with the value changed by `transform`; an error thrown by `transform` fails this operation.
  public func takeInput<Value: Sendable>(
    from source: ResultOperation<Value>, _ transform: @escaping @Sendable (Value) throws -> Input
  ) {
    receive(from: [source]) { [weak self] values in
      for value in values { self?.receive(try transform(value)) }
    }
  }
}
