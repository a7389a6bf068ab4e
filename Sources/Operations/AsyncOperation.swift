import Foundation
import Synchronization

/// An operation whose work goes on after `main` has returned, until `finish()` is called.
open class AsyncOperation: Operation, @unchecked Sendable {
  // Safe: the only mutable state is atomic.
  private let started = Atomic(false)
  private let finished = Atomic(false)

  /// Begins the work and returns; some thread calls `finish()` when the work is over.
  open override func main() {
    preconditionFailure("\(type(of: self)) does not override main()")
  }

  /// Called once, after `main` has returned, if the operation is cancelled while it executes; end the work and call `finish()`.
  open func didCancel() {}

  public final override func start() {
    guard !isCancelled else {
      started.store(true, ordering: .sequentiallyConsistent)
      finish()
      return
    }
    started.store(true, ordering: .sequentiallyConsistent)
    main()
  }

  open override func cancel() {
    guard !isCancelled else { return }
    super.cancel()
    if started.load(ordering: .sequentiallyConsistent) { didCancel() }
  }

  /// Says that the work is over; only the first call counts, from whatever thread.
  public final func finish() {
    guard !finished.exchange(true, ordering: .sequentiallyConsistent) else { return }
    didChangeValue(forKey: "isFinished")
  }

  public final override var isAsynchronous: Bool { true }
  public final override var isExecuting: Bool {
    started.load(ordering: .sequentiallyConsistent) && !finished.load(ordering: .sequentiallyConsistent)
  }
  public final override var isFinished: Bool { finished.load(ordering: .sequentiallyConsistent) }
}
