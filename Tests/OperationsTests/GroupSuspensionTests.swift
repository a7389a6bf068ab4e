import Foundation
import Support
import Testing

@testable import Operations

@Suite struct GroupSuspensionTests {
  @Test func childrensQueuesFollowTheOuterQueueUntilTheyLeave() {
    let outer = OperationQueue()
    let suspension = GroupSuspension(of: outer)
    let queues = (0..<2).map { _ in ChildrenQueue(suspension) }
    for queue in queues { suspension.follow(queue) { true } }
    #expect(queues.allSatisfy { !$0.isSuspended })
    outer.isSuspended = true
    suspension.follow(queues[0]) { false }
    #expect(!queues[0].isSuspended)
    for queue in queues { suspension.follow(queue) { true } }
    #expect(queues.allSatisfy { $0.isSuspended })
    suspension.leave(queues[0])
    #expect(!queues[0].isSuspended && queues[1].isSuspended)
    outer.isSuspended = false
    #expect(eventually { !queues[1].isSuspended })
  }
}
