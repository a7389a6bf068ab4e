import Foundation
import Synchronization

/// The stored state of an asynchronous operation: its lifecycle and flags in one atomic word, and its lazy parts.
///
/// A part is created on first access, so that an operation without observers, dependencies and conditions takes only
/// the word and three empty references.
struct OperationParts<Owner: ConditionalOperation>: ~Copyable, Sendable {
  /// Flags in the same word as the lifecycle, so that each move either sees a flag or precedes it.
  struct Flag {
    fileprivate let bit: UInt16

    /// Every move is posted to the observer list.
    static var isObserved: Flag { Flag(bit: 0x80) }
    /// The end is reported to the dependency graph.
    static var isLinked: Flag { Flag(bit: 0x40) }
    /// Start, cancellation and end use the side state.
    static var hasRareState: Flag { Flag(bit: 0x20) }
    /// `isReady` has been read as false.
    static var wasNotReady: Flag { Flag(bit: 0x10) }
    /// The operation is probably in a queue or a dependency queue, for example because `isReady` has been read.
    static var mayBeQueued: Flag { Flag(bit: 0x100) }
  }

  /// The lifecycle's code in the low four bits, the flags in the others.
  private let word = Atomic<UInt16>(0)
  private let lazyObservers = LazyReference<ObserverList>()
  private let lazyNode = LazyReference<DependencyNode>()
  private let lazyRareState = LazyReference<RareState<Owner>>()

  /// The word at one instant.
  struct Snapshot {
    fileprivate let word: UInt16

    var lifecycle: OperationLifecycle { OperationLifecycle(code: UInt8(truncatingIfNeeded: word)) }
    var isReady: Bool { OperationLifecycle.isReady(code: UInt8(truncatingIfNeeded: word)) }

    func has(_ flag: Flag) -> Bool { word & flag.bit != 0 }
  }

  var snapshot: Snapshot { Snapshot(word: word.load(ordering: .acquiring)) }
  var lifecycle: OperationLifecycle { snapshot.lifecycle }

  func has(_ flag: Flag) -> Bool { snapshot.has(flag) }

  /// Replaces the lifecycle; false if the lifecycle or a flag has changed since the snapshot.
  func exchange(_ old: Snapshot, for new: OperationLifecycle) -> Bool {
    word.compareExchange(
      expected: old.word, desired: old.word & ~0xF | UInt16(new.code), ordering: .acquiringAndReleasing
    )
    .exchanged
  }

  /// Sets a flag permanently; returns the lifecycle at that instant.
  @discardableResult
  func set(_ flag: Flag) -> OperationLifecycle {
    Snapshot(word: word.bitwiseOr(flag.bit, ordering: .acquiringAndReleasing).oldValue).lifecycle
  }

  /// Sets a flag permanently; true for the first call.
  func setFirst(_ flag: Flag) -> Bool {
    word.bitwiseOr(flag.bit, ordering: .acquiringAndReleasing).oldValue & flag.bit == 0
  }

  // MARK: Lazy parts

  var observers: ObserverList { lazyObservers.load() ?? lazyObservers.storeIfNil(ObserverList()) }
  var existingObservers: ObserverList? { lazyObservers.load() }

  /// Calls `body` with the observers, if there are any, without counting a reference.
  func withObservers<Result>(_ body: (ObserverList) -> Result) -> Result? { lazyObservers.withObject(body) }

  var node: DependencyNode { lazyNode.load() ?? lazyNode.storeIfNil(DependencyNode(isOurs: true)) }
  var existingNode: DependencyNode? { lazyNode.load() }
  var linkedNode: DependencyNode? { has(.isLinked) ? node : nil }

  var rareState: RareState<Owner> {
    defer { set(.hasRareState) }
    return lazyRareState.load() ?? lazyRareState.storeIfNil(RareState<Owner>())
  }
  var existingRareState: RareState<Owner>? { has(.hasRareState) ? lazyRareState.load() : nil }
}

/// A reference that is empty until a thread stores the first object, which then stays.
///
/// Unlike the standard library's `AtomicLazyReference`, it does not look up its type's metadata at each load and at its
/// end. That look-up would cost an operation that uses none of its parts more than the rest of its state.
struct LazyReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Safe: set once from empty, released only by the deinit; the object protects itself.
  private let pointer = Atomic<UnsafeRawPointer?>(nil)

  init() {}

  deinit {
    guard let pointer = pointer.load(ordering: .acquiring) else { return }
    Unmanaged<Object>.fromOpaque(pointer).release()
  }

  func load() -> Object? {
    guard let pointer = pointer.load(ordering: .acquiring) else { return nil }
    return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Calls `body` with the object, if there is one, without counting a reference.
  func withObject<Result>(_ body: (Object) -> Result) -> Result? {
    guard let pointer = pointer.load(ordering: .acquiring) else { return nil }
    return Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
  }

  /// Stores `object` unless an object is stored already; returns the stored object.
  func storeIfNil(_ object: Object) -> Object {
    let mine = Unmanaged.passRetained(object)
    let (isStored, there) = pointer.compareExchange(
      expected: nil, desired: UnsafeRawPointer(mine.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isStored, let there else { return object }
    mine.release()
    return Unmanaged<Object>.fromOpaque(there).takeUnretainedValue()
  }
}
