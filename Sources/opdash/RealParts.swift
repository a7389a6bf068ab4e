import Dispatch
import Foundation
import JobCluster
import JobEngine
import JobFiles
import JobModel
import Processes
import RunStore
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
      let earlier = EarlierAttempts.known(ofFile: options.origin.file, stateFolder: options.stateFolder)
      let known = earlier?.withUsualTimes(graph) ?? graph
      var wanted = JobQueueOptions(
        slots: options.slots, onFailure: options.onFailure, stateFolder: options.stateFolder,
        resumes: options.resumption?.run, restored: options.resumption?.restored ?? [:],
        restoredInputs: options.resumption?.inputs ?? [:], earlier: { earlier?.newest(of: graph[$0]) })
      wanted.earlierValues = { earlier?.values(of: graph[$0]) }
      wanted.canAsk = options.canAsk
      wanted.approved = options.approved
      wanted.leavesWork = options.resumption?.leavesWork ?? false
      wanted.variables = options.variables
      wanted.keepsShortLogs = options.keepsShortLogs
      wanted.isOpen = options.isOpen
      wanted.cluster = RunCluster(earlier: options.resumption?.clusterJobs ?? [:])
      do throws(RunFolderError) {
        let queue = try JobQueue(known, options: wanted)
        return (queue, { queue.start() }, nil)
      } catch {
        wanted.stateFolder = nil
        let queue = try JobQueue(known, options: wanted)
        return (queue, { queue.start() }, error.description)
      }
    },
    record: { feed, options in
      let queue = feed as? JobQueue
      let successes = queue?.folder.map { SuccessLog(folder: $0.path, fingerprints: options.fingerprints) }
      if let successes { queue?.whenAttemptSucceeds(successes.append) }
      let recorder = RunRecorder(
        folder: options.stateFolder, origin: options.origin, fingerprints: options.fingerprints,
        cookie: ProcessSupervisor.shared.cookie, successes: successes)
      let past = RecordedPast(folder: options.stateFolder, id: { feed.snapshot.start?.id })
      return Program.RunRecording(
        past: past,
        start: {
          recorder.start(feed)
          let isRecorded: (@escaping @Sendable () -> Void) -> Void = { body in
            recorder.whenRecorded {
              body()
              prune(options.stateFolder, options.retention)
            }
          }
          // The record on disk is needed to find a killed run's processes.
          queue?.hold(atMost: .milliseconds(500), until: isRecorded)
        }, whenLost: { body in recorder.whenLost { body($0.description) } },
        finish: {
          let isWhole = feed.snapshot.summary != nil ? recorder.finish() : recorder.flush()
          return isWhole ? nil : recorder.loss?.description ?? "\(options.stateFolder) takes too long to be written"
        })
    },
    makeView: { feed, options, past in options.dashboard(of: feed, past: past) },
    openScenario: { name, environment in try RunPlan.scenario(name, environment) },
    readList: { path in try DownloadList.read(path) },
    feed: { feed, arriving, descriptor, options in
      guard let queue = feed as? JobQueue else { return nil }
      let feeder = ArgumentFeeder(
        descriptor, arriving.request, jobs: arriving.jobs, endsWithFailure: options.onFailure != .keepGoing,
        add: { queue.add($0) }, end: { queue.endArrivals() })
      feeder.watch(queue)
      return { feeder.start() }
    },
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

/// Removes old runs on a queue of its own; the next run removes the rest.
private func prune(_ folder: String, _ retention: Retention) {
  DispatchQueue(label: "opdash.pruning", qos: .utility).async { _ = try? RunStore(folder: folder).prune(retention) }
}
