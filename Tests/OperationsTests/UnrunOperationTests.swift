import Foundation
import Support
import Testing

@testable import Operations

/// Nothing that observes an operation keeps it once the program has dropped it and its tokens.
@Suite struct UnrunOperationTests {
  final class Answer: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
  }

  let queue = DispatchQueue(label: "unrun")

  /// True if an operation that is never run is freed after `observe`, whose answer is dropped with it.
  func isFreed(_ observe: (Answer) -> Any?) -> Bool {
    weak var freed: Answer?
    do {
      let operation = Answer()
      freed = operation
      let kept = observe(operation)
      withExtendedLifetime(kept) {}
    }
    for _ in 0..<3 { queue.sync {} }
    return freed == nil
  }

  @Test func observersThatCaptureTheOperationDoNotKeepIt() {
    #expect(isFreed { operation in operation.observe(\.state, on: queue) { _, _ in _ = operation.name } })
    #expect(
      isFreed { operation in
        operation.observe(\.status, on: queue, options: .initial) { _, _ in _ = operation.name }
      })
    #expect(isFreed { operation in operation.events(on: queue) { _, _, _ in _ = operation.name } })
    #expect(isFreed { operation in operation.observeLog(on: queue) { _, _ in _ = operation.name } })
    #expect(isFreed { operation in operation.changes(\.state, options: .initial) })
  }

  @Test func aCancelledTokenFreesItsHandlerWhileTheOperationLives() {
    final class Capture: Sendable {}
    weak var freed: Capture?
    let operation = Answer()
    let token: ObservationToken
    do {
      let capture = Capture()
      freed = capture
      token = operation.events(on: queue) { _, _, _ in withExtendedLifetime(capture) {} }
    }
    #expect(freed != nil)
    token.cancel()
    #expect(freed == nil)
  }

  @Test func aHandlerOfTheResultGetsTheOperationAndDoesNotKeepIt() {
    #expect(
      isFreed { operation in
        operation.result(on: queue) { operation, _ in _ = operation.name }
        return nil
      })
    let operation = Answer()
    operation.name = "sum"
    let journal = Journal<String>()
    operation.result(on: queue) { operation, result in
      journal.add("\(operation.name ?? "") \((try? result.get()) ?? 0) \(operation.isFinished)")
    }
    operation.start()
    operation.finish(.success(4))
    queue.sync {}
    #expect(journal.entries == ["sum 4 true"])
  }

  @Test func handlersOfOneResultAreCalledInTheirOrder() {
    let operation = Answer()
    let journal = Journal<Int>()
    for number in 0..<20_000 { operation.whenDone { _ in journal.add(number) } }
    operation.start()
    operation.finish(.success(1))
    #expect(journal.entries == Array(0..<20_000))
  }

  @Test func valuesThatAreReceivedDoNotKeepTheirOperations() {
    #expect(isFreed { operation in operation.then { $0 + 1 } })
    #expect(isFreed { operation in [operation, operation].collected().map(\.count) })
    #expect(isFreed { operation in operation.flatMap { value in Operations.ClosureOperation { value } } })
    #expect(isFreed { operation in ResultGroup([operation]) })
  }

  // MARK: Descriptions

  @Test func anOperationIsPrintedWithItsNameClassAndState() {
    let operation = ManualOperation("fetch")
    let first = ManualOperation()
    operation.addDependency(first)
    #expect("\(operation)" == "fetch (ManualOperation, pending)")
    #expect("\(first)" == "ManualOperation (ready)")
    first.start()
    #expect(String(describing: first as Operation) == "ManualOperation (executing)")
    #expect(String(reflecting: first) == "ManualOperation (executing)")
    first.finish()
    #expect(first.description == "ManualOperation (finished)")
    operation.cancel()
    #expect("\(operation)" == "fetch (ManualOperation, ready, cancelled)")
    #expect("\(Operations.ClosureOperation { 1 })" == "ClosureOperation<Int> (ready)")
  }
}
