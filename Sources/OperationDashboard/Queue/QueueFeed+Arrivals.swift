import Dispatch
import Foundation
import JobModel
import Operations

/// The arrival of operations and the observation of their changes.
extension QueueFeed {
  /// Whether the queue announces every operation before it enters, so that it needn't be polled for arrivals.
  private var tellsOfEntries: Bool { queue is DelegatedOperationQueue }

  // MARK: Entries

  /// Called on the thread that adds or starts the operations.
  func entered(_ operations: [Operation], _ entry: QueueEntry) {
    switch entry {
    case .queue(let other): if other === queue { enroll(operations, under: nil) }
    case .parent(let parent): enroll(operations, under: parent)
    }
  }

  /// Enrolls the operations that are in the queue and not yet known.
  func enrollPresent() {
    let present = queue.operations
    if !present.isEmpty { enroll(present, under: nil) }
  }

  func enroll(
    _ operations: [Operation], under parent: Operation?, factories: [ObjectIdentifier: QueueMember.Factory] = [:]
  ) {
    let new = registry.withLock { registry -> [QueueMember] in
      let unknown = operations.filter { !registry.isKnown($0) && !$0.isFinished }.map { registry.unwrap($0) }
      guard !unknown.isEmpty else { return [] }
      guard let parent else { return observed(registry.enroll(unknown, factories: factories)) }
      guard let member = registry.member(of: parent) else { return [] }
      return observed(registry.enroll(unknown, under: member))
    }
    watchEnds(of: new)
  }

  /// Begins to observe members; called under the registry's lock, so that `takeIn()` precedes their first notification.
  func observed(_ members: [QueueMember]) -> [QueueMember] {
    for member in members { observe(member) }
    return members
  }

  private func observe(_ member: QueueMember) {
    guard let operation = member.observed else { return }
    member.tokens = [
      operation.observe(\.state, on: stream.queue, options: .initial) { [weak self] _, change in
        self?.observed(member, at: change.time) { $0.stateChanged(member, change.newValue) }
      },
      operation.observe(\.isCancelled, on: stream.queue, options: .initial) { [weak self] _, change in
        if change.newValue { self?.observed(member, at: change.time) { $0.cancelled(member) } }
      },
    ]
    guard member.visibility == .whole else { return }
    member.tokens += [
      operation.observe(\.progress, on: stream.queue, options: .initial) { [weak self] _, change in
        self?.observed(member, at: change.time) { $0.report(member) }
      },
      operation.events(.lines, on: stream.queue) { [weak self] event, time, receipt in
        guard case .lines(let lines) = event else { return }
        self?.observed(member, at: time) { feed in for line in lines { feed.logged(member, line, receipt) } }
      },
    ]
  }

  private func observed(_ member: QueueMember, at time: Duration, _ handle: (QueueFeed) -> Void) {
    takeIn()
    guard !stream.isOver, !member.isOver else { return }
    if isStarted { stream.date(time) }
    handle(self)
  }

  /// Observes the end of members that have no observable operation, and schedules the statement of the new members.
  func watchEnds(of members: [QueueMember]) {
    guard !members.isEmpty else { return }
    for member in members where member.observed == nil {
      // One queue for each member, because a queue examines all its waiting operations at every change; not on
      // Dispatch's global pool, which wakes once a second indefinitely after its first use.
      let queue = OperationQueue()
      queue.underlyingQueue = Self.ends
      member.operation.whenFinished(on: queue) { [weak self] in
        guard let self else { return }
        stream.queue.async { self.observedEnd(of: member) }
      }
    }
    stream.queue.async { self.takeIn() }
  }

  // Retained here, because an operation queue does not retain it.
  private static let ends = DispatchQueue(label: "opdash.ends")

  private func observedEnd(of member: QueueMember) {
    takeIn()
    guard !stream.isOver, !member.isOver else { return }
    if isStarted { stream.dateByClock() }
    stateChanged(member, .finished)
  }

  /// States the members that were enrolled since the last call.
  func takeIn() {
    guard !stream.isOver else { return }
    let arrivals = registry.withLock { $0.takeArrivals() }
    guard !arrivals.isEmpty else { return }
    for arrival in arrivals {
      let member = arrival.member
      guard let job = arrival.job else {
        members[member.id.index] = member
        continue
      }
      members.append(member)
      if let factory = member.factory { factories[member.id] = factory }
      if isStarted { stream.state(.jobAdded(member.id, job)) } else { earlyJobs.append(job) }
    }
    for arrival in arrivals {
      let member = arrival.member
      checks.arrived.append((member.id, elapsed))
      if member.visibility == .wrapped { wrappedWaiting.insert(member.id) }
      if member.visibility == .end {
        unseen.insert(member.id)
        lookAt(member)
      }
      let renewal = arrival.job == nil ? renewals.removeValue(forKey: member.id) ?? nil : nil
      if arrival.job == nil {
        // A person may have changed it while the operation was made.
        let wanted = stream.journal.run[member.id].job.priority
        if wanted != JobPriority(member.queued.queuePriority) { prioritize(member, wanted) }
      }
      if let canceller = renewal ?? stopping { end(member, by: canceller) }
    }
  }

  // MARK: Changes without a notification

  /// Polls soon for changes that Foundation doesn't announce, because an observed change is usually followed by others.
  ///
  /// Foundation doesn't announce the start of a foreign operation, an operation that enters a plain queue, and a change
  /// of the queue's width or suspension.
  func lookSoon() {
    guard !stream.isOver else { return }
    looks.changed(at: elapsed)
    checks.changed(at: elapsed, stream.warnings.patience)
    stream.setNeedsDelivery()
  }

  package var nextWake: Duration? {
    guard isStarted, !isClosed, !stream.isOver else { return nil }
    let isRegular =
      !tellsOfEntries || !wrappedWaiting.isEmpty || unseen.contains { members[$0.index]?.hasBegun == false }
    let look = looks.next(isRegular: isRegular, isWorking: stream.journal.run.counts.active > 0)
    return [look, checks.due].compactMap(\.self).min()
  }

  package func wake() {
    guard !stream.isOver, let next = nextWake, next <= elapsed else { return }
    stream.dateByClock()
    let clock = ContinuousClock()
    let began = clock.now
    lookForArrivals()
    for id in unseen { if let member = members[id.index] { lookAt(member) } }
    for id in wrappedWaiting { if let member = members[id.index] { follow(member) } }
    lookAtQueue()
    runChecks()
    looks.looked(at: elapsed, taking: clock.now - began)
  }

  /// Finds operations that have entered a plain queue unannounced.
  func lookForArrivals() {
    if !tellsOfEntries { enrollPresent() }
    takeIn()
  }

  /// Polls before the end of the last known operation is stated, so that the run doesn't appear complete too early.
  func lookBeforeEnd() {
    let run = stream.journal.run
    if isStarted, !isClosed, stopping == nil, run.counts.open <= 1 { lookForArrivals() }
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

  /// Passes a change of a wrapped operation, which waits, to its wrapper.
  func follow(_ member: QueueMember) {
    guard let wrapper = member.observed as? AdaptedOperation, wrapper.isBehind else { return }
    calling.async { [self] in
      wrapper.follow()
      statePriority(of: member)
    }
  }

  /// States the priority that the queue has for the member, after the last call that sets it.
  func statePriority(of member: QueueMember) {
    stream.queue.async { [self] in
      guard !stream.isOver, !isClosed, !member.isOver, !member.isReplaced, member.priorityCalls == 0 else { return }
      state(JobPriority(member.queued.queuePriority), of: member.id)
    }
  }

  private func lookAtQueue() {
    let slots = Self.slots(queue.maxConcurrentOperationCount)
    if slots != stream.journal.run.slots { state(.slotsChanged(slots)) }
    if queue.isSuspended != stream.journal.run.isDraining { state(.drainChanged(queue.isSuspended)) }
  }
}
