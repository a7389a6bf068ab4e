import JobModel

/// What the list says of a job that does not execute: its standing, and the reason or the key that helps.
struct Wording: Equatable {
  var status: String
  var reason = ""
  /// What joins the two where they stand side by side.
  var joint = " "
  /// Whether `reason` only names a key, and may be left out.
  var isHint = false

  var whole: String { reason.isEmpty || isHint ? status : status + joint + reason }

  init(_ status: String, _ reason: String = "", joint: String = " ", isHint: Bool = false) {
    self.status = status
    self.reason = reason
    self.joint = joint
    self.isHint = isHint
  }

  /// `keys` are those to be named where one would help; nil where none does.
  init(_ id: JobID, _ run: Run, _ index: JobIndex, now: Duration, keys: KeyMap? = .standard) {
    let record = run.jobs[id.index]
    defer { tellForeign(record) }
    switch record.state {
    case .waiting:
      self = Self.waiting(record, run)
    case .ready(let room):
      self = Self.ready(record, room, run, index, keys)
    case .executing:
      self = Self.executing(record)
    case .paused(let started):
      self.init(started ? "paused" : "held before its start", keys?.hint(.pause, "resume") ?? "", isHint: true)
    case .backingOff(let until, let number, let limit, let failure):
      let wait = Format.countdown(until - now)
      self.init("retry \(number) of \(limit) in \(wait)", failure.reason, joint: " after ")
    case .succeeded(let upToDate):
      self.init(upToDate ? "up to date" : "ok", record.attempts.count > 1 ? "at attempt \(record.attempts.count)" : "")
    case .failed(let failure, let allowed):
      let tries = record.job.retry.max > 0 ? " (\(record.attempts.count) of \(record.job.retry.max + 1))" : ""
      let what = failure.cause == .timedOut ? "timed out" : "failed: \(failure.reason)"
      if allowed {
        self.init(what + tries, "allowed to fail", joint: ", ")
      } else {
        self.init(what + tries, keys?.hint(.retry, "retry") ?? "", isHint: true)
      }
    case .cancelled(let canceller):
      self.init("cancelled", Self.by(canceller))
    case .skipped(let cause):
      self.init("skipped", "because \(run.jobs[cause.index].job.name) \(Self.ending(run.jobs[cause.index].state))")
    }
  }

  /// Somebody else's operation in a program's own queue is known only in part, and the list says so where it has room.
  private mutating func tellForeign(_ record: JobRecord) {
    guard case .operation(let work) = record.job.work, work.visibility != .whole, reason.isEmpty else { return }
    reason = "foreign"
    joint = ", "
  }

  static func by(_ canceller: JobState.Canceller) -> String {
    switch canceller {
    case .person: "by you"
    case .signal: "by a signal"
    case .policy: "by on_failure"
    case .program: "by the program"
    }
  }

  /// What became of a job, as the end of a sentence that began with its name.
  private static func ending(_ state: JobState) -> String {
    switch StateClass(state) {
    case .failed, .allowedFailure: "failed"
    case .timedOut: "timed out"
    case .cancelled: "was cancelled"
    case .skipped: "was skipped"
    case .succeeded, .upToDate: "succeeded"
    case .executing, .paused, .backingOff, .ready, .waiting: "has not ended"
    }
  }

  private static func waiting(_ record: JobRecord, _ run: Run) -> Wording {
    let needs = record.job.needs
    var names: [String] = []
    for need in needs where !need.when.isMet(by: run.jobs[need.job.index].state) {
      let name = run.jobs[need.job.index].job.name
      switch need.when {
      case .ok: names.append(name)
      case .finished: names.append("\(name) to end")
      case .failed: names.append("\(name) to fail")
      }
      if names.count == 3 { break }
    }
    if names.isEmpty { return Wording(needs.isEmpty ? "waiting" : "needs met") }
    let more = record.unmetNeeds - names.count
    let list = names.joined(separator: ", ") + (more > 0 ? " +\(more)" : "")
    return Wording("needs \(record.unmetNeeds) of \(needs.count)", list, joint: ": ")
  }

  private static func ready(
    _ record: JobRecord, _ room: JobState.Room, _ run: Run, _ index: JobIndex, _ keys: KeyMap?
  ) -> Wording {
    if run.stopping != nil { return Wording("ready", "the run is stopping", joint: ", but ") }
    if run.isDraining { return Wording("ready: draining", keys?.hint(.drain, "goes on") ?? "", isHint: true) }
    switch room {
    case .slot:
      return Wording("ready: slot \(run.counts.active)/\(Run.slotsText(run.slots))")
    case .pool(let name):
      let taken = index.open.reduce(0) {
        run.jobs[$1.index].state.isActive ? $0 + (run.jobs[$1.index].job.uses[name] ?? 0) : $0
      }
      let width = run.start?.pools[name].map { "/\($0)" } ?? ""
      return Wording("ready: pool \(name) \(taken)\(width)")
    }
  }

  /// An executing job's progress is a bar, so only the reason is shown.
  private static func executing(_ record: JobRecord) -> Wording {
    var parts: [String] = []
    if record.attempts.count > 1 {
      parts.append("attempt \(record.attempts.count)")
    }
    if let progress = record.progress {
      switch (progress.unit, progress.total) {
      case (.bytes, let total?): parts.append("\(Format.bytes(progress.done))/\(Format.bytes(total))")
      case (.bytes, nil): parts.append("\(Format.bytes(progress.done))/?")
      case (.steps, let total?): parts.append("\(progress.done)/\(total)")
      case (.steps, nil): parts.append("step \(progress.done)")
      }
    }
    return Wording("running", parts.joined(separator: ", "))
  }
}
