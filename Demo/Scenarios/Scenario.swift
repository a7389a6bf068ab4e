import Foundation
import JobModel

/// A built-in run for demonstration.
package struct Scenario: Sendable {
  package enum Source: Sendable {
    /// YAML with paths relative to a folder of the caller; the variable `base` is the address of the server, if needed.
    case jobFile(String)
    case graph(@Sendable () -> JobGraph)
    /// Real operations in a real queue; `base` is the address of the server, if needed, `folder` the place for files.
    case operations(@Sendable (_ base: String, _ folder: URL) throws -> Performance)
  }

  package let name: String
  /// One line for the list of scenarios.
  package let summary: String
  package let source: Source
  /// Whether it needs the demo server.
  package let needsServer: Bool
  private let story: @Sendable (Run) -> [String]

  init(
    _ name: String, _ summary: String, _ source: Source, needsServer: Bool = false,
    story: @escaping @Sendable (Run) -> [String] = { _ in [] }
  ) {
    self.name = name
    self.summary = summary
    self.source = source
    self.needsServer = needsServer
    self.story = story
  }

  /// The closing lines, without line feeds, about what happened, even if the run was left early.
  package func closing(_ run: Run, of performance: Performance? = nil) -> [String] {
    let wasDisturbed = run.jobs.contains { $0.state == .cancelled(by: .person) || $0.state == .cancelled(by: .signal) }
    guard run.isComplete, !wasDisturbed, run.stopping == nil else {
      let tally = Tally(run)
      return ["\(name) was left after \(tally.lasted), with \(run.counts.succeeded) of \(run.jobs.count) jobs done."]
    }
    return performance?.closing(run) ?? story(run)
  }

  package static let all: [Scenario] = [
    .collect, .earlyFinish, .cancelBeforeStart, .oneOrThree, .priorities, .diamond, .wrongQueue, .stuck, .flakyNetwork,
    .stress,
  ]

  package static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }
}

extension Scenario {
  static let collect = Scenario(
    "collect", "content creation, receiving, uploading, enriching, over a real loopback HTTP server",
    .jobFile(text(PackageResources.collect_yml)), needsServer: true, story: Stories.collect)

  static let diamond = Scenario(
    "diamond", "fan-out, fan-in; one failure and what it skips",
    .jobFile(text(PackageResources.diamond_yml)), story: Stories.diamond)

  static let flakyNetwork = Scenario(
    "flaky-network", "resets, 503s and slow starts: retry with back-off, resume from the byte where it broke",
    .jobFile(text(PackageResources.flaky_network_yml)), needsServer: true, story: Stories.flakyNetwork)

  static let stress = Scenario(
    "stress", "10,000 jobs", .graph { StressGraph.make() }, story: Stories.stress)

  static let earlyFinish = Scenario(
    "early-finish",
    "an operation that does not manage its state finishes before it has worked; beside it, one that does",
    .operations { _, _ in try EarlyFinish.perform() })

  static let cancelBeforeStart = Scenario(
    "cancel-before-start", "cancelled while waiting: never executes, still finishes, its dependents go on",
    .operations { _, _ in try CancelBeforeStart.perform() })

  static let oneOrThree = Scenario(
    "one-or-three", "the same three downloads with maxConcurrentOperationCount 1 and 3",
    .operations { base, folder in try OneOrThree.perform(base: base, folder: folder) }, needsServer: true)

  static let priorities = Scenario(
    "priorities", "queuePriority decides who of the ready goes first",
    .operations { _, _ in try Priorities.perform() })

  static let wrongQueue = Scenario(
    "wrong-queue",
    "a completion handler that touches the screen off the UI queue is caught; with a result queue it is right",
    .operations { _, _ in try WrongQueue.perform() })

  static let stuck = Scenario(
    "stuck", "a dozen mistakes in the use of operations, each made with real code and found",
    .operations { _, _ in try Stuck.perform() })

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// Ten thousand simulated jobs without duration, so that only the scheduler and the screen take time.
enum StressGraph {
  /// Waves of `width` jobs; each job needs two of the previous wave.
  static func make(waves: Int = 100, width: Int = 100) -> JobGraph {
    var jobs: [Job] = []
    jobs.reserveCapacity(waves * width)
    for wave in 0..<waves {
      for place in 0..<width {
        let before = (wave - 1) * width
        let needs = wave == 0 ? [] : Set([place, (place + 1) % width]).sorted().map { JobNeed(JobID(before + $0)) }
        jobs.append(
          Job(
            name: "wave-\(wave + 1)-\(place + 1)", work: .simulate(SimulatedWork(seed: UInt64(jobs.count))),
            needs: needs))
      }
    }
    return JobGraph(name: "stress", jobs: jobs, slots: 8)
  }
}
