import Foundation
import JobModel
import Operations
import Processes
import Slurm
import Transfers

/// One attempt of a job in the operation queue, which the engine keeps until its end is stated.
final class Attempt: @unchecked Sendable {
  // Safe: only the engine's queue accesses the variables.
  let ticket: Int
  let operation: AsyncOperation
  let job: JobID
  let number: Int
  /// The unit of the operation's progress.
  let unit: JobProgress.Unit
  private(set) var hasStarted = false
  /// Whether the attempt was or will be submitted and, as currently known, the cluster has not started it.
  var isWithCluster: Bool
  /// The place of the attempt in the cluster.
  var place: ClusterPlace?
  /// Whether the end was stated or the attempt was withdrawn; later observations have no effect.
  private(set) var isOver = false
  /// Keeps its handler, and thereby the attempt, until `end()`.
  var observation: ObservationToken?
  /// The hash of the job's inputs, once it is known.
  private let inputsHash: Lock<String?>
  private var isHashStated = false
  /// The values, from an earlier run, of an attempt that had nothing to do.
  private let earlierValues: Lock<[String: String]?>
  /// The file that the program writes values for other jobs to; nil for other work, and once it is being read.
  private var outputPath: String?
  /// The values that the program has written for other jobs, once they are read.
  var outputs: OutputValues?
  /// The step of an allocation that executes the attempt; nil for anything else.
  let step: RunAllocation.Step?
  /// The outcome, if the operation can't provide it.
  var ending: AttemptOutcome?
  /// Checks whether the program of a service can be used.
  let probe: ServiceProbe?
  /// Whether a line of the output matches a pattern of the retry policy.
  private let retryMatch: Lock<Bool>
  /// Called once the output shows whether the program of a service can be used.
  private let readiness: Lock<(@Sendable (_ isUsable: Bool) -> Void)?>
  /// Decides whether the end closes the run; nil if no end does.
  private let endRule: EndRule?
  /// The limit that the attempt exceeded before the engine cancelled it.
  private let excess = Lock<JobFailure?>(nil)
  /// When the start was observed, on the run's clock.
  private let startTime = Lock<Duration?>(nil)

  /// Creates the operation of an attempt; nothing starts before the operation is in a queue.
  ///
  /// `job` contains the values of other jobs in its texts, or is the failure with which the attempt ends. A shell job,
  /// including one in a `step`, has a `launch`; a job of the cluster has a `cluster` instead. The `check` is made
  /// before the program starts.
  init(
    _ admission: Admission, _ job: Result<Job, JobFailure>, name: String, logPath: String?, logLimit: Int,
    keepsShortLog: Bool = true, check: UpToDateCheck? = nil, launch: LaunchTerms.Launch? = nil,
    step: RunAllocation.Step? = nil, cluster: ClusterAttempt? = nil, secrets: SecretMask? = nil,
    clock: any OperationClock
  ) {
    let inputsHash = Lock<String?>(nil)
    let earlierValues = Lock<[String: String]?>(nil)
    (self.inputsHash, self.earlierValues) = (inputsHash, earlierValues)
    ticket = admission.ticket
    number = admission.attempt
    endRule = admission.endRule
    self.job = admission.job
    outputPath = launch?.outputPath ?? cluster?.launch.outputPath
    isWithCluster = cluster != nil
    self.step = step
    let (retryMatch, readiness) = (Lock(false), Lock<(@Sendable (Bool) -> Void)?>(nil))
    self.retryMatch = retryMatch
    self.readiness = readiness
    let watches = (try? job.get()).map { Self.watches(of: $0, retryMatch, readiness) } ?? []
    probe = (try? job.get()).flatMap { job in
      guard case .shell(let work) = job.work, let service = work.service, let probe = service.probe, let launch
      else { return nil }
      if case .output = probe { return nil }
      return ServiceProbe(
        probe, interval: service.interval, launch: launch.program, shell: work.shell, clock: clock)
    }
    switch job.map(\.work) {
    case .failure(let failure): operation = ClosureOperation<Void> { throw failure }
    case .success(.shell(let work)):
      let check = check?.operationCheck(
        hashed: { hash in inputsHash.withLock { $0 = hash } },
        kept: { values in earlierValues.withLock { $0 = values } })
      if let cluster {
        let file = logPath.map { LogFile(path: $0, limit: logLimit) }
        let log = SlurmOperation.LogTerms(
          file: file, keepsShort: keepsShortLog, progress: work.progress, watches: watches)
        operation = cluster.operation(check: check, log: log)
        break
      }
      guard let launch else { preconditionFailure("a shell job of this machine has a launch") }
      operation = ShellOperation(
        launch.program, logPath: logPath, logLimit: logLimit, keepsShortLog: keepsShortLog, progress: work.progress,
        watches: watches, check: check, clock: clock)
    case .success(.download(let work)):
      operation = Self.transfer(
        DownloadOperation(
          from: work.url, to: URL(fileURLWithPath: work.file), headers: work.headers, sha256: work.sha256,
          resume: work.resume, existing: .init(work.existing), usesServerName: work.usesServerName, thread: .shared),
        work.stall, logPath, secrets)
    case .success(.upload(let work)):
      operation = Self.transfer(
        UploadOperation(
          URL(fileURLWithPath: work.file), to: work.url, method: work.method, headers: work.headers, thread: .shared),
        work.stall, logPath, secrets)
    case .success(.simulate(let work)):
      operation = SimulatedOperation(work, attempt: number, clock: clock)
    case .success(.operation(let work)):
      preconditionFailure("\(work.className) is executed by the queue that it is in, and by no engine")
    }
    operation.name = name
    unit = JobProgress.Unit(of: operation)
  }

  private static func transfer<Success>(
    _ operation: TransferOperation<Success>, _ stall: Duration, _ logPath: String?, _ secrets: SecretMask?
  ) -> AsyncOperation {
    operation.stallTimeout = stall
    if let logPath { operation.keepNotes(in: logPath, masking: secrets) }
    return operation
  }

  func end() {
    isOver = true
    observation = nil
    probe?.stop()
  }

  private static func watches(
    of job: Job, _ retryMatch: Lock<Bool>, _ readiness: Lock<(@Sendable (Bool) -> Void)?>
  ) -> [OutputWatch] {
    var watches: [OutputWatch] = []
    let patterns = job.attemptPolicy.patterns.compactMap { OutputPattern($0) }
    if !patterns.isEmpty {
      watches.append(OutputWatch("retry.only", patterns) { isFound in retryMatch.withLock { $0 = isFound } })
    }
    if case .output(let text) = job.service?.probe, let pattern = OutputPattern(text) {
      watches.append(OutputWatch("service.ready", [pattern]) { isFound in readiness.withLock { $0.take() }?(isFound) })
    }
    return watches
  }

  /// Whether a line of the output has matched a pattern of the retry policy; from any thread.
  var outputMatches: Bool { retryMatch.withLock(\.self) }

  /// Sets the handler that is called once the output shows that the program of a service can be used.
  ///
  /// Call this before the start. An attempt whose output can't be searched fails.
  func whenOutputIsReady(_ body: @escaping @Sendable () -> Void) {
    readiness.withLock { readiness in
      readiness = { [weak operation] isUsable in
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
  /// `body` is called on `queue` with the values. The file of a cluster job is not removed: a run that resumes this one
  /// follows the job and reads the file again.
  func readOutputs(on queue: DispatchQueue, then body: @escaping @Sendable (OutputValues?) -> Void) -> Bool {
    let isClusterJob = operation is SlurmOperation
    // Most programs write no values. Files that the cluster's nodes share are not checked here: the file system may
    // hang.
    guard let path = outputPath.take(), isClusterJob || access(path, F_OK) == 0 else { return false }
    queue.async { body(OutputValues(file: path, isKept: isClusterJob)) }
    return true
  }

  /// The values for other jobs that the attempt has because it had nothing to do.
  var keptValues: [String: String]? { earlierValues.withLock(\.self) }

  func resizeTerminal(to size: TerminalSize) { (operation as? ShellOperation)?.resizeTerminal(to: size) }

  /// The hash of the job's inputs, once, when it is known.
  func takeInputsHash() -> String? {
    guard !isHashStated, let hash = inputsHash.withLock(\.self) else { return nil }
    isHashStated = true
    return hash
  }

  /// Records the start at `time` of the run's clock.
  func start(at time: Duration) {
    hasStarted = true
    startTime.withLock { $0 = time }
  }

  /// Notes that the cluster will start the attempt once more.
  func requeue() { (hasStarted, isWithCluster) = (false, true) }

  /// The success of a finished operation, from any thread; nil if it has not succeeded, or had nothing to do.
  func success(at time: Duration) -> AttemptSuccess? {
    guard AttemptOutcome(of: operation) == .succeeded else { return nil }
    let noted = try? (operation as? SlurmOperation)?.outcome?.get().took
    return AttemptSuccess(
      job: job, attempt: number, took: noted ?? startTime.withLock(\.self).map { time - $0 } ?? .zero,
      inputsHash: inputsHash.withLock(\.self))
  }

  /// Whether the end closes the run, judged without the engine; from any thread, once the operation is about to finish.
  var closesRun: Bool {
    guard let endRule else { return false }
    return endRule.closesRun(
      AttemptOutcome(claimedBy: operation), excess: excess.withLock(\.self), outputMatches: outputMatches)
  }

  /// The outcome of the attempt; valid once its operation has finished.
  var outcome: AttemptOutcome { ending ?? AttemptOutcome(of: operation) }

  /// Whether the launch of a step has found that the allocation had ended; how it ended must be queried.
  var mayHaveLostAllocation: Bool {
    guard step != nil, ending == nil, !operation.isCancelled, let shell = operation as? ShellOperation else {
      return false
    }
    return shell.exit == .exited(SlurmAllocation.endedStatus)
  }

  /// Cancels the attempt; `limit` is the limit that it has exceeded, if that is the reason.
  func cancel(because limit: JobFailure? = nil) {
    if let limit { excess.withLock { $0 = limit } }
    if let step, let shell = operation as? ShellOperation { step.stop(shell) }
    operation.cancel()
  }

  func pause() {
    if let step { signal(step, "STOP") } else { (operation as? any ControllableOperation)?.pause() }
  }

  func resume() {
    if let step { signal(step, "CONT") } else { (operation as? any ControllableOperation)?.resume() }
  }

  private func signal(_ step: RunAllocation.Step, _ signal: String) {
    if let shell = operation as? ShellOperation { step.send(signal, of: shell) }
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

extension DownloadOperation.ExistingFile {
  init(_ existing: DownloadWork.Existing) {
    switch existing {
    case .number: self = .number
    case .skip: self = .skip
    case .overwrite: self = .overwrite
    }
  }
}
