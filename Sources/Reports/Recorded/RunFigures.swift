import Basics
import JobModel

/// The figures of a recorded run that the text and the HTML report share.
struct RunFigures {
  /// One reason for waiting, over all jobs.
  struct Wait {
    var kind: Phase.Kind
    var total: Duration = .zero
    var jobs = 0
    var longest: (job: JobID, time: Duration)
  }

  /// The kinds of phases spent not executing, in the order of a job's life.
  static let waitKinds: [Phase.Kind] = [
    .waiting, .forSlot, .forPool, .forPerson, .forCluster, .backingOff, .paused,
  ]

  let run: Run
  /// The end of the last job, or the newest event of a run that did not end.
  let end: Duration
  /// The critical path, which is the chain of needs that decided the end of the run: first job first.
  let chain: [Forecast.Link]
  let waits: [Wait]
  let slots: SlotUse
  /// The jobs that executed, by the time of all their attempts, the slowest first.
  let slowest: [JobID]
  /// Jobs that succeeded after failed attempts, most attempts first, then jobs whose last attempts failed at times.
  let flakiest: [JobID]
  /// The jobs that were allowed to fail come last.
  let failed: [JobID]
  let restored: [JobID]

  init(_ run: Run) {
    let end = run.isComplete ? run.lastEnd : run.time
    self.run = run
    self.end = end
    let ended = run.ended()
    chain = Forecast(ended, now: ended.time) { _ in nil }.chain
    waits = Self.waitKinds.compactMap { Self.wait($0, run, end) }
    slots = SlotUse(run, until: end)
    let took = run.jobs.map { $0.attempts.isEmpty ? .zero : $0.spent(.executing, until: end) }
    slowest = run.ids.filter { !run[$0].attempts.isEmpty }
      .sorted { (took[$1.index], $0) < (took[$0.index], $1) }
    flakiest = run.ids.filter { run[$0].isFlaky }.sorted { Self.isFlakier(run[$0], run[$1]) }
    failed = FailureList.failed(run)
    restored = run.ids.filter { run[$0].restored != nil }
  }

  /// The length of the critical path, and the time that its jobs executed.
  var pathTime: Duration { chain.reduce(.zero) { $0 + $1.share } }
  var pathExecuting: Duration { chain.reduce(.zero) { $0 + $1.executing } }

  /// The `count` greatest shares of the critical path, in the order of the path.
  func largestLinks(_ count: Int) -> [Forecast.Link] {
    chain.indices.sorted { (chain[$1].share, $0) < (chain[$0].share, $1) }.prefix(count).sorted().map { chain[$0] }
  }

  /// The longest wait in a share of the critical path.
  func longestWait(in link: Forecast.Link) -> Phase.Kind? {
    Self.waitKinds.map { (kind: $0, time: run[link.job].spent($0, from: link.from, until: link.finish)) }
      .filter { $0.time > .zero }.min { ($1.time, $0.kind.rawValue) < ($0.time, $1.kind.rawValue) }?.kind
  }

  /// The mean number of slots in use.
  var meanBusy: Double { run.length > .zero ? slots.busyTime / run.length : 0 }

  /// The number of slots; nil without a limit, and if the number changed during the run.
  var slotCount: Int? { run.slots == run.start?.slots && run.slots != Run.unlimited ? run.slots : nil }

  private static func isFlakier(_ left: JobRecord, _ right: JobRecord) -> Bool {
    let (tries, others) = (left.retries, right.retries)
    if tries != others { return tries > others }
    return (left.job.usual?.failureShare ?? 0) > (right.job.usual?.failureShare ?? 0)
  }

  private static func wait(_ kind: Phase.Kind, _ run: Run, _ end: Duration) -> Wait? {
    var wait: Wait?
    for id in run.ids {
      let time = run[id].spent(kind, until: end)
      guard time > .zero else { continue }
      if wait == nil { wait = Wait(kind: kind, longest: (id, time)) }
      wait?.total += time
      wait?.jobs += 1
      if let longest = wait?.longest.time, time > longest { wait?.longest = (id, time) }
    }
    return wait
  }
}

extension Run {
  /// The run of recorded events, with the lines of output that the reports show.
  package init(recorded events: some Sequence<JobEvent>) {
    self.init(logCapacity: FailureList.tail)
    for event in events { apply(event) }
  }

  /// The run as if it had been ended at its newest event, so that nothing of it is estimated.
  fileprivate func ended() -> Run {
    guard !isComplete else { return self }
    var run = self
    for id in ids where !self[id].state.isTerminal {
      let fact = JobFact.jobState(id, .cancelled(by: .signal), attempt: self[id].attempt?.number ?? 0, pid: nil)
      run.apply(JobEvent(seq: run.nextSeq, time: run.time, fact: fact))
    }
    return run
  }
}

extension JobRecord {
  /// The attempts that failed before the one that succeeded.
  fileprivate var retries: Int { state.isOK && !state.isFailure ? max(0, tryNumber - 1) : 0 }

  fileprivate var isFlaky: Bool { retries > 0 || job.usual?.isFlaky == true && state.isOK }

  /// Why it is called flaky: `ok, after 3 tries`, `failed 3 of its last 10 attempts`.
  var flakiness: String {
    var parts: [String] = []
    if retries > 0 { parts.append(StateClass(state).word + tries) }
    if let words = job.usual.flatMap(UsualText.flaky) { parts.append(words) }
    return parts.joined(separator: "; ")
  }

  /// How much longer or shorter than usual a job that succeeded at once took, as in `+41%`; nil below 10 %.
  var deviation: String? {
    guard case .succeeded(upToDate: false) = state, retries == 0, let usual = job.usual?.median, usual > .zero,
      let took = elapsed(at: since)
    else { return nil }
    let percent = Int(clamping: ((took / usual - 1) * 100).rounded())
    return abs(percent) < 10 ? nil : "\(percent > 0 ? "+" : "")\(percent)%"
  }
}

extension UsualTime {
  fileprivate var failureShare: Double { attempts > 0 ? Double(failures) / Double(attempts) : 0 }
}
