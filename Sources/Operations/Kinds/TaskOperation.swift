import Synchronization

/// An operation around an asynchronous closure; cancelled, it cancels the task that the closure runs in.
///
/// It finishes when the closure has returned or thrown, with the value or the error. A closure that ignores the
/// cancellation runs to its end; the error that the operation was cancelled with takes precedence over the one it throws.
public final class TaskOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: behind locks, or atomic.
  private let body: Lock<(@Sendable (AsyncOperation) async throws -> Success)?>
  private let task = Lock<Task<Void, Never>?>(nil)
  private let priority: TaskPriority?
  /// The hash value of the task, known from within it.
  private let taskHash = Atomic(0)

  /// Makes an operation of a closure, which is given the operation, to report progress.
  public init(priority: TaskPriority? = nil, _ body: @escaping @Sendable (AsyncOperation) async throws -> Success) {
    self.priority = priority
    self.body = Lock(body)
  }

  /// Makes an operation of a closure.
  public convenience init(priority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Success) {
    self.init(priority: priority) { _ in try await body() }
  }

  /// Begins the task; the queue calls it.
  public override func main() {
    guard let body = body.withLock({ $0.take() }) else { return }
    let task = Task(priority: priority) {
      withUnsafeCurrentTask { taskHash.store($0?.hashValue ?? 0, ordering: .relaxed) }
      await AwaitingOperation.$current.withValue(.init(operation: self)) {
        do { finish(.success(try await body(self))) } catch { finish(.failure(error)) }
      }
    }
    self.task.withLock { $0 = task }
  }

  /// Cancels the task; the queue calls it.
  public override func didCancel() { task.withLock { $0 }?.cancel() }

  override var isItsTaskCurrent: Bool {
    withUnsafeCurrentTask { $0?.hashValue == taskHash.load(ordering: .relaxed) }
  }
}
