import Dispatch
import Foundation
import Support
import Testing

@testable import Operations

/// Ends when it is told to.
private final class Waiting: AsyncOperation, @unchecked Sendable {
  override func main() {}
}

@Suite struct OperationLogTests {
  private let queue = DispatchQueue(label: "opdash.tests.log")

  @Test func linesComeInOrderWithTheStatesAroundThem() async {
    let operation = Waiting()
    let told = Lock<[String]>([])
    let state = operation.observe(\.state, on: queue) { _, change in told.withLock { $0.append("\(change.newValue)") } }
    let lines = operation.observeLog(on: queue) { _, line in told.withLock { $0.append(line.text) } }
    operation.log("before")
    operation.start()
    operation.log("first")
    operation.log("second")
    operation.finish()
    operation.log("after the finish nobody listens")
    let all = ["before", "executing", "first", "second", "finished"]
    _ = eventually { told.withLock { $0.count } == all.count }
    #expect(told.withLock { $0 } == all)
    withExtendedLifetime((state, lines)) {}
  }

  @Test func aLineIsNoChangeOfAnythingElse() async {
    let operation = Waiting()
    let told = Lock(0)
    let tokens = [
      operation.observe(\.state, on: queue) { _, _ in told.withLock { $0 += 1 } },
      operation.observe(\.progress, on: queue) { _, _ in told.withLock { $0 += 1 } },
    ]
    operation.log("a line")
    queue.sync {}
    #expect(told.withLock { $0 } == 0)
    withExtendedLifetime(tokens) {}
  }

  @Test func whatAnObserverFarBehindMissesIsCounted() {
    let operation = Waiting()
    let lines = Lock<[OperationLogLine]>([])
    let token = operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line) } }
    queue.suspend()
    for number in 0..<AsyncOperation.logLimit + 7 { operation.log("\(number)") }
    queue.resume()
    _ = eventually { lines.withLock { $0.count } == AsyncOperation.logLimit }
    operation.log("at last")
    _ = eventually { lines.withLock { $0.count } > AsyncOperation.logLimit }
    let told = lines.withLock { $0 }
    #expect(told.count == AsyncOperation.logLimit + 1)
    #expect(told.last == OperationLogLine(text: "at last", lost: 7))
    #expect(told.dropLast().allSatisfy { $0.lost == 0 })
    withExtendedLifetime(token) {}
  }

  @Test func aCancelledTokenIsToldOfNoLine() {
    let operation = Waiting()
    let told = Lock(0)
    let token = operation.observeLog(on: queue) { _, _ in told.withLock { $0 += 1 } }
    operation.log("heard")
    queue.sync {}
    token.cancel()
    operation.log("not heard")
    queue.sync {}
    #expect(told.withLock { $0 } == 1)
  }
}
