import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations

/// The program's `OperationQueue` as a run: changes of its operations become facts, commands become calls on them.
///
/// Operations are observed on the fact stream's queue, and their facts are stated there. A plain `OperationQueue`
/// doesn't announce new operations, so it is polled: shortly after another change, at a slow interval, and before the
/// end of the run is stated.
package final class QueueFeed: FactStream.Source, @unchecked Sendable {
  // Safe: the registry is behind its lock, `entries` is set once; the fields below the line are touched only on the
  // stream's queue.

  package let queue: OperationQueue
  package let name: String
  /// Whether the run stays open: a stop ends the present operations, not later ones.
  let continuing: Bool
  package let stream: FactStream
  /// The queue for calls of the program's own code, such as a `cancel()` that takes long.
  let calling = DispatchQueue(label: "opdash.queue.commands", qos: .userInitiated)
  let dependencyQueue: DependencyQueue
  let registry = Lock(QueueRegistry())
  var entries: QueueEntryObserver?

  // ---- touched only on the stream's queue
  var members: [QueueMember?] = []
  /// The unfinished jobs whose operations are observed only at their end.
  var unseen: Set<JobID> = []
  /// The jobs with an executing wrapped operation.
  var wrapped: Set<JobID> = []
  /// The jobs with a wrapped operation that has not begun.
  var wrappedWaiting: Set<JobID> = []
  var isStarted = false
  /// Whether the feed was closed: its run no longer has a reader.
  var isClosed = false
  /// The jobs and facts from before the start.
  var earlyJobs: [Job] = []
  private var earlyFacts: [(fact: JobFact, time: Duration)] = []
  /// The number of lines of a job that could not be kept until the start, and its attempt.
  private var earlyLosses: [JobID: (attempt: Int, count: Int)] = [:]
  /// The cause of each job that ended without a success: the first job of its chain of skipped jobs, or the job itself.
  private var roots: [JobID: JobID] = [:]
  var looks = LookSchedule()
  var checks = QueueChecks()
  var stopping: JobState.Canceller?
  /// Called once, if more happens before the start than is kept.
  var whenFull: (@Sendable () -> Void)?
  /// The number of facts before the start at which it is called.
  var earlyLimit = 4 * bufferLimit
  /// The factories for the operations of further attempts.
  var factories: [JobID: QueueMember.Factory] = [:]
  /// The jobs whose factory is making another operation, with a canceller if that operation is to be cancelled.
  var renewals: [JobID: JobState.Canceller?] = [:]

  /// Observes the operations that are in the queue or enter it, and operations added here.
  package convenience init(
    observing queue: OperationQueue, name: String? = nil, silenced: Set<RunWarning.Kind> = [],
    patience: WarningWatch.Patience = WarningWatch.Patience(), clock: any OperationClock = .system
  ) {
    self.init(
      of: DependencyQueue(feeding: queue), name: name ?? Self.name(of: queue),
      warnings: WarningWatch(silenced: silenced, patience: patience), clock: clock)
  }

  /// As the other initializer, with the operations that wait in the dependency queue.
  init(
    of dependencyQueue: DependencyQueue, name: String, warnings: WarningWatch,
    factories: [ObjectIdentifier: QueueMember.Factory] = [:], continuing: Bool = false,
    clock: any OperationClock = .system
  ) {
    (queue, self.name, self.continuing) = (dependencyQueue.queue, name, continuing)
    self.dependencyQueue = dependencyQueue
    stream = FactStream(label: "opdash.queue", clock: clock)
    stream.warnings = warnings
    stream.begin()
    stream.source = self
    entries = QueueEntryObserver(
      whenSeen: { [weak self] in self?.saw($0) }, whenEntered: { [weak self] in self?.entered($0, $1) })
    enroll(queue.operations + dependencyQueue.operations, under: nil, factories: factories)
  }

  /// The name that the program gave the queue, or the program's own.
  static func name(of queue: OperationQueue) -> String {
    let ownName = queue.name.flatMap { $0.isEmpty || $0.hasPrefix("NSOperationQueue") ? nil : $0 }
    return ownName ?? ProcessInfo.processInfo.processName
  }

  deinit {
    // A retain cycle: the operation retains its observations, their handlers the member, the member the operation.
    for member in members { member?.tokens = [] }
    for arrival in registry.withLock({ $0.end() }) { arrival.member.tokens = [] }
  }

  /// Adds operations, which enter the queue when they may run; from any thread.
  ///
  /// Known operations are ignored, and finished ones, because the feed forgets an operation at its end. Throws if
  /// operations wait for each other in a cycle; then none has been added. Returns false, and adds none, after the run's end.
  @discardableResult
  package func add(_ operations: [Operation]) throws(OperationError) -> Bool {
    try add(operations, factory: nil) != nil
  }

  /// Adds the first operation of a factory, which makes another when a person retries the job; false after the run's end.
  @discardableResult
  package func add(
    _ first: Operation, retrying factory: @escaping @Sendable (Int) -> Operation
  ) throws(OperationError) -> Bool {
    let isExecuting = first.isExecuting
    guard let count = try add([first], factory: factory) else { return false }
    guard !isExecuting, count == 1 else {
      programmerError("\(first) was added before; the closure of add(retrying:) makes a new operation at each call")
    }
    return true
  }

  /// Whether the end of the run was stated: it takes no more operations.
  var isOver: Bool { registry.withLock(\.isOver) }

  /// Returns the number of new operations; nil after the run's end.
  private func add(_ operations: [Operation], factory: QueueMember.Factory?) throws(OperationError) -> Int? {
    enrollPresent()
    var count = 0
    let added = try registry.withLock { registry throws(OperationError) -> [QueueMember]? in
      guard !registry.isOver else { return nil }
      var seen: Set<ObjectIdentifier> = []
      // In this order, because an operation is forgotten only after its end.
      let new = operations.filter { operation in
        seen.insert(ObjectIdentifier(operation)).inserted && !registry.isKnown(operation) && !operation.isFinished
      }
      count = new.count
      try registry.wrap(new.filter { !$0.isFinished && !$0.isExecuting })
      let factories = factory.flatMap { factory in new.first.map { [ObjectIdentifier($0): factory] } } ?? [:]
      return observed(registry.enroll(new, factories: factories))
    }
    guard let added else { return nil }
    watchEnds(of: added)
    // A child is run by its parent; an operation that has begun is only shown.
    let mine = added.filter { $0.parent == nil }.compactMap(\.observed)
    try dependencyQueue.add(mine.filter { !$0.isExecuting && !$0.isFinished })
    return count
  }

  /// States the facts so far, and later facts as they occur; subscribe before the call to miss none.
  package func start() {
    enrollPresent()
    stream.queue.async { [self] in
      guard !isStarted else { return }
      takeIn()
      isStarted = true
      let start = RunStart(
        id: UUID().uuidString.lowercased(), name: name, slots: Self.slots(queue.maxConcurrentOperationCount),
        at: Date(), jobs: earlyJobs.count, isOpen: continuing)
      stream.state(.runStarted(start))
      for (index, job) in earlyJobs.enumerated() { stream.state(.jobAdded(JobID(index), job)) }
      if queue.isSuspended { stream.state(.drainChanged(true)) }
      for (fact, time) in earlyFacts {
        stream.journal.advance(to: time)
        stream.state(fact)
      }
      for (id, loss) in earlyLosses.sorted(by: { $0.key < $1.key }) {
        state(.jobLog(id, attempt: loss.attempt, Self.note(ofLost: loss.count)))
      }
      (earlyJobs, earlyFacts, earlyLosses) = ([], [], [:])
      for case let member? in members { report(member) }
    }
  }

  package func send(_ command: JobCommand) { act { $0.obey(command) } }

  /// Ends the present operations, not later ones; calls `ifOver` if the run has ended and knows none.
  func endPresent(by canceller: JobState.Canceller, ifOver: @escaping @Sendable () -> Void) {
    act({ $0.endPresent(by: canceller) }, ifOver: ifOver)
  }

  private func act(_ body: @escaping @Sendable (QueueFeed) -> Void, ifOver: @escaping @Sendable () -> Void = {}) {
    // Changes that were observed before are stated first.
    stream.deliveries.deliverNow { [self] in
      guard !stream.isOver else { return ifOver() }
      takeIn()
      if isStarted { stream.dateByClock() }
      body(self)
    }
  }

  /// Ends the observation, whether or not the run has ended; returns the run with all operations now in the queue.
  package func close() -> Run {
    settled()
    return stream.queue.sync {
      if !stream.isOver {
        enrollPresent()
        takeIn()
      }
      isClosed = true
      entries?.close()
      stream.setNeedsDelivery()
      return stream.journal.run
    }
  }

  /// The width as slots: `Run.unlimited` for a queue without a limit.
  static func slots(_ width: Int) -> Int { width < 0 ? Run.unlimited : width }

  // MARK: What happens to operations

  func stateChanged(_ member: QueueMember, _ new: AsyncOperation.State) {
    member.stands = new
    switch new {
    case .finished: finished(member)
    case .executing:
      member.hasBegun = true
      if member.visibility == .wrapped {
        wrapped.insert(member.id)
        wrappedWaiting.remove(member.id)
      }
      tell(member, member.standing)
    case .pending, .ready:
      member.wasSeenWaiting = true
      tell(member, member.standing)
    }
    lookSoon()
  }

  func tell(_ member: QueueMember, _ new: JobState) {
    guard new != member.state, !member.state.isTerminal, !member.isReplaced else { return }
    if new.isTerminal { lookBeforeEnd() }
    member.state = new
    state(.jobState(member.id, new, attempt: member.attempt, pid: nil))
  }

  private func finished(_ member: QueueMember) {
    if !member.isReplaced {
      if isStarted { stream.flushProgress(of: member.id) } else { report(member) }
      let outcome = outcome(of: member)
      tell(member, outcome)
      checkExecution(of: member, outcome)
      members[member.id.index] = nil
      unseen.remove(member.id)
      wrapped.remove(member.id)
      wrappedWaiting.remove(member.id)
    }
    member.isOver = true
    member.tokens = []
    registry.withLock { $0.forget(member) }
  }

  /// The final state; an operation that never executed because of a dependency is skipped because of its chain's first
  /// job.
  private func outcome(of member: QueueMember) -> JobState {
    let outcome = member.outcome
    let root = member.isFollower ? member.needs.lazy.compactMap { self.roots[$0] }.first : nil
    if case .succeeded = outcome { roots[member.id] = nil } else { roots[member.id] = root ?? member.id }
    return root.map { .skipped(because: .job($0)) } ?? outcome
  }

  func cancelled(_ member: QueueMember) {
    guard member.hasBegun else {
      // A cancellation with an error is a failure: the reason is known when the operation has finished.
      if member.canceller == nil, (member.operation as? AsyncOperation)?.isCancelledWithError == true { return }
      // The operation will never execute, however late its queue finishes it.
      tell(member, .cancelled(by: member.canceller ?? .program))
      return
    }
    guard member.canceller == nil else { return }
    member.canceller = .program
    state(.cancelRequested(member.id, by: .program, kill: false))
  }

  /// Reports the progress; before the start only of a finished member, because `start()` reports the unfinished ones.
  func report(_ member: QueueMember) {
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

  func logged(_ member: QueueMember, _ line: OperationLogLine, _ receipt: LogReceipt?) {
    guard isStarted || earlyFacts.count < Self.bufferLimit else {
      let isLine = !(line.text.isEmpty && line.lost > 0)
      earlyLosses[member.id, default: (member.number, 0)].count += line.lost + (isLine ? 1 : 0)
      return
    }
    func log(_ line: LogLine) { state(.jobLog(member.id, attempt: member.number, line)) }
    if line.lost > 0 {
      log(Self.note(ofLost: line.lost))
      // The last message before the end may have no text and only report lost lines.
      guard !line.text.isEmpty else { return stream.holdOutput(receipt) }
    }
    for text in line.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      log(LogLine(cutting: text, of: line))
    }
    stream.holdOutput(receipt)
  }

  private static func note(ofLost count: Int) -> LogLine {
    LogLine(.note, "left out \(Format.count(count, "line")): too many at once")
  }

  /// The number of facts that are kept before the start; lines beyond it are dropped and counted.
  private static let bufferLimit = 100_000

  func state(_ fact: JobFact) {
    guard !isStarted else { return stream.state(fact) }
    earlyFacts.append((fact, elapsed))
    if earlyFacts.count >= earlyLimit, let whenFull = whenFull.take() { calling.async(execute: whenFull) }
  }
}

extension QueueFeed {
  /// Whether the run has not started, or an operation executes, is being made or has an undelivered change.
  ///
  /// Unless it was stopped, the run is also busy until no operation is left.
  package var isBusy: Bool {
    guard isStarted else { return true }
    let run = stream.journal.run
    if run.counts.active > 0 || !renewals.isEmpty || members.contains(where: { $0?.isBehind ?? false }) { return true }
    guard stopping == nil else { return false }
    lookForArrivals()
    return stream.journal.run.counts.open > 0
  }

  package func didEnd() {
    for arrival in registry.withLock({ $0.end() }) { arrival.member.tokens = [] }
    for member in members { member?.tokens = [] }
    members = []
    factories = [:]
    entries?.close()
  }
}

extension LogLine {
  /// A line of the operation's message, cut if it is too long.
  fileprivate init(cutting text: Substring, of line: OperationLogLine) {
    self.init(line)
    let isTooLong = text.utf8.count > LogLine.limit
    self.text = isTooLong ? String(decoding: text.utf8.prefix(LogLine.limit), as: UTF8.self) : String(text)
    if isTooLong { isCut = true }
  }
}
