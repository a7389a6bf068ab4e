import Foundation
import Synchronization

/// An operation around an asynchronous closure; cancelled, it cancels the task that the closure runs in.
///
/// It finishes when the closure has returned or thrown, with the value or the error. A closure that ignores the
/// cancellation runs to its end; the error that the operation was cancelled with takes precedence over the one it throws.
/// The task has the priority that it was made with, or else that of the operation's `qualityOfService`. Of an operation that
/// is made in a task the closure has that task's task-local values.
public final class TaskOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  private typealias Body = @Sendable (AsyncOperation) async throws -> Success

  // Safe: behind locks, or atomic.
  private let body: Lock<Body?>
  private let task = Lock<Task<Void, Never>?>(nil)
  private let priority: TaskPriority?
  private let locals: TaskLocals
  /// The hash value of the task, known from within it.
  private let taskHash = Atomic(0)

  /// Makes an operation of a closure, which is given the operation, to report progress.
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
      withUnsafeCurrentTask { taskHash.store($0?.hashValue ?? 0, ordering: .relaxed) }
      await AwaitingOperation.$current.withValue(.init(operation: self)) {
        do { finish(.success(try await body(self))) } catch { finish(.failure(error)) }
      }
    }
    self.task.withLock { $0 = task }
    // Cancelled meanwhile, before there was this task to be cancelled.
    if isCancelled { task.cancel() }
  }

  /// Cancels the task; the queue calls it.
  public override func didCancel() { task.withLock { $0 }?.cancel() }

  override var isItsTaskCurrent: Bool {
    withUnsafeCurrentTask { $0?.hashValue == taskHash.load(ordering: .relaxed) }
  }
}

/// The task-local values of the task that this was made in.
///
/// Only a task can hand them on: one that waits, holding no thread, until it is given something to do or this is freed.
private struct TaskLocals: ~Copyable {
  private let work: PendingAnswer<@Sendable () -> Void>?

  init(_ priority: TaskPriority?) {
    guard withUnsafeCurrentTask(body: { $0 != nil }) else {
      work = nil
      return
    }
    let work = PendingAnswer<@Sendable () -> Void>()
    self.work = work
    if #available(macOS 26, *) {
      // Without a turn in the executor's line.
      Task.immediate(priority: priority) { (try? await work.wait {})?() }
    } else {
      Task(priority: priority) { (try? await work.wait {})?() }
    }
  }

  deinit { work?.give(.failure(CancellationError())) }

  /// Calls `body` once where the values can be read: at once if there are none, else soon, on another thread.
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
