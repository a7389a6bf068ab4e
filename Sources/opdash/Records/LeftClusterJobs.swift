import Basics
import Foundation
import JobEngine
import JobModel
import RunStore
import Session
import Slurm

/// What the resumed run, and the runs that it resumed itself, have left in the cluster.
///
/// Jobs of a cluster go on when the run's program has died. Those whose end the run has not seen, and whose command is still
/// the same, are followed; what else is in the cluster is cancelled before anything starts.
struct LeftClusterJobs {
  private struct Left {
    let run: String
    let folder: String
    let observer: SlurmObserver
    let found: [FoundSlurmJob]
    /// The newest submission of each job, by its name in identities.
    let numbers: [String: Int]
  }

  /// How long the controller's answer is waited for.
  private static let patience = DispatchTimeInterval.seconds(30)
  /// How long the end of cancelled jobs is waited for; Slurm gives them 30 seconds as a rule.
  private static let endTime: Duration = .seconds(90)

  private(set) var followed: [JobID: EarlierClusterJob] = [:]
  private var others: [(run: Left, jobs: [SlurmJobID])] = []
  private let runner: any SlurmRunner

  /// Asks the controller if one of the runs has had cluster jobs, and blocks until it answers.
  ///
  /// `graph` is that of the new run.
  init(
    of entry: RunEntry, _ store: RunStore, _ graph: JobGraph, runner: any SlurmRunner = SystemSlurmRunner()
  ) throws {
    self.runner = runner
    var runs: [Left] = []
    var next: RunEntry? = entry
    while let run = next {
      if let left = try Self.left(of: run, runner) { runs.append(left) }
      next = run.resumes.flatMap { try? store.run(named: $0) }
    }
    guard !runs.isEmpty else { return }
    let open = try Self.open(in: entry, store)
    let mask = SecretMask(graph.secrets)
    for (index, job) in graph.jobs.enumerated() where job.cluster != nil {
      let shown = mask.map { job.masked(by: $0) } ?? job
      guard let before = open[job.name], Self.isSame(before.work, shown.work) else { continue }
      // The newest run that has submitted it.
      for run in runs {
        guard let number = run.numbers[run.observer.identity(job: job.name, attempt: 1).job] else { continue }
        followed[JobID(index)] = EarlierClusterJob(run: run.run, folder: run.folder, number: number)
        break
      }
    }
    for run in runs {
      let kept = Set(
        followed.filter { $0.value.run == run.run }.map { id, job in
          run.observer.identity(job: graph[id].name, attempt: job.number)
        })
      let jobs = run.found.filter { !$0.state.isEnded && !kept.contains($0.identity) }.map(\.id)
      if !jobs.isEmpty { others.append((run, jobs)) }
    }
  }

  /// Cancels the jobs that are not followed, and waits for their end: they may still write what the new run reads.
  func cancelOthers() throws {
    guard !others.isEmpty else { return }
    let answer = BlockingCall.value(within: Self.patience) { done in
      runner.run(SlurmCommand(["scancel"] + others.flatMap { $0.jobs }.words)) { done($0) }
    }
    guard let answer, !answer.isWithoutController else { throw Self.noAnswer(answer?.fault) }
    for (run, jobs) in others {
      let end = SystemOperationClock().now + Self.endTime
      while true {
        let left = Set(try Self.found(run.observer).filter { !$0.state.isEnded }.map(\.id)).intersection(jobs)
        if left.isEmpty { break }
        guard SystemOperationClock().now < end else {
          throw UsageError(
            "run \(run.run) has left cluster jobs that don't end: \(left.words.joined(separator: " ")): "
              + "wait, or end them with scancel --signal=KILL")
        }
        Thread.sleep(forTimeInterval: 1)
      }
    }
  }

  /// What the cluster and the folder of a run have of its jobs; nil for a run without cluster jobs.
  private static func left(of run: RunEntry, _ runner: any SlurmRunner) throws -> Left? {
    guard let folder = run.folder.map(EarlierClusterJob.folder(inRun:)), FileManager.default.fileExists(atPath: folder)
    else {
      return nil
    }
    if let sentence = SystemSlurmRunner.absence() { throw UsageError(sentence) }
    let observer = SlurmObserver(run: run.id, folder: folder, runner: runner)
    let found = try found(observer)
    var numbers = observer.files.attempts()
    for job in found { numbers[job.identity.job] = max(numbers[job.identity.job] ?? 0, job.identity.attempt) }
    return Left(run: run.id, folder: folder, observer: observer, found: found, numbers: numbers)
  }

  private static func found(_ observer: SlurmObserver) throws -> [FoundSlurmJob] {
    switch BlockingCall.value(within: patience, { observer.find($0) }) {
    case .success(let jobs)?: return jobs
    case .failure(let fault)?: throw noAnswer(fault.description)
    case nil: throw noAnswer(nil)
    }
  }

  private static func noAnswer(_ fault: String?) -> UsageError {
    UsageError(
      "whether the run has left cluster jobs is not known, because the Slurm controller does not answer"
        + (fault.map { " (\($0))" } ?? "") + ": try again when it does")
  }

  /// The jobs that had not ended as far as the run knew, and whose cancellation nobody had asked for.
  private static func open(in entry: RunEntry, _ store: RunStore) throws -> [String: Job] {
    var run = Run(logCapacity: 1)
    for event in try store.events(of: entry) { run.apply(event) }
    let open = run.jobs.filter { !$0.state.isTerminal && $0.cancelling == nil }
    return Dictionary(open.map { ($0.job.name, $0.job) }) { first, _ in first }
  }

  private static func isSame(_ one: JobWork, _ other: JobWork) -> Bool {
    guard case .shell(let one) = one, case .shell(let other) = other else { return false }
    return one.command == other.command && one.directory == other.directory && one.shell == other.shell
  }
}
