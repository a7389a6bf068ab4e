import Basics
import Foundation
import JobModel
import Operations
import Slurm

/// The cluster jobs left by the resumed run and by the runs that it resumed itself.
///
/// Cluster jobs continue when the run's program has died. A job whose end the run has not recorded is followed if it is
/// unchanged and none of its needs is executed again. All other jobs in the cluster are cancelled before anything
/// starts.
package struct AbandonedClusterJobs {
  /// The run that is resumed, or one that it resumed itself.
  package struct EarlierRun {
    var id: String
    /// The folder of its files; nil if it has none any longer.
    var folder: String?
    /// The jobs whose newest attempt has a recorded end, or was to end, with its number in the cluster; nil without one.
    var ended: [String: String?]
    /// The jobs of these whose attempt never began.
    var unbegun: Set<String>

    /// The jobs `withoutValues` have succeeded; their values are still in the run's folder.
    package init(id: String, folder: String?, run: Run = Run(), withoutValues: Set<String> = []) {
      self.id = id
      self.folder = folder
      let over = run.jobs.filter { record in
        !withoutValues.contains(record.job.name)
          && (!record.isOpen || record.attempt?.endedAt != nil && record.clusterJob == nil)
      }
      ended = Dictionary(over.map { ($0.job.name, $0.newestPlace?.id) }) { first, _ in first }
      unbegun = Set(over.lazy.filter { !$0.isOpen && !$0.isFromAttempt }.map(\.job.name))
    }

    /// Whether the job's newest submission, in `left`, may have an end that is not recorded.
    ///
    /// A run that was killed may not have recorded that it has submitted a job again, for its policy, a person or a change.
    fileprivate func isOpen(_ job: String, _ left: Left?) -> Bool {
      guard let end = ended[job] else { return true }
      guard let number = end, let left, let newest = left.newest(job) else { return false }
      guard let submitted = left.number(of: newest) else { return !unbegun.contains(job) }
      return submitted != number
    }
  }

  /// The part of the plan of the new run that decides about cluster jobs.
  package struct Plan {
    var graph: JobGraph
    /// The jobs that are not executed.
    var restored: Set<JobID>
    /// The names of jobs that stay out of the graph.
    var leftOut: [String]
    /// The jobs that the resumed run has recorded, by name.
    var recorded: [String: Job]
    /// Whether a recorded job does the same as one of the graph.
    var isSame: (Job, Job) -> Bool
    /// Whether a success with this need may be outdated.
    var isOverdue: (JobNeed) -> Bool
    private let mask: SecretMask?

    package init(
      graph: JobGraph, restored: Set<JobID>, leftOut: [String], recorded: [String: Job],
      isSame: @escaping (Job, Job) -> Bool, isOverdue: @escaping (JobNeed) -> Bool
    ) {
      (self.graph, self.restored, self.leftOut, self.recorded) = (graph, restored, leftOut, recorded)
      (self.isSame, self.isOverdue) = (isSame, isOverdue)
      mask = SecretMask(graph.secrets)
    }

    /// Whether an attempt that the resumed run started, and whose end it has not recorded, does the job's work: neither the
    /// job nor its input has changed.
    ///
    /// `isFollowed` says whether a job that it needs still executes.
    package func isUnchanged(_ id: JobID, where isFollowed: (JobID) -> Bool = { _ in false }) -> Bool {
      let job = graph[id]
      guard !restored.contains(id), let before = recorded[job.name] else { return false }
      // The recorded job lacks its environment and its secrets.
      let shown = (mask.map { job.masked(by: $0) } ?? job).stated
      // If the jobs whose results or values it works on are executed again, so is it.
      return isSame(before, shown) && job.needs.allSatisfy { isFollowed($0.job) || !isOverdue($0) }
        && job.outputs.allSatisfy { isFollowed($0.job) || restored.contains($0.job) }
    }
  }

  fileprivate struct Left {
    let run: String
    let folder: String
    let observer: SlurmObserver
    let found: [FoundSlurmJob]
    /// The newest submission of each job, by its name in identities.
    let numbers: [String: Int]
    /// The newest submissions that were cancelled, perhaps by a run that resumed this one.
    let cancelled: Set<SlurmIdentity>
    /// The attempts that the controller may still accept: it did not list them, and nothing shows that they have begun.
    let inDoubt: Set<SlurmIdentity>

    /// The jobs that the cluster has not ended.
    var going: [FoundSlurmJob] { found.filter { !$0.state.isEnded } }

    /// The newest submission of a job; nil if there was none.
    func newest(_ job: String) -> SlurmIdentity? {
      numbers[observer.identity(job: job, attempt: 1).job].map { observer.identity(job: job, attempt: $0) }
    }

    /// The number of a submission in the cluster; nil for one that has not begun and is not listed.
    func number(of submission: SlurmIdentity) -> String? {
      (observer.files.claim(of: submission) ?? found.first { $0.identity == submission }?.id)?.description
    }
  }

  /// The time limit for the controller's answer.
  private static let patience = DispatchTimeInterval.seconds(30)
  /// The time limit for the end of cancelled jobs; Slurm usually gives them 30 seconds.
  private static let endTime: Duration = .seconds(90)
  /// The most jobs that are named in a line.
  private static let most = 8

  package private(set) var followed: [JobID: EarlierClusterJob] = [:]
  private var others: [(run: Left, jobs: [FoundSlurmJob])] = []
  private var inDoubt: [(run: Left, attempts: Set<SlurmIdentity>)] = []
  /// The attempts that have ended, of jobs that are executed anew.
  private var replaced: [(run: Left, attempts: Set<SlurmIdentity>)] = []
  private let runner: any SlurmRunner

  /// Queries the controller if any of the runs had cluster jobs, and blocks until it answers.
  ///
  /// The resumed run is the first one. Throws a `ClusterRefusal` if jobs that the plan leaves out have not ended, because
  /// no run would record their end. `followed` has the identifiers of the plan's graph.
  package init(
    of earlier: [EarlierRun], _ plan: @autoclosure () throws -> Plan, runner: any SlurmRunner = SystemSlurmRunner(),
    absence: () -> String? = SystemSlurmRunner.absence
  ) throws {
    self.runner = runner
    let runs = try earlier.compactMap { try Self.left(of: $0, runner, absence) }
    guard let resumed = earlier.first, !runs.isEmpty else { return }
    let plan = try plan()
    let going = Set(runs.flatMap { $0.going.map(\.identity.job) })
    let leftOut = plan.leftOut.filter { name in
      plan.recorded[name] != nil && going.contains(SlurmIdentity(run: resumed.id, job: name, attempt: 1).job)
        && resumed.isOpen(name, runs.first { $0.run == resumed.id })
    }
    guard leftOut.isEmpty else { throw Self.refusal(leftOut, of: resumed.id) }
    follow(plan, in: runs, of: earlier)
    let names = plan.graph.jobs.indices.filter { !plan.restored.contains(JobID($0)) }.map { plan.graph.jobs[$0].name }
    for run in runs {
      let kept = Set(
        followed.filter { $0.value.run == run.run }.map { id, job in
          run.observer.identity(job: plan.graph[id].name, attempt: job.number)
        })
      let jobs = run.going.filter { !kept.contains($0.identity) }
      if !jobs.isEmpty { others.append((run, jobs)) }
      inDoubt.append((run, run.inDoubt.subtracting(kept)))
      let unended = run.inDoubt.union(jobs.map(\.identity))
      replaced.append((run, Set(names.compactMap(run.newest)).subtracting(kept).subtracting(unended)))
    }
  }

  /// Selects the open jobs that are followed; `earlier` comes newest first.
  private mutating func follow(_ plan: Plan, in runs: [Left], of earlier: [EarlierRun]) {
    let graph = plan.graph
    let left = Dictionary(uniqueKeysWithValues: runs.map { ($0.run, $0) })
    for index in DependencyOrder(graph.jobs.map { $0.needs.map(\.job.index) }).order {
      let (id, job) = (JobID(index), graph.jobs[index])
      guard job.cluster != nil, plan.isUnchanged(id, where: { followed[$0] != nil }) else { continue }
      // In the newest run that has submitted it; an end that a run has recorded is the end of all earlier attempts too.
      for record in earlier {
        if let run = left[record.id], let newest = run.newest(job.name) {
          if record.isOpen(job.name, run), !run.cancelled.contains(newest), !run.observer.files.isWithdrawn(newest) {
            followed[id] = EarlierClusterJob(run: run.run, folder: run.folder, number: newest.attempt)
          }
          break
        }
        if record.ended[job.name] != nil { break }
      }
    }
  }

  /// The message before `cancelOthers`, which may take a while; nil if there is nothing to cancel.
  package var ending: String? {
    let jobs = others.flatMap { $0.jobs }
    guard !jobs.isEmpty else { return nil }
    // A name that can't be decoded is shown in its encoded form.
    let names = jobs.map { "\($0.identity.job.removingPercentEncoding ?? $0.identity.job) (\($0.id))" }
    return "ending \(Format.count(jobs.count, "cluster job")) of the earlier run: \(names.joined(most: Self.most))"
  }

  /// Cancels the jobs that are not followed and waits for their end, because they may still write files of the new run.
  ///
  /// A submission that the controller accepts later executes nothing. No later run follows an attempt that this one does
  /// not follow: the jobs that it needs may have been executed again by then.
  package func cancelOthers() throws {
    try endOthers()
    // Last: if the others can't be ended, the run is not resumed, and its recorded ends are still needed.
    for (run, attempts) in replaced { for attempt in attempts { run.observer.files.abandon(attempt) } }
  }

  private func endOthers() throws {
    var others = others
    for (run, attempts) in inDoubt {
      let begun = attempts.filter { !run.observer.files.withdraw($0) }
      guard !begun.isEmpty else { continue }
      let jobs = try Self.found(run.observer).filter { begun.contains($0.identity) && !$0.state.isEnded }
      if !jobs.isEmpty { others.append((run, jobs)) }
    }
    guard !others.isEmpty else { return }
    let answer = BlockingCall.value(within: Self.patience) { done in
      runner.run(SlurmCommand(["scancel"] + others.flatMap { $0.jobs.map(\.id) }.words)) { done($0) }
    }
    guard let answer, !answer.isWithoutController else { throw Self.noAnswer(answer?.fault) }
    let end = SystemOperationClock().now + Self.endTime
    for (run, jobs) in others {
      while true {
        let found = try Self.found(run.observer).filter { !$0.state.isEnded }
        let left = Set(found.map(\.id)).intersection(jobs.map(\.id))
        if left.isEmpty {
          for job in jobs { run.observer.files.abandon(job.identity) }
          break
        }
        guard SystemOperationClock().now < end else {
          throw ClusterRefusal(messages: [
            "run \(run.run) has left cluster jobs that don't end: \(left.words.joined(separator: " ")): "
              + "wait, or end them with scancel --signal=KILL"
          ])
        }
        Thread.sleep(forTimeInterval: 1)
      }
    }
  }

  /// The run's jobs in the cluster and in the run's folder; nil for a run without cluster jobs.
  private static func left(
    of run: EarlierRun, _ runner: any SlurmRunner, _ absence: () -> String?
  ) throws -> Left? {
    guard let folder = run.folder.map(EarlierClusterJob.folder(inRun:)), FileManager.default.fileExists(atPath: folder)
    else {
      return nil
    }
    if let sentence = absence() { throw ClusterRefusal(messages: [sentence]) }
    let observer = SlurmObserver(run: run.id, folder: folder, runner: runner)
    // sbatch may have been killed before the controller had accepted its job, so a query may lack submitted attempts.
    let submitted = observer.files.submissions(run: observer.run)
    let found = try found(observer)
    let listed = Set(found.map(\.identity))
    let inDoubt = Set(submitted.filter { !$0.value }.keys).subtracting(listed)
    var numbers: [String: Int] = [:]
    for identity in listed.union(submitted.keys) {
      numbers[identity.job] = max(numbers[identity.job] ?? 0, identity.attempt)
    }
    // If an attempt was submitted twice, one of the two submissions is cancelled.
    let others = Set(found.filter { $0.state != .cancelled }.map(\.identity))
    let cancelled = listed.subtracting(others).filter { numbers[$0.job] == $0.attempt }
    return Left(
      run: run.id, folder: folder, observer: observer, found: found, numbers: numbers, cancelled: cancelled,
      inDoubt: inDoubt)
  }

  private static func found(_ observer: SlurmObserver) throws -> [FoundSlurmJob] {
    switch BlockingCall.value(within: patience, { observer.find($0) }) {
    case .success(let jobs)?: return jobs
    case .failure(let fault)?: throw noAnswer(fault.description)
    case nil: throw noAnswer(nil)
    }
  }

  private static func noAnswer(_ fault: String?) -> ClusterRefusal {
    ClusterRefusal(messages: [
      "whether the run has left cluster jobs is not known, because the Slurm controller does not answer"
        + (fault.map { " (\($0))" } ?? "") + ": try again when it does"
    ])
  }

  private static func refusal(_ leftOut: [String], of run: String) -> ClusterRefusal {
    let jobs = leftOut.count == 1 ? "a job" : "jobs"
    return ClusterRefusal(messages: [
      "the cluster still has \(jobs) of run \(run) that --failed would end: \(leftOut.joined(most: most)): "
        + "opdash resume without --failed goes on with \(leftOut.count == 1 ? "it" : "them")"
    ])
  }
}

extension JobRecord {
  /// Whether neither an end nor a requested cancellation is recorded.
  package var isOpen: Bool { !state.isTerminal && cancelling == nil }

  /// Whether the state is an attempt's own, or its end.
  fileprivate var isFromAttempt: Bool { state.isActive || state.isTerminal && attempt?.endedAt == since }
}

/// A job that an earlier run has submitted to the cluster, and whose end that run may not have seen.
package struct EarlierClusterJob: Sendable, Equatable {
  package var run: String
  /// The folder of the run's cluster job files.
  package var folder: String
  /// How often the run had submitted the job to the cluster.
  package var number: Int

  /// The folder of the cluster job files of a run with the given folder.
  package static func folder(inRun folder: String) -> String { folder + "/cluster" }

  /// Ends the jobs of a run's attempts in Slurm.
  ///
  /// `done` is called on any thread with whether the controller has answered within the time limit of the runner's
  /// calls.
  static func end(
    _ attempts: Set<SlurmIdentity>, of observer: SlurmObserver, _ runner: any SlurmRunner,
    _ done: @escaping @Sendable (Bool) -> Void
  ) {
    // Queries now: a number that was known earlier may be someone else's by now.
    observer.find { found in
      guard let found = try? found.get() else { return done(false) }
      let jobs = found.filter { !$0.state.isEnded && attempts.contains($0.identity) }
      // The controller may still accept the others; one that has begun meanwhile is in the next query.
      let begun = attempts.subtracting(found.map(\.identity)).filter {
        !observer.files.hasClaim(of: $0) && !observer.files.withdraw($0)
      }
      guard begun.isEmpty else { return done(false) }
      guard !jobs.isEmpty else { return done(true) }
      runner.run(SlurmCommand(["scancel"] + jobs.map(\.id).words)) { done(!$0.isWithoutController) }
    }
  }
}
