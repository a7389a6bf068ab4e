import Dispatch
import Foundation
import JobModel
import Operations
import Processes

/// Runs a job graph in a real `OperationQueue` and states the facts.
///
/// Each attempt is one operation in the queue, which this object observes on the queue of its fact stream. There the
/// scheduler decides, facts are stated, and operations are admitted, cancelled or paused.
package final class JobQueue: FactStream.Source, ClusterRun, @unchecked Sendable {
  // Safe: only the stream's queue accesses the fields below the line.
  /// Thousands of short jobs a second are handled in batches; the attempts admitted beyond the width hide the wait.
  private static let interval = DispatchTimeInterval.milliseconds(20)

  package let id: String
  package let folder: RunFolder?
  package let stream: FactStream
  private let options: JobQueueOptions
  /// The statement of the run, except for its slots and its time.
  private let runStart: RunStart
  let fileHashes: FileHashes
  /// As `JobGraph.readValues`.
  private var readValues: [JobID: Set<String>]
  private let lanes: Lanes
  package let programs: ProcessExecutor
  private let transfers: TransferExecutor
  private let simulations: SimulationExecutor
  /// The queue on which the values that programs have written are read.
  let reading = DispatchQueue(label: "opdash.outputs", qos: .userInitiated)

  /// Adds jobs during the run; nil if it takes none.
  let additions: Additions?

  /// The scheduler's gate, for any thread.
  let gate: AttemptGate
  // ---- touched only on the stream's queue
  var scheduler: Scheduler
  /// Attempts by ticket; an attempt that has been removed has no effect.
  private(set) var attempts: [Int: Attempt] = [:]
  private(set) var whenAttemptSucceeds: (@Sendable (AttemptSuccess) -> Void)?
  /// Nil for a run without a cluster.
  private(set) var cluster: (any ClusterExecutor)?
  /// The watch over the files that jobs read; nil while it is off.
  private var watch: InputWatch?
  /// Shares the slots with the programs of jobs; nil where none asks for that and no make does.
  private(set) var jobserver: Jobserver?
  /// The attempts in progress whose programs may have tokens of it.
  private var sharing = 0
  /// Ends the initial hold, during which no attempt is executed; nil after it.
  private var hold: (any OperationTimer)?

  /// Creates the run's folder; nothing starts before `start`.
  package init(_ graph: JobGraph, options: JobQueueOptions = JobQueueOptions(), clock: any OperationClock = .system)
    throws(RunFolderError)
  {
    var graph = graph
    if let policy = options.onFailure { graph.onFailure = policy }
    let slots = max(1, options.slots ?? graph.slots ?? ProcessInfo.processInfo.activeProcessorCount)
    graph.slots = slots
    self.options = options
    readValues = graph.readValues
    fileHashes = FileHashes(written: options.writtenFiles)
    folder = if let state = options.stateFolder { try RunFolder(in: state) } else { nil }
    id = folder?.id ?? UUID().uuidString.lowercased()
    runStart = RunStart(
      id: id, name: graph.name, slots: slots, at: .distantPast, jobs: graph.jobs.count, pools: graph.pools,
      folder: folder?.path, resumes: options.resumes, timeout: graph.timeout, isOpen: options.isOpen)
    stream = FactStream(label: "opdash.engine", pace: .init(interval: Self.interval), clock: clock)
    scheduler = Scheduler(
      graph, journal: stream.journal,
      options: .init(
        seed: options.seed, canAsk: options.canAsk, approved: options.approved, leavesWork: options.leavesWork,
        hasAllocation: options.cluster?.hasSurroundingAllocation == true || graph.allocation != nil,
        isWatching: options.isWatching))
    gate = scheduler.gate
    lanes = Lanes(slots: slots, clusterJobs: scheduler.options.clusterJobs)
    programs = ProcessExecutor(
      run: id, folder: folder?.path, secrets: graph.secrets, common: options.variables,
      addsJobs: options.addedTexts != nil, clock: clock)
    transfers = TransferExecutor(options, secrets: programs.secrets)
    simulations = SimulationExecutor(clock: clock)
    stream.journal.secrets = programs.secrets
    stream.warnings.silenced = options.silencedWarnings
    additions = options.addedTexts.map { [folder] in Additions($0, folder: folder) }
    stream.source = self
    cluster = options.cluster?.executor(for: self, allocation: graph.allocation)
    try makeJobserver(slots)
    if !options.keptTexts.isEmpty { additions?.queue.async { [additions] in additions?.keep(options.keptTexts) } }
  }

  private func makeJobserver(_ slots: Int) throws(RunFolderError) {
    let whenFree: @Sendable () -> Void = { [weak self] in self?.enter { _ in } }
    if let make = options.makeJobserver {
      jobserver = Jobserver(of: make, flags: options.makeFlags, queue: stream.queue, whenFree: whenFree)
    } else if graph.jobs.contains(where: \.sharesSlots) {
      programs.makeFolder()
      jobserver = try Jobserver(
        slots: slots, path: programs.folder + "/jobserver", flags: options.makeFlags, queue: stream.queue,
        whenFree: whenFree)
    }
    (programs.jobserver, programs.slots) = (jobserver, slots)
    if let jobserver { lanes[.slots].maxConcurrentOperationCount = jobserver.held }
  }

  /// Lets as many attempts execute as there are tokens for.
  private func shareSlots() {
    guard let jobserver else { return }
    jobserver.balance(wanted: scheduler.admittedToSlots, slots: scheduler.run.slots)
    programs.slots = scheduler.run.slots
    let width = max(1, jobserver.held)
    // Setting the width makes the queue look for operations to start.
    if lanes[.slots].maxConcurrentOperationCount != width { lanes[.slots].maxConcurrentOperationCount = width }
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
  /// Call this before `start`; the handler must not block. A success with values for other jobs comes a second time, with
  /// them, on another queue and before another job can get them. The fact of the success is stated independently, up to 20 ms
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
      if jobserver == nil { start.slots = lanes[.slots].maxConcurrentOperationCount }
      start.at = Date().wholeMilliseconds
      if options.isWatching { watch = makeWatch() }
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
    case .setWatching(let isOn): setWatching(isOn)
    default: scheduler.handle(command)
    }
  }

  // MARK: Attempts, on the stream's queue

  private func admit(_ admission: Admission) {
    let job = scheduler.graph[admission.job]
    let log = AttemptLog(
      path: folder.map { LogPath.file(in: $0.path, job: job.name, id: admission.job, attempt: admission.attempt) },
      limit: options.logLimit, keepsShort: options.keepsShortLogs)
    // An attempt after a change of inputs is compared with one of this run.
    let own = admission.earlier.map { _ in scheduler.run.jobs[admission.job.index].outputs }
    let wanted = readValues[admission.job].map { [values = options.earlierValues] names in
      UpToDateCheck.WantedValues(names: names) { own ?? values(admission.job) }
    }
    let check = UpToDateCheck(
      job,
      mustExecute: admission.mustExecute || cluster?.continues(admission.job) == true,
      isForced: options.executesAll && admission.attempt == 1, wanted: wanted,
      read: scheduler.nodes[admission.job.index].read, hashes: fileHashes
    ) { [earlier = options.earlier] in admission.earlier ?? earlier(admission.job) }
    let work: Result<Job, JobFailure>
    do throws(JobFailure) { work = .success(try scheduler.run.resolved(job)) } catch { work = .failure(error) }
    let attempt = Attempt(
      admission, work, by: executor(of: job), named: job.name, log: log, check: check)
    let operation = attempt.operation
    operation.queuePriority = admission.priority.queuePriority
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
    if job.sharesSlots { sharing += 1 }
    if let place = attempt.place { stream.state(.jobPlaced(attempt.job, place)) }
    lanes[job.lane].addOperation(operation)
  }

  private func executor(of job: Job) -> any Executor {
    switch job.work {
    case .shell(let work):
      guard work.cluster != nil else { return programs }
      guard let cluster else { preconditionFailure("a run with cluster jobs has a cluster") }
      return cluster
    case .download, .upload: return transfers
    case .simulate: return simulations
    case .operation(let work):
      preconditionFailure("\(work.className) is executed by the queue that it is in, and by no engine")
    }
  }

  /// The entry of everything that reaches the stream's queue: calls `body` unless the run or the attempt is over, and
  /// carries out the scheduler's decisions.
  func enter(_ attempt: Attempt? = nil, at time: Duration? = nil, _ body: (JobQueue) -> Void) {
    guard !stream.isOver, attempt?.isOver != true else { return }
    stream.date(time ?? stream.clock.now)
    body(self)
    perform()
  }

  private func setWatching(_ isOn: Bool) {
    guard isOn != (watch != nil) else { return }
    watch?.stop()
    watch = isOn ? makeWatch() : nil
    scheduler.setWatching(isOn)
  }

  /// Watches the inputs of the jobs from this number on too, which were added.
  func extendWatch(from first: Int) {
    let jobs = watchedJobs(from: first)
    if !jobs.isEmpty { watch?.add(jobs) }
  }

  /// Hides more values from now on.
  func admitSecrets(_ values: Set<String>) {
    guard !values.isSubset(of: scheduler.graph.secrets) else { return }
    scheduler.graph.secrets.formUnion(values)
    programs.secrets = SecretMask(scheduler.graph.secrets)
    transfers.secrets = programs.secrets
    stream.journal.secrets = programs.secrets
  }

  /// Notes the values of other jobs that added jobs read.
  func noteReadValues(of jobs: [Job]) {
    readValues.merge(JobGraph.readValues(by: jobs)) { $0.union($1) }
  }

  /// Handles a watch that has failed.
  func endWatch(because fault: WatchFault) {
    watch = nil
    scheduler.setWatching(false, fault: fault.description)
  }

  private func resizeTerminals(_ columns: Int, _ rows: Int) {
    programs.terminalSize = TerminalSize(columns: max(1, columns), rows: max(1, rows))
    for attempt in attempts.values { attempt.resizeTerminal(to: programs.terminalSize) }
  }

  func end(_ attempt: Attempt) {
    attempt.end()
    guard attempts.removeValue(forKey: attempt.ticket) != nil, scheduler.graph[attempt.job].sharesSlots else { return }
    sharing -= 1
    if sharing == 0 { jobserver?.recount() }
  }

  /// Carries out the decisions of the scheduler.
  func perform() {
    while true {
      let actions = scheduler.takeActions()
      if actions.isEmpty { break }
      for action in actions { perform(action) }
    }
    shareSlots()
    cluster?.update()
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
    case .prioritize(let ticket, let priority): attempts[ticket]?.enqueue(again: priority)
    case .setWidth(let width): if jobserver == nil { lanes[.slots].maxConcurrentOperationCount = width }
    case .setSuspended(let isSuspended): lanes.set(.drain, isSuspended)
    case .requestAllocation: cluster?.requestAllocation()
    case .releaseAllocation: cluster?.releaseAllocation()
    }
  }
}

extension Job {
  /// Whether its programs share the slots of the run.
  var sharesSlots: Bool {
    if case .shell(let work) = work { work.jobserver != .none && work.cluster == nil } else { false }
  }
}

extension JobQueue {
  package var graph: JobGraph { scheduler.graph }

  package func withScheduler(_ change: (inout Scheduler) -> Void) { enter { change(&$0.scheduler) } }

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
    scheduler.inQueue > 0 || stream.journal.run.counts.active > 0 || cluster?.isBusy == true
  }

  package func didEnd() {
    for attempt in attempts.values { attempt.end() }
    attempts = [:]
    watch?.stop()
    cluster?.didEnd()
    jobserver?.close()
    programs.removeFolder()
    folder?.removeIfEmpty()
  }
}
