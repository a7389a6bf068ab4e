import Foundation
import JobEngine
import JobFiles
import JobModel
import Support
import Testing

/// The release of `Demo/jobs`, by the engine itself, with a person who agrees or not.
struct ReleaseDemoTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Demo/jobs/release")
    for name in ["VERSION", "files", "opdash.yml", "publish", "sign"] {
      try FileManager.default.copyItem(at: source.appending(path: name), to: folder.file(name))
    }
  }

  /// Runs the stable release to its end; `answer` is what is said once it asks.
  private func play(_ answer: JobCommand) async throws -> Run {
    let graph = try JobFile.load(
      path: folder.file("opdash.yml").path, environment: ["RELEASE_TOKEN": "t0p-s3cret"],
      currentDirectory: folder.url.path, vars: ["channel": "stable"])
    let publish = try #require(graph.id(named: "publish"))
    let queue = try JobQueue(graph, options: JobQueueOptions(slots: 4, seed: 1))
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let subscription = queue.subscribe(on: DispatchQueue(label: "opdash.tests.release")) { events in
      for event in events {
        if case .jobState(publish, .ready(for: .person), _, _) = event.fact { queue.send(answer) }
        if case .runFinished = event.fact { end.finish() }
      }
      if queue.run.isComplete { queue.send(.finish(signal: nil)) }
    }
    queue.start()
    for await _ in ends {}
    subscription.cancel()
    return queue.run
  }

  private func id(_ name: String) throws -> JobID {
    let text = try String(contentsOf: folder.file("opdash.yml"), encoding: .utf8)
    let graph = try JobFile.decode(Array(text.utf8), file: "opdash.yml", directory: "/")
    return try #require(graph.id(named: name))
  }

  @Test func whatAPersonApprovesIsPublishedWithTheTag() async throws {
    let run = try await play(.approve([id("publish")]))
    let publish = run[try id("publish")]
    #expect(publish.state == .succeeded(upToDate: false))
    #expect(run[try id("version")].outputs == ["tag": "4.2"])
    let packages = ["linux-arm", "linux-x64", "mac-arm", "mac-x64"].map { "app-4.2-\($0).tar" }
    let files: [String] = packages.flatMap { [$0, "\($0).sum"] }
    #expect(folder.names(in: "published") == files + ["news.txt"])
    #expect(try String(contentsOf: folder.file("published/news.txt"), encoding: .utf8) == "4.2 is out\n")
    #expect(run[try id("page")].state == .skipped(because: .outcome))
    #expect(!folder.names().contains("work") && run.summary?.exit == 0)
  }

  @Test func whatAPersonRefusesIsNotPublishedAndTheRestIsCleanedUp() async throws {
    let run = try await play(.cancel([id("publish")], by: .person))
    #expect(run[try id("publish")].state == .cancelled(by: .person))
    #expect(run[try id("announce")].state == .skipped(because: .job(try id("publish"))))
    #expect(run[try id("clean")].state == .succeeded(upToDate: false))
    #expect(folder.names(in: "published").isEmpty && !folder.names().contains("work"))
  }
}
