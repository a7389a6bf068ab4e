import Dispatch
import Foundation
import JobModel
import Operations
import Processes
import Slurm

/// Runs a job graph in a real `OperationQueue` and states the facts.
///
/// Each attempt is one operation in the queue, which this object observes on the queue of its fact stream. There the
/// scheduler decides, facts are stated, and operations are admitted, cancelled or paused.
package final class JobQueue: FactStream.Source, @unchecked Sendable {
  // Safe: only the stream's queue accesses the fields below the line.
  /// Thousands of short jobs a second are handled in batches; the attempts admitted beyond the width hide the wait.
  private static let interval = DispatchTimeInterval.milliseconds(20)

  package let id: String
  package let folder: RunFolder?
  package let stream: FactStream
  private let options: Options
  /// The statement of the run, except for its slots and its time.
  private let runStart: RunStart
  /// Whether the operation queue executes jobs in another order than that of their arrival.
  private let hasPriorities: Bool
  private let fileHashes = FileHashes()
  /// The names of each job's values that other jobs read.
  private let readValues: [JobID: Set<String>]
  private let lanes: Lanes
  var slurm: any SlurmRunner { options.slurm }
  /// The allocation that the run requests or was started in; with one, cluster jobs are its steps.
  let allocationTerms: ClusterTerms?
  var surroundingAllocation: SlurmJobID? { options.surroundingAllocation }
  /// The queue on which the values that programs have written are read.
  private let reading = DispatchQueue(label: "opdash.outputs", qos: .userInitiated)

  /// The scheduler's gate, for any thread.
  private let gate: AttemptGate
  // ---- touched only on the stream's queue
  var scheduler: Scheduler
  /// Attempts by ticket; an attempt that has been removed has no effect.
  private(set) var attempts: [Int: Attempt] = [:]
  private var whenAttemptSucceeds: (@Sendable (AttemptSuccess) -> Void)?
  /// The observers of this run and of each run that it resumes, by run ID, created for the first cluster job of the
  /// run.
  private var observers: [String: SlurmObserver] = [:]
  /// Attempts of earlier runs that no observer has reported a status for.
  private var earlierClusterJobs: [JobID: EarlierClusterJob]
  /// Whether Slurm was asked to end some of them and has not answered yet.
  private var isEndingEarlierJobs = false
  /// Created when it is requested.
  var allocation: RunAllocation?
  /// How often each job was submitted to the cluster: an attempt that is cancelled before its start is submitted again.
  private var submissions: [JobID: Int] = [:]
  /// The parts of a launch that all programs of the run share.
  private(set) var launching: LaunchTerms
  /// Ends the initial hold, during which no attempt is executed; nil after it.
  private var hold: (any OperationTimer)?

  /// Creates the run's folder; nothing starts before `start`.
  package init(_ graph: JobGraph, options: Options = Options(), clock: any OperationClock = .system)
    throws(RunFolderError)
  {
    var graph = graph
    if let policy = options.onFailure { graph.onFailure = policy }
    let slots = max(1, options.slots ?? graph.slots ?? ProcessInfo.processInfo.activeProcessorCount)
    graph.slots = slots
    self.options = options
    hasPriorities = graph.schedule != .fifo
    readValues = graph.readValues
    folder = if let state = options.stateFolder { try RunFolder(in: state) } else { nil }
    id = folder?.id ?? UUID().uuidString.lowercased()
    runStart = RunStart(
      id: id, name: graph.name, slots: slots, at: .distantPast, jobs: graph.jobs.count, pools: graph.pools,
      folder: folder?.path, resumes: options.resumes, timeout: graph.timeout, isOpen: options.isOpen)
    stream = FactStream(label: "opdash.engine", pace: .init(interval: Self.interval), clock: clock)
    scheduler = Scheduler(
      graph, journal: stream.journal,
      terms: .init(
        seed: options.seed, canAsk: options.canAsk, approved: options.approved, leavesWork: options.leavesWork,
        hasAllocation: options.surroundingAllocation != nil || graph.allocation != nil))
    gate = scheduler.gate
    lanes = Lanes(slots: slots, clusterJobs: scheduler.terms.clusterJobs)
    allocationTerms = graph.allocation
    earlierClusterJobs = options.earlierClusterJobs
    launching = LaunchTerms(
      run: id, folder: folder?.path, secrets: graph.secrets, common: options.variables)
    stream.journal.secrets = launching.secrets
    stream.source = self
  }

  deinit {
    for attempt in attempts.values {
      // An attempt and its handlers keep each other alive, and so do an executing operation and its queue.
      attempt.end()
      attempt.operation.cancel()
    }
  }

  /// Executes no attempt until `register` calls its argument or `limit` has passed; to be called before `start`.
  package func hold(atMost limit: Duration, until register: (@escaping @Sendable () -> Void) -> Void) {
    stream.queue.sync {
      lanes.set(.recording, true)
      hold = stream.clock.schedule(after: limit, on: stream.queue) { [weak self] in self?.release() }
    }
    register { [weak self] in
      guard let self else { return }
      stream.queue.async { self.release() }
    }
  }

  /// Sets the handler that is called with each success, at once, on the thread that finishes the operation.
  ///
  /// Call this before `start`; the handler must not block. The fact of the success is stated independently, up to 20 ms
  /// later. The handler is not called for an attempt that had nothing to do.
  package func whenAttemptSucceeds(_ body: @escaping @Sendable (AttemptSuccess) -> Void) {
    stream.queue.sync { whenAttemptSucceeds = body }
  }

  private func release() {
    hold?.cancel()
    hold = nil
    lanes.set(.recording, false)
  }

  /// States the run and its jobs, and starts jobs; subscribe before the call to receive all events.
  package func start() {
    stream.queue.async { [self] in
      stream.begin()
      var start = runStart
      (start.slots, start.at) = (lanes[.slots].maxConcurrentOperationCount, Date().wholeMilliseconds)
      scheduler.start(start, restored: options.restored, inputs: options.restoredInputs)
      perform()
    }
  }

  /// Adds jobs without needs to a run that began open; any thread may call it.
  package func add(_ jobs: [Job]) {
    stream.queue.async { self.enter { $0.scheduler.add(jobs) } }
  }

  /// Declares that no further job will be added.
  package func endArrivals() {
    stream.queue.async { self.enter { $0.scheduler.endArrivals() } }
  }

  package func send(_ command: JobCommand) {
    // Attempts that have started by now are stated before the stop, and before that the end that made room for them.
    if case .stop(let level, _) = command { gate.close(to: level == .kill ? .none : .final) }
    // After every change that was observed before.
    stream.deliveries.deliverNow { self.enter { $0.obey(command) } }
  }

  private func obey(_ command: JobCommand) {
    switch command {
    case .finish(let signal): stream.finish(signal: signal)
    case .setTerminalSize(let columns, let rows): resizeTerminals(columns, rows)
    default: scheduler.handle(command)
    }
  }

  // MARK: Attempts, on the stream's queue

  private func admit(_ admission: Admission) {
    let job = scheduler.graph[admission.job]
    let logPath = folder.map {
      LogPath.file(in: $0.path, job: job.name, id: admission.job, attempt: admission.attempt)
    }
    // An earlier run's job may have created only a part of its products.
    let mustExecute = earlierClusterJobs[admission.job] != nil
    let wanted = readValues[admission.job].map { [values = options.earlierValues] names in
      UpToDateCheck.WantedValues(names: names) { values(admission.job) }
    }
    let check = UpToDateCheck(
      job, attempt: admission.attempt, mustExecute: mustExecute, wanted: wanted, hashes: fileHashes
    ) { [earlier = options.earlier] in earlier(admission.job) }
    let work: Result<Job, JobFailure>
    do throws(JobFailure) { work = .success(try scheduler.resolved(job)) } catch { work = .failure(error) }
    var launch: LaunchTerms.Launch?
    var step: RunAllocation.Step?
    var cluster: ClusterAttempt?
    if case .success(let job) = work, case .shell(let shell) = job.work {
      // A cluster job that an earlier run has left is followed, even if there is an allocation now.
      if let terms = shell.cluster, admission.node == nil || earlierClusterJobs[admission.job] != nil {
        cluster = clusterAttempt(shell, terms, of: admission, named: job.name)
      } else {
        var local = launching.launch(shell, of: admission, named: job.name)
        step = makeStep(of: &local.program, shell, admission)
        launch = local
      }
    }
    let attempt = Attempt(
      admission, work, name: job.name, logPath: logPath, logLimit: options.logLimit,
      keepsShortLog: options.keepsShortLogs, check: check, launch: launch, step: step, cluster: cluster,
      secrets: launching.secrets, clock: stream.clock)
    let operation = attempt.operation
    if hasPriorities { operation.queuePriority = admission.priority.queuePriority }
    attempt.observation = operation.events(Self.kinds, on: stream.queue) { [weak self] event, time, receipt in
      self?.enter(attempt, at: time) { $0.take(event, of: attempt, receipt) }
    }
    attempt.askBeforeStart()
    attempt.whenOutputIsReady { [weak self, weak attempt] in
      if let attempt { self?.served(attempt) }
    }
    if let whenAttemptSucceeds {
      operation.whenEnded { [stream] _, _ in
        if let success = attempt.success(at: stream.elapsed) { whenAttemptSucceeds(success) }
      }
    }
    gate.add(attempt.ticket, isFinal: job.finally != nil, startsAtOnce: !attempt.isWithCluster)
    operation.askAtStart { [gate, ticket = attempt.ticket] in gate.pass(ticket) }
    if admission.endRule != nil {
      operation.beforeEnd { [gate, weak attempt] _ in
        if let attempt, attempt.closesRun { gate.hold(attempt.ticket) }
      }
    }
    attempts[attempt.ticket] = attempt
    if let step { place(attempt, step.allocation, nodes: step.node) }
    lanes[job.lane].addOperation(operation)
  }

  /// The kinds of events of an attempt that matter.
  private static let kinds: OperationEvent.Kinds = [.begun, .launched, .progress, .lines, .stops, .placed, .ended]

  /// The entry of everything that reaches the stream's queue: calls `body` unless the run or the attempt is over, and carries
  /// out what the scheduler has decided.
  func enter(_ attempt: Attempt? = nil, at time: Duration? = nil, _ body: (JobQueue) -> Void) {
    guard !stream.isOver, attempt?.isOver != true else { return }
    stream.date(time ?? stream.clock.now)
    body(self)
    perform()
  }

  private func take(_ event: OperationEvent, of attempt: Attempt, _ receipt: LogReceipt?) {
    switch event {
    case .begun: started(attempt)
    case .launched(let pid): launched(attempt, pid)
    case .progress(let progress): progressed(attempt, progress)
    case .lines(let lines): for line in lines { logged(attempt, line, receipt) }
    case .stopped(let signal): stopped(attempt, by: signal)
    case .continued: stopped(attempt, by: nil)
    case .placed(let status as SlurmStatus): moved(attempt, to: status)
    case .ended: finished(attempt)
    case .attached, .starting, .placed, .produced, .cancelled, .executed: break
    }
  }

  /// Called for the first observation of any kind: output may come before `main` has returned.
  private func started(_ attempt: Attempt) {
    guard !attempt.hasStarted, !attempt.isWithCluster, !gate.hasRefused(attempt.ticket) else { return }
    attempt.start(at: stream.journal.now)
    scheduler.attemptStarted(
      ticket: attempt.ticket, pid: (attempt.operation as? ShellOperation)?.processIdentifier)
    if let note = attempt.step?.note {
      stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(.note, note)))
    }
    attempt.probe?.start { [weak self, weak attempt] in
      if let attempt { self?.served(attempt) }
    }
  }

  /// Handles a service whose program can be used; any thread may call this.
  private func served(_ attempt: Attempt) {
    // After every event that was posted before, such as the line that says so.
    stream.deliveries.deliverNow {
      self.enter(attempt) { $0.scheduler.serviceIsReady(ticket: attempt.ticket) }
    }
  }

  private func progressed(_ attempt: Attempt, _ progress: OperationProgress) {
    started(attempt)
    stream.report(
      JobProgress(done: progress.completed, total: progress.total, unit: attempt.unit), of: attempt.job)
  }

  private func logged(_ attempt: Attempt, _ line: OperationLogLine, _ receipt: LogReceipt?) {
    started(attempt)
    stateInputs(attempt)
    stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(line)))
    stream.holdOutput(receipt)
    guard line.source != .note else { return }
    scheduler.attemptSpoke(ticket: attempt.ticket)
  }

  private func launched(_ attempt: Attempt, _ pid: Int32) {
    let isFirst = !attempt.hasStarted
    started(attempt)
    stateInputs(attempt)
    // After a check or a pause the attempt has started before its program.
    if !isFirst { scheduler.attemptLaunched(ticket: attempt.ticket, pid: pid) }
  }

  /// States the hash of the inputs if it is known and not stated yet.
  private func stateInputs(_ attempt: Attempt) {
    if let hash = attempt.takeInputsHash() { stream.state(.inputsHashed(attempt.job, hash)) }
  }

  /// Handles a program that was stopped by a signal that this run has not sent, or that continues.
  private func stopped(_ attempt: Attempt, by signal: Int32?) {
    started(attempt)
    let text =
      signal.map { "the program was stopped by \(SignalName.of($0)): resuming the job continues it" }
      ?? "the program continues"
    stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(.note, text)))
    scheduler.attemptStopped(ticket: attempt.ticket, isStopped: signal != nil)
  }

  func finished(_ attempt: Attempt) {
    if gate.hasRefused(attempt.ticket) {
      end(attempt)
      return scheduler.attemptWithdrawn(ticket: attempt.ticket)
    }
    if attempt.mayHaveLostAllocation { return askForEnd(of: attempt) }
    if attempt.isWithCluster, AttemptOutcome(of: attempt.operation) == .cancelled {
      // The attempt was withdrawn before the cluster had started it.
      end(attempt)
      return scheduler.attemptWithdrawn(ticket: attempt.ticket)
    }
    attempt.isWithCluster = false
    started(attempt)
    stateInputs(attempt)
    // On another queue: the program may have put anything in the file's place.
    let isReading = attempt.readOutputs(on: reading) { [weak self] outputs in
      guard let self else { return }
      stream.queue.async {
        self.enter(attempt) {
          attempt.outputs = outputs
          $0.finished(attempt)
        }
      }
    }
    if isReading { return }
    end(attempt)
    stream.flushProgress(of: attempt.job)
    let outcome = attempt.outcome
    if var output = attempt.outputs {
      if let secrets = launching.secrets { output.removeSecrets(secrets) }
      if let fault = output.fault { stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(.note, fault))) }
      if !output.values.isEmpty { stream.state(.jobOutputs(attempt.job, output.values)) }
    }
    if outcome == .upToDate, let values = attempt.keptValues { stream.state(.jobOutputs(attempt.job, values)) }
    scheduler.attemptEnded(ticket: attempt.ticket, outcome, outputMatches: attempt.outputMatches)
  }

  // MARK: Cluster jobs

  private func clusterAttempt(
    _ work: ShellWork, _ terms: ClusterTerms, of admission: Admission, named name: String
  ) -> ClusterAttempt {
    // Kept until the observer has the job: an attempt that is withdrawn earlier leaves it to the next one.
    let earlier = earlierClusterJobs[admission.job]
    let observer = observer(of: earlier?.run ?? id, in: earlier?.folder ?? launching.clusterFolder)
    if earlier == nil { submissions[admission.job, default: 0] += 1 }
    let identity = observer.identity(job: name, attempt: earlier?.number ?? submissions[admission.job] ?? 1)
    return ClusterAttempt(
      launch: launching.clusterLaunch(
        work, terms, of: admission, named: name, identity: identity, files: observer.files),
      observer: observer, mayExist: earlier != nil)
  }

  /// Ends in Slurm the jobs that earlier runs have left and that have ended here without being followed, one run at a
  /// time.
  private func endEarlierClusterJobs() {
    guard !isEndingEarlierJobs else { return }
    let over = earlierClusterJobs.filter { scheduler.state($0.key).isTerminal }
    guard let first = over.first?.value else { return }
    isEndingEarlierJobs = true
    let observer = observer(of: first.run, in: first.folder)
    var left: Set<SlurmIdentity> = []
    let ending = over.filter { $0.value.run == first.run }
    for (id, job) in ending { left.insert(observer.identity(job: scheduler.graph[id].name, attempt: job.number)) }
    EarlierClusterJob.end(left, of: observer, slurm) { [weak self] hasAnswered in
      guard let self else { return }
      // A controller that is down is awaited, as for jobs that are followed.
      let delay = hasAnswered ? Duration.zero : SlurmObserver.Settings().downInterval
      _ = stream.clock.schedule(after: delay, on: stream.queue) { [weak self] in
        guard let self else { return }
        if hasAnswered { for id in ending.keys { earlierClusterJobs[id] = nil } }
        isEndingEarlierJobs = false
        perform()
      }
    }
  }

  func observer(of run: String, in folder: String) -> SlurmObserver {
    if let observer = observers[run] { return observer }
    var settings = SlurmObserver.Settings()
    settings.inFlight = scheduler.terms.clusterJobs
    let observer = SlurmObserver(
      run: run, folder: folder, settings: settings, runner: slurm, clock: stream.clock)
    observers[run] = observer
    observer.whenControllerChanges { [weak self] controller in
      guard let self else { return }
      stream.queue.async { self.enter { $0.changed(controller) } }
    }
    return observer
  }

  private func changed(_ controller: SlurmController) {
    switch controller {
    case .answers:
      if stream.journal.run.clusterOutage != nil { stream.state(.clusterChanged(fault: nil)) }
    case .down(_, let fault): stream.state(.clusterChanged(fault: fault))
    }
  }

  private func moved(_ attempt: Attempt, to status: SlurmStatus) {
    if status != .waiting { earlierClusterJobs[attempt.job] = nil }
    switch status {
    case .waiting:
      scheduler.attemptWaits(ticket: attempt.ticket, reason: nil)
    case .submitted(let id):
      place(attempt, id, nodes: nil)
      scheduler.attemptWaits(ticket: attempt.ticket, reason: nil)
    case .pending(let id, let reason):
      place(attempt, id, nodes: nil)
      scheduler.attemptWaits(ticket: attempt.ticket, reason: reason?.description)
    case .running(let id, let nodes):
      place(attempt, id, nodes: nodes)
      attempt.isWithCluster = false
      started(attempt)
    case .requeued(let id):
      guard scheduler.attemptRequeued(ticket: attempt.ticket) else { break }
      attempt.requeue()
      place(attempt, id, nodes: nil)
    case .ended(let outcome):
      // Jobs that are shorter than the time between two queries are never seen executing.
      guard let id = outcome.id else { break }
      place(attempt, id, nodes: outcome.nodes.isEmpty ? nil : outcome.nodes, took: outcome.took)
      guard !outcome.nodes.isEmpty, !attempt.operation.isCancelled else { break }
      attempt.isWithCluster = false
      started(attempt)
    }
  }

  private func place(_ attempt: Attempt, _ id: SlurmJobID, nodes: String?, took: Duration? = nil) {
    let place = ClusterPlace(id: id.description, nodes: nodes, took: took)
    guard attempt.place != place else { return }
    attempt.place = place
    stream.state(.jobPlaced(attempt.job, place))
  }

  private func resizeTerminals(_ columns: Int, _ rows: Int) {
    launching.terminalSize = TerminalSize(columns: max(1, columns), rows: max(1, rows))
    for attempt in attempts.values { attempt.resizeTerminal(to: launching.terminalSize) }
  }

  private func end(_ attempt: Attempt) {
    attempt.end()
    attempts[attempt.ticket] = nil
  }

  /// Carries out the decisions of the scheduler.
  func perform() {
    while true {
      let actions = scheduler.takeActions()
      if actions.isEmpty { break }
      for action in actions { perform(action) }
    }
    if !earlierClusterJobs.isEmpty { endEarlierClusterJobs() }
    stream.setNeedsDelivery()
  }

  private func perform(_ action: Scheduler.Action) {
    switch action {
    case .admit(let admission): admit(admission)
    case .withdraw(let ticket):
      if let attempt = attempts[ticket], attempt.operation.withdraw() {
        end(attempt)
        scheduler.attemptWithdrawn(ticket: ticket)
      } else if let attempt = attempts[ticket], attempt.isWithCluster {
        // The cluster has the attempt, or will have it in a moment: the attempt ends when the cluster reports the end.
        attempt.operation.cancel()
      }
    case .cancel(let ticket): attempts[ticket]?.cancel(because: scheduler.excess(of: ticket))
    case .kill(let ticket): attempts[ticket]?.kill()
    case .pause(let ticket): attempts[ticket]?.pause()
    case .resume(let ticket): attempts[ticket]?.resume()
    case .prioritize(let ticket, let priority): attempts[ticket]?.operation.queuePriority = priority.queuePriority
    case .setWidth(let width): lanes[.slots].maxConcurrentOperationCount = width
    case .setSuspended(let isSuspended): lanes.set(.drain, isSuspended)
    case .requestAllocation: requestAllocation()
    case .releaseAllocation: allocation?.release()
    }
  }
}

extension JobQueue {
  package var nextWake: Duration? { scheduler.nextWake }

  package func wake() {
    scheduler.wake()
    perform()
  }

  /// The burst: each attempt that starts when another has ended makes three deliveries; they must not wait until a slot
  /// is free.
  package var burst: Int {
    3 * (scheduler.inQueue - stream.journal.run.counts.active - Scheduler.ahead / 4)
  }

  package var isBusy: Bool {
    scheduler.inQueue > 0 || stream.journal.run.counts.active > 0 || allocation?.isReleasing == true
      || isEndingEarlierJobs
  }

  package func didEnd() {
    for attempt in attempts.values { attempt.end() }
    attempts = [:]
    allocation?.release()
    if folder == nil {
      if !observers.isEmpty { try? FileManager.default.removeItem(atPath: launching.clusterFolder) }
    } else {
      for observer in observers.values { observer.files.removeScriptsAndValues() }
    }
    launching.removeFolder()
    folder?.removeIfEmpty()
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
