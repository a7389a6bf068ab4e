import DemoServer
import Foundation
import JobFiles
import JobModel
import Scenarios

/// Something to run: a graph, what the header calls it, and what is to be done when it is over.
@MainActor
struct Play {
  var graph: JobGraph
  var source: String
  /// What is printed at the end, told from the run.
  var closing: @MainActor (Run) -> [String] = { _ in [] }
  /// Gives back what was taken for the run; called once, before the program ends.
  var cleanUp: @MainActor () -> Void = {}

  /// A built-in scenario with all that it needs: a folder of its own and, if it talks to one, a server.
  static func scenario(_ name: String, _ environment: Environment) throws -> Play {
    guard let scenario = Scenario.named(name) else {
      let names = Scenario.all.map(\.name)
      let near = NearestName.of(name, in: names).map { ": did you mean '\($0)'?" } ?? "; opdash demo lists them"
      throw UsageError("there is no scenario '\(name)'\(near)")
    }
    let source: String
    switch scenario.source {
    case .graph(let make): return Play(graph: make(), source: name, closing: { scenario.closing($0) })
    case .jobFile(let text): source = text
    }
    let server = scenario.needsServer ? try DemoServer() : nil
    let folder = FileManager.default.temporaryDirectory.appending(path: "opdash-\(name)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let cleanUp: @MainActor () -> Void = {
      server?.stop()
      try? FileManager.default.removeItem(at: folder)
    }
    do throws(JobFileFaults) {
      let graph = try JobFile.decode(
        Array(source.utf8), file: "\(name).yml", directory: folder.path, environment: environment.variables,
        vars: server.map { ["base": $0.address] } ?? [:])
      return Play(graph: graph, source: name, closing: { scenario.closing($0) }, cleanUp: cleanUp)
    } catch {
      cleanUp()
      throw Faults(error)
    }
  }

  /// The scenarios, a line for each.
  static var list: [String] {
    let width = Scenario.all.map(\.name.count).max() ?? 0
    return Scenario.all.map { scenario in
      scenario.name + String(repeating: " ", count: width - scenario.name.count) + "  " + scenario.summary
    }
  }
}

extension Faults {
  init(_ faults: JobFileFaults) { lines = faults.faults.map(\.description) }
}
