import Dispatch
import Foundation
import JobCluster
import JobEngine
import JobFiles
import JobModel
import Remote
import RunStore
import Session

/// The parts of the program that tests replace.
@MainActor
struct ProgramParts {
  /// Reads a job file, `-` for standard input; `vars` replace values of it, and `warn` is called with each warning.
  var load:
    @MainActor (_ path: String, Environment, _ vars: [String: String], _ warn: (JobFileFault) -> Void) throws ->
      JobGraph = {
        try JobFile.load(
          path: $0, environment: $1.variables, currentDirectory: $1.currentDirectory, vars: $2, warn: $3)
      }
  /// Reads the settings file; nil if there is none.
  var loadSettings: @MainActor (_ path: String) throws -> SettingsFile? = {
    try SettingsFile.load(path: $0, SettingsFile.dashboards)
  }
  var makeRun: @MainActor (JobGraph, RunOptions) throws -> StartableRun = { try StartableRun($0, $1) }
  /// Prepares the recording of a run, which begins with `RunRecording.start`.
  var record: @MainActor (any JobFeed, RunOptions) -> RunRecording? = { RunRecording($0, $1) }
  var makeView: @MainActor (any JobFeed, ViewOptions, (any RunPast)?) throws -> any LiveView = { feed, options, past in
    options.dashboard(of: feed, past: past)
  }
  var openScenario: @MainActor (_ name: String, Environment) throws -> RunPlan = { try RunPlan.scenario($0, $1) }
  var readList: @MainActor (_ path: String) throws -> String = { try DownloadList.read($0) }
  /// Shows the run to other programs of this user; returns what ends that, or throws why it can't be shown.
  var serve: @MainActor (any JobFeed, Greeting, _ folders: [String]) throws -> @MainActor () -> Void = {
    feed, greeting, folders in
    let server = try RunServer.inFirst(of: folders, feed, greeting)
    return { server.finish() }
  }
  /// Reads a list of sums: a file, `-` for standard input, or a URL.
  var readSums: @MainActor (_ place: String) throws -> [UInt8] = { try DownloadSums.read($0) }
  /// The list of `opdash each`.
  var arguments = STDIN_FILENO
  /// Adds the jobs of that list to a run; the closure begins, once the run has started.
  var feed: @MainActor (any JobFeed, EachJobs, _ descriptor: Int32, RunOptions) -> (() -> Void)? = {
    feed, jobs, descriptor, options in
    guard let queue = feed as? JobQueue else { return nil }
    let dependencyQueue = ArgumentReader(
      descriptor, jobs, endsWithFailure: options.queue.onFailure != .keepGoing, add: { queue.add($0) },
      end: { queue.endArrivals() })
    dependencyQueue.watch(queue)
    return { dependencyQueue.start() }
  }
  /// Throws the resources that a graph's cluster jobs lack, before anything is started.
  var checkCluster: @MainActor (JobGraph) throws -> Void = { try ClusterCheck.check($0) }
  /// Sends signals to the session from now on.
  var watchSignals: @MainActor (RunSession) -> Void = { session in
    let signals = SignalSources(answering: session.whenResponsive) { session.receiveSignal($0) }
    if session.holdsTerminal { signals.add(SIGTSTP) { session.suspend() } }
    watched = (session, signals)
  }

  /// Retains the session and the signal sources.
  private static var watched: (RunSession, SignalSources)?
}
