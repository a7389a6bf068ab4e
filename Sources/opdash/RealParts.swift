import Foundation
import JobEngine
import JobFiles
import JobModel
import Session

extension Program.Parts {
  /// The parts of the real program.
  static let real = Program.Parts(
    load: { path, environment, vars, warn in
      try JobFile.load(
        path: path, environment: environment.variables, currentDirectory: environment.currentDirectory, vars: vars,
        warn: warn)
    },
    loadSettings: { path in try SettingsFile.load(path: path, SettingsFile.dashboards) },
    makeRun: { graph, options in
      let queue = try JobQueue(
        graph, options: .init(slots: options.slots, onFailure: options.onFailure, stateFolder: options.stateFolder))
      return (queue, { queue.start() })
    },
    makeView: { feed, options in options.dashboard(of: feed) },
    openScenario: { name, environment in try RunPlan.scenario(name, environment) },
    readList: { path in try DownloadList.read(path) },
    watchSignals: { session in
      let signals = SignalSources { session.receiveSignal($0) }
      if session.holdsTerminal { signals.add(SIGTSTP) { session.suspend() } }
      RealParts.session = session
      RealParts.signals = signals
    })
}

/// Retains the session and the signal sources.
@MainActor
private enum RealParts {
  static var session: RunSession?
  static var signals: SignalSources?
}
