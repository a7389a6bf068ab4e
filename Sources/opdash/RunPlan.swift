import DemoServer
import Foundation
import JobEngine
import JobFiles
import JobModel
import Reports
import Scenarios
import Screen
import Session

/// A run that can be started: its jobs, its name in the header, and the actions at its end.
@MainActor
struct RunPlan {
  enum Subject {
    /// Jobs for the engine.
    case graph(JobGraph)
    /// A run with its own slots and failure policy.
    case live(any JobFeed, start: @MainActor () -> Void)
  }

  var subject: Subject
  var source: String
  /// How it was started, for the record: the command, the words after the program's name, the job file.
  var command = "demo"
  var words: [String] = []
  var file: String?
  var files = FilesRead()
  /// All jobs of the file, including the ones that the command line left out.
  var all: JobGraph?
  /// The options that an earlier run sets; the start of the run sets the others.
  var queue = JobQueueOptions()
  /// The approvals given when the earlier run started.
  var approvals: Set<String> = []
  /// Whether its jobs can be read again, so that `opdash resume` can continue it.
  var isResumable = false
  /// Whether the jobs are the recorded ones of a list that was not read to its end.
  var isCut = false
  /// Adds jobs to the graph during the run.
  var arriving: EachJobs?
  /// The past of a run that is recorded already; such a run is not recorded again.
  var past: (any RunPast)?
  /// The order of the jobs' raw output; nil if the interface shows it.
  var rawOrder: RawReport.Order?
  /// The lines to print at the end.
  var closing: @MainActor (Run) -> [String] = { _ in [] }
  /// Releases the resources of the run; called once, before the program ends.
  var cleanUp: @MainActor () -> Void = {}

  /// The plan of a built-in scenario, with a folder of its own and a server if it needs one.
  static func scenario(_ name: String, _ environment: Environment) throws -> RunPlan {
    guard let scenario = Scenario.named(name) else {
      let near = NearestName.hint(for: name, in: Scenario.all.map(\.name), otherwise: "; opdash demo lists them")
      throw UsageError("there is no scenario '\(name)'\(near)")
    }
    let server = scenario.needsServer ? try DemoServer() : nil
    let folder = try ScratchFolder(name, advice: "name another with TMPDIR")
    let cleanUp: @MainActor () -> Void = {
      server?.stop()
      folder.remove()
    }
    do {
      switch scenario.source {
      case .graph(let make):
        return RunPlan(subject: .graph(make()), source: name, closing: { scenario.closing($0) }, cleanUp: cleanUp)
      case .jobFile(let text):
        let graph = try JobFile.decode(
          Array(text.utf8), file: "\(name).yml", directory: folder.path, environment: environment.variables,
          vars: server.map { ["base": $0.address] } ?? [:])
        return RunPlan(subject: .graph(graph), source: name, closing: { scenario.closing($0) }, cleanUp: cleanUp)
      case .operations(let perform):
        let performance = try perform(server?.address ?? "", folder.url)
        return RunPlan(
          subject: .live(performance.feed, start: { performance.start() }), source: name,
          closing: { scenario.closing($0, of: performance) }, cleanUp: cleanUp)
      }
    } catch {
      cleanUp()
      throw error
    }
  }

  static var scenarios: [(name: String, summary: String)] { Scenario.all.map { ($0.name, $0.summary) } }

  /// One line for each scenario.
  static var list: [String] {
    let width = scenarios.map(\.name.count).max() ?? 0
    return scenarios.map { name, summary in name.padded(to: width) + "  " + summary }
  }
}
