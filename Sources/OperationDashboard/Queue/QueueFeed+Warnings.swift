import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations

/// The warnings that only the operations themselves show.
extension QueueFeed {
  private var patience: WarningWatch.Patience { stream.warnings.patience }

  private func raise(_ kind: RunWarning.Kind, _ jobs: [JobID], _ evidence: String, since: Duration? = nil) {
    let warning = RunWarning(kind, jobs, evidence, since: since ?? elapsed)
    if let fact = stream.warnings.raise(warning, at: elapsed) { state(fact) }
  }

  private func clear(_ key: RunWarning.Key) {
    if let fact = stream.warnings.clear(key) { state(fact) }
  }

  private func label(_ operation: Operation) -> String {
    operation.name.flatMap { $0.isEmpty ? nil : $0 } ?? "\(type(of: operation))"
  }

  private func id(of operation: Operation) -> JobID? { registry.withLock { $0.member(of: operation)?.id } }

  // MARK: Sightings

  /// Called on any thread.
  func saw(_ sighting: OperationSighting) {
    var ids: [JobID] = []
    // Looked up at once: a member is forgotten at its end.
    if case .exclusionOrder(_, _, let operations) = sighting { ids = operations.compactMap { id(of: $0) } }
    stream.queue.async { [self, ids] in
      takeIn()
      guard !stream.isOver, !isClosed else { return }
      if isStarted { stream.dateByClock() }
      switch sighting {
      case .wait: lookSoon()
      case .exclusionOrder(let first, let second, _):
        guard !ids.isEmpty else { return }
        raise(
          .exclusionOrder, ids,
          "takes '\(second)' inside '\(first)', and another operation takes '\(first)' inside '\(second)'")
      case .released(let name): raise(.releasedUnfinished, [], "\(name) was freed while it executed")
      }
    }
  }

  /// Called at the end of an operation.
  func checkExecution(of member: QueueMember, _ outcome: JobState) {
    checks.finished[member.id] = nil
    clear(RunWarning.Key(.finishUnannounced, member.id))
    for (key, ids) in checks.cycles where ids.contains(member.id) {
      checks.cycles[key] = nil
      clear(key)
    }
    guard case .succeeded = outcome else { return }
    let isUnexecuted =
      switch member.visibility {
      case .whole: member.wasSeenWaiting && !member.hasBegun
      case .wrapped: (member.observed as? AdaptedOperation)?.isUnexecuted == true
      case .end: false
      }
    if isUnexecuted { raise(.finishedUnexecuted, [member.id], "has finished, and its queue has not executed it") }
  }

  // MARK: Checks

  /// Called at each look.
  func runChecks() {
    let now = elapsed
    for id in unseen { if let member = members[id.index] { checkEnd(of: member, now) } }
    for id in wrapped { if let member = members[id.index] { checkEnd(of: member, now) } }
    clearStrangers()
    probeMainQueue(now)
    guard let due = checks.due, due <= now else { return }
    checks.begin()
    // The program or the machine stood still.
    guard now - due <= WarningWatch.lateness else {
      (checks.probe, checks.finished, checks.held) = (nil, [:], checks.held.filter { $0.value.key != nil })
      return checks.changed(at: now, patience)
    }
    let isStill = now - checks.lastChange >= patience.standstill
    if isStill, stream.journal.run.counts.active == 0 {
      checks.arrived = []
      checkDependencies(of: members.lazy.compactMap(\.self).filter { !$0.hasBegun })
    } else {
      let oldest = now - patience.standstill * QueueChecks.arrivalFactor
      let ripe = checks.arrived.prefix { $0.time <= oldest }
      checks.arrived.removeFirst(ripe.count)
      checkDependencies(of: ripe.lazy.compactMap { self.members[$0.id.index] }.filter { !$0.hasBegun })
      if let next = checks.arrived.first { checks.expect(next.time + patience.standstill * QueueChecks.arrivalFactor) }
    }
    checkSlots(now)
    checkMainQueue(now)
    if !isStill { checks.expect(checks.lastChange + patience.standstill) }
  }

  // MARK: Dependencies

  private func checkDependencies(of waiting: some Sequence<QueueMember>) {
    var strangers: [ObjectIdentifier: (operation: Operation, ids: [JobID])] = [:]
    var foreign: [Operation] = []
    for member in waiting.prefix(QueueChecks.limit) where !member.isOver {
      let dependencies = member.operation.dependencies.filter { !$0.isFinished }
      for dependency in dependencies where id(of: dependency) == nil && dependency.isRunByNobody {
        strangers[ObjectIdentifier(dependency), default: (dependency, [])].ids.append(member.id)
      }
      // `AsyncOperation` refuses a cycle.
      guard member.visibility != .whole else { continue }
      if dependencies.isEmpty {
        checkDependenciesThatHaveFinished(of: member)
      } else {
        foreign.append(member.operation)
      }
    }
    var onCycles: Set<JobID> = []
    for cycle in DependencyCycle.all(from: foreign, limit: QueueChecks.cycleLimit) {
      let ids = cycle.dropLast().compactMap { id(of: $0) }
      guard !onCycles.isSuperset(of: ids) else { continue }
      onCycles.formUnion(ids)
      raise(.dependencyCycle, ids.sorted(), cycle.map(label).joined(separator: " waits for "))
      checks.cycles[RunWarning.Key(.dependencyCycle, ids.min())] = ids
    }
    for (operation, ids) in strangers.values.sorted(by: { $0.ids[0] < $1.ids[0] }) {
      raise(.dependencyInNoQueue, ids, "waits for \(label(operation)), which is in no queue")
      checks.strangers[RunWarning.Key(.dependencyInNoQueue, ids[0])] = operation
    }
  }

  /// Foundation counts a dependency until its end is announced.
  private func checkDependenciesThatHaveFinished(of member: QueueMember) {
    let operation = member.operation
    guard !operation.isReady, !operation.isCancelled,
      let dependency = operation.dependencies.first(where: { !($0 is AsyncOperation) && !$0.isKnownToHaveFinished })
    else { return }
    raise(
      .finishUnannounced, [member.id],
      "waits for \(label(dependency)), whose isFinished is true and which no queue knows to have finished")
  }

  private func clearStrangers() {
    for (key, operation) in checks.strangers {
      let isOver = key.job.map { members[$0.index]?.hasBegun ?? true } ?? true
      guard isOver || !operation.isRunByNobody else { continue }
      checks.strangers[key] = nil
      clear(key)
    }
  }

  // MARK: Slots

  private func checkSlots(_ now: Duration) {
    var waits: [ObjectIdentifier: (queue: OperationQueue, awaited: [AsyncOperation])] = [:]
    func note(_ awaited: AsyncOperation, _ queue: OperationQueue) {
      guard awaited.waitsForSlot(of: queue) else { return }
      waits[ObjectIdentifier(queue), default: (queue, [])].awaited.append(awaited)
    }
    for wait in SlotWait.all { if let awaited = wait.awaited as? AsyncOperation { note(awaited, wait.queue) } }
    let active = stream.warnings.active.sorted().prefix(QueueChecks.limit).compactMap { members[$0.index] }
    for member in active where member.parent == nil {
      // One that awaits several still holds one slot.
      let awaited = (member.operation as? AsyncOperation)?.awaitedOperations.first { $0.waitsForSlot(of: queue) }
      if let awaited { note(awaited, queue) }
    }
    for (id, (queue, awaited)) in waits {
      let width = queue.maxConcurrentOperationCount
      guard width > 0, awaited.count >= width else {
        waits[id] = nil
        continue
      }
      let since = checks.held[id]?.since ?? now
      guard checks.held[id]?.key == nil else { continue }
      let awaitedIDs = awaited.compactMap { self.id(of: $0) }
      // Another queue than the observed one is shown only as a group's.
      guard !awaitedIDs.isEmpty else { continue }
      guard now - since >= patience.standstill else {
        checks.held[id] = (since, nil)
        checks.expect(since + patience.standstill)
        continue
      }
      let parent = members[awaitedIDs[0].index]?.parent
      let holders = active.filter { $0.parent == parent }.map(\.id)
      let names = awaited.map(label).joined(most: 3)
      let jobs = holders.isEmpty ? awaitedIDs : holders
      raise(
        .slotsHeld, jobs,
        "\(width) of \(Format.slots(width)) held by waits for \(names), which \(awaited.count == 1 ? "needs" : "need") one",
        since: since)
      checks.held[id] = (since, RunWarning.Key(.slotsHeld, jobs.first))
    }
    for (id, (_, key)) in checks.held where waits[id] == nil {
      checks.held[id] = nil
      if let key { clear(key) }
    }
  }

  // MARK: Ends

  /// Looks whether an operation of another class has finished without the knowledge of its queue.
  private func checkEnd(of member: QueueMember, _ now: Duration) {
    guard member.operation.isFinished else { return }
    guard let since = checks.finished[member.id] else {
      checks.finished[member.id] = now
      return checks.expect(now + patience.standstill)
    }
    guard now - since >= patience.standstill else { return }
    if member.visibility == .end, !queue.operations.contains(where: { $0 === member.operation }) { return }
    let width = queue.maxConcurrentOperationCount
    let run = stream.journal.run
    let mayRun =
      !queue.isSuspended && (width < 0 || run.counts.usedSlots < width)
      && member.operation.dependencies.allSatisfy(\.isFinished)
    if member.visibility == .end, !member.hasBegun, !mayRun {
      raise(.finishedUnexecuted, [member.id], "has finished, and its queue has not started it", since: since)
    } else {
      raise(
        .finishUnannounced, [member.id],
        "isFinished is true for \(Format.length(now - since)), and its queue does not know it", since: since)
    }
  }

  // MARK: The main queue

  /// Asks the main queue for a sign of life, unless an answer is due or nothing has changed since the last one.
  private func probeMainQueue(_ now: Duration) {
    guard checks.probe == nil, !stream.warnings.silenced.contains(.uiQueueBusy), !isClosed,
      checks.probed.map({ checks.lastChange > $0 && now - $0 >= QueueChecks.probeInterval }) ?? true
    else { return }
    checks.probe = QueueChecks.Probe(sent: now)
    checks.probed = now
    checks.expect(now + patience.standstill)
    DispatchQueue.main.async { [weak self] in
      guard let self else { return }
      let time = elapsed
      stream.queue.async { self.mainQueueAnswered(at: time) }
    }
  }

  private func checkMainQueue(_ now: Duration) {
    guard let probe = checks.probe, probe.waiting.isEmpty else { return }
    guard now - probe.sent >= patience.standstill else { return checks.expect(probe.sent + patience.standstill) }
    checks.probe?.waiting = DeliveryQueue.waitingForMain
  }

  private func mainQueueAnswered(at time: Duration) {
    guard let probe = checks.probe.take(), !probe.waiting.isEmpty, !stream.isOver, !isClosed else { return }
    if isStarted { stream.dateByClock() }
    var ids: [JobID] = []
    for case let id? in probe.waiting.map({ id(of: $0) }) where !ids.contains(id) { ids.append(id) }
    let count = Format.count(probe.waiting.count, "handler")
    raise(
      .uiQueueBusy, ids, "the UI queue was busy for \(Format.length(time - probe.sent)) while \(count) waited",
      since: probe.sent)
  }
}

extension Operation {
  /// Whether the end of an operation of another class was announced.
  fileprivate var isKnownToHaveFinished: Bool {
    let dependent = Operation()
    dependent.addDependency(self)
    // On Linux the operation would keep a dangling pointer to it.
    defer { dependent.removeDependency(self) }
    return dependent.isReady
  }
}
