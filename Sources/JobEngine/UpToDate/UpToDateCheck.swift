import Basics
import Foundation
import JobModel
import Operations
import Processes

/// Decides at the start of a job's attempt whether there is anything to do, and hashes the files that the job reads.
///
/// Blocks while it reads files and queries the earlier attempt.
package struct UpToDateCheck: Sendable {
  struct Verdict: Sendable, Equatable {
    var isUpToDate: Bool
    /// Nil where the reason is obvious.
    var reason: String?
    /// The hash of the job's inputs, `unreadInputs` if they can't be hashed; nil for a job without inputs.
    var inputsHash: String?
    /// The recorded values of a job that is up to date.
    var values: [String: String] = [:]

    /// The decision as a line for the log.
    var note: String? { reason.map { "\(isUpToDate ? "" : "not ")up to date: \($0)" } }
  }

  /// Why a job is executed whose last attempt failed or was cancelled.
  package static let unfinished = "the last attempt did not succeed"
  /// Why a job is executed that another run executes at the same time.
  package static let executing = "another run executes it now"
  /// Stands for the hash of inputs that are missing or can't be read; no inputs have it.
  ///
  /// Replaces the hash of the attempt before.
  static let unreadInputs = "unread"

  let creates: [BytePath]
  let inputs: [BytePath]
  /// The folder that paths in notes are relative to.
  let directory: BytePath?
  /// Whether the job is executed regardless of the files: it is a repeated attempt of this run, or an earlier run's is
  /// followed.
  let mustExecute: Bool
  /// Whether the first attempt is executed because `--force` asks for it.
  let isForced: Bool
  /// The values that other jobs read; nil if no job reads any.
  let wanted: WantedValues?
  /// The known values of other jobs that the job reads, by their references.
  let read: [String: String]
  let hashes: FileHashes
  let earlier: @Sendable () -> EarlierAttempt?

  /// The values of a job that others read.
  struct WantedValues: Sendable {
    /// The values without which another job fails.
    var names: Set<String>
    /// The values recorded for the last success of the same work; nil if the store has none.
    var recorded: @Sendable () -> [String: String]?
  }

  /// Creates a check; nil for a job that neither creates nor reads paths, and for a service, which always starts.
  init?(
    _ job: Job, mustExecute: Bool = false, isForced: Bool = false, wanted: WantedValues? = nil,
    read: [String: String] = [:], hashes: FileHashes,
    earlier: @escaping @Sendable () -> EarlierAttempt?
  ) {
    guard case .shell(let work) = job.work, work.service == nil, !(job.creates.isEmpty && job.inputs.isEmpty) else {
      return nil
    }
    creates = job.creates.map { BytePath($0) }
    inputs = job.inputs.map { BytePath($0) }
    directory = work.directory.map { BytePath($0) }
    self.mustExecute = mustExecute
    self.isForced = isForced && !mustExecute
    self.wanted = wanted
    self.read = read
    self.hashes = hashes
    self.earlier = earlier
  }

  /// The decision from the current files; throws only `CancellationError`.
  func verdict(isCancelled: @escaping @Sendable () -> Bool) throws -> Verdict {
    do {
      let files =
        inputs.isEmpty ? nil : try InputFiles(inputs, without: creates, hashes: hashes, isCancelled: isCancelled)
      let problem = files.flatMap { files in
        files.missing.map { "the input \(short($0)) does not exist" }
          ?? (files.paths.isEmpty ? "no file matches the inputs" : nil)
      }
      let hash =
        problem == nil ? try files?.hash(by: hashes, isCancelled: isCancelled) : files.map { _ in Self.unreadInputs }
      if isForced, problem == nil { return Verdict(isUpToDate: false, reason: "--force", inputsHash: hash) }
      if mustExecute || problem != nil { return Verdict(isUpToDate: false, reason: problem, inputsHash: hash) }
      let (isUpToDate, reason) = compare(files, hash)
      guard isUpToDate, let wanted else { return Verdict(isUpToDate: isUpToDate, reason: reason, inputsHash: hash) }
      let recorded = wanted.recorded()
      let missing = wanted.names.sorted().first { recorded?[$0] == nil }
      guard let values = recorded, missing == nil else {
        let fault = "\(missing ?? "a value"), which another job reads, is not recorded of its last success"
        return Verdict(isUpToDate: false, reason: fault, inputsHash: hash)
      }
      return Verdict(isUpToDate: true, reason: reason, inputsHash: hash, values: values)
    } catch let error as InputError {
      return Verdict(isUpToDate: false, reason: error.description, inputsHash: Self.unreadInputs)
    }
  }

  private func compare(_ files: InputFiles?, _ hash: String?) -> (isUpToDate: Bool, reason: String?) {
    if let missing = missingOutput { return (false, "\(short(missing)) does not exist") }
    switch earlier() {
    case .unfinished: return (false, Self.unfinished)
    case .executing: return (false, Self.executing)
    case .changed where hash != nil: return (false, "the job has changed since its last success")
    case .addedJobs: return (false, "it adds jobs to the run")
    case .succeeded(let last?, let before, let time) where hash != nil:
      guard last != hash else {
        let changed = read.keys.sorted().first { read[$0] != before[$0] }
        return changed.map { (false, "the value of \($0) has changed") } ?? (true, "the inputs have not changed")
      }
      // A file that was removed, or has its old time, can't be told.
      let changed = time.flatMap { time in files?.changed(since: time) }
      return (false, changed.map { "\(short($0)) has changed" } ?? "the inputs have changed")
    case .succeeded, .changed, nil: break
    }
    guard let files else { return (true, "\(short(creates[0])) exists") }
    let oldest = InputFiles.times(creates, \.modified).min { $0.time < $1.time }
    // There is nothing to compare with; the coming run is the first that is known.
    guard let oldest else { return (false, nil) }
    guard let newest = files.newest(), oldest.time < newest.time else {
      return (true, "no input is newer than \(short(oldest.path))")
    }
    return (false, "\(short(newest.path)) is newer than \(short(oldest.path))")
  }

  /// The first path of `creates` that does not exist.
  private var missingOutput: BytePath? { creates.first { FileStatus($0, followsLink: true) == nil } }

  /// The note after a success that has not created all paths of `creates`.
  var missingNote: String? {
    missingOutput.map {
      "\(short($0)), which the job creates, does not exist after its success: the next run executes it again"
    }
  }

  private func short(_ path: BytePath) -> String { (directory.flatMap { path.relative(to: $0) } ?? path).text }
}

extension UpToDateCheck {
  /// The check as a part of its job's operation.
  ///
  /// Before the program starts, `hashed` is called with the hash of the inputs, `caused` with the reason why there is
  /// something to do, and `kept` with the values of a job that is up to date.
  func operationCheck(
    hashed: @escaping @Sendable (String) -> Void, caused: @escaping @Sendable (String) -> Void,
    kept: @escaping @Sendable ([String: String]) -> Void
  ) -> OutputCheck {
    OutputCheck(
      begin: { isCancelled in
        guard let verdict = try? verdict(isCancelled: isCancelled) else {
          return OutputCheck.Answer(isUpToDate: false, note: nil)
        }
        if let hash = verdict.inputsHash { hashed(hash) }
        if !verdict.isUpToDate, let reason = verdict.reason { caused(reason) }
        if !verdict.values.isEmpty { kept(verdict.values) }
        return OutputCheck.Answer(isUpToDate: verdict.isUpToDate, note: verdict.note)
      }, end: { missingNote })
  }

  /// The decisions of a run that would begin now.
  package struct Forecast: Sendable {
    /// The jobs that are up to date, each with the reason.
    package var upToDate: [JobID: String] = [:]
    /// Why others are executed, where a check says so.
    package var executed: [JobID: String] = [:]

    package init() {}
  }

  /// Checks the jobs of a graph as a run would that began now.
  ///
  /// `left` jobs, restored or skipped, are not executed. The paths that an executed job creates count as changed. Its
  /// other changes are unknown, as the reason of a later job with inputs states.
  package static func forecast(
    in graph: JobGraph, without left: Set<JobID> = [], earlier: @escaping @Sendable (JobID) -> EarlierAttempt?,
    values: @escaping @Sendable (JobID) -> [String: String]? = { _ in nil }
  ) -> Forecast {
    var forecast = Forecast()
    /// A job that is executed before each, by its index.
    var before = [JobID?](repeating: nil, count: graph.jobs.count)
    var changed = ChangedPaths()
    let hashes = FileHashes()
    let read = graph.readValues
    for index in DependencyOrder(graph.jobs.map { $0.needs.map(\.job.index) }).order {
      let (id, job) = (JobID(index), graph.jobs[index])
      func isExecuted(_ id: JobID) -> Bool { forecast.upToDate[id] == nil && !left.contains(id) }
      before[index] =
        job.needs.first { isExecuted($0.job) }?.job ?? job.needs.lazy.compactMap { before[$0.job.index] }.first
      if left.contains(id) { continue }
      let wanted = read[id].map { WantedValues(names: $0) { values(id) } }
      // The values that an executed job will write are unknown.
      let known = job.inputs.isEmpty ? [] : job.outputsInWork.filter { !isExecuted($0.job) }
      let found = known.compactMap { output in values(output.job)?[output.name].map { (output.text, $0) } }
      let check = UpToDateCheck(
        job, wanted: wanted, read: Dictionary(found) { first, _ in first }, hashes: hashes, earlier: { earlier(id) })
      let made = check?.inputs.first(where: changed.reaches)
      let verdict = made == nil ? try? check?.verdict(isCancelled: { false }) : nil
      guard let verdict, verdict.isUpToDate else {
        forecast.executed[id] =
          made.flatMap { made in check.map { "\($0.short(made)) will have changed" } } ?? verdict?.reason
        for path in job.creates.lazy.map({ BytePath($0) }) {
          changed.add(path, isFolder: FileStatus(path, followsLink: true)?.kind ?? S_IFDIR == S_IFDIR)
        }
        continue
      }
      let doubt = job.inputs.isEmpty ? nil : before[index].map { "unless \(graph[$0].name) changes that" }
      forecast.upToDate[id] = [verdict.reason, doubt].compactMap(\.self).joined(separator: ", ")
    }
    return forecast
  }

  /// The current hash of a job's inputs, as in `JobFact.inputsHashed`; nil without inputs or if one can't be read.
  package static func inputsHash(of job: Job) -> String? {
    let check = UpToDateCheck(job, mustExecute: true, hashes: FileHashes(), earlier: { nil })
    let hash = try? check?.verdict(isCancelled: { false }).inputsHash
    return hash == unreadInputs ? nil : hash
  }
}
