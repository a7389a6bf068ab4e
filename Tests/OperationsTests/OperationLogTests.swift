import Dispatch
import Foundation
import Support
import Testing

@testable import Operations

/// Finishes when the test calls `finish()`.
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

  @Test func linesLeftOutBeforeTheEndAreCountedAtTheEnd() {
    let operation = Waiting()
    let lines = Lock<[OperationLogLine]>([])
    let token = operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line) } }
    operation.start()
    queue.suspend()
    for number in 0..<AsyncOperation.logLimit + 7 { operation.log("\(number)") }
    operation.finish()
    queue.resume()
    #expect(eventually { lines.withLock { $0.count } > AsyncOperation.logLimit })
    #expect(lines.withLock { $0.last } == OperationLogLine(text: "", source: .note, lost: 7))
    withExtendedLifetime(token) {}
  }

  @Test func anObserverThatMissesNothingIsToldOfNoLoss() {
    let operation = Waiting()
    let late = DispatchQueue(label: "opdash.tests.log.late")
    let (lines, others) = (Lock<[OperationLogLine]>([]), Lock(0))
    let tokens = [
      operation.observeLog(on: late) { _, line in others.withLock { $0 += 1 + line.lost } },
      operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line) } },
    ]
    operation.start()
    late.suspend()
    for number in 0..<AsyncOperation.logLimit + 7 {
      operation.log("\(number)")
      if number % 1000 == 0 { queue.sync {} }
    }
    operation.finish()
    late.resume()
    #expect(eventually { lines.withLock { $0.count } == AsyncOperation.logLimit + 7 })
    #expect(lines.withLock { $0.allSatisfy { $0.lost == 0 } })
    #expect(eventually { others.withLock { $0 } == AsyncOperation.logLimit + 8 })
    withExtendedLifetime(tokens) {}
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

/// Lines of a process: many at once, with an answer when they have been handled.
@Suite struct OperationLogBatchTests {
  private let queue = DispatchQueue(label: "opdash.tests.log")
  private let handled = Lock(0)
  private let lines = [
    OperationLogLine(text: "first", source: .standardOutput),
    OperationLogLine(text: "second", source: .standardError, isCut: true),
  ]

  private func log(_ operation: AsyncOperation) {
    operation.log(lines) { [handled] in handled.withLock { $0 += 1 } }
  }

  @Test func linesAreDeliveredInOrderWithTheStatesAroundThem() {
    let operation = Waiting()
    let told = Lock<[String]>([])
    let tokens = [
      operation.observe(\.state, on: queue) { _, change in told.withLock { $0.append("\(change.newValue)") } },
      operation.observeLog(on: queue) { _, line in told.withLock { $0.append("\(line.source) \(line.isCut)") } },
    ]
    operation.start()
    log(operation)
    operation.finish()
    #expect(eventually { told.withLock { $0.count } == 4 })
    #expect(told.withLock { $0 } == ["executing", "standardOutput false", "standardError true", "finished"])
    withExtendedLifetime(tokens) {}
  }

  @Test func linesAreHandledAtOnceWhereNobodyObserves() {
    let operation = Waiting()
    log(operation)
    #expect(handled.withLock { $0 } == 1)
    let token = operation.observe(\.state, on: queue) { _, _ in }
    log(operation)
    #expect(handled.withLock { $0 } == 2)
    operation.start()
    operation.finish()
    log(operation)
    #expect(handled.withLock { $0 } == 3)
    withExtendedLifetime(token) {}
  }

  @Test func linesAreHandledOnceTheLastObserverHasThem() {
    let operation = Waiting()
    let other = DispatchQueue(label: "opdash.tests.log.other")
    let count = Lock(0)
    let tokens = [queue, other].map { operation.observeLog(on: $0) { _, _ in count.withLock { $0 += 1 } } }
    queue.suspend()
    log(operation)
    #expect(eventually { count.withLock { $0 } == 2 })
    other.sync {}
    #expect(handled.withLock { $0 } == 0)
    queue.resume()
    #expect(eventually { handled.withLock { $0 } == 1 })
    #expect(count.withLock { $0 } == 4)
    withExtendedLifetime(tokens) {}
  }

  @Test func aHandlerThatKeepsTheReceiptIsNotDone() {
    let operation = Waiting()
    let kept = Lock<[(any AnyObject & Sendable)?]>([])
    let token = operation.events(.lines, on: queue) { event, _, receipt in
      if case .lines(let lines) = event { for _ in lines { kept.withLock { $0.append(receipt) } } }
    }
    log(operation)
    #expect(eventually { kept.withLock { $0.count } == 2 })
    queue.sync {}
    #expect(handled.withLock { $0 } == 0)
    kept.withLock { _ = $0.removeLast() }
    #expect(handled.withLock { $0 } == 0)
    kept.withLock { $0 = [] }
    #expect(handled.withLock { $0 } == 1)
    withExtendedLifetime(token) {}
  }

  @Test func linesForACancelledTokenAreHandledWithoutACall() {
    let operation = Waiting()
    let told = Lock(0)
    let token = operation.observeLog(on: queue) { _, _ in told.withLock { $0 += 1 } }
    queue.suspend()
    log(operation)
    token.cancel()
    queue.resume()
    #expect(eventually { handled.withLock { $0 } == 1 })
    #expect(told.withLock { $0 } == 0)
  }

  @Test func linesInOneDeliveryAreNeverLeftOut() {
    let operation = Waiting()
    let told = Lock<[OperationLogLine]>([])
    let token = operation.observeLog(on: queue) { _, line in told.withLock { $0.append(line) } }
    queue.suspend()
    for _ in 0..<AsyncOperation.logLimit + 7 { operation.log("message") }
    log(operation)
    queue.resume()
    #expect(eventually { told.withLock { $0.count } == AsyncOperation.logLimit + 2 })
    // A handler may store the lines.
    #expect(eventually { handled.withLock { $0 } == 1 })
    var first = lines[0]
    first.lost = 7
    #expect(told.withLock { Array($0.suffix(2)) } == [first, lines[1]])
    withExtendedLifetime(token) {}
  }
}
