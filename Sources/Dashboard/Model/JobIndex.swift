import Basics
import JobModel
import Screen

/// Facts about every job that the list needs beyond the run's fold, kept up to date so that no frame walks the run.
struct JobIndex {
  /// The class of each job: a byte each, so that counting and sorting don't read the records.
  private(set) var classes: [StateClass] = []
  /// The jobs with an attempt in progress, paused ones included, and the jobs that back off.
  private(set) var open: Set<JobID> = []
  /// The jobs that the failure policy has cancelled.
  private(set) var endedByPolicy: Set<JobID> = []
  /// The jobs that wait for a person's approval.
  private(set) var asking: Set<JobID> = []
  /// Whether some job's program has a terminal.
  private(set) var hasTerminals = false
  /// Whether some job is a service, or waits for a person who starts it.
  private(set) var hasStartable = false
  /// Whether some job has inputs that can be watched.
  private(set) var hasInputs = false
  private(set) var longestName = 0
  /// The number of jobs in each class, by its raw value.
  private(set) var counts = [Int](repeating: 0, count: StateClass.allCases.count)
  /// The open jobs' progress in integer parts of a job, so that no rounding error accumulates.
  private var parts: [Int64] = []
  private var sumOfParts: Int64 = 0
  private(set) var kinds: [String: Kind] = [:]
  /// The bytes that the newest attempt of each job has transferred, or found in its file.
  private var transferred: [JobID: Int64] = [:]
  /// The sum of all jobs.
  private(set) var bytes: Int64 = 0
  /// The executing jobs whose progress is in bytes.
  private var transferring: Set<JobID> = []

  /// How long succeeded jobs of one kind took, how long its jobs are expected to take, and how many have not started.
  struct Kind {
    var pending = 0
    var ended = 0
    var time: Duration = .zero
    /// The jobs with a declared or usual time, and the sum of their times.
    var known = 0
    var expected: Duration = .zero
    /// How many of them have not started, and the sum of their times.
    var pendingKnown = 0
    var pendingExpected = TimeEstimate(soonest: .zero, latest: .zero)

    /// The mean time of the ended jobs; before the first has ended, the mean of the expected times.
    var mean: Duration? { ended > 0 ? time / ended : known > 0 ? expected / known : nil }
  }

  /// The progress of the open jobs, in jobs.
  var openShare: Double { Double(sumOfParts) / Self.whole }

  /// The bytes a second of all jobs, in whole bytes: their sum doesn't depend on the order.
  func rate(_ run: Run, at now: Duration) -> Double {
    transferring.reduce(0) { $0 + (run.jobs[$1.index].rate(at: now) ?? 0).rounded() }
  }

  private static let whole = 4_294_967_296.0

  init() {}

  init(_ run: Run) {
    for id in run.ids {
      add(id, run)
      // Counts earlier times as if each end were reported now.
      if classes[id.index] == .succeeded { measure(id, run) }
    }
  }

  /// The words for a job's state in a filter.
  func words(of id: JobID, in run: Run) -> [String] { classes[id.index].names(in: run.jobs[id.index].state) }

  /// The number of these jobs in each class, by its raw value.
  func counts(of ids: some Sequence<JobID>) -> [Int] {
    var counts = [Int](repeating: 0, count: self.counts.count)
    for id in ids { counts[Int(classes[id.index].rawValue)] += 1 }
    return counts
  }

  /// Call after the run has applied the event.
  mutating func apply(_ event: JobEvent, _ run: Run) {
    switch event.fact {
    case .jobAdded(let id, _): add(id, run)
    case .jobState(let id, _, _, _), .cancelRequested(let id, _, _): move(id, run)
    case .jobProgress(let id, _): report(id, run)
    default: break
    }
  }

  mutating func add(_ id: JobID, _ run: Run) {
    let state = StateClass(run.jobs[id.index])
    classes.append(state)
    counts[Int(state.rawValue)] += 1
    parts.append(0)
    longestName = max(longestName, TextWidth.of(run.jobs[id.index].job.name))
    if case .shell(let work) = run.jobs[id.index].job.work, work.hasTerminal { hasTerminals = true }
    if run.jobs[id.index].job.service != nil || run.jobs[id.index].job.isManual { hasStartable = true }
    if !run.jobs[id.index].job.inputs.isEmpty { hasInputs = true }
    let kind = run.jobs[id.index].job.work.kind
    if Self.isPending(state) { wait(id, run, 1) }
    if let time = run.jobs[id.index].job.expectedTime {
      kinds[kind, default: Kind()].known += 1
      kinds[kind, default: Kind()].expected += time.soonest
    }
    enter(id, run)
  }

  /// Call after the run has applied the job's new state or the request to end it.
  mutating func move(_ id: JobID, _ run: Run) {
    let old = classes[id.index]
    let new = StateClass(run.jobs[id.index])
    classes[id.index] = new
    counts[Int(old.rawValue)] -= 1
    counts[Int(new.rawValue)] += 1
    enter(id, run)
    let change = (Self.isPending(new) ? 1 : 0) - (Self.isPending(old) ? 1 : 0)
    if change != 0 { wait(id, run, change) }
    if new == .succeeded, old != new { measure(id, run) }
  }

  /// Call after the run has applied the job's progress.
  mutating func report(_ id: JobID, _ run: Run) {
    let share = isOpen(id, run) ? run.jobs[id.index].progress?.fraction ?? 0 : 0
    let new = Int64((share * Self.whole).rounded())
    sumOfParts += new - parts[id.index]
    parts[id.index] = new
    reportBytes(id, run)
  }

  private mutating func reportBytes(_ id: JobID, _ run: Run) {
    let isInBytes = run.jobs[id.index].progress?.unit == .bytes
    guard isInBytes || (!transferred.isEmpty && transferred[id] != nil) else { return }
    let new = isInBytes ? run.jobs[id.index].progress?.done ?? 0 : 0
    let old = transferred.updateValue(new, forKey: id) ?? 0
    // A server can claim any size. Where the sum is beyond the range, it wraps around, and back when the job is taken off.
    bytes &+= new &- old
    if isInBytes, run.jobs[id.index].state == .executing { transferring.insert(id) } else { transferring.remove(id) }
  }

  /// Counts a job that waits for its start, or no longer does.
  private mutating func wait(_ id: JobID, _ run: Run, _ change: Int) {
    let kind = run.jobs[id.index].job.work.kind
    kinds[kind, default: Kind()].pending += change
    guard let time = run.jobs[id.index].job.expectedTime else { return }
    kinds[kind, default: Kind()].pendingKnown += change
    kinds[kind, default: Kind()].pendingExpected.soonest += time.soonest * change
    kinds[kind, default: Kind()].pendingExpected.latest += time.latest * change
  }

  private mutating func measure(_ id: JobID, _ run: Run) {
    guard let took = run.jobs[id.index].elapsed(at: run.time) else { return }
    let kind = run.jobs[id.index].job.work.kind
    kinds[kind, default: Kind()].ended += 1
    kinds[kind, default: Kind()].time += took
  }

  private mutating func enter(_ id: JobID, _ run: Run) {
    if isOpen(id, run) { open.insert(id) } else if !open.isEmpty { open.remove(id) }
    if run.jobs[id.index].state == .cancelled(by: .policy) {
      endedByPolicy.insert(id)
    } else if !endedByPolicy.isEmpty {
      endedByPolicy.remove(id)
    }
    if run.jobs[id.index].state == .ready(for: .person) {
      asking.insert(id)
    } else if !asking.isEmpty {
      asking.remove(id)
    }
    report(id, run)
  }

  private func isOpen(_ id: JobID, _ run: Run) -> Bool {
    run.jobs[id.index].state.isActive || classes[id.index] == .backingOff
  }

  private static func isPending(_ state: StateClass) -> Bool {
    !state.isTerminal && state != .executing && state != .stopping
  }
}
