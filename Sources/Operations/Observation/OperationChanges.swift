import Dispatch

/// The changes of one property of one operation, for `for await` on any actor.
///
/// The sequence begins when it is made, not when it is first read. It ends after the operation's last change, when the
/// operation is freed, or when the reading task is cancelled. Unread changes are kept up to a limit. Beyond it the
/// oldest are dropped, and the next change has their number in `missed`, so that the final state is always delivered.
/// Nothing is kept once the sequence and its iterators are freed. Several readers share the changes: each change goes
/// to one reader.
public struct OperationChanges<Value: Equatable & Sendable>: AsyncSequence, Sendable {
  /// A change, with the number of changes dropped right before it.
  public typealias Element = ObservedChange<Value>
  /// The sequence does not fail.
  public typealias Failure = Never

  /// Reads changes one by one.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader

    /// The next change, once there is one; nil when there will be no more or the task has been cancelled.
    public func next(isolation actor: isolated (any Actor)?) async -> Element? {
      guard let change = await reader.buffer.next(isolation: actor) else { return nil }
      return Element(
        oldValue: change.old.map(reader.read), newValue: reader.read(change.new), missed: change.missed, time: .zero)
    }
  }

  /// Ends the observation when the last reader is released.
  fileprivate final class Reader: Sendable {
    let buffer: ChangeBuffer
    let read: @Sendable (OperationSnapshot) -> Value
    let token: ObservationToken

    init(_ buffer: ChangeBuffer, _ read: @escaping @Sendable (OperationSnapshot) -> Value, _ token: ObservationToken) {
      self.buffer = buffer
      self.read = read
      self.token = token
    }
  }

  private let reader: Reader

  fileprivate init(_ reader: Reader) { self.reader = reader }

  var buffer: ChangeBuffer { reader.buffer }

  /// A reader of the unread changes.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }
}

extension AsyncOperation {
  /// The changes of a property from now on, each once, in order: `for await change in operation.changes(\.state)`.
  ///
  /// May be called from any thread. The newest `limit` unread changes are kept, at least one. With `.initial`, the
  /// first change has the current value.
  public final func changes<Value>(
    _ keyPath: KeyPath<ObservableProperties, ObservableProperty<Value>>, options: ObservingOptions = [],
    keeping limit: Int = 64
  ) -> OperationChanges<Value> {
    let property = ObservableProperties()[keyPath: keyPath]
    let buffer = ChangeBuffer(keeping: limit)
    let observation = OperationObservation(in: parts.observers, interest: property.interest, to: buffer)
    add(observation, initial: options.contains(.initial))
    return OperationChanges(.init(buffer, property.read, ObservationToken(observation)))
  }
}
