import JobModel

/// A run that comes with the program, to be watched or learned from.
package struct Scenario: Sendable {
  package enum Source: Sendable {
    /// YAML; its paths are relative to a folder of the caller's. Where a server is needed, the variable `base` is to be
    /// set to its address.
    case jobFile(String)
    case graph(@Sendable () -> JobGraph)
  }

  package let name: String
  /// One line for the list of scenarios.
  package let summary: String
  package let source: Source
  /// Whether it talks to the demo server.
  package let needsServer: Bool
  private let story: @Sendable (Run) -> [String]

  init(
    _ name: String, _ summary: String, _ source: Source, needsServer: Bool = false,
    story: @escaping @Sendable (Run) -> [String]
  ) {
    self.name = name
    self.summary = summary
    self.source = source
    self.needsServer = needsServer
    self.story = story
  }

  /// What it showed, as lines without an end of line; told from what happened, also where that is less than planned.
  package func closing(_ run: Run) -> [String] {
    guard run.isComplete, run.counts.cancelled == 0, run.stopping == nil else {
      let tally = Tally(run)
      return ["\(name) was left after \(tally.lasted), with \(run.counts.succeeded) of \(run.jobs.count) jobs done."]
    }
    return story(run)
  }

  package static let all: [Scenario] = [.collect, .diamond, .flakyNetwork, .stress]

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

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
