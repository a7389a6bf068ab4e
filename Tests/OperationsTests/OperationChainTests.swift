import Foundation
import Support
import Testing

@testable import Operations

/// Chains of operations that are added as a whole.
@Suite struct OperationChainTests {
  @Test func whatAQueueHasReadIsLeftOut() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let (queued, alone) = (Operations.ClosureOperation { 1 }, Operations.ClosureOperation { 2 })
    let both = [queued, alone].collected()
    #expect(both.withDependencies == [queued, alone, both])
    queue.addOperation(queued)
    #expect(both.withDependencies == [alone, both])
  }

  @Test func theEndOfADependencyIsNoSignOfAQueue() {
    let (first, second) = (ManualOperation(), ManualOperation())
    let last = ManualOperation()
    second.addDependency(first)
    last.addDependency(second)
    first.start()
    first.finish()
    #expect(second.state == .ready && last.withDependencies == [second, last])
  }

  @Test func aChainIsAddedFromATask() async throws {
    let queue = OperationQueue()
    let sum = (0..<10).map { number in Operations.ClosureOperation { number } }.collected().reduce(0, +)
    queue.addOperations(sum.withDependencies)
    #expect(try await sum.value == 45)
  }

  @Test func theLastProgressOfAnInnerOperationIsPassedOn() {
    let queue = OperationQueue()
    for _ in 0..<100 {
      let whole = Operations.ClosureOperation { 1 }.flatMap { value in
        Operations.ClosureOperation { operation in
          operation.report(completed: 3, total: 4)
          return value
        }
      }
      queue.addOperations(whole.withDependencies, waitUntilFinished: true)
      #expect(whole.progress == OperationProgress(completed: 3, total: 4))
    }
  }
}
