import Dispatch
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import OperationDashboard

/// Threads of this process, at known places; where a sanitizer or the system forbids to look, there is none.
@Suite(.enabled(if: (try? OperationStack.read(of: Operation())) != nil)) struct OperationStackTests {
  @Test func aForeignOperationStandsWhereItsThreadDoes() throws {
    let (queue, blocked) = (OperationQueue(), Blocked())
    queue.addOperation(blocked)
    blocked.begun.wait()
    defer { blocked.gate.signal() }
    let threads = try OperationStack.read(of: blocked)
    #expect(threads.count == 1)
    let calls = try #require(threads.first?.calls)
    let own = calls.firstIndex { $0.function.contains("waitAtTheGate") }
    #expect(own.map { $0 > 0 } == true, "\(calls)")
    #expect(calls.last?.function.hasPrefix("Foundation.Operation.start") == true, "\(calls)")
  }

  @Test func theOneWaitedForIsNotTheOneThatWaits() throws {
    let (queue, blocked) = (OperationQueue(), Blocked())
    let waiter = Waiter(for: blocked)
    queue.addOperations([blocked, waiter], waitUntilFinished: false)
    blocked.begun.wait()
    waiter.begun.wait()
    defer { blocked.gate.signal() }
    #expect(try OperationStack.read(of: blocked).count == 1)
    let calls = try #require(OperationStack.read(of: waiter).first?.calls)
    #expect(calls.contains { $0.function.contains("waitForOther") } && !calls.contains { $0.function.contains("Gate") })
  }

  @Test func oneOfOursWhoseMainHasReturnedHasNone() throws {
    let (queue, operation) = (OperationQueue(), Manual("m"))
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting && (try? OperationStack.read(of: operation).isEmpty) == true })
    operation.finish()
  }

  @Test func aKeyWritesItToTheLog() throws {
    let watch = Watch()
    let blocked = Blocked()
    blocked.name = "blocked"
    try watch.feed.add([blocked, Manual("m")])
    watch.feed.start()
    blocked.begun.wait()
    defer { blocked.gate.signal() }
    #expect(watch.eventually { _ in watch.state("blocked") == .executing && watch.state("m") == .executing })
    watch.feed.send(.showStack([JobID(0), JobID(1)]))
    func lines(_ name: String) -> [String] {
      watch.record(name).map { record in (0..<record.log.count).map { record.log[$0].line.text } } ?? []
    }
    #expect(watch.eventually { _ in lines("blocked").contains { $0.contains("waitAtTheGate") } }, "\(lines("blocked"))")
    #expect(
      watch.eventually { _ in
        lines("m") == ["no thread stands in it: its start() has returned, and it waits for an event"]
      })
  }
}

private final class Blocked: Operation, @unchecked Sendable {
  // Safe: semaphores are for several threads.
  let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

  override func main() { waitAtTheGate() }

  @inline(never) private func waitAtTheGate() {
    begun.signal()
    gate.wait()
    gate.signal()
  }
}

private final class Waiter: Operation, @unchecked Sendable {
  // Safe: constants.
  let begun = DispatchSemaphore(value: 0)
  private let other: Operation

  init(for other: Operation) { self.other = other }

  override func main() { waitForOther() }

  @inline(never) private func waitForOther() {
    begun.signal()
    other.waitUntilFinished()
  }
}
