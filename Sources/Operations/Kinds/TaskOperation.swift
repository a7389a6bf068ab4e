import Foundation

/// An operation around an asynchronous closure; cancelling it cancels the task that the closure runs in.
///
/// The operation finishes with the value or the error when the closure has returned or thrown. A closure that ignores
/// the cancellation runs to its end; the error passed to `cancel(with:)` takes precedence over the error it throws. The
/// task has the given priority, or else the priority of the operation's `qualityOfService`. If the operation is made in
/// a task, the closure has the task-local values of that task.
public final class TaskOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  private typealias Body = @Sendable (AsyncOperation) async throws -> Success

  // Safe: constants, and locks.
  private let body: Lock<Body?>
  private let task = Lock<Task<Void, Never>?>(nil)
  private let priority: TaskPriority?
  private let locals: TaskLocals

  /// Makes an operation of a closure, which gets the operation as an argument, to report progress.
  public init(priority: TaskPriority? = nil, _ body: @escaping @Sendable (AsyncOperation) async throws -> Success) {
    self.priority = priority
    locals = TaskLocals(priority)
    self.body = Lock(body)
  }

  /// Makes an operation of a closure.
  public convenience init(priority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Success) {
    self.init(priority: priority) { _ in try await body() }
  }

  /// Begins the task; the queue calls it.
  public override func main() {
    guard let body = body.withLock({ $0.take() }) else { return }
    locals.with { self.begin(body) }
  }

  private func begin(_ body: @escaping Body) {
    let task = Task(priority: priority ?? TaskPriority(qualityOfService)) {
      await AwaitingWork.perform(for: self) {
        do { finish(.success(try await body(self))) } catch { finish(.failure(error)) }
      }
    }
    self.task.withLock { $0 = task }
    // The operation was cancelled meanwhile, before this task existed.
    if isCancelled { task.cancel() }
  }

  /// Cancels the task; the queue calls it.
  public override func didCancel() { task.withLock { $0 }?.cancel() }
}

/// The task-local values of the task that makes this value.
///
/// Only a task can pass them on: a task that waits, holding no thread, until it gets a closure to run or this value is
/// freed.
private struct TaskLocals: ~Copyable {
  private let work: PendingAnswer<@Sendable () -> Void>?

  init(_ priority: TaskPriority?) {
    guard withUnsafeCurrentTask(body: { $0 != nil }) else {
      work = nil
      return
    }
    let work = PendingAnswer<@Sendable () -> Void>()
    self.work = work
    // Without a turn in the executor's queue.
    Task.immediate(priority: priority) { (try? await work.wait {})?() }
  }

  deinit { work?.give(.failure(CancellationError())) }

  /// Calls `body` once where the values can be read: at once if there are none, otherwise soon, on another thread.
  func with(_ body: @escaping @Sendable () -> Void) {
    if let work { work.give(.success(body)) } else { body() }
  }
}

extension TaskPriority {
  fileprivate init?(_ quality: QualityOfService) {
    switch quality {
    case .userInteractive, .userInitiated: self = .high
    case .utility: self = .low
    case .background: self = .background
    case .default: return nil
    @unknown default: return nil
    }
  }
}
