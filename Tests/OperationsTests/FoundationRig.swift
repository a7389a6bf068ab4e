import Foundation
import Support
import Testing

@testable import Operations

/// One of the places and classes that each rule of Foundation's queues is tested in.
struct FoundationRig: Sendable, CustomTestStringConvertible {
  enum Kind: Sendable, CaseIterable { case subclass, closure }

  enum Place: Sendable, CaseIterable { case plainQueue, dependencyQueue }

  let kind: Kind
  let place: Place

  static let all = Kind.allCases.flatMap { kind in Place.allCases.map { FoundationRig(kind: kind, place: $0) } }

  var testDescription: String { "\(kind) in a \(place)" }

  /// An operation that ends when `body` returns.
  func operation(_ name: String? = nil, _ body: @escaping @Sendable () -> Void = {}) -> AsyncOperation {
    let operation: AsyncOperation
    switch kind {
    case .subclass:
      operation = ClosureOperation {
        body()
        $0.finish()
      }
    case .closure: operation = Operations.ClosureOperation { body() }
    }
    operation.name = name
    return operation
  }

  /// An operation that executes until it is released.
  func held(_ name: String? = nil) -> HeldOperation {
    switch kind {
    case .subclass:
      let operation = ManualOperation(name)
      return HeldOperation(operation: operation) { operation.finish() }
    case .closure:
      let semaphore = DispatchSemaphore(value: 0)
      let operation = Operations.ClosureOperation { semaphore.wait() }
      operation.name = name
      return HeldOperation(operation: operation) { semaphore.signal() }
    }
  }

  func home(width: Int = OperationQueue.defaultMaxConcurrentOperationCount, isSuspended: Bool = false) -> Home {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    queue.isSuspended = isSuspended
    return Home(queue: queue, dependencyQueue: place == .dependencyQueue ? DependencyQueue(feeding: queue) : nil)
  }

  struct HeldOperation: Sendable {
    let operation: AsyncOperation
    let release: @Sendable () -> Void
  }

  /// A queue that operations are added to directly or through a dependency queue.
  struct Home: Sendable {
    let queue: OperationQueue
    let dependencyQueue: DependencyQueue?

    func add(_ operations: Operation...) { add(operations) }

    func add(_ operations: [Operation]) {
      guard let dependencyQueue else { return queue.add(operations) }
      do { try dependencyQueue.add(operations) } catch { Issue.record(error) }
    }

    var operations: [Operation] { dependencyQueue?.operations ?? queue.operations }

    func setWidth(_ width: Int) {
      if let dependencyQueue {
        dependencyQueue.maxConcurrentOperationCount = width
      } else {
        queue.maxConcurrentOperationCount = width
      }
    }

    func cancelAll() {
      if let dependencyQueue { dependencyQueue.cancelAllOperations() } else { queue.cancelAllOperations() }
    }

    func wait() {
      if let dependencyQueue {
        dependencyQueue.waitUntilAllOperationsAreFinished()
      } else {
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }
}
