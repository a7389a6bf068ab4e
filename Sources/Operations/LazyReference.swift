import Synchronization

/// A reference that is empty until some thread stores the first object, which then stays.
///
/// As `AtomicLazyReference` is, but the standard library's looks up its type's metadata at each load and at its end, which
/// costs an operation that never stores anything more than its whole state does.
struct LazyReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Safe: set once from empty, released by the deinit alone, and what it leads to is for the object to protect.
  private let pointer = Atomic<UnsafeRawPointer?>(nil)

  init() {}

  deinit {
    guard let pointer = pointer.load(ordering: .acquiring) else { return }
    Unmanaged<Object>.fromOpaque(pointer).release()
  }

  /// The object, if there is one.
  func load() -> Object? {
    guard let pointer = pointer.load(ordering: .acquiring) else { return nil }
    return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Calls `body` with the object, if there is one, without counting a reference: it stays as long as this does.
  func withObject<Result>(_ body: (Object) -> Result) -> Result? {
    guard let pointer = pointer.load(ordering: .acquiring) else { return nil }
    return Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
  }

  /// Stores `object` unless there is one, and returns the one that is there now.
  func storeIfNil(_ object: Object) -> Object {
    let mine = Unmanaged.passRetained(object)
    let (isStored, there) = pointer.compareExchange(
      expected: nil, desired: UnsafeRawPointer(mine.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isStored, let there else { return object }
    mine.release()
    return Unmanaged<Object>.fromOpaque(there).takeUnretainedValue()
  }
}
