import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations
import Transfers

/// An `OperationQueue` of the program as a run: what happens to its operations as facts, commands as calls on them.
///
/// Everything that happens comes to one serial queue, in order, and is stated from there. Nothing is asked for again and
/// again: where Foundation tells nothing, the queue is looked at once, shortly after something else has happened.
package final class QueueFeed: JobFeed, @unchecked Sendable {
  // Safe: the registry is behind its lock; the fields below the line are touched only on `engine`.

  package let queue: OperationQueue
  package let name: String
  private let clock: any OperationClock
  /// When the run's clock began.
  private let origin: Duration
  private let hub = EventHub()
  private let engine = DispatchQueue(label: "opdash.queue", qos: .userInitiated)
  /// Where the program's own code is called: a `cancel()` of its class may take its time.
  private let calling = DispatchQueue(label: "opdash.queue.commands", qos: .userInitiated)
  private let feeder: OperationFeeder
  private let places = WrappedOperation.Places()
  private let registry = Lock(QueueRegistry())

  // ---- touched only on `engine`
  private var members: [QueueMember?] = []
  /// Those that only their end is told of.
  private var unseen: Set<JobID> = []
  private var jobs: [Job] = []
  private var facts: [(fact: JobFact, time: Duration)] = []
  private var gate = ProgressGate<JobID, JobProgress>()
  private var alarm: (time: Duration, timer: any OperationTimer)?

  private var isStarted = false
  private var isOver = false
  private var finishing: Finishing?
  private var isSettling = false
  private var isLooking = false
  private var lookDelay = DispatchTimeInterval.milliseconds(20)
  private var width: Int
  private var isSuspended: Bool
  private var stopping: JobState.Canceller?

  /// The run's end, which has been asked for.
  private struct Finishing {
    var signal: Int32?
    /// Whether every call that was on its way to an operation has been made.
    var isCalled = false
  }

  /// Observes what is in the queue from now on, and what is added here.
  package init(observing queue: OperationQueue, name: String? = nil, clock: any OperationClock = .system) {
    self.queue = queue
    let ownName = queue.name.flatMap { $0.isEmpty || $0.hasPrefix("NSOperationQueue") ? nil : $0 }
    self.name = name ?? ownName ?? ProcessInfo.processInfo.processName
    self.clock = clock
    origin = clock.now
    feeder = OperationFeeder(feeding: queue)
    width = queue.maxConcurrentOperationCount
    isSuspended = queue.isSuspended
    observeQueue()
  }

  deinit {
    // A token keeps its handler, and that the member, which keeps the token.
    for member in members { member?.tokens = [] }
    for arrival in registry.withLock({ $0.takeArrivals() }) { arrival.member.tokens = [] }
  }

  /// Adds operations, which enter the queue when they may run; from any thread.
  ///
  /// Those that are known already are left out. Throws if some wait for each other in a circle; then none has been added.
  package func add(_ operations: [Operation]) throws(DependencyCycle) {
    observeQueue()
    let added = try registry.withLock { registry throws(DependencyCycle) -> [QueueMember] in
      var seen: Set<ObjectIdentifier> = []
      let new = operations.filter { seen.insert(ObjectIdentifier($0)).inserted && !registry.isKnown($0) }
      let wrappers = try registry.wrap(new.filter { !$0.isFinished && !$0.isExecuting }, places: places)
      let members = registry.enroll(new) { operation in
        if let ours = operation as? AsyncOperation { return (ours, .whole) }
        let wrapper = wrappers[ObjectIdentifier(operation)]
        return (wrapper, wrapper == nil ? .end : .wrapped)
      }
      for member in members { observe(member) }
      return members
    }
    for member in added where member.observed == nil { watchEnd(of: member) }
    engine.async { self.takeIn() }
    // What has begun or finished without us is shown, and is nobody's to begin.
    try feeder.add(added.compactMap(\.observed).filter { !$0.isExecuting && !$0.isFinished })
  }

  /// States what has happened so far, and from now on what happens; subscribe before it to miss nothing.
  package func start() {
    engine.async {
      guard !self.isStarted else { return }
      self.takeIn()
      self.isStarted = true
      self.width = self.queue.maxConcurrentOperationCount
      self.isSuspended = self.queue.isSuspended
      let start = RunStart(
        id: UUID().uuidString.lowercased(), name: self.name, slots: Self.slots(self.width), at: Date(),
        jobs: self.jobs.count)
      var all: [(fact: JobFact, time: Duration)] = [(.runStarted(start), .zero)]
      for (index, job) in self.jobs.enumerated() { all.append((.jobAdded(JobID(index), job), .zero)) }
      if self.isSuspended { all.append((.drainChanged(true), .zero)) }
      self.facts = all + self.facts
      self.jobs = []
      self.settle()
    }
  }

  package func subscribe(
    on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    hub.subscribe(on: queue, receive)
  }

  package var elapsed: Duration { clock.now - origin }

  package func send(_ command: JobCommand) { engine.async { self.obey(command) } }

  /// The run as of its newest fact.
  package var run: Run { hub.run }

  /// The run once all that has happened until now is stated; waits for that.
  package func settled() -> Run {
    engine.sync { settle() }
    return hub.run
  }

  /// The width as slots; a queue without a limit has a number that stands for that.
  static func slots(_ width: Int) -> Int { width < 0 ? Run.unlimited : width }

  // MARK: Arrivals

  /// Looks for operations that entered the queue by another door.
  private func observeQueue() {
    let found = queue.operations.filter { !$0.isFinished }
    guard !found.isEmpty else { return }
    let foreign = registry.withLock { registry -> [QueueMember] in
      let members = registry.enroll(found.filter { !registry.isKnown($0) }) { operation in
        let ours = operation as? AsyncOperation
        return (ours, ours == nil ? .end : .whole)
      }
      for member in members where member.observed != nil { observe(member) }
      return members.filter { $0.observed == nil }
    }
    for member in foreign { watchEnd(of: member) }
    if !foreign.isEmpty { engine.async { self.takeIn() } }
  }

  /// Under the registry's lock, so that the engine knows of the member before it hears of it.
  private func observe(_ member: QueueMember) {
    guard let operation = member.observed else { return }
    member.tokens = [
      operation.observe(\.state, on: engine, options: .initial) { [weak self] _, change in
        self?.stateChanged(member, change.newValue)
      },
      operation.observe(\.isCancelled, on: engine, options: .initial) { [weak self] _, change in
        if change.newValue { self?.cancelled(member) }
      },
    ]
    guard member.visibility == .whole else { return }
    let unit: JobProgress.Unit = operation is DownloadOperation || operation is UploadOperation ? .bytes : .steps
    member.tokens += [
      operation.observe(\.progress, on: engine, options: .initial) { [weak self] _, change in
        self?.progressed(member, change.newValue, unit)
      },
      operation.observeLog(on: engine) { [weak self] _, line in self?.logged(member, line) },
    ]
  }

  /// By an operation that depends on it: a `completionBlock` could be replaced by its owner.
  private func watchEnd(of member: QueueMember) {
    let end = BlockOperation { [weak self] in
      guard let self else { return }
      engine.async { self.stateChanged(member, .finished) }
    }
    end.addDependency(member.operation)
    EndNotices.queue().addOperation(end)
  }

  /// States those that have come.
  private func takeIn() {
    for arrival in registry.withLock({ $0.takeArrivals() }) {
      members.append(arrival.member)
      if isStarted { state(.jobAdded(arrival.member.id, arrival.job)) } else { jobs.append(arrival.job) }
      if arrival.member.visibility == .end {
        unseen.insert(arrival.member.id)
        lookAt(arrival.member)
      }
      if let stopping { end(arrival.member, by: stopping) }
    }
  }

  // MARK: What happens to operations

  private func stateChanged(_ member: QueueMember, _ new: AsyncOperation.State) {
    takeIn()
    guard !member.isOver else { return }
    member.stands = new
    switch new {
    case .finished: finished(member)
    case .executing:
      member.hasBegun = true
      tell(member, member.standing)
    case .pending, .ready: tell(member, member.standing)
    }
    lookSoon()
  }

  private func tell(_ member: QueueMember, _ new: JobState) {
    guard new != member.state, !member.state.isTerminal else { return }
    member.state = new
    state(.jobState(member.id, new, attempt: member.attempt, pid: nil))
  }

  private func finished(_ member: QueueMember) {
    if let last = gate.flush(member.id) { state(.jobProgress(member.id, last)) }
    if !member.hasBegun, let wrapper = member.observed as? WrappedOperation { calling.async { wrapper.endInner() } }
    tell(member, member.outcome)
    member.isOver = true
    member.tokens = []
    members[member.id.index] = nil
    unseen.remove(member.id)
    registry.withLock { $0.forget(member) }
  }

  private func cancelled(_ member: QueueMember) {
    takeIn()
    guard !member.isOver else { return }
    guard member.hasBegun else {
      // Cancelled with an error, which is a failure; its reason can be told once it has finished.
      if member.canceller == nil, (member.operation as? AsyncOperation)?.isCancelledWithError == true { return }
      // It will never execute, whenever its queue comes to ending it.
      tell(member, .cancelled(by: member.canceller ?? .program))
      return
    }
    guard member.canceller == nil else { return }
    member.canceller = .program
    state(.cancelRequested(member.id, by: .program, kill: false))
  }

  private func progressed(_ member: QueueMember, _ progress: OperationProgress, _ unit: JobProgress.Unit) {
    takeIn()
    guard progress != OperationProgress(), !member.isOver else { return }
    let report = JobProgress(done: progress.completed, total: progress.total, unit: unit)
    if let due = gate.report(report, of: member.id, now: elapsed) { state(.jobProgress(member.id, due)) }
    settleSoon()
  }

  private func logged(_ member: QueueMember, _ line: OperationLogLine) {
    takeIn()
    guard !isOver, isStarted || facts.count < Self.bufferLimit else { return }
    if line.lost > 0 {
      state(.jobLog(member.id, attempt: 1, LogLine(.note, "\(line.lost) lines were left out: too many at once")))
    }
    for text in line.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      state(.jobLog(member.id, attempt: 1, LogLine(cutting: text)))
    }
  }

  /// How many facts are kept before the run is shown; lines beyond that are dropped.
  private static let bufferLimit = 100_000

  // MARK: What nobody tells

  /// Looks once, a moment after something has happened, for what nobody tells.
  ///
  /// That is the beginning of somebody else's operation, a new one, a change of the queue. These follow upon something
  /// else more often than not; and when nothing more happens, all is still.
  private func lookSoon() {
    guard !isLooking, !isOver else { return }
    isLooking = true
    engine.asyncAfter(deadline: .now() + lookDelay) { [weak self] in self?.look() }
  }

  private func look() {
    isLooking = false
    guard !isOver else { return }
    let began = DispatchTime.now().uptimeNanoseconds
    defer {
      // To look at a long queue takes long, and holds it up: that may cost a twentieth of the time at most.
      let took = DispatchTime.now().uptimeNanoseconds - began
      lookDelay = .nanoseconds(max(20_000_000, Int(took) * 20))
    }
    observeQueue()
    takeIn()
    for id in unseen { if let member = members[id.index] { lookAt(member) } }
    lookAtQueue()
  }

  private func lookAt(_ member: QueueMember) {
    let operation = member.operation
    guard !member.hasBegun, !operation.isFinished else { return }
    if operation.isExecuting {
      member.hasBegun = true
      member.stands = .executing
    } else {
      member.stands = operation.isReady ? .ready : .pending
    }
    tell(member, member.standing)
  }

  private func lookAtQueue() {
    if queue.maxConcurrentOperationCount != width {
      width = queue.maxConcurrentOperationCount
      state(.slotsChanged(Self.slots(width)))
    }
    if queue.isSuspended != isSuspended {
      isSuspended = queue.isSuspended
      state(.drainChanged(isSuspended))
    }
  }

  // MARK: Commands

  private func obey(_ command: JobCommand) {
    takeIn()
    guard !isOver else { return }
    switch command {
    case .cancel(let ids, let canceller): end(known(ids), by: canceller)
    // An operation of this process can only be asked.
    case .kill(let ids): end(known(ids), by: .person)
    case .pause(let ids): for member in known(ids) { hold(member, true) }
    case .resume(let ids): for member in known(ids) { hold(member, false) }
    // An operation runs once.
    case .retry: break
    case .setPriority(let ids, let priority): for member in known(ids) { prioritize(member, priority) }
    case .setSlots(let slots):
      width = max(1, slots)
      feeder.maxConcurrentOperationCount = width
      state(.slotsChanged(width))
    case .setDraining(let drains):
      isSuspended = drains
      queue.isSuspended = drains
      state(.drainChanged(drains))
    case .stop(let level, let canceller): stop(level, canceller)
    case .finish(let signal): finish(signal)
    }
    settleSoon()
  }

  private func known(_ ids: [JobID]) -> [QueueMember] {
    ids.compactMap { $0.index < members.count ? members[$0.index] : nil }
  }

  /// Those that wait go first, so that the end of one that executes lets none of them begin.
  private func end(_ members: [QueueMember], by canceller: JobState.Canceller) {
    for member in members.filter({ !$0.hasBegun }) + members.filter(\.hasBegun) { end(member, by: canceller) }
  }

  private func end(_ member: QueueMember, by canceller: JobState.Canceller) {
    guard member.canceller == nil, !member.isOver else { return }
    member.canceller = canceller
    if member.hasBegun { state(.cancelRequested(member.id, by: canceller, kill: false)) }
    let operation = member.queued
    calling.async { operation.cancel() }
    // Of somebody else's operation nobody tells that it has been cancelled, but here it is we who did it.
    if member.visibility == .end, !member.hasBegun { tell(member, .cancelled(by: canceller)) }
  }

  private func hold(_ member: QueueMember, _ isHeld: Bool) {
    guard let operation = member.operation as? any PausableOperation, member.isHeld != isHeld else { return }
    member.isHeld = isHeld
    calling.async { if isHeld { operation.pause() } else { operation.resume() } }
    tell(member, member.standing)
  }

  private func prioritize(_ member: QueueMember, _ priority: JobPriority) {
    guard !member.hasBegun else { return }
    let operation = member.queued
    calling.async { operation.queuePriority = priority.queuePriority }
    state(.priorityChanged(member.id, priority))
  }

  private func stop(_ level: StopLevel, _ canceller: JobState.Canceller) {
    state(.stopRequested(level, by: canceller))
    guard stopping == nil else { return }
    stopping = canceller
    end(members.compactMap(\.self), by: canceller)
  }

  /// What has been asked for goes first: whoever ends a run by cancelling it is to see it cancelled.
  private func finish(_ signal: Int32?) {
    finishing = finishing ?? Finishing(signal: signal)
    calling.async {
      self.engine.async {
        self.finishing?.isCalled = true
        self.settle()
      }
    }
  }

  /// Whether nothing executes, and all that has befallen those that wait has been heard of.
  private var isStill: Bool { hub.run.counts.active == 0 && !members.contains { $0?.isBehind ?? false } }

  private func end(_ signal: Int32?) {
    finishing = nil
    isOver = true
    alarm?.timer.cancel()
    alarm = nil
    hub.post([(.runFinished(RunSummary(of: hub.run, signal: signal)), elapsed)])
    for member in members { member?.tokens = [] }
    members = []
  }

  // MARK: Stating

  private func state(_ fact: JobFact) {
    facts.append((fact, elapsed))
    settleSoon()
  }

  /// What came in one delivery is stated in one go.
  private func settleSoon() {
    guard !isSettling else { return }
    isSettling = true
    engine.async { self.settle() }
  }

  private func settle() {
    isSettling = false
    guard isStarted, !isOver else { return }
    hub.post(facts)
    facts.removeAll(keepingCapacity: true)
    if let finishing, finishing.isCalled, isStill { return end(finishing.signal) }
    setAlarm()
  }

  /// For the progress that is held back, and nothing else.
  private func setAlarm() {
    guard gate.nextWake != alarm?.time else { return }
    alarm?.timer.cancel()
    alarm = gate.nextWake.map { time in
      (time, clock.schedule(after: origin + time - clock.now, on: engine) { [weak self] in self?.wake() })
    }
  }

  private func wake() {
    alarm = nil
    guard !isOver else { return }
    for (job, progress) in gate.due(now: elapsed) { state(.jobProgress(job, progress)) }
    settle()
  }
}

extension LogLine {
  /// A line of a program in this process, cut where it is too long.
  fileprivate init(cutting text: Substring) {
    let isCut = text.utf8.count > LogLine.limit
    self.init(
      .stdout, isCut ? String(decoding: text.utf8.prefix(LogLine.limit), as: UTF8.self) : String(text), isCut: isCut)
  }
}
