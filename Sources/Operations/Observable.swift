import Dispatch

/// A property of an operation that can be observed.
public struct ObservableProperty<Value: Equatable & Sendable>: Sendable {
  let read: @Sendable (OperationObservation.Snapshot) -> Value
}

/// The properties of an operation that can be observed; named by key path, as in `observe(\.state)`.
///
/// A key path to anything else does not compile.
public struct ObservableProperties: Sendable {
  /// Where the operation stands.
  public var state: ObservableProperty<AsyncOperation.State> { .init { $0.lifecycle.publicState } }
  /// Whether it has been cancelled.
  public var isCancelled: ObservableProperty<Bool> { .init { $0.lifecycle.isCancelled } }
  /// Whether its dependencies let it start; a barrier of the queue is not seen here.
  public var isReady: ObservableProperty<Bool> { .init { $0.lifecycle.isReady } }
  /// Whether it is between the call of `main` and `finish()`.
  public var isExecuting: ObservableProperty<Bool> { .init { $0.lifecycle.isExecuting } }
  /// Whether it is over.
  public var isFinished: ObservableProperty<Bool> { .init { $0.lifecycle.isFinished } }
  /// What it last reported.
  public var progress: ObservableProperty<OperationProgress> { .init { $0.progress } }
}

/// What an observer is told: the value before and the value after.
public struct ObservedChange<Value: Sendable>: Sendable {
  /// Nil when this is the value at the beginning, asked for with `.initial`.
  public let oldValue: Value?
  /// The value after the change; the operation may have moved on since.
  public let newValue: Value
}

/// What else an observer wants to be told.
public struct ObservingOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Makes options of bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The value at the beginning, delivered before every change.
  public static let initial = ObservingOptions(rawValue: 1)
}

/// Gives `observe` the type of the operation that it is called on.
public protocol ObservableOperation: AsyncOperation {}

extension AsyncOperation: ObservableOperation {}

extension ObservableOperation {
  /// Calls `handler` on `queue` after each change of a property, until the token goes away.
  ///
  /// Changes are delivered one at a time, in the order in which they happened, none left out; on one queue that holds
  /// across operations. A change that leaves the property as it was is not delivered. Any thread may call this, before
  /// or after the operation has finished. When the operation has finished the observation ends by itself.
  public func observe<Value>(
    _ keyPath: KeyPath<ObservableProperties, ObservableProperty<Value>>, on queue: DispatchQueue = .main,
    options: ObservingOptions = [], _ handler: @escaping @Sendable (Self, ObservedChange<Value>) -> Void
  ) -> ObservationToken {
    let read = ObservableProperties()[keyPath: keyPath].read
    let observation = OperationObservation(
      of: self, on: queue, concerns: { old, new in read(old) != read(new) },
      handler: { operation, old, new in
        guard let operation = operation as? Self else { return }
        handler(operation, ObservedChange(oldValue: old.map(read), newValue: read(new)))
      })
    add(observation, initial: options.contains(.initial))
    return ObservationToken(observation)
  }
}
