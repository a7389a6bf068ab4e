import Foundation
import Support
import Testing

@testable import Operations

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What errors say, and how they are found within others.
@Suite struct OperationErrorWordsTests {
  enum Plain: Error, Equatable {
    case missing
    case status(Int)
  }
  struct Fault: Error { var code: Int }
  struct Localized: LocalizedError { var errorDescription: String? { "the disk is full" } }
  struct Silent: LocalizedError {}
  struct Described: Error, CustomStringConvertible { var description: String { "no route" } }
  struct Coded: CustomNSError, CustomStringConvertible {
    static var errorDomain: String { "Coded" }
    var errorCode: Int { 4 }
    var description: String { "code 4 of ours" }
  }

  @Test func anErrorIsSaidInTheWordsThatItHas() {
    let unworded = NSError(domain: "disk", code: 3)
    let worded = NSError(domain: "disk", code: 3, userInfo: [NSLocalizedDescriptionKey: "The disk is full."])
    let cases: [(any Error, String)] = [
      (Plain.missing, "Plain.missing"), (Plain.status(404), "Plain.status(404)"), (Fault(code: 2), "Fault(code: 2)"),
      (Localized(), "the disk is full"), (Silent(), "Silent()"), (Described(), "no route"),
      (Coded(), "code 4 of ours"), (unworded, "disk error 3"), (worded, "The disk is full."),
      (URLError(.timedOut), "the request timed out"),
      (URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: "bad URL"]), "bad URL"),
      (CancellationError(), "it was cancelled"),
    ]
    for (error, text) in cases { #expect(words(of: error) == text) }
  }

  @Test func aFilesErrorNamesTheFile() {
    let error = #expect(throws: CocoaError.self) { try String(contentsOfFile: "/nowhere", encoding: .utf8) }
    #expect(error.map(words(of:))?.contains("nowhere") == true)
    #expect(error.map(words(of:))?.contains("Error Domain") == false)
  }

  @Test func ourErrorsSayTheWordsOfTheErrorsInsideThem() {
    let child = GroupFailure.Child(name: "fetch", failure: Localized())
    let failures: [any Error & CustomStringConvertible] = [
      GroupFailure(children: [child, child]), DependencyFailure(dependency: "fetch", cause: Localized()),
      ConditionFailure(operation: "print", condition: "paper", reason: Localized()),
    ]
    for failure in failures {
      #expect(failure.description.contains("the disk is full"))
      #expect(failure.localizedDescription == failure.description)
    }
    #expect(TimedOut(operation: "fetch", limit: .seconds(2)).localizedDescription.hasPrefix("fetch was cancelled"))
    #expect(MissingResult(operation: "sum").localizedDescription.hasPrefix("sum finished without a result"))
    #expect(DependencyCycle(path: ["a", "b", "a"]).localizedDescription.hasSuffix("a -> b -> a"))
    #expect(GroupAddError.groupHasFinished.localizedDescription.hasPrefix("the group has finished"))
    #expect(ConditionFailure.Reason.noneHolds.localizedDescription == "none of them holds")
  }

  @Test func aGroupNamesItsFirstFailureAndCountsTheOthers() {
    let (first, second) = (
      GroupFailure.Child(name: "fetch", failure: Described()), GroupFailure.Child(name: "print", failure: Localized())
    )
    #expect(GroupFailure(children: [first]).description == "fetch failed: no route")
    #expect(GroupFailure(children: [second, first]).description == "print failed: the disk is full (and 1 more)")
    #expect(GroupFailure(children: [first, first, second]).description == "fetch failed: no route (and 2 more)")
    #expect(GroupFailure(children: []).description == "no child failed")
  }

  @Test func aFailureOfATypeIsFoundThroughTheErrorsAroundIt() {
    let operation = ManualOperation()
    operation.start()
    #expect(operation.failure(as: Plain.self) == nil)
    operation.finish(
      with: GroupFailure(children: [
        .init(name: "first", failure: Fault(code: 1)),
        .init(
          name: "second",
          failure: ConditionFailure(
            operation: "second", condition: "no failed dependencies",
            reason: DependencyFailure(dependency: "fetch", cause: Plain.missing))),
        .init(name: "third", failure: Plain.status(500)),
      ]))
    #expect(operation.failure(as: Plain.self) == .missing)
    #expect(operation.failure(as: Fault.self)?.code == 1)
    #expect(operation.failure(as: ConditionFailure.self)?.condition == "no failed dependencies")
    #expect(operation.failure(as: GroupFailure.self)?.children.count == 3)
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
