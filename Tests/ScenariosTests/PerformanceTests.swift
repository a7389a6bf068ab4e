import DemoServer
import Foundation
import JobModel
import OperationDashboard
import Support
import Testing

@testable import Scenarios

/// The scenarios with real operations, executed to their end.
@Suite(.serialized) struct PerformanceTests {
  private func play(_ scenario: Scenario) throws -> (run: Run, closing: [String]) {
    guard case .operations(let perform) = scenario.source else { throw CocoaError(.featureUnsupported) }
    let server = try scenario.needsServer ? DemoServer() : nil
    defer { server?.stop() }
    let folder = try TemporaryFolder()
    let performance = try perform(server?.address ?? "", folder.url)
    let raised = Lock<[RunWarning]>([])
    let subscription = performance.feed.subscribe(on: DispatchQueue(label: "opdash.tests.warnings")) { events in
      for case .warningRaised(let warning) in events.map(\.fact) { raised.withLock { $0.append(warning) } }
    }
    performance.start()
    #expect(eventually { performance.feed.run.isComplete })
    withExtendedLifetime(subscription) {
      // What is freed elsewhere in the process is about no job of the queue.
      if scenario.name != "stuck" { #expect(raised.withLock { $0.filter { !$0.jobs.isEmpty } } == []) }
    }
    let run = performance.feed.run
    return (run, scenario.closing(run, of: performance))
  }

  @Test func earlyFinishShowsWhoFinishedTooEarly() throws {
    let (run, closing) = try play(.earlyFinish)
    #expect(run.counts.succeeded == 4)
    #expect(closing[1].contains("too early") && closing[1].hasSuffix("found nothing."))
    #expect(!closing[2].contains("too early") && closing[2].hasSuffix("found what it came for."))
    #expect(run.jobs.map(\.job.work.kind) == ["foreign", "operation", "operation", "operation"])
  }

  @Test func cancelBeforeStartEmptiesTheQueue() throws {
    let (run, closing) = try play(.cancelBeforeStart)
    #expect(run.counts.cancelled == 2 && run.counts.succeeded == 3)
    #expect(run.jobs.allSatisfy { $0.state.isOK || $0.attempts.isEmpty })
    #expect(closing.count { $0.contains("It never executed, finished after") } == 2)
    #expect(!closing.contains { $0.contains("after never") })
    #expect(closing.last == "  2 cancelled, 3 done: the queue is empty.")
  }

  @Test func oneOrThreeMeasuresBothWidths() throws {
    let (run, closing) = try play(.oneOrThree)
    #expect(run.counts.succeeded == 7)
    #expect(closing[1].contains("= 1: 3.6 MB in") && closing[1].contains("never more than 1 at once"))
    #expect(closing[2].contains("= 3: 3.6 MB in") && closing[2].contains("never more than 3 at once"))
  }

  @Test func prioritiesShowsTheOrderOfTheLevels() throws {
    let (run, closing) = try play(.priorities)
    #expect(run.counts.succeeded == 7)
    #expect(
      closing[2]
        == "  Went:  very-high (very-high), high (high), low-at-first (high), normal (normal), low (low), very-low (very-low)."
    )
    #expect(closing[3].contains("every time;"))
  }

  @Test func stuckFindsEachKindOfMistake() throws {
    let (run, closing) = try play(.stuck)
    #expect(run.counts.failed == 0)
    let kinds = RunWarning.Kind.allCases
    #expect(closing.first == "stuck: \(kinds.count) of \(kinds.count) kinds of mistakes were found:")
    #expect(zip(closing.dropFirst(), kinds).allSatisfy { $0.hasPrefix("  \($1.rawValue): ") }, "\(closing)")
  }

  @Test func aScenarioCancelledByAPersonSaysThatItWasLeft() throws {
    guard case .operations(let perform) = Scenario.priorities.source else { return }
    let performance = try perform("", URL(filePath: "/tmp"))
    performance.start()
    performance.feed.send(.cancel((0..<7).map { JobID($0) }, by: .person))
    #expect(eventually { performance.feed.run.isComplete && performance.feed.run.jobs.count == 7 })
    let closing = Scenario.priorities.closing(performance.feed.run, of: performance)
    #expect(closing.count == 1 && closing[0].hasPrefix("priorities was left after"))
  }
}
