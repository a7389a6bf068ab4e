import Foundation
import Support
import Testing

@testable import Operations

/// A failure that leads to others is told once, with its distance; nothing nests for each dependency or group.
@Suite struct FailureOriginTests {
  enum Fault: Error { case disk, net }

  typealias Step = Operations.ClosureOperation

  /// An operation that fails, and others that each depend on the last and must not follow a failure.
  static func chain(_ count: Int) -> [AsyncOperation] {
    let first = Step<Void> { throw Fault.disk }
    first.name = "fetch"
    var all: [AsyncOperation] = [first]
    for number in 1...count {
      let next = Step {}
      next.name = "step \(number)"
      next.addDependency(all[number - 1])
      next.addCondition(.noFailedDependencies)
      all.append(next)
    }
    return all
  }

  static func run(_ operations: [Operation]) throws {
    let feeder = OperationFeeder(feeding: OperationQueue())
    try feeder.add(operations)
    feeder.waitUntilAllOperationsAreFinished()
  }

  private func dependencyFailure(_ operation: AsyncOperation?) -> DependencyFailure? {
    (operation?.failure as? ConditionFailure)?.reason as? DependencyFailure
  }

  @Test func aChainOfFailuresNamesTheFirstAndItsDistance() throws {
    let chain = Self.chain(3)
    try Self.run(chain)
    for (number, operation) in chain.enumerated().dropFirst() {
      let failure = dependencyFailure(operation)
      #expect(failure?.dependency == "fetch" && failure?.steps == number && failure?.cause as? Fault == .disk)
      #expect(operation.failure(as: Fault.self) == .disk)
    }
    #expect(
      chain[1].failure.map(words(of:))
        == "step 1 did not execute: no failed dependencies: fetch failed: Fault.disk")
    #expect(
      chain[3].failure.map(words(of:))
        == "step 3 did not execute: no failed dependencies: fetch, 3 steps away, failed: Fault.disk")
  }

  @Test func aFailureThatIsMadeByHandTakesItsCauseOver() {
    let first = DependencyFailure(dependency: "a", cause: Fault.net)
    let second = DependencyFailure(dependency: "b", cause: first)
    let third = DependencyFailure(
      dependency: "c", cause: ConditionFailure(operation: "c", condition: "no failed dependencies", reason: second))
    #expect(third.dependency == "a" && third.steps == 3 && third.cause as? Fault == .net)
    #expect(third.description == "a, 3 steps away, failed: Fault.net")
  }

  @Test func aFailureThatPassesThroughGroupsIsToldOnce() throws {
    var last: AsyncOperation = Self.chain(1)[0]
    var all: [Operation] = [last]
    for number in 0..<50 {
      let child = Step {}
      child.name = "child \(number)"
      child.addDependency(last)
      child.addCondition(.noFailedDependencies)
      last = GroupOperation([child])
      last.name = "group \(number)"
      all.append(last)
    }
    try Self.run(all)
    let failure = try #require(last.failure as? GroupFailure)
    #expect("\(failure)" == "fetch, 100 steps away, failed: Fault.disk")
    #expect(last.failure(as: Fault.self) == .disk)
  }

  @Test func aDependencyThatIsAGroupKeepsItsChildrensFailures() {
    let group = GroupFailure(children: [.init(name: "a", failure: Fault.net), .init(name: "b", failure: Fault.disk)])
    let failure = DependencyFailure(dependency: "group", cause: group)
    #expect(failure.dependency == "group" && (failure.cause as? GroupFailure)?.children.count == 2)
    #expect(failure.description == "group failed: a failed: Fault.net (and 1 more)")
  }

  @Test func aHundredThousandFailuresAreFreedAndSaidFlat() async {
    await #expect(processExitsWith: .success) {
      var chain = Self.chain(100_000)
      try Self.run(chain)
      let texts = chain.compactMap(\.failure).map(words(of:))
      guard texts.count == 100_001, texts.allSatisfy({ $0.utf8.count < 120 }) else { exit(2) }
      // Only the last is kept, and released on a small stack.
      let last = Lock(chain.last)
      chain = []
      let semaphore = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        last.withLock { $0 = nil }
        semaphore.signal()
      }
      semaphore.wait()
    }
  }

  @Test func failuresOfGroupsInGroupsAreFreedAndSaidFlat() async {
    await #expect(processExitsWith: .success) {
      var failure = GroupFailure(children: [.init(name: "a", failure: Fault.disk)])
      for _ in 0..<100_000 {
        failure = GroupFailure(children: [
          .init(name: "inner", failure: failure), .init(name: "b", failure: Fault.net),
        ])
      }
      let text = "inner failed: a, 100000 steps away, failed: Fault.disk (and 1 more) (and 1 more)"
      exit("\(failure)" == text ? EXIT_SUCCESS : 2)
    }
    await #expect(processExitsWith: .success) {
      let freed = Lock<GroupFailure?>(GroupFailure(children: [.init(name: "a", failure: Fault.disk)]))
      for _ in 0..<100_000 {
        freed.withLock { $0 = $0.map { GroupFailure(children: [.init(name: "inner", failure: $0)]) } }
      }
      freed.withLock { $0 = nil }
    }
  }
}
