import Dispatch
import Foundation
import JobModel
import Operations

/// Runs a job graph in a real `OperationQueue` and states what happens.
///
/// Everything that happens comes in through one inbox and is dealt with in order on one serial queue: the scheduler
/// decides, the hub states the facts, then operations are admitted, cancelled or paused.
package final class JobQueue: JobFeed, @unchecked Sendable {
  // Safe: the fields below the line are touched only on `engine`.
  package struct Options: Sendable {
    /// Jobs at once; nil takes the graph's own number, or that of the processors.
    package var slots: Int?
    package var onFailure: JobGraph.Failure?
    /// Where the run's folder is made; nil keeps no logs.
    package var stateFolder: String?
    /// Decides the jitter of back-offs.
    package var seed: UInt64
    package var makeRunner: RunnerFactory

    package init(
      slots: Int? = nil, onFailure: JobGraph.Failure? = nil, stateFolder: String? = nil,
      seed: UInt64 = .random(in: .min ... .max), makeRunner: RunnerFactory = RunnerFactory()
    ) {
      self.slots = slots
      self.onFailure = onFailure
      self.stateFolder = stateFolder
      self.seed = seed
      self.makeRunner = makeRunner
    }
  }

  private enum Input: Sendable {
    case begin
    case command(JobCommand)
    case started(ticket: Int, pid: Int32?)
    case progress(ticket: Int, JobProgress)
    case output(ticket: Int, [LogLine])
    case ended(ticket: Int, AttemptOutcome)
    /// Called once what came before it is stated.
    case marker(@Sendable () -> Void)
  }

  /// Notes for each input when it came, for it may wait for others.
  private struct Inbox: Sendable {
    struct Entry: Sendable {
      var input: Input
      /// On the engine's clock, not since the run began.
      var time: Duration
    }

    let mailbox: Mailbox<Entry>
    let clock: any OperationClock

    func post(_ input: Input, isUrgent: Bool = false) {
      mailbox.post(Entry(input: input, time: clock.now), isUrgent: isUrgent)
    }
  }

  /// How many events a reader may be behind before jobs are held back in writing more output.
  private static let readersLimit = 20_000
  private static let inboxLimit = 256
  /// Thousands of short jobs a second are dealt with by the dozen; the window of admitted ones hides the wait.
  private static let pace = Mailbox<Inbox.Entry>.Pace(interval: .milliseconds(20), burst: 4 * Scheduler.ahead)

  package let id: String
  package let folder: RunFolder?
  private let engine = DispatchQueue(label: "opdash.engine", qos: .userInitiated)
  private let hub = EventHub()
  private let clock: any OperationClock
  private let queue = OperationQueue()
  /// Where attempts begin, one after another; they execute elsewhere, as many at once as the width allows.
  ///
  /// Left to itself the operation queue would use dispatch's global pool, which wakes once a second for ever after to count
  /// its threads. Kept here, because the operation queue does not.
  private let starting = DispatchQueue(label: "opdash.attempts", qos: .userInitiated)
  private let makeRunner: RunnerFactory
  private let graph: JobGraph
  private let inbox: Inbox
  private let backlog = Backlog()
  private let owner = Owner()
  /// When the run began; set once, on `engine`.
  private let beginning = Lock<Duration?>(nil)

  // ---- touched only on `engine`
  private var scheduler: Scheduler
  private var operations: [Int: AttemptOperation] = [:]
  private var attempts: [Int: Int] = [:]
  private var gate = ProgressGate<JobID, JobProgress>()
  private var facts: [(fact: JobFact, time: Duration)] = []
  /// The instant of the newest input.
  private var now: Duration = .zero
  private var alarm: (time: Duration, timer: any OperationTimer)?
  private var finishing: (signal: Int32?, isAsked: Bool) = (nil, false)
  private var isOver = false

  /// Makes the run's folder; nothing starts before `start`.
  package init(_ graph: JobGraph, options: Options = Options(), clock: any OperationClock = .system)
    throws(RunFolderError)
  {
    var graph = graph
    if let policy = options.onFailure { graph.onFailure = policy }
    let slots = max(1, options.slots ?? graph.slots ?? ProcessInfo.processInfo.activeProcessorCount)
    graph.slots = slots
    self.graph = graph
    self.clock = clock
    makeRunner = options.makeRunner
    if let state = options.stateFolder {
      let folder = try RunFolder(in: state)
      self.folder = folder
      id = folder.id
    } else {
      folder = nil
      id = UUID().uuidString.lowercased()
    }
    scheduler = Scheduler(graph, slots: slots, seed: options.seed)
    queue.name = "opdash.jobs"
    queue.underlyingQueue = starting
    queue.maxConcurrentOperationCount = slots
    let owner = owner
    inbox = Inbox(
      mailbox: Mailbox(on: engine, pace: Self.pace) { entries in owner.queue?.handle(entries) }, clock: clock)
    owner.queue = self
  }

  /// Lets the inbox reach the queue without keeping it alive.
  private final class Owner: @unchecked Sendable {
    // Safe: set once, before anything can be posted.
    weak var queue: JobQueue?
  }

  /// States the run and its jobs, and starts what can start; subscribe before it to miss nothing.
  package func start() { inbox.post(.begin, isUrgent: true) }

  package func subscribe(
    on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    hub.subscribe(on: queue, receive)
  }

  package func send(_ command: JobCommand) { inbox.post(.command(command), isUrgent: true) }

  package var elapsed: Duration { beginning.withLock { $0 }.map { clock.now - $0 } ?? .zero }

  /// Returns once all that has come in before is dealt with and stated.
  package func flush() {
    let done = DispatchSemaphore(value: 0)
    inbox.post(.marker { done.signal() }, isUrgent: true)
    done.wait()
  }

  /// The run as of its newest fact.
  package var run: Run { hub.run }

  // MARK: On the engine

  private func handle(_ entries: [Inbox.Entry]) {
    if !isOver {
      for entry in entries {
        advance(to: entry.time)
        handle(entry.input)
        perform(scheduler.takeActions())
      }
      settle()
    }
    for case .marker(let body) in entries.lazy.map(\.input) { body() }
  }

  /// Inputs of different threads may come in the other order than they were noted: time does not go back.
  private func advance(to time: Duration) {
    now = max(now, beginning.withLock { $0 }.map { time - $0 } ?? .zero)
  }

  private func state(_ fact: JobFact) { facts.append((fact, now)) }

  private func handle(_ input: Input) {
    switch input {
    case .begin:
      begin()
    case .command(.finish(let signal)):
      finishing = (finishing.signal ?? signal, true)
    case .command(let command):
      scheduler.handle(command, now: now)
    case .started(let ticket, let pid):
      scheduler.attemptStarted(ticket: ticket, pid: pid, now: now)
    case .progress(let ticket, let progress):
      guard let job = scheduler.job(of: ticket) else { return }
      if let due = gate.report(progress, of: job, now: now) { state(.jobProgress(job, due)) }
    case .output(let ticket, let lines):
      guard let job = scheduler.job(of: ticket), let attempt = attempts[ticket] else { return }
      for line in lines { state(.jobLog(job, attempt: attempt, line)) }
    case .ended(let ticket, let outcome):
      if let job = scheduler.job(of: ticket), let last = gate.flush(job) { state(.jobProgress(job, last)) }
      operations[ticket] = nil
      scheduler.attemptEnded(ticket: ticket, outcome, now: now)
      attempts[ticket] = nil
    case .marker: break
    }
  }

  private func begin() {
    let start = clock.now
    beginning.withLock { $0 = start }
    let run = RunStart(
      id: id, name: graph.name, slots: scheduler.slots, at: Date(), jobs: graph.jobs.count, pools: graph.pools,
      folder: folder?.path)
    state(.runStarted(run))
    for (index, job) in graph.jobs.enumerated() { state(.jobAdded(JobID(index), job)) }
    scheduler.start()
  }

  /// After each batch: the facts are stated, the next alarm is set, an end that was asked for comes about.
  private func settle() {
    hub.post(facts)
    facts.removeAll(keepingCapacity: true)
    setAlarm()
    guard finishing.isAsked, scheduler.inQueue == 0, hub.run.counts.active == 0 else { return }
    isOver = true
    alarm?.timer.cancel()
    alarm = nil
    hub.post([(.runFinished(RunSummary(of: hub.run, signal: finishing.signal)), now)])
    folder?.removeIfEmpty()
  }

  private func perform(_ actions: [Scheduler.Action]) {
    for action in actions {
      switch action {
      case .fact(let fact):
        state(fact)
      case .admit(let admission):
        // What makes an attempt possible is stated before the attempt can state anything.
        admit(admission)
      case .withdraw(let ticket):
        if operations[ticket]?.withdraw() == true {
          operations[ticket] = nil
          attempts[ticket] = nil
          scheduler.attemptWithdrawn(ticket: ticket)
          perform(scheduler.takeActions())
        }
      case .cancel(let ticket): operations[ticket]?.cancel()
      case .kill(let ticket):
        operations[ticket]?.cancel()
        operations[ticket]?.runner.kill()
      case .pause(let ticket): operations[ticket]?.runner.pause()
      case .resume(let ticket): operations[ticket]?.runner.resume()
      case .prioritize(let ticket, let priority): operations[ticket]?.queuePriority = priority.queuePriority
      case .setWidth(let width): queue.maxConcurrentOperationCount = width
      case .setSuspended(let isSuspended): queue.isSuspended = isSuspended
      }
    }
  }

  private func admit(_ admission: Scheduler.Admission) {
    let job = graph[admission.job]
    let logPath = folder.map {
      LogPath.file(in: $0.path, job: job.name, id: admission.job, attempt: admission.attempt)
    }
    let runner = makeRunner(job, attempt: admission.attempt, logPath: logPath, clock: clock)
    let operation = AttemptOperation(runner, report: report(of: admission.ticket), backlog: backlog)
    operation.name = job.name
    if graph.schedule != .fifo { operation.queuePriority = admission.priority.queuePriority }
    operations[admission.ticket] = operation
    attempts[admission.ticket] = admission.attempt
    queue.addOperation(operation)
  }

  private func report(of ticket: Int) -> AttemptReport {
    let (inbox, hub, backlog) = (inbox, hub, backlog)
    return AttemptReport(
      started: { inbox.post(.started(ticket: ticket, pid: $0)) },
      progress: { inbox.post(.progress(ticket: ticket, $0)) },
      output: { lines, consumed in
        if !lines.isEmpty { inbox.post(.output(ticket: ticket, lines)) }
        inbox.mailbox.whenBelow(Self.inboxLimit) { hub.whenBelow(Self.readersLimit, consumed) }
      },
      ended: { inbox.post(.ended(ticket: ticket, $0), isUrgent: backlog.isLow) })
  }

  /// One timer for all that waits for time.
  private func setAlarm() {
    let times = [scheduler.nextWake, gate.nextWake].compactMap(\.self)
    guard let time = times.min() else {
      alarm?.timer.cancel()
      alarm = nil
      return
    }
    if let alarm, alarm.time == time { return }
    alarm?.timer.cancel()
    let origin = beginning.withLock { $0 } ?? .zero
    let timer = clock.schedule(after: origin + time - clock.now, on: engine) { [weak self] in self?.wake() }
    alarm = (time, timer)
  }

  private func wake() {
    guard !isOver else { return }
    alarm = nil
    advance(to: clock.now)
    for (job, progress) in gate.due(now: now) { state(.jobProgress(job, progress)) }
    scheduler.wake(now: now)
    perform(scheduler.takeActions())
    settle()
  }
}

extension JobPriority {
  /// The same, as an operation has it.
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
