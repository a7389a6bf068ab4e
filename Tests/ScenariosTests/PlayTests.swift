import DemoServer
import Foundation
import JobEngine
import JobFiles
import JobModel
import Support
import Testing

@testable import Scenarios

/// A scenario executed by the real engine over real HTTP.
private struct Play {
  let folder: TemporaryFolder
  let run: Run

  init(_ scenario: Scenario) async throws {
    folder = try TemporaryFolder()
    let server = try scenario.needsServer ? DemoServer() : nil
    defer { server?.stop() }
    let graph: JobGraph
    switch scenario.source {
    case .graph(let make): graph = make()
    case .operations: throw CocoaError(.featureUnsupported)
    case .jobFile(let text):
      graph = try JobFile.decode(
        Array(text.utf8), file: "\(scenario.name).yml", directory: folder.url.path(),
        vars: server.map { ["base": $0.address] } ?? [:])
    }
    let queue = try JobQueue(graph, options: JobQueueOptions(seed: 1))
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let subscription = queue.subscribe(on: DispatchQueue(label: "opdash.tests.play")) { events in
      if queue.run.isComplete { queue.send(.finish(signal: nil)) }
      for event in events {
        if case .runFinished = event.fact { end.finish() }
        if case .warningRaised(let warning) = event.fact { Issue.record("\(warning.evidence)") }
      }
    }
    queue.start()
    for await _ in ends {}
    subscription.cancel()
    run = queue.run
  }

  func record(_ name: String) throws -> JobRecord { run[try #require(run.id(named: name), "no job \(name)")] }
}

struct PlayTests {
  @Test func collectBringsEveryPictureThrough() async throws {
    let play = try await Play(.collect)
    #expect(play.run.summary?.exit == 0)
    #expect(play.run.counts.succeeded == play.run.jobs.count)
    // The broken line: the second attempt asked for the rest.
    let ember = try play.record("receive-ember")
    #expect(ember.attempts.count == 2)
    #expect(ember.progress?.done == 12_000_000)
    let catalogue = try String(contentsOf: play.folder.file("catalogue.json"), encoding: .utf8)
    #expect(catalogue.components(separatedBy: "\"enriched\"").count == 6)
    #expect(Scenario.collect.closing(play.run).first?.hasPrefix("collect: 5 pictures created") == true)
  }

  @Test func diamondSkipsTheDependentsOfLint() async throws {
    let play = try await Play(.diamond)
    #expect(play.run.summary?.exit == 1)
    let lint = try #require(play.run.id(named: "lint"))
    #expect(play.run[lint].state == .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    for name in ["package", "publish"] { #expect(try play.record(name).state == .skipped(because: .job(lint))) }
    for name in ["link", "test-unit", "test-screen", "tell-the-author", "clean-up"] {
      #expect(try play.record(name).state == .succeeded(upToDate: false))
    }
    #expect(
      Scenario.diamond.closing(play.run).contains("  lint failed (exit 1), which skipped package and publish."))
  }

  @Test func flakyNetworkGetsEveryByteAcross() async throws {
    let play = try await Play(.flakyNetwork)
    #expect(play.run.summary?.exit == 0)
    #expect(play.run.counts.allowed == 1)
    #expect(play.run.counts.succeeded == play.run.jobs.count - 1)
    let attempts = [
      "busy": 3, "broken-line": 3, "reset": 2, "silence": 3, "slow-start": 1, "no-ranges": 2,
      "missing": 1,
      "send": 3, "fetch-back": 1, "compare": 1,
    ]
    for (name, count) in attempts { #expect(try play.record(name).attempts.count == count, "\(name)") }
    // Its time limit may strike again where the machine is busy.
    #expect(try play.record("hanging").attempts.count >= 2)
    let copy = try Data(contentsOf: play.folder.file("copy.bin"))
    #expect(Array(copy) == DemoContent(size: 9_000_000, seed: 12).bytes)
  }

  @Test func stressComesToItsEnd() async throws {
    let play = try await Play(.stress)
    #expect(play.run.counts.succeeded == 10_000)
  }
}
