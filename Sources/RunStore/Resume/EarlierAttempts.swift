import Basics
import Foundation
import JobModel

/// The newest recorded attempts of the jobs of a job file.
package struct EarlierAttempts: Sendable {
  private let store: RunStore
  private let file: String?
  /// The runs that have not ended, newest first.
  private let unended: [(number: Int, run: RunEntry)]
  /// The jobs that have begun and have no end, and whether the run has a process; by number, of the runs read so far.
  private let interruptions = Lock<[Int: (names: Set<String>, goesOn: Bool)]>([:])
  /// The records that have been read, by their runs.
  private let records = Lock<[String: Record]>([:])

  /// The jobs that added jobs, by the runs that were looked at.
  private let adders = Lock<[String: Set<String>]>([:])

  /// The values of a run.
  private struct Record {
    /// By job, where it wrote some.
    var outputs: [JobID: [String: String]] = [:]
    var writers: [String: JobID] = [:]
    /// When the newest attempt of each job began.
    var begun: [JobID: Duration] = [:]
  }

  /// Reads which runs have not ended; the run that asks must not be recorded yet.
  package init(_ store: RunStore, ofFile file: String?) throws {
    self.store = store
    self.file = file
    unended = try store.unended(ofFile: file).sorted { $0.number > $1.number }
  }

  /// The attempts of a job file's runs; nil without a file, or without a readable store in the folder.
  package static func known(ofFile file: String?, stateFolder: String) -> EarlierAttempts? {
    // The start of the run waits for it.
    guard let file, let store = try? RunStore(folder: stateFolder, patience: .milliseconds(500)) else { return nil }
    return try? EarlierAttempts(store, ofFile: file)
  }

  /// The graph with the usual time of each job; a service has none, because it runs as long as others need it.
  package func withUsualTimes(_ graph: JobGraph) -> JobGraph {
    let ends = file.map { store.recordedEnds(ofFile: $0, jobs: graph.jobs.count) } ?? [:]
    guard !ends.isEmpty else { return graph }
    var graph = graph
    for (index, job) in graph.jobs.enumerated() where job.service == nil {
      graph.jobs[index].usual = ends[job.name].flatMap { UsualTime($0) }
    }
    return graph
  }

  /// The newest attempt of a job; nil if none is known.
  ///
  /// `name` gives the names of the jobs whose values it reads. Reads the store, which may block; any thread may call
  /// it. A store that can't be read knows nothing.
  package func newest(of job: Job, name: (JobID) -> String? = { _ in nil }) -> EarlierAttempt? {
    let (attempt, end) = newestEnd(of: job)
    guard let end else { return attempt }
    switch attempt {
    case .succeeded(let inputs, _, let begun):
      if adds(job, to: end.run) { return .addedJobs }
      return .succeeded(inputs: inputs, read: read(by: job, end, name), begun: begun)
    case .changed: return adds(job, to: end.run) ? .addedJobs : .changed
    case .addedJobs, .unfinished, .executing, nil: return attempt
    }
  }

  /// The values that the newest attempt of a job wrote for others; nil unless it is a success of the same work.
  ///
  /// Reads the store, as `newest(of:)`.
  package func values(of job: Job) -> [String: String]? {
    let (newest, end) = newestEnd(of: job)
    guard case .succeeded = newest, let end else { return nil }
    let values = outputs(of: end)
    guard values == [:], end.outcome == .upToDate else { return values }
    // A run where no job reads them does not state the values of a job that is up to date.
    guard let last = try? store.lastAttempt(job.name, ofFile: file, canBeUpToDate: false)?.end,
      case .succeeded = attempt(of: job, last)
    else { return nil }
    return outputs(of: last)
  }

  private func outputs(of end: EndedJob) -> [String: String]? {
    record(of: end.run).map { $0.outputs[end.job] ?? [:] }
  }

  /// The known values of other jobs that an attempt has read, by their references.
  private func read(by job: Job, _ end: EndedJob, _ name: (JobID) -> String?) -> [String: String] {
    guard !job.inputs.isEmpty, !job.outputs.isEmpty, let record = record(of: end.run) else { return [:] }
    var values: [String: String] = [:]
    for reference in job.outputs {
      guard let writer = name(reference.job).flatMap({ record.writers[$0] }) else { continue }
      // The writer may have been retried since.
      if let begun = record.begun[writer], record.begun[end.job].map({ begun > $0 }) ?? true { continue }
      values[reference.text] = record.outputs[writer]?[reference.name]
    }
    return values
  }

  private func adds(_ job: Job, to run: String) -> Bool {
    if job.creates.isEmpty && job.inputs.isEmpty { return false }
    if let known = adders.withLock({ $0[run] }) { return known.contains(job.name) }
    let folder = try? store.run(named: run).folder
    let found = Set(folder.map(KeptTexts.read)?.compactMap(\.text.writer) ?? [])
    adders.withLock { $0[run] = found }
    return found.contains(job.name)
  }

  private func record(of run: String) -> Record? {
    if let known = records.withLock({ $0[run] }) { return known }
    guard let entry = try? store.run(named: run), let past = try? PastRun(entry, in: store) else { return nil }
    var record = Record()
    for id in past.run.ids {
      let job = past.run[id]
      record.begun[id] = job.attempt?.startedAt
      guard !job.outputs.isEmpty else { continue }
      record.outputs[id] = job.outputs
      record.writers[job.job.name] = id
    }
    records.withLock { $0[run] = record }
    return record
  }

  private func newestEnd(of job: Job) -> (attempt: EarlierAttempt?, end: EndedJob?) {
    let last = try? store.lastAttempt(job.name, ofFile: file)
    // Only the runs since then: each takes as long as its events are many.
    for (number, run) in unended.prefix(while: { $0.number >= last?.run ?? 0 }) {
      let known = interrupted(in: run, number)
      if known.names.contains(job.name) { return (known.goesOn ? .executing : .unfinished, last?.end) }
    }
    return (last.flatMap { attempt(of: job, $0.end) }, last?.end)
  }

  private func interrupted(in run: RunEntry, _ number: Int) -> (names: Set<String>, goesOn: Bool) {
    if let known = interruptions.withLock({ $0[number] }) { return known }
    let found = (Set((try? PastRun(run, in: store).interrupted) ?? []), store.isGoingOn(run))
    interruptions.withLock { $0[number] = found }
    return found
  }

  private func attempt(of job: Job, _ end: EndedJob) -> EarlierAttempt? {
    switch end.outcome {
    case .ok, .upToDate:
      guard let fingerprint = end.fingerprint else { return nil }
      guard fingerprint == Fingerprint.of(job) else { return .changed }
      return .succeeded(inputs: end.inputs, begun: end.took.map { end.at - $0 / .seconds(1) })
    case .failed, .allowed, .cancelled: return .unfinished
    case .restored, .skipped: return nil
    }
  }
}
