import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations

/// An `OperationQueue` of the program as a run: what happens to its operations as facts, commands as calls on them.
///
/// Operations are observed on the queue of the fact stream and stated from there. Nothing is polled: where Foundation tells
/// nothing, the queue is looked at once, shortly after something else has happened.
package final class QueueFeed: FactStream.Source, @unchecked Sendable {
  // Safe: the registry is behind its lock; the fields below the line are touched only on the stream's queue.

  package let queue: OperationQueue
  package let name: String
  package let stream: FactStream
  /// Where the program's own code is called: a `cancel()` of its class may take its time.
  private let calling = DispatchQueue(label: "opdash.queue.commands", qos: .userInitiated)
  private let feeder: OperationFeeder
  private let registry = Lock(QueueRegistry())

  // ---- touched only on the stream's queue
  private var members: [QueueMember?] = []
  /// Those of which only the end is observed.
  private var unseen: Set<JobID> = []
  private var isStarted = false
  /// The jobs and facts from before the start.
  private var earlyJobs: [Job] = []
  private var earlyFacts: [(fact: JobFact, time: Duration)] = []
  private var isLooking = false
  private var lookDelay = DispatchTimeInterval.milliseconds(20)
  private var stopping: JobState.Canceller?

  /// Observes what is in the queue from now on, and what is added here.
  package init(observing queue: OperationQueue, name: String? = nil, clock: any OperationClock = .system) {
    self.queue = queue
    let ownName = queue.name.flatMap { $0.isEmpty || $0.hasPrefix("NSOperationQueue") ? nil : $0 }
    self.name = name ?? ownName ?? ProcessInfo.processInfo.processName
    stream = FactStream(label: "opdash.queue", clock: clock)
    feeder = OperationFeeder(feeding: queue)
    stream.begin()
    stream.source = self
    observeQueue()
  }

  deinit {
    // A token keeps its handler, and that the member, which keeps the token.
    for member in members { member?.tokens = [] }
    for arrival in registry.withLock({ $0.takeArrivals() }) { arrival.member.tokens = [] }
  }

  /// Adds operations, which enter the queue when they may run; from any thread.
  ///
  /// Those that are known already are left out. Throws if some wait for each other in a cycle; then none has been added.
  package func add(_ operations: [Operation]) throws(DependencyCycle) {
    observeQueue()
    let added = try registry.withLock { registry throws(DependencyCycle) -> [QueueMember] in
      var seen: Set<ObjectIdentifier> = []
      let new = operations.filter { seen.insert(ObjectIdentifier($0)).inserted && !registry.isKnown($0) }
      let wrappers = try registry.wrap(new.filter { !$0.isFinished && !$0.isExecuting })
      let members = registry.enroll(new) { operation in
        if let ours = operation as? AsyncOperation { return (ours, .whole) }
        let wrapper = wrappers[ObjectIdentifier(operation)]
        return (wrapper, wrapper == nil ? .end : .wrapped)
      }
      for member in members { observe(member) }
      return members
    }
    for member in added where member.observed == nil { watchEnd(of: member) }
    stream.queue.async { self.takeIn() }
    // Operations that have begun or finished already are shown only.
    try feeder.add(added.compactMap(\.observed).filter { !$0.isExecuting && !$0.isFinished })
  }

  /// States what has happened so far, and from now on what happens; subscribe before it to miss nothing.
  package func start() {
    stream.queue.async { [self] in
      guard !isStarted else { return }
      takeIn()
      isStarted = true
      let start = RunStart(
        id: UUID().uuidString.lowercased(), name: name, slots: Self.slots(queue.maxConcurrentOperationCount),
        at: Date(),
        jobs: earlyJobs.count)
      stream.state(.runStarted(start))
      for (index, job) in earlyJobs.enumerated() { stream.state(.jobAdded(JobID(index), job)) }
      if queue.isSuspended { stream.state(.drainChanged(true)) }
      for (fact, time) in earlyFacts {
        stream.journal.advance(to: time)
        stream.state(fact)
      }
      (earlyJobs, earlyFacts) = ([], [])
      for case let member? in members { report(member) }
    }
  }

  package func send(_ command: JobCommand) {
    // After every change that was observed before.
    stream.deliveries.deliverNow { [self] in
      guard !stream.isOver else { return }
      takeIn()
      if isStarted { stream.dateByClock() }
      obey(command)
    }
  }

  /// The width as slots; a queue without a limit has a number that stands for that.
  static func slots(_ width: Int) -> Int { width < 0 ? Run.unlimited : width }

  // MARK: Arrivals

  /// Finds operations that were added to the queue itself.
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
    if !foreign.isEmpty { stream.queue.async { self.takeIn() } }
  }

  /// Under the registry's lock, so that the member is taken in before it is heard of.
  private func observe(_ member: QueueMember) {
    guard let operation = member.observed else { return }
    member.tokens = [
      operation.observe(\.state, on: stream.queue, options: .initial) { [weak self] _, change in
        self?.observed(member) { $0.stateChanged(member, change.newValue) }
      },
      operation.observe(\.isCancelled, on: stream.queue, options: .initial) { [weak self] _, change in
        if change.newValue { self?.observed(member) { $0.cancelled(member) } }
      },
    ]
    guard member.visibility == .whole else { return }
    member.tokens += [
      operation.observe(\.progress, on: stream.queue, options: .initial) { [weak self] _, _ in
        self?.observed(member) { $0.report(member) }
      },
      operation.observeLog(unfinished: true, on: stream.queue) { [weak self] _, line in
        self?.observed(member) { $0.logged(member, line) }
      },
    ]
  }

  private func observed(_ member: QueueMember, _ handle: (QueueFeed) -> Void) {
    takeIn()
    guard !stream.isOver, !member.isOver else { return }
    if isStarted { stream.dateByDelivery() }
    handle(self)
  }

  private func watchEnd(of member: QueueMember) {
    // A queue of its own, which examines all that waits in it at every change; not on dispatch's global pool, which wakes
    // once a second for ever after its first use.
    let queue = OperationQueue()
    queue.underlyingQueue = Self.ends
    member.operation.whenFinished(on: queue) { [weak self] in
      guard let self else { return }
      stream.queue.async { self.observedEnd(of: member) }
    }
  }

  // Kept here, because an operation queue does not keep it.
  private static let ends = DispatchQueue(label: "opdash.ends")

  /// States the members that were added since the last call.
  private func takeIn() {
    for arrival in registry.withLock({ $0.takeArrivals() }) {
      members.append(arrival.member)
      if isStarted { stream.state(.jobAdded(arrival.member.id, arrival.job)) } else { earlyJobs.append(arrival.job) }
      if arrival.member.visibility == .end {
        unseen.insert(arrival.member.id)
        lookAt(arrival.member)
      }
      if let stopping { end(arrival.member, by: stopping) }
    }
  }

  // MARK: What happens to operations

  private func observedEnd(of member: QueueMember) {
    takeIn()
    guard !stream.isOver, !member.isOver else { return }
    if isStarted { stream.dateByClock() }
    stateChanged(member, .finished)
  }

  private func stateChanged(_ member: QueueMember, _ new: AsyncOperation.State) {
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
    if isStarted { stream.flushProgress(of: member.id) } else { report(member) }
    tell(member, member.outcome)
    member.isOver = true
    member.tokens = []
    members[member.id.index] = nil
    unseen.remove(member.id)
    registry.withLock { $0.forget(member) }
  }

  private func cancelled(_ member: QueueMember) {
    guard member.hasBegun else {
      // Cancelled with an error, which is a failure: its reason is known once it has finished.
      if member.canceller == nil, (member.operation as? AsyncOperation)?.isCancelledWithError == true { return }
      // It will never execute, however late its queue finishes it.
      tell(member, .cancelled(by: member.canceller ?? .program))
      return
    }
    guard member.canceller == nil else { return }
    member.canceller = .program
    state(.cancelRequested(member.id, by: .program, kill: false))
  }

  /// Before the start only finished members report; `start()` reports the unfinished ones.
  private func report(_ member: QueueMember) {
    guard let operation = member.observed, member.visibility == .whole else { return }
    let progress = operation.progress
    guard progress != OperationProgress() else { return }
    let report = JobProgress(
      done: progress.completed, total: progress.total, unit: JobProgress.Unit(of: operation))
    if isStarted {
      stream.report(report, of: member.id)
    } else if member.stands == .finished {
      state(.jobProgress(member.id, report))
    }
  }

  private func logged(_ member: QueueMember, _ line: OperationLogLine) {
    guard isStarted || earlyFacts.count < Self.bufferLimit else { return }
    if line.lost > 0 {
      state(.jobLog(member.id, attempt: 1, LogLine(.note, "\(line.lost) lines were left out: too many at once")))
    }
    for text in line.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      state(.jobLog(member.id, attempt: 1, LogLine(cutting: text, of: line)))
    }
    stream.holdOutput()
  }

  /// How many facts are kept before the run is shown; lines beyond that are dropped.
  private static let bufferLimit = 100_000

  // MARK: Changes without a notification

  /// Looks once, a moment after an observed change, for changes that Foundation gives no notification of.
  ///
  /// These are the start of a foreign operation, a new operation, a change of the queue's width or suspension. They mostly
  /// follow an observed change, and without one there is no timer.
  private func lookSoon() {
    guard !isLooking, !stream.isOver else { return }
    isLooking = true
    stream.queue.asyncAfter(deadline: .now() + lookDelay) { [weak self] in self?.look() }
  }

  private func look() {
    isLooking = false
    guard !stream.isOver else { return }
    if isStarted { stream.dateByClock() }
    let began = DispatchTime.now().uptimeNanoseconds
    defer {
      // Reading a long queue holds its lock: that may take a twentieth of the time at most.
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
    guard isStarted else { return }
    let slots = Self.slots(queue.maxConcurrentOperationCount)
    if slots != stream.journal.run.slots { state(.slotsChanged(slots)) }
    if queue.isSuspended != stream.journal.run.isDraining { state(.drainChanged(queue.isSuspended)) }
  }

  // MARK: Commands

  private func obey(_ command: JobCommand) {
    switch command {
    case .cancel(let ids, let canceller): end(known(ids), by: canceller)
    case .kill(let ids): for member in known(ids) { kill(member) }
    case .pause(let ids): for member in known(ids) { hold(member, true) }
    case .resume(let ids): for member in known(ids) { hold(member, false) }
    // An operation runs once.
    case .retry: break
    case .setPriority(let ids, let priority): for member in known(ids) { prioritize(member, priority) }
    case .setSlots(let slots): setSlots(slots)
    case .changeSlots(let change): setSlots(stream.journal.run.slots(changedBy: change))
    case .setDraining(let drains):
      queue.isSuspended = drains
      state(.drainChanged(drains))
    case .stop(let level, let canceller): stop(level, canceller)
    case .finish(let signal): finish(signal)
    }
  }

  private func setSlots(_ slots: Int) {
    feeder.maxConcurrentOperationCount = max(1, slots)
    state(.slotsChanged(max(1, slots)))
  }

  private func known(_ ids: [JobID]) -> [QueueMember] {
    ids.compactMap { $0.index < members.count ? members[$0.index] : nil }
  }

  /// The waiting ones first, so that the end of an executing one starts none of them.
  private func end(_ members: [QueueMember], by canceller: JobState.Canceller) {
    for member in members.filter({ !$0.hasBegun }) + members.filter(\.hasBegun) { end(member, by: canceller) }
  }

  private func end(_ member: QueueMember, by canceller: JobState.Canceller) {
    guard member.canceller == nil, !member.isOver else { return }
    member.canceller = canceller
    if member.hasBegun { state(.cancelRequested(member.id, by: canceller, kill: false)) }
    let operation = member.queued
    calling.async { operation.cancel() }
    // The cancellation of a foreign operation gives no notification.
    if member.visibility == .end, !member.hasBegun { tell(member, .cancelled(by: canceller)) }
  }

  /// One that can't be killed is cancelled.
  private func kill(_ member: QueueMember) {
    end(member, by: .person)
    guard let operation = member.operation as? any ControllableOperation else { return }
    calling.async { operation.kill() }
  }

  private func hold(_ member: QueueMember, _ isHeld: Bool) {
    guard let operation = member.operation as? any ControllableOperation, member.isHeld != isHeld else { return }
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

  /// After every call on an operation that was asked for before: whoever ends a run by cancelling it sees it cancelled.
  private func finish(_ signal: Int32?) {
    calling.async { self.stream.queue.async { self.stream.finish(signal: signal) } }
  }

  private func state(_ fact: JobFact) {
    if isStarted { stream.state(fact) } else { earlyFacts.append((fact, elapsed)) }
  }
}

extension QueueFeed {
  /// Before the start, and while an operation executes or has changed in a way that has not been delivered.
  package var isBusy: Bool {
    !isStarted || stream.journal.run.counts.active > 0 || members.contains { $0?.isBehind ?? false }
  }

  package func didEnd() {
    for member in members { member?.tokens = [] }
    members = []
  }
}

extension LogLine {
  /// A line of the operation's message, cut where it is too long.
  fileprivate init(cutting text: Substring, of line: OperationLogLine) {
    self.init(line)
    let isTooLong = text.utf8.count > LogLine.limit
    self.text = isTooLong ? String(decoding: text.utf8.prefix(LogLine.limit), as: UTF8.self) : String(text)
    if isTooLong { isCut = true }
  }
}
