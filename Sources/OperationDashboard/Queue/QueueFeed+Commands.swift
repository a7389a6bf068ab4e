import Dispatch
import Foundation
import JobModel
import Operations

/// Commands of a person or a signal to the queue.
extension QueueFeed {
  func obey(_ command: JobCommand) {
    switch command {
    case .cancel(let ids, let canceller):
      for id in ids where renewals[id] != nil { renewals[id] = canceller }
      end(known(ids), by: canceller)
    case .kill(let ids): for member in known(ids) { kill(member) }
    case .pause(let ids): for member in known(ids) { hold(member, true) }
    case .resume(let ids): for member in known(ids) { hold(member, false) }
    case .retry(let ids, _): for id in ids { retry(id) }
    case .showStack(let ids): for member in known(ids) { showStack(of: member) }
    case .setPriority(let ids, let priority):
      for id in ids where renewals[id] != nil { state(priority, of: id) }
      for member in known(ids) { prioritize(member, priority) }
    case .setSlots(let slots): setSlots(slots)
    case .changeSlots(let change): setSlots(stream.journal.run.slots(changedBy: change))
    // A program's queue has no pools, approvals, terminals or inputs, and can't be held as a replay can.
    case .changePool, .approve, .setTerminalSize, .setWatching, .inputsChanged, .holdReplay, .skipToFailure: break
    case .setDraining(let drains):
      queue.isSuspended = drains
      state(.drainChanged(drains))
    case .stop(let level, let canceller): stop(level, canceller)
    case .finish(let signal): finish(signal)
    }
  }

  private func setSlots(_ slots: Int) {
    dependencyQueue.maxConcurrentOperationCount = max(1, slots)
    state(.slotsChanged(max(1, slots)))
  }

  private func known(_ ids: [JobID]) -> [QueueMember] {
    ids.compactMap { $0.index < members.count ? members[$0.index] : nil }
  }

  // MARK: Ends

  /// Cancels the waiting members first, so that the end of an executing one starts none of them.
  private func end(_ members: [QueueMember], by canceller: JobState.Canceller) {
    for member in members.filter({ !$0.hasBegun }) + members.filter(\.hasBegun) { end(member, by: canceller) }
  }

  func end(_ member: QueueMember, by canceller: JobState.Canceller) {
    guard member.canceller == nil, !member.isOver else { return }
    member.canceller = canceller
    if member.hasBegun { state(.cancelRequested(member.id, by: canceller, kill: false)) }
    let operation = member.queued
    calling.async { [self] in
      operation.cancel()
      // The cancellation of a foreign operation gives no notification; one that has started first tells its end.
      guard member.visibility == .end, operation.isCancelled, !operation.isExecuting else { return }
      stream.queue.async { [self] in
        guard !member.isOver, !member.hasBegun, !stream.isOver, !isClosed else { return }
        if isStarted { stream.dateByClock() }
        tell(member, .cancelled(by: canceller))
      }
    }
  }

  /// Cancels the member, and kills its operation if it can be killed.
  private func kill(_ member: QueueMember) {
    end(member, by: .person)
    guard let operation = member.operation as? any ControllableOperation else { return }
    calling.async { operation.kill() }
  }

  private func stop(_ level: StopLevel, _ canceller: JobState.Canceller) {
    guard !continuing else { return endPresent(by: canceller) }
    guard stream.journal.run.stopping.map({ $0.level < level }) ?? true else { return }
    state(.stopRequested(level, by: canceller))
    guard stopping == nil else { return }
    endPresent(by: canceller)
    stopping = canceller
  }

  /// Ends the present operations and the ones that are being made for a retry.
  func endPresent(by canceller: JobState.Canceller) {
    lookForArrivals()
    for id in renewals.keys { renewals[id] = canceller }
    end(members.compactMap(\.self), by: canceller)
  }

  /// Finishes the run after all earlier calls on operations, so that a run that ends by cancellation shows it.
  private func finish(_ signal: Int32?) {
    calling.async { self.stream.queue.async { self.stream.finish(signal: signal) } }
  }

  // MARK: Other changes

  private func hold(_ member: QueueMember, _ isHeld: Bool) {
    guard let operation = member.operation as? any ControllableOperation, member.isHeld != isHeld else { return }
    member.isHeld = isHeld
    calling.async { if isHeld { operation.pause() } else { operation.resume() } }
    tell(member, member.standing)
  }

  /// States the priority before the operation has it: the next command is relative to it, and a retry takes it over.
  func prioritize(_ member: QueueMember, _ priority: JobPriority) {
    guard !member.hasBegun else { return }
    let operation = member.queued
    member.priorityCalls += 1
    state(priority, of: member.id)
    calling.async { [self] in
      operation.queuePriority = priority.queuePriority
      stream.queue.async { member.priorityCalls -= 1 }
      statePriority(of: member)
    }
  }

  func state(_ priority: JobPriority, of id: JobID) {
    if isStarted {
      guard priority != stream.journal.run[id].job.priority else { return }
      stream.dateByClock()
    }
    state(.priorityChanged(id, priority))
  }

  // MARK: Stacks

  /// Writes the calls of the threads that execute an operation to its log, or why there are none.
  private func showStack(of member: QueueMember) {
    guard member.queued.isExecuting else { return }
    let operation = member.operation
    DispatchQueue.global(qos: .userInitiated).async { [self] in
      let lines = OperationStack.lines(of: operation)
      stream.queue.async { [self] in
        guard !stream.isOver, !isClosed else { return }
        if isStarted { stream.dateByClock() }
        for line in lines { state(.jobLog(member.id, attempt: member.number, LogLine(.note, line))) }
      }
    }
  }

  // MARK: Retry

  /// Has the job's factory make the operation of another attempt, if the job has failed or was cancelled or skipped.
  ///
  /// Operations that depended on the last attempt stopped waiting when it ended; operations that have run don't run
  /// again.
  private func retry(_ id: JobID) {
    guard stopping == nil, isStarted, let factory = factories[id], renewals[id] == nil else { return }
    let record = stream.journal.run[id]
    switch record.state {
    case .failed, .cancelled, .skipped: break
    default: return
    }
    // The last attempt may have been cancelled before its start and still be in the queue.
    members[id.index]?.isReplaced = true
    members[id.index] = nil
    unseen.remove(id)
    wrapped.remove(id)
    wrappedWaiting.remove(id)
    renewals[id] = .some(nil)
    let last = record.attempt?.number ?? 0
    state(.jobState(id, .waiting, attempt: last, pid: nil))
    let priority = record.job.priority
    calling.async {
      let operation = factory(last + 1)
      operation.queuePriority = priority.queuePriority
      self.renew(id, operation, number: last + 1)
    }
  }

  private func renew(_ id: JobID, _ operation: Operation, number: Int) {
    guard !operation.isExecuting, !operation.isFinished, !registry.withLock({ $0.isKnown(operation) }) else {
      programmerError("\(operation) was made before; the closure of add(retrying:) makes a new operation at each call")
    }
    do {
      let new = try registry.withLock { registry throws(OperationError) -> [QueueMember] in
        try registry.wrap([operation])
        return observed(registry.enroll(operation, asAttempt: number, of: id))
      }
      watchEnds(of: new)
      try dependencyQueue.add(new.prefix(1).compactMap(\.observed))
    } catch {
      programmerError(error.description)
    }
  }
}
