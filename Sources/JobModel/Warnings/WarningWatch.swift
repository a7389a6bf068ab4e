import Basics

/// Finds the warnings that follow from the events of a run and from time alone, and keeps account of all raised ones.
///
/// Reads each event once. Only jobs that execute are examined again, at `next`, which is when one of them may need a
/// warning; nil while none can.
package struct WarningWatch: Sendable {
  /// How long a state must last before a warning is raised.
  package struct Patience: Sendable {
    /// Since the cancellation, or since SIGKILL.
    package var cancellation: Duration = .seconds(10)
    /// Without progress or output, and beyond twice the usual time.
    package var silence: Duration = .seconds(10)
    package var suspension: Duration = .seconds(30)
    package var line: Duration = .seconds(60)
    /// How many jobs make a long line.
    package var lineLength = 10
    /// For the states that only the operations themselves show.
    package var standstill: Duration = .seconds(2)

    package init() {}
  }

  /// The cluster's own time to kill a job is 30 s by default.
  private static let clusterPatience: Duration = .seconds(60)
  /// A wake this late shows that the program or the machine stood still: no time before it counts.
  package static let lateness: Duration = .seconds(5)
  /// The successes that tell the usual time of a class, and of a job in recorded runs.
  private static let leastRuns = (ofClass: 5, recorded: 3)

  package var silenced: Set<RunWarning.Kind>
  package var patience: Patience
  /// When a warning may become true, on the run's clock.
  package private(set) var next: Duration?
  /// The raised warnings, with the times when they were raised.
  private var raised: [RunWarning.Key: Duration] = [:]
  /// The jobs with an attempt in progress.
  package private(set) var active: Set<JobID> = []
  /// The jobs that wait for a slot.
  private var ready: Set<JobID> = []
  /// Since when jobs are ready and nothing starts.
  private var heldSince: Duration?
  /// The end of the last standstill of the whole program.
  private var restart: Duration = .zero
  private var times: [String: ClassTimes] = [:]

  package init(silenced: Set<RunWarning.Kind> = [], patience: Patience = Patience()) {
    self.silenced = silenced
    self.patience = patience
  }

  /// The facts that follow from `events`, which `run` has applied, and from the time.
  package mutating func facts(after events: [JobEvent], in run: Run, now: Duration) -> [JobFact] {
    for event in events { note(event, run) }
    if let next, now - next > Self.lateness { restart = now }
    var facts = raised.isEmpty ? [] : clearing(run)
    guard let due = next, now >= due else { return facts }
    next = nil
    for id in active.sorted() { examine(id, run, now, &facts) }
    examineQueue(run, now, &facts)
    return facts
  }

  /// The fact of a warning found elsewhere; nil if it is silenced or raised already.
  package mutating func raise(_ warning: RunWarning, at now: Duration) -> JobFact? {
    guard !silenced.contains(warning.kind), raised[warning.key] == nil, raised.count < RunWarning.limits.warnings else {
      return nil
    }
    raised[warning.key] = now
    return .warningRaised(warning)
  }

  /// The fact of the end of a warning; nil if it is not raised.
  package mutating func clear(_ key: RunWarning.Key) -> JobFact? {
    raised.removeValue(forKey: key) == nil ? nil : .warningCleared(key)
  }

  // MARK: Events

  private mutating func note(_ event: JobEvent, _ run: Run) {
    switch event.fact {
    case .jobState(let id, let state, _, _):
      if state == .ready(for: .slot) { ready.insert(id) } else { ready.remove(id) }
      if state.isActive {
        active.insert(id)
        expect(silenceEnd(of: id, run))
      } else if active.remove(id) != nil, active.isEmpty, heldSince == nil {
        next = nil
      }
      if case .succeeded(upToDate: false) = state { learn(id, run) }
    case .cancelRequested(let id, _, _): expect(patienceEnd(of: id, run))
    case .drainChanged, .slotsChanged, .stopRequested: break
    default: return
    }
    noteQueue(run, at: event.time)
  }

  /// Called after an event that may change what waits for the slots.
  private mutating func noteQueue(_ run: Run, at time: Duration) {
    let isHeld = run.isDraining && run.stopping == nil && !ready.isEmpty
    if isHeld, heldSince == nil { heldSince = time }
    if !isHeld, heldSince != nil {
      (heldSince, next) = (nil, nil)
      for id in active { for end in [patienceEnd(of: id, run), silenceEnd(of: id, run)] { expect(end) } }
    }
    if let heldSince { expect(heldSince + patience.suspension) }
    if run.slots == 1, let (_, end) = line(run) { expect(end) }
  }

  /// Requests an examination at `time`, which may be rounded up to a time of events.
  private mutating func expect(_ time: Duration?) {
    guard let time else { return }
    next = min(next ?? .seconds(Int64.max / 2), (time + .nanoseconds(999)).wholeMicroseconds)
  }

  // MARK: Examinations

  private mutating func examine(_ id: JobID, _ run: Run, _ now: Duration, _ facts: inout [JobFact]) {
    let record = run[id]
    if let end = patienceEnd(of: id, run) {
      let since = record.cancelling?.at ?? now
      let by = record.cancelling.map { " \($0.by.attemptPhrase)" } ?? ""
      let evidence = "cancelled\(by) \(Format.length(now - since)) ago, and still executing"
      check(end, RunWarning(.cancelledExecuting, [id], evidence, since: since), now, &facts)
    } else if let end = silenceEnd(of: id, run) {
      let elapsed = record.elapsed(at: now) ?? .zero
      let quiet = now - lastSign(of: record)
      let usual = usual(record).map { Format.length($0.median) } ?? ""
      let evidence =
        "executes for \(Format.length(elapsed)), usually \(usual), without progress or output for \(Format.length(quiet))"
      check(end, RunWarning(.slowAndSilent, [id], evidence, since: lastSign(of: record)), now, &facts)
    }
  }

  private mutating func examineQueue(_ run: Run, _ now: Duration, _ facts: inout [JobFact]) {
    if let heldSince {
      let evidence = "nothing starts for \(Format.length(now - heldSince)) while \(Self.are(ready.count)) ready"
      let warning = RunWarning(.queueSuspended, ready.min().map { [$0] } ?? [], evidence, since: heldSince)
      if !raised.keys.contains(where: { $0.kind == .queueSuspended }) {
        check(heldSince + patience.suspension, warning, now, &facts)
      }
    }
    if let (id, end) = line(run) {
      let since = run[id].attempt?.startedAt ?? now
      let evidence = "has the only slot for \(Format.length(now - since)) while \(Self.are(ready.count)) ready"
      check(end, RunWarning(.longLine, [id], evidence, since: since), now, &facts)
    }
  }

  private static func are(_ count: Int) -> String { "\(Format.count(count, "job")) \(count == 1 ? "is" : "are")" }

  private mutating func check(
    _ end: Duration, _ warning: RunWarning, _ now: Duration, _ facts: inout [JobFact]
  ) {
    guard now >= end else { return expect(end) }
    if let fact = raise(warning, at: now) { facts.append(fact) }
  }

  /// The ends of warnings that no longer hold.
  private mutating func clearing(_ run: Run) -> [JobFact] {
    var over: [RunWarning.Key] = []
    for (key, time) in raised {
      let holds: Bool
      switch (key.kind, key.job) {
      case (.cancelledExecuting, let id?): holds = active.contains(id) && run[id].cancelling != nil
      case (.slowAndSilent, let id?): holds = active.contains(id) && lastSign(of: run[id]) <= time
      case (.longLine, let id?): holds = line(run)?.job == id && lastSign(of: run[id]) <= time
      case (.queueSuspended, _): holds = heldSince != nil
      default: holds = true
      }
      if !holds { over.append(key) }
    }
    guard !over.isEmpty else { return [] }
    over.sort { ($0.kind.rawValue, $0.job?.index ?? -1) < ($1.kind.rawValue, $1.job?.index ?? -1) }
    for case (.slowAndSilent, let id?) in over.map({ ($0.kind, $0.job) }) { expect(silenceEnd(of: id, run)) }
    return over.compactMap { clear($0) }
  }

  // MARK: States of jobs

  /// When a cancelled attempt should have ended; nil without a cancellation.
  private func patienceEnd(of id: JobID, _ run: Run) -> Duration? {
    let record = run[id]
    guard let cancelling = record.cancelling, active.contains(id) else { return nil }
    let patience = record.job.cluster == nil ? patience.cancellation : max(patience.cancellation, Self.clusterPatience)
    return max(restart, record.killTime ?? cancelling.at) + patience
  }

  /// When an executing attempt will have been slow and silent for too long; nil if its usual time is not known.
  private func silenceEnd(of id: JobID, _ run: Run) -> Duration? {
    let record = run[id]
    guard record.state == .executing, record.job.service == nil, active.contains(id), let attempt = record.attempt,
      let usual = usual(record)
    else { return nil }
    let slow = attempt.startedAt + attempt.pausedFor + max(usual.ninetieth * 2, usual.ninetieth + patience.silence)
    return max(slow, lastSign(of: record) + max(usual.median, patience.silence))
  }

  /// The job that has the only slot while many others are ready, and when it will have had it for too long.
  private func line(_ run: Run) -> (job: JobID, end: Duration)? {
    guard run.slots == 1, ready.count >= patience.lineLength, !run.isDraining, run.stopping == nil,
      let id = active.first(where: { run[$0].job.takesSlot }), case .executing = run[id].state,
      let attempt = run[id].attempt
    else { return nil }
    return (id, max(attempt.startedAt + patience.line, lastSign(of: run[id]) + patience.line / 2))
  }

  /// The newest start, progress or output of an attempt.
  private func lastSign(of record: JobRecord) -> Duration {
    max(restart, record.since, record.rateSample?.time ?? .zero, record.log.last?.time ?? .zero)
  }

  // MARK: Usual times

  /// The times of the last successes of a class.
  private struct ClassTimes {
    private var times: [Duration] = []
    private var oldest = 0
    private(set) var usual: UsualTime?

    mutating func add(_ time: Duration, least: Int) {
      if times.count < UsualTime.window { times.append(time) } else { times[oldest] = time }
      oldest = (oldest + 1) % UsualTime.window
      guard times.count >= least, times.count < UsualTime.window || oldest == 0 else { return }
      let sorted = times.sorted()
      usual = UsualTime(
        median: sorted[sorted.count / 2], ninetieth: sorted[sorted.count * 9 / 10], count: sorted.count)
    }
  }

  /// General classes: their operations have no usual time.
  private static let generalClasses: Set<String> = [
    "BlockOperation", "ClosureOperation", "AdaptedOperation", "TaskOperation", "ResultOperation", "GroupOperation",
    "ResultGroup", "RetryOperation", "RepeatOperation", "DelayOperation", "ShellOperation", "DownloadOperation",
    "UploadOperation", "URLSessionTaskOperation", "SlurmOperation", "AsyncOperation", "Operation",
  ]
  private static let mostClasses = 200

  /// The class of a program's own kind of operation.
  private static func ownClass(_ job: Job) -> String? {
    guard case .operation(let work) = job.work else { return nil }
    return generalClasses.contains(String(work.className.prefix { $0 != "<" })) ? nil : work.className
  }

  private mutating func learn(_ id: JobID, _ run: Run) {
    guard let name = Self.ownClass(run[id].job), times[name] != nil || times.count < Self.mostClasses,
      let took = run[id].elapsed(at: run.time)
    else { return }
    times[name, default: ClassTimes()].add(took, least: Self.leastRuns.ofClass)
  }

  private func usual(_ record: JobRecord) -> UsualTime? {
    if let usual = record.job.usual { return usual.count >= Self.leastRuns.recorded ? usual : nil }
    return Self.ownClass(record.job).flatMap { times[$0]?.usual }
  }
}

extension Run {
  package func warnings(about id: JobID) -> [RunWarning] {
    warnings.isEmpty ? [] : warnings.filter { $0.jobs.contains(id) }
  }

  mutating func raise(_ warning: RunWarning) {
    if let place = warnings.firstIndex(where: { $0.key == warning.key }) {
      warnings[place] = warning
    } else if warnings.count < RunWarning.limits.warnings {
      warnings.append(warning)
    }
  }

  mutating func clear(_ key: RunWarning.Key) { warnings.removeAll { $0.key == key } }
}
