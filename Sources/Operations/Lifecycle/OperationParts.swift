import Foundation
import Synchronization

/// The stored state of an asynchronous operation: its lifecycle with four flags in one atomic byte, and its lazy parts.
///
/// A part is made when it is first asked for, so that an operation without observers, dependencies and conditions
/// takes no more than the byte and three empty references.
struct OperationParts: ~Copyable, Sendable {
  /// Facts in the same byte as the lifecycle, so that each move either sees a flag or comes before it.
  struct Flag {
    fileprivate let bit: UInt8

    /// Every move is posted to the observer list.
    static let isObserved = Flag(bit: 0x80)
    /// The end is reported to the dependency graph.
    static let isLinked = Flag(bit: 0x40)
    /// Start, cancellation and end look at the side state.
    static let hasSideState = Flag(bit: 0x20)
    /// `isReady` has been read as false.
    static let wasNotReady = Flag(bit: 0x10)
  }

  /// The lifecycle's code in the low four bits, the flags in the high ones.
  private let word = Atomic<UInt8>(0)
  private let lazyObservers = LazyReference<ObserverList>()
  private let lazyNode = LazyReference<DependencyNode>()
  private let lazySideState = LazyReference<SideState>()

  var lifecycle: OperationLifecycle { OperationLifecycle(code: word.load(ordering: .acquiring)) }

  func has(_ flag: Flag) -> Bool { word.load(ordering: .acquiring) & flag.bit != 0 }

  /// Sets a flag for good; returns the lifecycle as it was at that instant.
  @discardableResult
  func set(_ flag: Flag) -> OperationLifecycle {
    OperationLifecycle(code: word.bitwiseOr(flag.bit, ordering: .acquiringAndReleasing).oldValue)
  }

  // MARK: Lazy parts

  var observers: ObserverList { lazyObservers.load() ?? lazyObservers.storeIfNil(ObserverList()) }
  var existingObservers: ObserverList? { lazyObservers.load() }

  var node: DependencyNode { lazyNode.load() ?? lazyNode.storeIfNil(DependencyNode(isOurs: true)) }
  var existingNode: DependencyNode? { lazyNode.load() }
  var linkedNode: DependencyNode? { has(.isLinked) ? node : nil }

  var sideState: SideState {
    defer { set(.hasSideState) }
    return lazySideState.load() ?? lazySideState.storeIfNil(SideState())
  }
  var existingSideState: SideState? { has(.hasSideState) ? lazySideState.load() : nil }

  // MARK: Moves

  /// Makes a move of the lifecycle in one atomic step; returns what is left to do.
  ///
  /// Where the operation is observed the step and its posting are one, so that observers see all moves in their order.
  /// Key-value observers on Darwin are told before the step, without a lock.
  func move<Action>(_ operation: Operation, _ step: (inout OperationLifecycle) -> Action) -> Action {
    while true {
      let word = word.load(ordering: .acquiring)
      let old = OperationLifecycle(code: word)
      var new = old
      let action = step(&new)
      if new == old { return action }
      operation.willMove(from: old, to: new)
      let code = word & 0xF0 | new.code
      let isMade =
        if word & Flag.isObserved.bit == 0 {
          exchange(word, for: code)
        } else {
          lazyObservers.withObject { $0.post(operation, from: old, to: new) { exchange(word, for: code) } } ?? false
        }
      if isMade { return action }
      // Another thread has moved or observed the operation meanwhile.
      operation.didNotMove(from: old, to: new)
    }
  }

  private func exchange(_ old: UInt8, for new: UInt8) -> Bool {
    word.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }
}

extension Operation {
  #if canImport(Darwin)
  fileprivate func willMove(from old: OperationLifecycle, to new: OperationLifecycle) {
    if old.isExecuting != new.isExecuting { willChangeValue(forKey: "isExecuting") }
    if new.isFinished { willChangeValue(forKey: "isFinished") }
  }

  fileprivate func didNotMove(from old: OperationLifecycle, to new: OperationLifecycle) {
    if old.isExecuting != new.isExecuting { didChangeValue(forKey: "isExecuting") }
    if new.isFinished { didChangeValue(forKey: "isFinished") }
  }
  #else
  // Foundation's `willChangeValue` does nothing on Linux.
  @inline(__always) fileprivate func willMove(from old: OperationLifecycle, to new: OperationLifecycle) {}
  @inline(__always) fileprivate func didNotMove(from old: OperationLifecycle, to new: OperationLifecycle) {}
  #endif
}

/// A reference that is empty until some thread stores the first object, which then stays.
///
/// Unlike the standard library's `AtomicLazyReference` it does not look up its type's metadata at each load and at its
/// end, which would cost an operation without any of its parts more than its whole state does.
struct LazyReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Safe: set once from empty, released by the deinit alone; the object protects itself.
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

  /// Stores `object` unless there is one; returns the one that is stored now.
  func storeIfNil(_ object: Object) -> Object {
    let mine = Unmanaged.passRetained(object)
    let (isStored, there) = pointer.compareExchange(
      expected: nil, desired: UnsafeRawPointer(mine.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isStored, let there else { return object }
    mine.release()
    return Unmanaged<Object>.fromOpaque(there).takeUnretainedValue()
  }
}
