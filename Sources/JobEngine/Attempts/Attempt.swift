import Foundation
import JobModel
import Operations
import Processes
import Transfers

/// One attempt of a job in the operation queue, which the engine keeps until its end is stated.
package final class Attempt: @unchecked Sendable {
  // Safe: only the engine's queue accesses the variables.
  let ticket: Int
  package let job: JobID
  let number: Int
  package let operation: AsyncOperation
  /// Controls the work where the operation does not.
  package let control: (any RemoteControl)?
  /// The unit of the operation's progress.
  let unit: JobProgress.Unit
  private(set) var hasStarted = false
  /// Whether the attempt was or will be submitted and, as currently known, the cluster has not started it.
  var isWithCluster: Bool
  /// The place of the attempt in the cluster.
  var place: ClusterPlace?
  /// A line for the log at the start.
  let note: String?
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
  private var valuesPath: String?
  private let sharesValues: Bool
  /// The values that the program has written for other jobs, once they are read.
  var outputs: OutputValues?
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
  /// `job` contains the values of other jobs in its texts, or is the failure with which the attempt ends.
  init(
    _ admission: Admission, _ job: Result<Job, JobFailure>, by executor: any Executor, named name: String,
    logPath: String?, check: UpToDateCheck?, options: JobQueue.Options
  ) {
    let (inputsHash, earlierValues) = (Lock<String?>(nil), Lock<[String: String]?>(nil))
    let (retryMatch, readiness) = (Lock(false), Lock<(@Sendable (Bool) -> Void)?>(nil))
    let execution: Execution
    switch job {
    case .failure(let failure): execution = Execution(ClosureOperation<Void> { throw failure })
    case .success(let job):
      execution = executor.execution(
        of: AttemptRequest(
          admission: admission, job: job, logPath: logPath, options: options,
          watches: Self.watches(of: job, retryMatch, readiness),
          check: check?.operationCheck(
            hashed: { hash in inputsHash.withLock { $0 = hash } },
            kept: { values in earlierValues.withLock { $0 = values } })))
    }
    (self.inputsHash, self.earlierValues) = (inputsHash, earlierValues)
    (self.retryMatch, self.readiness) = (retryMatch, readiness)
    ticket = admission.ticket
    number = admission.attempt
    endRule = admission.endRule
    self.job = admission.job
    operation = execution.operation
    operation.name = name
    control = execution.control
    isWithCluster = execution.startsLater
    (place, note) = (execution.place, execution.note)
    valuesPath = execution.valuesPath
    sharesValues = execution.sharesValues
    probe = execution.probe
    unit = JobProgress.Unit(of: operation)
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
    // Most programs write no values. Files that the cluster's nodes share are not checked here: the file system may
    // hang.
    guard let path = valuesPath.take(), sharesValues || access(path, F_OK) == 0 else { return false }
    queue.async { [sharesValues] in body(OutputValues(file: path, isKept: sharesValues)) }
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
    let workTime = (operation as? any ReportingOperation)?.workTime
    return AttemptSuccess(
      job: job, attempt: number, took: workTime ?? startTime.withLock(\.self).map { time - $0 } ?? .zero,
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

  /// Cancels the attempt; `limit` is the limit that it has exceeded, if that is the reason.
  func cancel(because limit: JobFailure? = nil) {
    if let limit { excess.withLock { $0 = limit } }
    control?.stop()
    operation.cancel()
  }

  func pause() { if let control { control.pause() } else { (operation as? any ControllableOperation)?.pause() } }

  func resume() { if let control { control.resume() } else { (operation as? any ControllableOperation)?.resume() } }

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
  /// The priority as an operation has it.
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
