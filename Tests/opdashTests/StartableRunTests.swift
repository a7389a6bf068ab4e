import JobModel
import RunStore
import Support
import Testing

@testable import opdash

/// The run of a graph in the engine, and its recording.
@Suite @MainActor struct StartableRunTests {
  private let graph = JobGraph(name: "g", jobs: [Job(name: "a", work: .simulate(SimulatedWork()))])

  private func options(_ stateFolder: String) -> RunOptions {
    var options = RunOptions(
      origin: RunOrigin(
        command: "run", words: ["run"], file: "/w/a.yml", directory: "/w", slots: 1, onFailure: "keep-going"),
      stateFolder: stateFolder, retention: Retention(), jobs: graph.jobs, queue: .init())
    options.queue.stateFolder = stateFolder
    return options
  }

  private func execute(_ run: StartableRun) -> Bool {
    run.start()
    guard eventually({ run.feed.snapshot.isComplete }) else { return false }
    run.feed.send(.finish(signal: nil))
    return eventually { run.feed.snapshot.summary != nil }
  }

  @Test func aRunIsInTheStoreWhenItsRecordingHasFinished() throws {
    let folder = try TemporaryFolder()
    let options = options(folder.file("state").path())
    let run = try StartableRun(graph, options)
    #expect(run.unrecorded == nil)
    let recording = RunRecording(run.feed, options)
    recording.start()
    #expect(execute(run))
    #expect(recording.finish() == nil)
    let store = try RunStore(folder: options.stateFolder)
    let entry = try store.run(named: "last")
    #expect(entry.summary?.succeeded == 1)
    #expect(store.recordedEnds(ofFile: "/w/a.yml", jobs: 1)["a"]?.map(\.outcome) == [.succeeded])
    let attempts = EarlierAttempts.known(ofFile: "/w/a.yml", stateFolder: options.stateFolder)
    #expect(attempts?.withUsualTimes(graph).jobs[0].usual != nil)
    #expect(EarlierAttempts.known(ofFile: nil, stateFolder: options.stateFolder) == nil)
  }

  @Test func aRunWithoutAFolderExecutesAndSaysWhyItIsNotRecorded() throws {
    let run = try StartableRun(graph, options("/dev/null/state"))
    #expect(run.unrecorded?.contains("/dev/null/state") == true)
    #expect(execute(run))
  }
}
