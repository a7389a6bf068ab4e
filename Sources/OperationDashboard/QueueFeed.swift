import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations

/// An `OperationQueue` of the program as a run: what happens to its operations as facts, commands as calls on them.
///
/// Operations are observed on the queue of the fact stream and stated from there. What enters a plain queue of Foundation's
/// unannounced is looked for: shortly after another change, at a slow interval, and before the end of the run is stated.
package final class QueueFeed: FactStream.Source, @unchecked Sendable {
  // Safe: the registry is behind its lock, `entries` is set once; the fields below the line are touched only on the
  // stream's queue.

  package let queue: OperationQueue
  package let name: String
  package let stream: FactStream
  /// Where the program's own code is called: a `cancel()` of its class may take its time.
  let calling = DispatchQueue(label: "opdash.queue.commands", qos: .userInitiated)
  let feeder: OperationFeeder
  let registry = Lock(QueueRegistry())
  var entries: QueueEntryObserver?

  // ---- touched only on the stream's queue
  var members: [QueueMember?] = []
  /// Those of which only the end is observed.
  var unseen: Set<JobID> = []
  var isStarted = false
  /// Whether the feed was closed: its run has no reader any more.
  var isClosed = false
  /// The jobs and facts from before the start.
  var earlyJobs: [Job] = []
  private var earlyFacts: [(fact: JobFact, time: Duration)] = []
  /// How many lines of a job could not be kept until the start, and its attempt.
  private var earlyLosses: [JobID: (attempt: Int, count: Int)] = [:]
  /// The jobs that have ended without a success, each with the one at the root of a chain that never executed.
  private var roots: [JobID: JobID] = [:]
  var looks = LookSchedule()
  var stopping: JobState.Canceller?
  /// What makes the operations of further attempts.
  var factories: [JobID: QueueMember.Factory] = [:]
  /// The jobs of which the program is making another operation; with a canceller, it is cancelled when it is there.
  var renewals: [JobID: JobState.Canceller?] = [:]

  /// Observes what is in the queue from now on, and what is added here.
  package init(observing queue: OperationQueue, name: String? = nil, clock: any OperationClock = .system) {
    self.queue = queue
    let ownName = queue.name.flatMap { $0.isEmpty || $0.hasPrefix("NSOperationQueue") ? nil : $0 }
    self.name = name ?? ownName ?? ProcessInfo.processInfo.processName
    stream = FactStream(label: "opdash.queue", clock: clock)
    feeder = OperationFeeder(feeding: queue)
    stream.begin()
    stream.source = self
    entries = QueueEntryObserver { [weak self] operations, entry in self?.entered(operations, entry) }
    enrollPresent()
  }

  deinit {
    // A token keeps its handler, and that the member, which keeps the token.
    for member in members { member?.tokens = [] }
    for arrival in registry.withLock({ $0.takeArrivals() }) { arrival.member.tokens = [] }
  }

  /// Adds operations, which enter the queue when they may run; from any thread.
  ///
  /// Those that are known already are left out. Throws if some wait for each other in a cycle; then none has been added.
  package func add(_ operations: [Operation]) throws(DependencyCycle) { _ = try add(operations, factory: nil) }

  /// Adds the first operation that a factory has made, which makes the others when a person retries the job.
  package func add(
    _ first: Operation, retrying factory: @escaping @Sendable (Int) -> Operation
  ) throws(DependencyCycle) {
    guard !first.isExecuting, !first.isFinished, try add([first], factory: factory) == 1 else {
      programmerError("\(first) was added before; the closure of add(retrying:) makes a new operation at each call")
    }
  }

  /// Returns the number of new operations.
  private func add(_ operations: [Operation], factory: QueueMember.Factory?) throws(DependencyCycle) -> Int {
    enrollPresent()
    var count = 0
    let added = try registry.withLock { registry throws(DependencyCycle) -> [QueueMember] in
      var seen: Set<ObjectIdentifier> = []
      let new = operations.filter { seen.insert(ObjectIdentifier($0)).inserted && !registry.isKnown($0) }
      count = new.count
      try registry.wrap(new.filter { !$0.isFinished && !$0.isExecuting })
      return observed(registry.enroll(new, factory: factory))
    }
    watchEnds(of: added)
    // Children are their parents'; operations that have begun or finished already are shown only.
    let mine = added.filter { $0.parent == nil }.compactMap(\.observed)
    try feeder.add(mine.filter { !$0.isExecuting && !$0.isFinished })
    return count
  }

  /// States what has happened so far, and from now on what happens; subscribe before it to miss nothing.
  package func start() {
    enrollPresent()
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
      for (id, loss) in earlyLosses.sorted(by: { $0.key < $1.key }) {
        state(.jobLog(id, attempt: loss.attempt, Self.note(ofLost: loss.count)))
      }
      (earlyJobs, earlyFacts, earlyLosses) = ([], [], [:])
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

  /// Ends the observation of the queue, whether the run has ended or not; returns the run with all that is in the queue now.
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

  /// The width as slots; a queue without a limit has a number that stands for that.
  static func slots(_ width: Int) -> Int { width < 0 ? Run.unlimited : width }

  // MARK: What happens to operations

  func stateChanged(_ member: QueueMember, _ new: AsyncOperation.State) {
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

  func tell(_ member: QueueMember, _ new: JobState) {
    guard new != member.state, !member.state.isTerminal, !member.isReplaced else { return }
    if new.isTerminal { lookBeforeEnd() }
    member.state = new
    state(.jobState(member.id, new, attempt: member.attempt, pid: nil))
  }

  private func finished(_ member: QueueMember) {
    if !member.isReplaced {
      if isStarted { stream.flushProgress(of: member.id) } else { report(member) }
      tell(member, outcome(of: member))
      members[member.id.index] = nil
      unseen.remove(member.id)
    }
    member.isOver = true
    member.tokens = []
    registry.withLock { $0.forget(member) }
  }

  /// An operation that never executed because of one that it depends on is skipped, because of the first of that chain.
  private func outcome(of member: QueueMember) -> JobState {
    let outcome = member.outcome
    let root = member.isFollower ? member.needs.lazy.compactMap { self.roots[$0] }.first : nil
    if case .succeeded = outcome { roots[member.id] = nil } else { roots[member.id] = root ?? member.id }
    return root.map { .skipped(because: .job($0)) } ?? outcome
  }

  func cancelled(_ member: QueueMember) {
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

  func logged(_ member: QueueMember, _ line: OperationLogLine) {
    guard isStarted || earlyFacts.count < Self.bufferLimit else {
      let isLine = !(line.text.isEmpty && line.lost > 0)
      earlyLosses[member.id, default: (member.number, 0)].count += line.lost + (isLine ? 1 : 0)
      return
    }
    func log(_ line: LogLine) { state(.jobLog(member.id, attempt: member.number, line)) }
    if line.lost > 0 {
      log(Self.note(ofLost: line.lost))
      // The last before the end, which only tells of those.
      guard !line.text.isEmpty else { return stream.holdOutput() }
    }
    for text in line.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      log(LogLine(cutting: text, of: line))
    }
    stream.holdOutput()
  }

  private static func note(ofLost count: Int) -> LogLine {
    LogLine(.note, "left out \(Format.count(count, "line")): too many at once")
  }

  /// How many facts are kept before the run is shown; lines beyond that are dropped, and counted.
  private static let bufferLimit = 100_000

  func state(_ fact: JobFact) {
    if isStarted { stream.state(fact) } else { earlyFacts.append((fact, elapsed)) }
  }
}

extension QueueFeed {
  /// Before the start, and while an operation executes or has changed in a way that has not been delivered.
  ///
  /// Without a stop, a run ends when no operation is left.
  package var isBusy: Bool {
    guard isStarted else { return true }
    let run = stream.journal.run
    if run.counts.active > 0 || !renewals.isEmpty || members.contains(where: { $0?.isBehind ?? false }) { return true }
    guard stopping == nil else { return false }
    lookForArrivals()
    return stream.journal.run.counts.done < stream.journal.run.jobs.count
  }

  package func didEnd() {
    for member in members { member?.tokens = [] }
    members = []
    factories = [:]
    entries?.close()
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
