import Dispatch
import Support
import Testing

@testable import Operations

@Suite struct AsyncOperationDelegateTests {
  final class Listener: AsyncOperationDelegate {
    let journal: Journal<String>
    let isOnQueue: @Sendable () -> Void

    init(_ journal: Journal<String>, _ isOnQueue: @escaping @Sendable () -> Void = {}) {
      self.journal = journal
      self.isOnQueue = isOnQueue
    }

    func operation(_: AsyncOperation, didChangeFrom oldState: AsyncOperation.State, to state: AsyncOperation.State) {
      isOnQueue()
      journal.add("\(oldState) to \(state)")
    }
    func operation(_: AsyncOperation, didReport progress: OperationProgress) {
      journal.add("\(progress.completed) of \(progress.total ?? 0)")
    }
    func operationDidCancel(_: AsyncOperation) { journal.add("cancelled") }
    func operationDidFinish(_: AsyncOperation) { journal.add("over") }
  }

  @Test func theDelegateIsToldEverythingInOrderOnItsQueue() {
    let queue = DispatchQueue(label: "delegate")
    let journal = Journal<String>()
    let listener = Listener(journal) { dispatchPrecondition(condition: .onQueue(queue)) }
    let operation = ManualOperation()
    operation.setDelegate(listener, on: queue)
    operation.start()
    operation.report(completed: 1, total: 2)
    operation.cancel()
    #expect(eventually { journal.count == 5 })
    #expect(
      journal.entries == ["ready to executing", "1 of 2", "cancelled", "executing to finished", "over"])
  }

  @Test func theMainQueueIsTheDefault() async {
    let journal = Journal<String>()
    let listener = Listener(journal) { dispatchPrecondition(condition: .onQueue(.main)) }
    let operation = ManualOperation()
    operation.setDelegate(listener)
    let end = operation.changes(\.isFinished)
    operation.start()
    operation.finish()
    for await _ in end {}
    #expect(eventually { journal.entries.last == "over" })
  }

  @Test func anotherDelegateTakesThePlaceAndNoneIsNone() {
    let queue = DispatchQueue(label: "delegate")
    let (first, second) = (Journal<String>(), Journal<String>())
    let listeners = [Listener(first), Listener(second)]
    let operation = ManualOperation()
    operation.setDelegate(listeners[0], on: queue)
    operation.start()
    queue.sync {}
    operation.setDelegate(listeners[1], on: queue)
    operation.report(completed: 1)
    queue.sync {}
    operation.setDelegate(nil)
    operation.finish()
    for _ in 0..<3 { queue.sync {} }
    #expect(first.entries == ["ready to executing"])
    #expect(second.entries == ["1 of 0"])
    withExtendedLifetime(listeners) {}
  }

  @Test func theDelegateIsNotKept() {
    weak var gone: Listener?
    let operation = ManualOperation()
    do {
      let listener = Listener(Journal())
      gone = listener
      operation.setDelegate(listener)
    }
    #expect(gone == nil)
    operation.start()
    operation.finish()
  }

  @Test func aDelegateKeepsNoOperation() {
    weak var gone: ManualOperation?
    let listener = Listener(Journal())
    do {
      let operation = ManualOperation()
      gone = operation
      operation.setDelegate(listener)
    }
    #expect(gone == nil)
    withExtendedLifetime(listener) {}
  }
}
