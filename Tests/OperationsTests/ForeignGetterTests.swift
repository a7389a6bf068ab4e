import Foundation
import Support
import Testing

@testable import Operations

/// Getters of operations are anybody's code, which may use dependencies: none runs under the dependency graph's lock.
///
/// In processes of their own, because a deadlock there would hold every other test up.
@Suite struct ForeignGetterTests {
  /// Links and unlinks two operations of ours, of its own because several threads may ask one getter; returns the
  /// value.
  private static func touched<Value>(_ value: Value) -> Value {
    let (first, second) = (ManualOperation(), ManualOperation())
    second.addDependency(first)
    #expect(second.dependencies == [first])
    second.removeDependency(first)
    return value
  }

  /// An operation of another class that uses ours in every getter.
  final class Foreign: Operation, @unchecked Sendable {
    // Safe: it has no state of its own.
    override var isFinished: Bool { touched(super.isFinished) }
    override var isExecuting: Bool { touched(super.isExecuting) }
    override var isCancelled: Bool { touched(super.isCancelled) }
    override var dependencies: [Operation] { touched(super.dependencies) }
    override var queuePriority: QueuePriority {
      get { touched(super.queuePriority) }
      set { super.queuePriority = newValue }
    }
    override func main() {}
  }

  /// An AsyncOperation whose overridable getters do the same.
  final class Ours: AsyncOperation, @unchecked Sendable {
    // Safe: it has no state of its own.
    override var queuePriority: QueuePriority {
      get { touched(super.queuePriority) }
      set { super.queuePriority = newValue }
    }
    override var name: String? {
      get { touched(super.name) }
      set { super.name = newValue }
    }
    override func main() { finish() }
  }

  final class Queue: OperationQueue, @unchecked Sendable {
    // Safe: it has no state of its own.
    override var maxConcurrentOperationCount: Int {
      get { touched(super.maxConcurrentOperationCount) }
      set { super.maxConcurrentOperationCount = newValue }
    }
  }

  private static func wait(for dependencyQueue: DependencyQueue) { dependencyQueue.waitUntilAllOperationsAreFinished() }

  @Test func ourOperationsMayDependOnAForeignOne() async {
    await #expect(processExitsWith: .success) {
      MisuseRig.giveUpLater()
      let (foreign, ours, other) = (Foreign(), ManualOperation(), ManualOperation())
      ours.addDependency(foreign)
      other.addDependency(foreign)
      other.removeDependency(foreign)
      ours.addDependency(other)
      foreign.start()
      guard eventually({ ours.dependencies == [foreign, other] }) else { exit(EXIT_FAILURE) }
    }
  }

  @Test func aDependencyQueueMayHoldForeignOperations() async {
    await #expect(processExitsWith: .success) {
      MisuseRig.giveUpLater()
      let dependencyQueue = DependencyQueue(feeding: OperationQueue())
      dependencyQueue.maxConcurrentOperationCount = 1
      let (first, second, third, ours) = (Foreign(), Foreign(), Foreign(), ManualOperation())
      second.addDependency(first)
      third.addDependency(ours)
      try dependencyQueue.add([third, second, ours, first])
      guard eventually({ ours.isExecuting }) else { exit(EXIT_FAILURE) }
      ours.finish()
      try dependencyQueue.add((0..<100).map { _ in Foreign() })
      dependencyQueue.cancelAllOperations()
      Self.wait(for: dependencyQueue)
    }
  }

  @Test func aSubclassMayOverrideThePriority() async {
    await #expect(processExitsWith: .success) {
      MisuseRig.giveUpLater()
      let dependencyQueue = DependencyQueue(feeding: OperationQueue())
      let (first, second) = (Ours(), Ours())
      second.addDependency(first)
      try dependencyQueue.add(second)
      second.queuePriority = .high
      try dependencyQueue.add([first, Ours()])
      Self.wait(for: dependencyQueue)
    }
  }

  @Test func aSubclassMayOverrideTheNameThatACycleSays() async {
    await #expect(processExitsWith: .success) {
      MisuseRig.giveUpLater()
      let (a, b, c) = (Ours(), Ours(), Ours())
      a.addDependency(b)
      b.addDependency(c)
      do { try c.addDependencyOrThrow(a) } catch { exit(EXIT_SUCCESS) }
      exit(EXIT_FAILURE)
    }
  }

  @Test func aQueueMayOverrideItsWidth() async {
    await #expect(processExitsWith: .success) {
      MisuseRig.giveUpLater()
      let dependencyQueue = DependencyQueue(feeding: Queue())
      try dependencyQueue.add((0..<10).map { _ in Ours() })
      Self.wait(for: dependencyQueue)
    }
  }

  @Test func aForeignOperationsPriorityMayChangeUntilItEnters() throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let dependencyQueue = DependencyQueue(feeding: queue)
    let journal = Journal<String>()
    let gate = ManualOperation()
    try dependencyQueue.add(gate)
    let blocks = ["a", "b", "c", "d", "e", "f"].map { name in BlockOperation { journal.add(name) } }
    for block in blocks { block.addDependency(gate) }
    try dependencyQueue.add(blocks)
    // Known when it becomes ready, though nothing tells of it.
    blocks[5].queuePriority = .high
    gate.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == ["f", "a", "b", "c", "d", "e"])
  }
}
