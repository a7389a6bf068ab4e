import Dispatch

/// A property of an operation that can be observed.
public struct ObservableProperty<Value: Equatable & Sendable>: Sendable {
  let read: @Sendable (OperationSnapshot) -> Value
  /// Makes the change from one snapshot to another and calls the closure with it.
  ///
  /// Defined here rather than in the observer, because the type is known here: a dynamic cast costs more than all the
  /// rest.
  let give: @Sendable (OperationObservation.Delivery, (ObservedChange<Value>) -> Void) -> Void
  let interest: ChangeInterest

  fileprivate init(_ interest: ChangeInterest, _ read: @escaping @Sendable (OperationSnapshot) -> Value) {
    self.read = read
    give = { delivery, body in
      body(
        ObservedChange(
          oldValue: delivery.old.map(read), newValue: read(delivery.new), missed: 0, time: delivery.time))
    }
    self.interest = interest
  }

  /// Makes a property derived from the lifecycle alone.
  fileprivate init(lifecycle read: @escaping @Sendable (OperationLifecycle) -> Value) {
    self.init(.lifecycle(read)) { read($0.lifecycle) }
  }
}

/// The properties of an operation that can be observed; named by key path, as in `observe(\.state)`.
///
/// A key path to anything else does not compile.
public struct ObservableProperties: Sendable {
  private static let stateProperty = ObservableProperty(lifecycle: { $0.publicState })
  private static let isCancelledProperty = ObservableProperty(lifecycle: { $0.isCancelled })
  private static let isReadyProperty = ObservableProperty(lifecycle: { $0.isReady })
  private static let isExecutingProperty = ObservableProperty(lifecycle: { $0.isExecuting })
  private static let hasBegunProperty = ObservableProperty(lifecycle: { $0.hasBegun })
  private static let isFinishedProperty = ObservableProperty(lifecycle: { $0.isFinished })
  private static let progressProperty = ObservableProperty(.progress) { $0.progress }
  private static let statusProperty = ObservableProperty(.status) { OperationStatus($0) }

  /// The state of the operation.
  public var state: ObservableProperty<AsyncOperation.State> { Self.stateProperty }
  /// Whether the operation has been cancelled.
  public var isCancelled: ObservableProperty<Bool> { Self.isCancelledProperty }
  /// Whether the operation's dependencies let it start; a barrier of the queue is not taken into account.
  public var isReady: ObservableProperty<Bool> { Self.isReadyProperty }
  /// Whether the operation is between the call of `main` and `finish()`.
  public var isExecuting: ObservableProperty<Bool> { Self.isExecutingProperty }
  /// Whether `main` has returned, so that everything it has set up can be read, or the operation has finished.
  public var hasBegun: ObservableProperty<Bool> { Self.hasBegunProperty }
  /// Whether the operation has finished.
  public var isFinished: ObservableProperty<Bool> { Self.isFinishedProperty }
  /// The progress last reported by the operation.
  public var progress: ObservableProperty<OperationProgress> { Self.progressProperty }
  /// State, cancellation and progress in one property.
  public var status: ObservableProperty<OperationStatus> { Self.statusProperty }
}

/// All observable properties of an operation, at one instant.
public struct OperationStatus: Sendable, Equatable {
  /// The state of the operation.
  public let state: AsyncOperation.State
  /// Whether the operation has been cancelled.
  public let isCancelled: Bool
  /// The progress last reported by the operation.
  public let progress: OperationProgress

  init(_ snapshot: OperationSnapshot) {
    state = snapshot.lifecycle.publicState
    isCancelled = snapshot.lifecycle.isCancelled
    progress = snapshot.progress
  }
}

/// A change of an observed property: the value before and the value after.
public struct ObservedChange<Value: Sendable>: Sendable {
  /// The value before the change; nil for the initial value, requested with `.initial`.
  public let oldValue: Value?
  /// The value after the change; the operation may have changed again since.
  public let newValue: Value
  /// The number of changes dropped right before this one, because a reader of `changes(_:)` was too late.
  ///
  /// Always 0 for a handler, which misses no change.
  public let missed: Int
  /// When the operation changed, on the clock of the handler's delivery queue; zero where that has no clock of its own.
  package let time: Duration
}

/// Options of an observation.
public struct ObservingOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Makes options from bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The initial value, delivered before every change.
  public static let initial = ObservingOptions(rawValue: 1)
}

/// Provides `observe` with the type of the operation that it is called on.
public protocol ObservableOperation: AsyncOperation {}

extension AsyncOperation: ObservableOperation {}

extension AsyncOperation {
  /// The last reported progress; at first nothing completed of an unknown total.
  public final var progress: OperationProgress { parts.existingObservers?.progress ?? OperationProgress() }

  /// Reports the progress of the work, from any thread; ignored once the operation has finished.
  public final func report(completed: Int64, total: Int64? = nil) {
    report { OperationProgress(completed: completed, total: total) }
  }

  /// Reports a progress read from an operation inside this one, unless it is nil; of several calls, the last has the
  /// newest.
  final func report(_ progress: () -> OperationProgress?) {
    parts.observers.report(progress, self) { parts.lifecycle }
  }

  final func add(_ observation: OperationObservation, initial: Bool = false) {
    parts.observers.add(observation, to: self, initial: initial) { parts.set(.isObserved) }
  }
}

extension ObservableOperation {
  /// Calls `handler` on `queue` after each change of a property, until the token is freed.
  ///
  /// Changes are delivered one at a time, in the order of their occurrence, and without gaps; on one queue, this order
  /// holds across operations. On the main queue, many changes are delivered together, once for each frame of a sixtieth
  /// of a second; a few are delivered at once. A change that leaves the property's value as it was is not delivered.
  /// May be called from any thread, before or after the finish. The observation ends by itself when the operation has
  /// finished.
  public func observe<Value>(
    _ keyPath: KeyPath<ObservableProperties, ObservableProperty<Value>>, on queue: DispatchQueue = .main,
    options: ObservingOptions = [], _ handler: @escaping @Sendable (Self, ObservedChange<Value>) -> Void
  ) -> ObservationToken {
    let property = ObservableProperties()[keyPath: keyPath]
    let observation = OperationObservation(in: parts.observers, interest: property.interest, on: queue) { delivery in
      // This operation is the one that `observe` was called on.
      property.give(delivery) { handler(unsafeDowncast(delivery.operation, to: Self.self), $0) }
    }
    add(observation, initial: options.contains(.initial))
    return ObservationToken(observation)
  }
}

/// Keeps one observation alive, which ends when the token is cancelled or its last reference is released.
///
/// After `cancel()` on the queue that the observation is delivered on, the handler is never called again. After
/// `cancel()` on another thread, no call begins, but a call that has begun may still be under way.
public final class ObservationToken: Sendable {
  // Not the observation, which has the handler: after the operation's end only deliveries retain it. Not a weak
  // reference to it either, because a weakly referenced object costs more to retain, which each delivery does.
  private let end: ObservationEnd

  init(_ observation: OperationObservation) { end = observation.end }

  deinit { cancel() }

  /// Ends the observation and frees its handler; from any thread, any number of times.
  public func cancel() { end.reach() }
}
