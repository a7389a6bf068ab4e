/// An operation around a closure, which runs on the thread that the queue provides and returns a value or throws.
///
/// A long computation checks `isCancelled` now and then and throws a `CancellationError`. A closure that waits belongs
/// in a `TaskOperation`: here it would hold a thread.
public final class ClosureOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: only `main` changes it, which is called once.
  private var body: (@Sendable (AsyncOperation) throws -> Success)?

  /// Makes an operation of a closure, which gets the operation as an argument, to report progress or check
  /// `isCancelled`.
  public init(_ body: @escaping @Sendable (AsyncOperation) throws -> Success) { self.body = body }

  /// Makes an operation of a closure.
  public convenience init(_ body: @escaping @Sendable () throws -> Success) { self.init { _ in try body() } }

  /// Runs the closure; the queue calls it.
  public override func main() {
    // Freed once it has run, because it may retain much.
    guard let body = body.take() else { return }
    finish(Result { try body(self) })
  }
}
