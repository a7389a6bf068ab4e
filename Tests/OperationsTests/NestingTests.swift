import Foundation
import Support
import Testing

@testable import Operations

/// Groups in groups: no step of their lives takes more stack the deeper they are.
@Suite struct NestingTests {
  private static func nest(_ depth: Int, around leaf: Operation) -> GroupOperation {
    (1..<depth).reduce(GroupOperation([leaf])) { group, _ in GroupOperation([group]) }
  }

  @Test func aDeepNestIsReleasedUnrun() async {
    await #expect(processExitsWith: .success) {
      _ = Self.nest(30_000, around: ManualOperation())
      let values = (1..<20_000).reduce(Operations.ClosureOperation { 1 } as ResultOperation<Int>) { inner, _ in
        ResultGroup([inner]).map(\.count)
      }
      withExtendedLifetime(values) {}
    }
  }

  private static func adapters(_ depth: Int, around operation: Operation) -> AdaptedOperation {
    (1..<depth).reduce(AdaptedOperation(operation)) { adapter, _ in AdaptedOperation(adapter) }
  }

  @Test func adaptersInEachOtherAreReleasedUnrun() async {
    await #expect(processExitsWith: .success) { _ = Self.adapters(100_000, around: BlockOperation {}) }
  }

  @Test func adaptersInEachOtherExecute() async {
    await #expect(processExitsWith: .success) {
      let ran = Journal<Int>()
      let adapter = Self.adapters(3_000, around: BlockOperation { ran.add(1) })
      OperationQueue().addOperation(adapter)
      exit(eventually { adapter.isFinished } && ran.entries == [1] ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test(arguments: [true, false]) func adaptersInEachOtherAreCancelledToTheLast(isBegun: Bool) async {
    await #expect(processExitsWith: .success) { [isBegun] in
      let leaf = ManualOperation()
      let adapter = Self.adapters(3_000, around: leaf)
      if isBegun {
        OperationQueue().addOperation(adapter)
        _ = eventually { leaf.isExecuting }
      }
      adapter.cancel()
      if !isBegun { OperationQueue().addOperation(adapter) }
      exit(eventually { adapter.isFinished && leaf.isFinished && leaf.isCancelled } ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func retriesInEachOtherEndFlat() async {
    await #expect(processExitsWith: .success) {
      let inner: ResultOperation<Int> = Operations.ClosureOperation { 1 }
      let retry = (0..<3_000).reduce(inner) { inner, _ in RetryOperation(retries: 0) { _ in inner } }
      OperationQueue().addOperation(retry)
      exit(eventually { retry.isFinished } && (try? retry.outcome?.get()) == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func aDeepNestExecutesAndIsReleased() async {
    await #expect(processExitsWith: .success) {
      let group = Self.nest(3_000, around: Operations.ClosureOperation {})
      OperationQueue().addOperation(group)
      exit(eventually { group.isFinished } && group.progress.fraction == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func aDeepNestThatExecutesIsCancelledToItsLeaf() async {
    await #expect(processExitsWith: .success) {
      let leaf = ManualOperation()
      let group = Self.nest(3_000, around: leaf)
      OperationQueue().addOperation(group)
      _ = eventually { leaf.isExecuting }
      group.cancel()
      exit(eventually { group.isFinished && leaf.isFinished && leaf.isCancelled } ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func aDeepNestThatWaitsIsCancelledToItsLeaf() async {
    await #expect(processExitsWith: .success) {
      let leaf = ManualOperation()
      let group = Self.nest(3_000, around: leaf)
      group.cancel()
      OperationQueue().addOperation(group)
      exit(eventually { group.isFinished && leaf.isFinished && leaf.mainCount == 0 } ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func aDeepNestMayBeBuiltFromOutside() throws {
    let groups = (0..<3_000).map { _ in GroupOperation() }
    for (outer, inner) in zip(groups, groups.dropFirst()) { try outer.add(inner) }
    #expect(codeOfError { try groups[2_999].add(groups[0]) } == .dependencyCycle)
    try groups[2_999].add(Operations.ClosureOperation {})
    OperationQueue().addOperations([groups[0]], waitUntilFinished: true)
    #expect(groups.allSatisfy { $0.isFinished })
  }

  @Test func aNestOfGroupsWithOtherChildrenIsBuiltFromOutside() throws {
    let groups = (0..<3_000).map { _ in GroupOperation([ManualOperation()]) }
    for (outer, inner) in zip(groups, groups.dropFirst()) { try outer.add(inner) }
    for group in [groups[0], groups[1], groups[2_998], groups[2_999]] {
      #expect(codeOfError { try groups[2_999].add(group) } == .dependencyCycle)
    }
    #expect(groups[2_997].parts.node.outer === groups[0])
  }

  @Test func aShortWayStaysOnItsThread() {
    let thread = pthread_self()
    let calls = Journal<Bool>()
    Nesting.call { Nesting.call { calls.add(pthread_self() == thread) } }
    #expect(calls.entries == [true])
  }
}
