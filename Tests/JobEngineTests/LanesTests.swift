import Foundation
import Testing

@testable import JobEngine

@Suite struct LanesTests {
  private func suspended(_ lanes: Lanes) -> Set<Bool> { Set(Lane.allCases.map { lanes[$0].isSuspended }) }

  @Test func lanesStartAttemptsOnceNothingHoldsThem() {
    let lanes = Lanes(slots: 1, clusterJobs: 1)
    #expect(suspended(lanes) == [false])
    lanes.set(.recording, true)
    lanes.set(.drain, true)
    lanes.set(.recording, false)
    #expect(suspended(lanes) == [true])
    lanes.set(.recording, false)
    #expect(suspended(lanes) == [true])
    lanes.set(.drain, false)
    #expect(suspended(lanes) == [false])
  }

  @Test func servicesTakeNoPlaceOfOtherJobs() {
    let lanes = Lanes(slots: 2, clusterJobs: 30)
    #expect(lanes[.slots].maxConcurrentOperationCount == 2)
    #expect(lanes[.cluster].maxConcurrentOperationCount == 30)
    #expect(lanes[.services].maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
  }

  @Test func operationsOfHeldLanesAreLetGoWithThem() {
    var lanes: Lanes? = Lanes(slots: 1, clusterJobs: 1)
    lanes?.set(.drain, true)
    let operation = BlockOperation {}
    let queue = lanes?[.services]
    queue?.addOperation(operation)
    operation.cancel()
    #expect(!operation.isFinished)
    lanes = nil
    operation.waitUntilFinished()
  }
}
