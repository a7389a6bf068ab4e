import Foundation

/// Prevents a stack overflow in chains from one operation to the next, however deep operations are nested.
enum Nesting {
  private final class Pile {
    var operations: [Operation] = []
  }

  private static let depth = ThreadValue()
  private static let pile = ThreadValue()
  /// The maximum number of nested calls on one thread; dispatch's threads have a stack of half a megabyte.
  private static let limit = 32
  private static let queue = DispatchQueue(label: "Operations.Nesting")

  /// Calls `body` now or, if many such calls are nested, soon on another thread.
  static func call(_ body: @escaping @Sendable () -> Void) {
    call(body) { queue.async { call(body) } }
  }

  /// Calls `body` or, if many such calls are nested, `elsewhere`, which has the same work done on another thread.
  static func call(_ body: () -> Void, elsewhere: () -> Void) {
    let outer = Int(bitPattern: depth.pointer)
    guard outer < limit else { return elsewhere() }
    depth.pointer = UnsafeMutableRawPointer(bitPattern: outer + 1)
    body()
    depth.pointer = UnsafeMutableRawPointer(bitPattern: outer)
  }

  /// Releases operations retained by one that is being freed; one after another if each frees others in turn.
  ///
  /// Empties the array, so that its owner does not free them afterwards, each inside the one before.
  static func release<Held: Operation>(_ operations: inout [Held]) {
    guard !operations.isEmpty else { return }
    if let pointer = pile.pointer {
      Unmanaged<Pile>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.operations += operations as [Operation] }
      operations = []
      return
    }
    let own = Pile()
    own.operations = operations
    operations = []
    pile.pointer = Unmanaged.passUnretained(own).toOpaque()
    while own.operations.popLast() != nil {}
    pile.pointer = nil
  }
}

/// A pointer with a separate value in each thread.
private struct ThreadValue {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    require(pthread_key_create(&key, nil) == 0, "this process has no thread-specific key left")
    self.key = key
  }

  var pointer: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}
