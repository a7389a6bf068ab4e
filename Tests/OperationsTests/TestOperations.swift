import Foundation
import Synchronization

@testable import Operations

/// Executes until the test finishes it; counts its calls.
final class ManualOperation: AsyncOperation, @unchecked Sendable {
  // Safe: all state is atomic.
  let mains = Atomic(0)
  let cancels = Atomic(0)

  init(_ name: String? = nil) {
    super.init()
    self.name = name
  }

  override func main() { mains.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  override func didCancel() {
    cancels.wrappingAdd(1, ordering: .sequentiallyConsistent)
    finish()
  }

  var mainCount: Int { mains.load(ordering: .sequentiallyConsistent) }
  var cancelCount: Int { cancels.load(ordering: .sequentiallyConsistent) }
}

/// Runs a closure as its main, and finishes when the closure says so.
final class ClosureOperation: AsyncOperation, @unchecked Sendable {
  // Safe: constant.
  private let body: @Sendable (ClosureOperation) -> Void
  private let onCancel: @Sendable (ClosureOperation) -> Void

  init(
    _ body: @escaping @Sendable (ClosureOperation) -> Void,
    onCancel: @escaping @Sendable (ClosureOperation) -> Void = { $0.finish() }
  ) {
    self.body = body
    self.onCancel = onCancel
  }

  override func main() { body(self) }
  override func didCancel() { onCancel(self) }
}

final class ForgetfulOperation: AsyncOperation, @unchecked Sendable {}

extension AsyncOperation {
  /// The code of the operation's own failure, if the library made it.
  var failureCode: OperationError.Code? { (failure as? OperationError)?.code }

  /// Reads, under the dependency graph's lock, what that lock protects; nil before there is any of it.
  func withRareState<Value>(_ body: (RareState<AsyncOperation>) -> Value) -> Value? {
    DependencyGraph.contents.withLock { _ in parts.existingRareState.map(body) }
  }
}

/// The code of the error that `body` throws.
func codeOfError(_ body: () throws -> Void) -> OperationError.Code? {
  do { try body() } catch { return (error as? OperationError)?.code }
  return nil
}

/// A list of events, in order, that any thread may add to.
final class Journal<Entry: Sendable>: Sendable {
  private let list = Lock<[Entry]>([])
  func add(_ entry: Entry) { list.withLock { $0.append(entry) } }
  var entries: [Entry] { list.withLock { $0 } }
  var count: Int { list.withLock { $0.count } }
}

/// Runs the bodies concurrently, and waits for them.
func race(_ bodies: [@Sendable () -> Void]) {
  DispatchQueue.concurrentPerform(iterations: bodies.count) { bodies[$0]() }
}
