import Foundation
import Support
import Testing

@testable import Operations

/// Groups whose value is made of the values of their children.
@Suite struct ResultGroupTests {
  struct Fault: Error, Equatable {}

  typealias Child = Operations.ClosureOperation
  let queue = OperationQueue()

  @Test func aGroupsValueIsTheArrayOfItsChildrensValues() throws {
    let children = (0..<50).map { number in Child { number } }
    // The last begins first.
    for (number, child) in children.enumerated() { child.queuePriority = number < 25 ? .veryLow : .high }
    let group = ResultGroup(width: 2, children)
    queue.addOperations([group], waitUntilFinished: true)
    #expect(try group.outcome?.get() == Array(0..<50))
    #expect(group.progress.fraction == 1)
  }

  @Test func anEmptyGroupHasAnEmptyValue() throws {
    let group = ResultGroup<Int>([])
    queue.addOperations([group], waitUntilFinished: true)
    #expect(try group.outcome?.get() == [])
  }

  @Test(arguments: [GroupOperation.ChildFailurePolicy.finishThenFail, .cancelOthers, .ignore])
  func aChildsFailureIsTheGroupsUnlessItIsIgnored(policy: GroupOperation.ChildFailurePolicy) throws {
    let children = (0..<4).map { number in
      Child {
        if number == 1 { throw Fault() }
        return number
      }
    }
    let group = ResultGroup(width: 1, onChildFailure: policy, children)
    queue.addOperations([group], waitUntilFinished: true)
    if policy == .ignore {
      #expect(try group.outcome?.get() == [0, 2, 3])
    } else {
      #expect((group.failure as? OperationError)?.names.count == 1)
      #expect(group.failure(as: Fault.self) == Fault())
      #expect(children[3].isCancelled == (policy == .cancelOthers))
    }
  }

  @Test func aChildThatIsCancelledByItselfLeavesAGap() {
    let children = (0..<2).map { number in Child { number } }
    let group = ResultGroup(children)
    children[1].cancel()
    queue.addOperations([group], waitUntilFinished: true)
    #expect(group.failure is CancellationError)
  }

  final class Patient: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
    override func didCancel() { finish() }
  }

  @Test func cancellingAGroupCancelsItsChildren() {
    let children = [Patient(), Patient()]
    let group = ResultGroup(width: 1, children)
    queue.addOperation(group)
    #expect(eventually { children[0].isExecuting })
    group.cancel()
    #expect(eventually { group.isFinished })
    #expect(children.allSatisfy { $0.isFinished && $0.isCancelled })
    #expect(group.failure is CancellationError)
  }

  @Test func theChildrenOfAGroupThatNeverExecutesFinishToo() {
    let child = Patient()
    let dependent = Child { 1 }
    dependent.addDependency(child)
    let group = ResultGroup([child])
    group.cancel()
    queue.addOperations([dependent, group], waitUntilFinished: true)
    #expect(child.isFinished && dependent.failure == nil)
  }

  @Test func aGroupIsFreedRunOrNot() {
    weak var unrun: ResultGroup<Int>?
    weak var run: ResultGroup<Int>?
    do {
      let groups = [ResultGroup([Child { 1 }]), ResultGroup([Child { 1 }])]
      (unrun, run) = (groups[0], groups[1])
      queue.addOperations([groups[1]], waitUntilFinished: true)
    }
    #expect(unrun == nil)
    #expect(eventually { run == nil })
  }

  @Test func theChildrenShareWhatTheGroupHasToItself() {
    let child = Child { 1 }
    child.addCondition(.mutuallyExclusive("result group"))
    let group = ResultGroup([child])
    group.addCondition(.mutuallyExclusive("result group"))
    queue.addOperation(group)
    #expect(eventually { group.isFinished })
    #expect(group.failure == nil)
  }
}
