import Foundation
import JobModel
import Operations
import Processes
import Transfers

/// One attempt of a job in the operation queue, which the engine keeps until its end is stated.
package final class Attempt: @unchecked Sendable {
  // Safe: only the engine's queue accesses the variables.
  private let admission: Admission
  private let execution: Execution
  /// The unit of the operation's progress.
  let unit: JobProgress.Unit
  private(set) var hasStarted = false
  /// Whether the attempt was or will be submitted and, as currently known, the cluster has not started it.
  var isWithCluster: Bool
  package internal(set) var place: ClusterPlace?
  /// How long the attempt had executed before this run saw it; zero for one that has ended.
  var timeBefore: Duration { place.flatMap { $0.took == nil ? $0.before : nil } ?? .zero }
  /// Whether the end was stated or the attempt was withdrawn; later observations have no effect.
  private(set) var isOver = false
  /// Keeps its handler, and thereby the attempt, until `end()`.
  var observation: ObservationToken?
  private let hasCheck: Bool
  private var isHashStated = false
  /// A change of the inputs that was found while the attempt read them.
  var heldChange: InputWatch.Change?
  /// The file that the program writes values for other jobs to; nil for other work, and once it is being read.
  private var valuesPath: String?
  /// The file with jobs that the program adds to the run, once it is known to exist; nil again once it is being read.
  private var addition: AdditionFile?
  /// The folder that the program was started in; nil for this program's own.
  private let directory: String?
  /// The values that the program has written for other jobs, once they are read.
  var outputs: OutputValues?
  /// The faults of the values that the log has.
  var notedFaults: Set<String> = []
  /// The outcome, if the operation can't provide it.
  var ending: AttemptOutcome?

  /// A file of jobs, and the folder of its relative paths; nil for this program's own folder.
  typealias AdditionFile = (path: String, directory: String?)

  /// The state that several threads use.
  private struct Shared {
    /// The hash of the job's inputs, once it is known.
    var inputsHash: String?
    /// Why there is something to do, if the check has found a reason that is not stated yet.
    var cause: String?
    /// The values, from an earlier run, of an attempt that had nothing to do.
    var keptValues: [String: String]?
    /// Whether a line of the output matches a pattern of the retry policy.
    var outputMatches = false
    /// Called once the output shows whether the program of a service can be used.
    var readiness: (@Sendable (_ isUsable: Bool) -> Void)?
    /// The limit that the attempt exceeded before the engine cancelled it.
    var excess: JobFailure?
    /// When the start was observed, on the run's clock.
    var startTime: Duration?
  }

  private let shared: Lock<Shared>

  /// Creates the operation of an attempt; nothing starts before the operation is in a queue.
  ///
  /// `job` contains the values of other jobs in its texts, or is the failure with which the attempt ends.
  init(
    _ admission: Admission, _ job: Result<Job, JobFailure>, by executor: any Executor, named name: String,
    log: AttemptLog, check: UpToDateCheck?
  ) {
    let shared = Lock(Shared())
    self.shared = shared
    self.admission = admission
    hasCheck = check != nil
    switch job {
    case .failure(let failure):
      execution = Execution(ClosureOperation<Void> { throw failure })
      directory = nil
    case .success(let job):
      directory = if case .shell(let work) = job.work { work.directory } else { nil }
      let check = check?.operationCheck(
        hashed: { hash in shared.withLock { $0.inputsHash = hash } },
        caused: { cause in shared.withLock { $0.cause = cause } },
        kept: { values in shared.withLock { $0.keptValues = values } })
      execution = executor.execution(
        of: AttemptRequest(
          admission: admission, job: job, log: log, watches: Self.watches(of: job, shared), check: check))
    }
    execution.operation.name = name
    unit = JobProgress.Unit(of: execution.operation)
    isWithCluster = execution.startsLater
    place = execution.place
    valuesPath = execution.valuesPath
  }

  var ticket: Int { admission.ticket }
  package var job: JobID { admission.job }
  var number: Int { admission.attempt }
  package var operation: AsyncOperation { execution.operation }
  /// Controls the work where the operation does not.
  package var control: (any RemoteControl)? { execution.control }
  /// A line for the log at the start.
  var note: String? { execution.note }
  /// Checks whether the program of a service can be used.
  var probe: ServiceProbe? { execution.probe }

  func end() {
    isOver = true
    observation = nil
    probe?.stop()
  }

  /// Calls `body` once, on any thread, when a probe or the program itself says that the program can be used.
  func whenServing(_ body: @escaping @Sendable () -> Void) {
    execution.notification?.whenReady(body)
    probe?.start(body)
  }

  private static func watches(of job: Job, _ shared: Lock<Shared>) -> [OutputWatch] {
    var watches: [OutputWatch] = []
    let patterns = job.attemptPolicy.patterns.compactMap { OutputPattern($0) }
    if !patterns.isEmpty {
      watches.append(OutputWatch("retry.only", patterns) { isFound in shared.withLock { $0.outputMatches = isFound } })
    }
    if case .output(let text) = job.service?.probe, let pattern = OutputPattern(text) {
      watches.append(
        OutputWatch("service.ready", [pattern]) { isFound in shared.withLock { $0.readiness.take() }?(isFound) })
    }
    return watches
  }

  /// Whether a line of the output has matched a pattern of the retry policy; from any thread.
  var outputMatches: Bool { shared.withLock(\.outputMatches) }

  /// Sets the handler that is called once the output shows that the program of a service can be used.
  ///
  /// Call this before the start. An attempt whose output can't be searched fails.
  func whenOutputIsReady(_ body: @escaping @Sendable () -> Void) {
    shared.withLock { shared in
      shared.readiness = { [weak operation] isUsable in
        if isUsable { body() } else { operation?.cancel(with: Self.endlessSearch) }
      }
    }
  }

  /// Makes a service fail before its start if another program already answers in its place.
  ///
  /// Call this before the operation is in a queue.
  func askBeforeStart() {
    probe?.ask(before: operation) { [weak operation] occupant in operation?.cancel(with: occupant) }
  }

  private static let endlessSearch = JobFailure(
    .error, "the pattern of service.ready took too long on its output: simplify it, or use another probe")

  /// Reads the values that the program has written for other jobs, once, on `queue`; false if there is nothing to read.
  ///
  /// `body` is called on `queue` with the values, and whether there is a file of added jobs. The values of a cluster job are
  /// not removed: a run that resumes this one follows the job and reads the file again.
  func readOutputs(
    on queue: DispatchQueue, secrets: SecretMask?, then body: @escaping @Sendable (OutputValues?, Bool) -> Void
  ) -> Bool {
    guard let path = valuesPath.take() else { return false }
    let additionPath = execution.additionPath
    let hasAddition: @Sendable () -> Bool = { additionPath.map { access($0, F_OK) == 0 } ?? false }
    // Files that the cluster's nodes share are not checked here: the file system may hang.
    guard execution.sharesValues else {
      let adds = hasAddition()
      if adds { foundAddition() }
      // Most programs write no values.
      guard access(path, F_OK) == 0 else { return false }
      queue.async { body(OutputValues(file: path, isKept: false, secrets: secrets), adds) }
      return true
    }
    queue.async { body(OutputValues(file: path, isKept: true, secrets: secrets), hasAddition()) }
    return true
  }

  /// Reads the values that the program of a service has written before it can be used, on `queue`; false if there are
  /// none.
  func readOutputsSoFar(
    on queue: DispatchQueue, secrets: SecretMask?, then body: @escaping @Sendable (OutputValues) -> Void
  ) -> Bool {
    guard let path = valuesPath, execution.sharesValues || access(path, F_OK) == 0 else { return false }
    queue.async { body(OutputValues(file: path, isKept: true, secrets: secrets) ?? OutputValues([])) }
    return true
  }

  /// Notes that there is a file of added jobs.
  func foundAddition() { addition = execution.additionPath.map { ($0, directory) } }

  /// The file of added jobs, once; nil if there is none.
  func takeAddition() -> AdditionFile? { addition.take() }

  /// The values for other jobs that the attempt has because it had nothing to do.
  var keptValues: [String: String]? { shared.withLock(\.keptValues) }

  func resizeTerminal(to size: TerminalSize) { (operation as? ShellOperation)?.resizeTerminal(to: size) }

  /// Whether the hash of the job's inputs is not known yet.
  var readsInputs: Bool { hasCheck && !isHashStated && !operation.isFinished }

  /// The hash of the job's inputs, once, when it is known.
  func takeInputsHash() -> String? {
    guard !isHashStated, let hash = shared.withLock(\.inputsHash) else { return nil }
    isHashStated = true
    return hash
  }

  /// Why there is something to do, once, when it is known.
  func takeCause() -> String? { shared.withLock { $0.cause.take() } }

  /// Records the start at `time` of the run's clock.
  func start(at time: Duration) {
    hasStarted = true
    shared.withLock { $0.startTime = time }
  }

  /// Notes that the cluster will start the attempt once more.
  func requeue() { (hasStarted, isWithCluster) = (false, true) }

  /// The success of a finished operation, from any thread; nil if it has not succeeded, or had nothing to do.
  func success(at time: Duration, outputs: [String: String]? = nil) -> AttemptSuccess? {
    guard AttemptOutcome(of: operation) == .succeeded else { return nil }
    // A fault in its added jobs makes it fail.
    if !execution.sharesValues, let path = execution.additionPath, access(path, F_OK) == 0 { return nil }
    let workTime = (operation as? any ReportingOperation)?.workTime
    return shared.withLock { shared in
      AttemptSuccess(
        job: job, attempt: number, took: workTime ?? shared.startTime.map { time - $0 } ?? .zero,
        inputsHash: shared.inputsHash, outputs: outputs)
    }
  }

  /// Whether the end closes the run, judged without the engine; from any thread, once the operation is about to finish.
  var closesRun: Bool {
    guard let endRule = admission.endRule else { return false }
    let (excess, outputMatches) = shared.withLock { ($0.excess, $0.outputMatches) }
    return endRule.closesRun(AttemptOutcome(claimedBy: operation), excess: excess, outputMatches: outputMatches)
  }

  /// The outcome of the attempt; valid once its operation has finished.
  var outcome: AttemptOutcome { ending ?? AttemptOutcome(of: operation) }

  /// Cancels the attempt; `limit` is the limit that it has exceeded, if that is the reason.
  func cancel(because limit: JobFailure? = nil) {
    if let limit { shared.withLock { $0.excess = limit } }
    control?.stop()
    operation.cancel()
  }

  /// Puts the operation behind all others of this priority in its queue.
  func enqueue(again priority: JobPriority) {
    // The queue moves an operation only when its priority changes.
    if operation.queuePriority == priority.queuePriority {
      operation.queuePriority = priority == .low ? .veryLow : .low
    }
    operation.queuePriority = priority.queuePriority
  }

  func pause() {
    probe?.isPaused = true
    if let control { control.pause() } else { (operation as? any ControllableOperation)?.pause() }
  }

  func resume() {
    probe?.isPaused = false
    if let control { control.resume() } else { (operation as? any ControllableOperation)?.resume() }
  }

  func kill() {
    if let operation = operation as? any ControllableOperation { operation.kill() } else { operation.cancel() }
  }
}

extension JobProgress.Unit {
  package init(of operation: Operation) {
    self = operation is DownloadOperation || operation is UploadOperation ? .bytes : .steps
  }
}

extension LogLine {
  /// Creates a line from a line that an operation has logged.
  package init(_ line: OperationLogLine) {
    let stream: LogLine.Stream =
      switch line.source {
      case .message, .standardOutput: .stdout
      case .standardError: .stderr
      case .note: .note
      }
    self.init(stream, line.text, isCut: line.isCut, isUnfinished: line.isUnfinished)
  }
}

extension JobPriority {
  package var queuePriority: Operation.QueuePriority {
    switch self {
    case .veryLow: .veryLow
    case .low: .low
    case .normal: .normal
    case .high: .high
    case .veryHigh: .veryHigh
    }
  }
}
