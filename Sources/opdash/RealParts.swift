import Foundation
import JobEngine
import JobFiles
import JobModel
import Session

extension Program.Parts {
  /// The parts that opdash is built from.
  static let real = Program.Parts(
    load: { path, environment in
      do throws(JobFileFaults) {
        return .success(
          try JobFile.load(
            path: path, environment: environment.variables, currentDirectory: environment.currentDirectory))
      } catch {
        return .failure(Faults(error))
      }
    },
    loadSettings: { path in
      do throws(JobFileFaults) {
        return .success(try SettingsFile.load(path: path, .dashboards))
      } catch {
        return .failure(Faults(error))
      }
    },
    makeRun: { graph, options in
      let queue = try JobQueue(
        graph, options: .init(slots: options.slots, onFailure: options.onFailure, stateFolder: options.stateFolder))
      return (queue, { queue.start() })
    },
    makeView: { feed, options in TerminalView(feed, options) },
    openScenario: { name, environment in try RunPlan.scenario(name, environment) },
    readList: { path in
      if path == "-" { return String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self) }
      return try String(contentsOfFile: path, encoding: .utf8)
    },
    watchSignals: { session in
      let signals = SignalSources { session.receive($0) }
      if session.holdsTerminal { signals.add(SIGTSTP) { session.suspend() } }
      RealParts.signals = signals
    })
}

/// Keeps the signal sources for as long as the program lives.
@MainActor
private enum RealParts {
  static var signals: SignalSources?
}
