import Foundation
import Support
import Testing

@testable import Operations

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What errors of the library say, and how the first failure is found behind others.
///
/// A failure that leads to others is named once, with its distance; nothing nests for each dependency or group.
@Suite struct OperationErrorTests {
  enum Fault: Error { case disk, net }
  enum Plain: Error, Equatable {
    case missing
    case status(Int)
  }
  struct Coded: Error { var code: Int }
  struct Localized: LocalizedError { var errorDescription: String? { "the disk is full" } }
  struct Described: Error, CustomStringConvertible { var description: String { "no route" } }

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
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    try dependencyQueue.add(operations)
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  static func child(_ name: String, _ failure: any Error) -> (name: String, failure: any Error) { (name, failure) }

  private func dependencyFailure(_ operation: AsyncOperation?) -> OperationError? {
    (operation?.failure as? OperationError)?.underlying.first as? OperationError
  }

  @Test func aChainOfFailuresNamesTheFirstAndItsDistance() throws {
    let chain = Self.chain(3)
    try Self.run(chain)
    for (number, operation) in chain.enumerated().dropFirst() {
      let failure = dependencyFailure(operation)
      #expect(failure?.operation == "fetch" && failure?.steps == number && failure?.rootCause as? Fault == .disk)
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
    let first = OperationError(dependency: "a", cause: Fault.net)
    let second = OperationError(dependency: "b", cause: first)
    let failed = OperationError(
      .conditionFailed, of: "c", condition: "no failed dependencies", underlying: [second])
    let third = OperationError(dependency: "c", cause: failed)
    #expect(third.operation == "a" && third.steps == 3 && third.rootCause as? Fault == .net)
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
    let failure = try #require(last.failure as? OperationError)
    #expect("\(failure)" == "fetch, 100 steps away, failed: Fault.disk")
    #expect(last.failure(as: Fault.self) == .disk)
  }

  @Test func aDependencyThatIsAGroupKeepsItsChildrensFailures() throws {
    let group = try #require(OperationError(children: [("a", Fault.net), ("b", Fault.disk)]))
    let failure = OperationError(dependency: "group", cause: group)
    #expect(failure.operation == "group" && (failure.rootCause as? OperationError)?.names.count == 2)
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
      var failure = try #require(OperationError(children: [("a", Fault.disk)]))
      for _ in 0..<100_000 {
        failure = try #require(OperationError(children: [("inner", failure), ("b", Fault.net)]))
      }
      let text = "inner failed: a, 100000 steps away, failed: Fault.disk (and 1 more) (and 1 more)"
      exit("\(failure)" == text ? EXIT_SUCCESS : 2)
    }
    await #expect(processExitsWith: .success) {
      let freed = Lock(OperationError(children: [("a", Fault.disk)]))
      for _ in 0..<100_000 {
        freed.withLock { $0 = $0.flatMap { OperationError(children: [("inner", $0)]) } }
      }
      freed.withLock { $0 = nil }
    }
  }

  // MARK: Text

  private func description(_ count: Int) -> String {
    OperationError(.dependencyCycle, of: "1", names: (1...count).map { "\($0)" }).description
  }

  @Test func theMiddleOfAPathOfMoreThanTwelveIsLeftOut() {
    let start = "the dependency would close a cycle in which nothing can start: "
    #expect(description(12) == start + (1...12).map { "\($0)" }.joined(separator: " -> "))
    #expect(description(13) == start + "1 -> 2 -> 3 -> 4 -> … 6 more … -> 11 -> 12 -> 13")
    #expect(description(100) == start + "1 -> 2 -> 3 -> 4 -> … 93 more … -> 98 -> 99 -> 100")
  }

  @Test func ourErrorsSayTheWordsOfTheErrorsInsideThem() throws {
    let child = Self.child("fetch", Localized())
    let failures = [
      try #require(OperationError(children: [child, child])),
      OperationError(dependency: "fetch", cause: Localized()),
      OperationError(.conditionFailed, of: "print", condition: "paper", underlying: [Localized()]),
    ]
    for failure in failures {
      #expect(failure.description.contains("the disk is full"))
      #expect(failure.localizedDescription == failure.description)
    }
    func text(_ code: OperationError.Code) -> String {
      OperationError(code, of: "fetch", limit: .seconds(2), names: ["a", "b", "a"]).localizedDescription
    }
    #expect(text(.timedOut).hasPrefix("fetch was cancelled"))
    #expect(text(.missingResult).hasPrefix("fetch finished without a result"))
    #expect(text(.dependencyCycle).hasSuffix("a -> b -> a"))
    #expect(text(.groupHasFinished).hasPrefix("the group has finished"))
    #expect(text(.noneHolds) == "none of them holds")
  }

  @Test func aGroupNamesItsFirstFailureAndCountsTheOthers() {
    let (first, second) = (Self.child("fetch", Described()), Self.child("print", Localized()))
    #expect(OperationError(children: [first])?.description == "fetch failed: no route")
    #expect(OperationError(children: [second, first])?.description == "print failed: the disk is full (and 1 more)")
    #expect(OperationError(children: [first, first, second])?.description == "fetch failed: no route (and 2 more)")
    #expect(OperationError(children: []) == nil)
  }

  @Test func aFailureOfATypeIsFoundThroughTheErrorsAroundIt() throws {
    let operation = ManualOperation()
    operation.start()
    #expect(operation.failure(as: Plain.self) == nil)
    let second = OperationError(
      .conditionFailed, of: "second", condition: "no failed dependencies",
      underlying: [OperationError(dependency: "fetch", cause: Plain.missing)])
    let children = [("first", Coded(code: 1)), ("second", second), ("third", Plain.status(500))].map(Self.child)
    operation.finish(with: try #require(OperationError(children: children)))
    #expect(operation.failure(as: Plain.self) == .missing)
    #expect(operation.failure(as: Coded.self)?.code == 1)
    #expect(operation.failure(.conditionFailed)?.condition == "no failed dependencies")
    #expect(operation.failure(as: OperationError.self)?.names.count == 3)
    #expect(operation.failure(as: URLError.self) == nil)
  }

  @Test func aConditionsFailureIsFoundInTheOperationThatItStopped() {
    let first = ManualOperation("first")
    let second = ManualOperation("second")
    second.addDependency(first)
    second.addCondition(.noFailedDependencies)
    let queue = OperationQueue()
    queue.addOperations([first, second], waitUntilFinished: false)
    #expect(eventually { first.isExecuting })
    first.finish(with: Plain.status(503))
    #expect(eventually { second.isFinished })
    #expect(second.failure(as: Plain.self) == .status(503))
    #expect(
      second.failure.map(words(of:))
        == "second did not execute: no failed dependencies: first failed: Plain.status(503)")
  }
}
