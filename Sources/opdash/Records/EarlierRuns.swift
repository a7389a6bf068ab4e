import JobEngine
import JobModel
import RunStore

/// Facts from the recorded runs of a job file about the jobs of a graph.
///
/// For any thread. A store that can't be read gives no facts. Make it before the new run is recorded.
struct EarlierRuns: Sendable {
  private let store: RunStore
  private let file: String
  private let attempts: EarlierAttempts

  /// Nil where nothing is known.
  init?(_ options: Program.RunOptions) {
    // The start of the run waits for it.
    let patience = Duration.milliseconds(500)
    guard let file = options.origin.file,
      let store = try? RunStore(folder: options.stateFolder, patience: patience),
      let attempts = try? EarlierAttempts(store, ofFile: file)
    else { return nil }
    (self.store, self.file, self.attempts) = (store, file, attempts)
  }

  /// How the newest attempt of a job ended.
  func newestAttempt(of job: Job) -> EarlierAttempt? { attempts.newest(of: job) }

  /// The values that it wrote for other jobs, if it was a success of the same work.
  func values(of job: Job) -> [String: String]? { attempts.values(of: job) }

  /// The graph with the usual time of each job; a service has none, because it runs as long as others need it.
  func withUsualTimes(_ graph: JobGraph) -> JobGraph {
    let ends = store.recordedEnds(ofFile: file, jobs: graph.jobs.count)
    guard !ends.isEmpty else { return graph }
    var graph = graph
    for (index, job) in graph.jobs.enumerated() where job.service == nil {
      graph.jobs[index].usual = ends[job.name].flatMap { UsualTime($0) }
    }
    return graph
  }
}

extension RunStore {
  /// The ends of each job in the runs of a job file with so many jobs, the newest first; none if the store can't be read.
  func recordedEnds(ofFile file: String, jobs: Int) -> [String: [RecordedEnd]] {
    // In some of the runs a job may be skipped or restored; of large graphs fewer runs are read.
    let most = max(50_000, 2 * jobs)
    let rows = (try? lastEnds(ofFile: file, runs: UsualTime.window * 2, most)) ?? []
    var ends: [String: [RecordedEnd]] = [:]
    for row in rows { if let end = RecordedEnd(row) { ends[row.name, default: []].append(end) } }
    return ends
  }
}

extension RecordedEnd {
  /// Nil for a job that was skipped.
  fileprivate init?(_ row: EndedJob) {
    let outcome: Outcome
    switch row.outcome {
    case .ok: outcome = .succeeded
    case .upToDate, .restored: outcome = .notExecuted
    case .failed, .allowed: outcome = .failed
    case .cancelled: outcome = .cancelled
    case .skipped: return nil
    }
    // Without inputs nothing shows whether the job's files have changed.
    let work = row.inputs.flatMap { inputs in row.fingerprint.map { "\($0) \(inputs)" } }
    self.init(run: row.run, outcome: outcome, took: row.took ?? .zero, attempts: max(1, row.attempts), work: work)
  }
}
