import Dispatch
import Foundation
import JobModel
import Operations

/// How the feed learns of operations, and of their changes.
extension QueueFeed {
  /// Whether every operation is told of before it enters the queue, so that the queue itself needs no look.
  private var tellsOfEntries: Bool { queue is DelegatedOperationQueue }

  // MARK: Entries

  /// Called on the thread that adds or starts the operations.
  func entered(_ operations: [Operation], _ entry: QueueEntry) {
    switch entry {
    case .queue(let other): if other === queue { enroll(operations, under: nil) }
    case .parent(let parent): enroll(operations, under: parent)
    }
  }

  /// Finds the operations that are in the queue; those of a queue that tells of them are looked up once.
  func enrollPresent() {
    let present = queue.operations
    if !present.isEmpty { enroll(present, under: nil) }
  }

  private func enroll(_ operations: [Operation], under parent: AsyncOperation?) {
    let new = registry.withLock { registry -> [QueueMember] in
      let unknown = operations.filter { !registry.isKnown($0) && !$0.isFinished }
      guard !unknown.isEmpty else { return [] }
      guard let parent else { return observed(registry.enroll(unknown)) }
      guard let member = registry.member(of: parent) else { return [] }
      return observed(registry.enroll(unknown, under: member))
    }
    watchEnds(of: new)
  }

  /// Begins to observe members; under the registry's lock, so that each is taken in before it is heard of.
  func observed(_ members: [QueueMember]) -> [QueueMember] {
    for member in members { observe(member) }
    return members
  }

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

  /// Observes the ends of those of which nothing else can be observed, and has the new members stated.
  func watchEnds(of members: [QueueMember]) {
    guard !members.isEmpty else { return }
    for member in members where member.observed == nil {
      // A queue of its own, which examines all that waits in it at every change; not on dispatch's global pool, which
      // wakes once a second for ever after its first use.
      let queue = OperationQueue()
      queue.underlyingQueue = Self.ends
      member.operation.whenFinished(on: queue) { [weak self] in
        guard let self else { return }
        stream.queue.async { self.observedEnd(of: member) }
      }
    }
    stream.queue.async { self.takeIn() }
  }

  // Kept here, because an operation queue does not keep it.
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
      if member.visibility == .end {
        unseen.insert(member.id)
        lookAt(member)
      }
      let renewal = arrival.job == nil ? renewals.removeValue(forKey: member.id) ?? nil : nil
      if let canceller = renewal ?? stopping { end(member, by: canceller) }
    }
  }

  // MARK: Changes without a notification

  /// Looks soon for changes that Foundation gives no notification of: an observed change is mostly followed by others.
  ///
  /// These are the start of a foreign operation, an operation that enters a plain queue, and a change of the queue's width
  /// or suspension.
  func lookSoon() {
    guard !stream.isOver else { return }
    looks.changed(at: elapsed)
    stream.setNeedsDelivery()
  }

  package var nextWake: Duration? {
    guard isStarted, !isClosed, !stream.isOver else { return nil }
    let isRegular = !tellsOfEntries || unseen.contains { members[$0.index]?.hasBegun == false }
    return looks.next(isRegular: isRegular, isWorking: stream.journal.run.counts.active > 0)
  }

  package func wake() {
    guard !stream.isOver, let next = nextWake, next <= elapsed else { return }
    stream.dateByClock()
    let clock = ContinuousClock()
    let began = clock.now
    lookForArrivals()
    for id in unseen { if let member = members[id.index] { lookAt(member) } }
    lookAtQueue()
    looks.looked(at: elapsed, taking: clock.now - began)
  }

  /// Finds operations that have entered a plain queue unannounced.
  func lookForArrivals() {
    if !tellsOfEntries { enrollPresent() }
    takeIn()
  }

  /// Looks before the last known operation is stated to have ended, so that the run is not taken to be complete.
  func lookBeforeEnd() {
    let run = stream.journal.run
    if isStarted, !isClosed, stopping == nil, run.counts.done + 1 >= run.jobs.count { lookForArrivals() }
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
    let slots = Self.slots(queue.maxConcurrentOperationCount)
    if slots != stream.journal.run.slots { state(.slotsChanged(slots)) }
    if queue.isSuspended != stream.journal.run.isDraining { state(.drainChanged(queue.isSuspended)) }
  }
}
