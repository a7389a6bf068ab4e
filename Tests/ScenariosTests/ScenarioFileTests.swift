import Foundation
import JobModel
import Testing

@testable import DemoServer
@testable import Scenarios

@Suite struct ScenarioFileTests {
  static let files: [(name: String, text: String)] = Scenario.all.compactMap { scenario in
    guard case .jobFile(let text) = scenario.source else { return nil }
    return (scenario.name, text)
  }

  @Test func everyScenarioSaysWhatItShowsInOneLine() {
    #expect(
      Scenario.all.map(\.name) == [
        "collect", "early-finish", "cancel-before-start", "one-or-three", "priorities", "diamond", "wrong-queue",
        "stuck", "flaky-network", "stress",
      ])
    for scenario in Scenario.all {
      #expect(!scenario.summary.isEmpty && !scenario.summary.contains("\n"))
      #expect(Scenario.named(scenario.name)?.summary == scenario.summary)
    }
    #expect(Scenario.named("nothing") == nil)
  }

  @Test(arguments: files.map(\.name))
  func aJobFileSaysItsNameAndItsVersion(name: String) throws {
    let text = try #require(Self.files.first { $0.name == name }?.text)
    #expect(text.hasPrefix("#"))
    #expect(text.contains("\nversion: 1\n"))
    #expect(text.contains("\nname: \(name)\n"))
  }

  @Test(arguments: files.map(\.name))
  func onlyAJobFileWithAddressesNeedsTheServer(name: String) throws {
    let text = try #require(Self.files.first { $0.name == name }?.text)
    #expect(Scenario.named(name)?.needsServer == text.contains("${base}"))
  }

  @Test(arguments: files.map(\.name))
  func theServerTakesEveryAddress(name: String) throws {
    let text = try #require(Self.files.first { $0.name == name }?.text)
    for match in text.matches(of: /\$\{base\}([^"]*)"/) {
      #expect(throws: Never.self, "the server does not take \(match.output.1)") {
        try Request(String(match.output.1))
      }
    }
  }

  @Test(arguments: files.map(\.name))
  func everySumIsThatOfTheServersBytes(name: String) throws {
    let text = try #require(Self.files.first { $0.name == name }?.text)
    var size = 0
    var seed: UInt64 = 0
    var sums = 0
    for line in text.split(separator: "\n") {
      if let match = line.firstMatch(of: /size=(\d+)&seed=(\d+)/) {
        size = try #require(Int(match.output.1))
        seed = try #require(UInt64(match.output.2))
      } else if let match = line.firstMatch(of: /sha256: "(.*)"/) {
        #expect(DemoContent(size: size, seed: seed).sha256 == String(match.output.1))
        sums += 1
      }
    }
    #expect(sums == ["collect": 1, "diamond": 0, "flaky-network": 7][name])
  }

  @Test func theStressGraphHasTenThousandJobsAndNoCycle() {
    guard case .graph(let make) = Scenario.stress.source else {
      Issue.record("stress is a job file now")
      return
    }
    let graph = make()
    #expect(graph.jobs.count == 10_000)
    #expect(Set(graph.jobs.map(\.name)).count == 10_000)
    #expect(!graph.hasCycle)
    #expect(graph.jobs.reduce(0) { $0 + $1.needs.count } == 19_800)
    #expect(graph.jobs.allSatisfy { $0.work.kind == "simulate" })
  }
}
