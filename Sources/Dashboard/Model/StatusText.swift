import JobModel

/// A job's status in the list, and the reason for it or a hint at a key.
struct StatusText: Equatable {
  var status: String
  var reason = ""
  /// The text between status and reason in one line.
  var joint = " "
  /// Whether `reason` only hints at a key and may be left out.
  var isHint = false

  var whole: String { reason.isEmpty || isHint ? status : status + joint + reason }

  init(_ status: String, _ reason: String = "", joint: String = " ", isHint: Bool = false) {
    self.status = status
    self.reason = reason
    self.joint = joint
    self.isHint = isHint
  }

  /// With `keys`, states that a key changes have it as a hint.
  init(_ id: JobID, _ run: Run, _ index: JobIndex, now: Duration, keys: KeyMap? = .standard) {
    let record = run.jobs[id.index]
    let number = record.attempt?.number ?? 0
    defer { markForeign(record) }
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
      self.init(upToDate ? "up to date" : "ok", number > 1 ? "at attempt \(number)" : "")
    case .failed(let failure, let allowed):
      let what = (failure.cause == .timedOut ? "timed out" : "failed: \(failure.reason)") + record.tries
      if allowed {
        self.init(what, "allowed to fail", joint: ", ")
      } else {
        self.init(what, keys?.hint(.retry, "retry") ?? "", isHint: true)
      }
    case .cancelled(let canceller):
      self.init("cancelled", canceller.phrase)
    case .skipped(let cause):
      self.init("skipped", "because \(run.jobs[cause.index].job.name) \(index.classes[cause.index].ending)")
    }
  }

  /// Marks an operation of a program's queue that is no `AsyncOperation`, and so only partly observed, if there is room.
  private mutating func markForeign(_ record: JobRecord) {
    guard case .operation(let work) = record.job.work, work.visibility != .whole, reason.isEmpty else { return }
    reason = "foreign"
    joint = ", "
  }

  private static func waiting(_ record: JobRecord, _ run: Run) -> StatusText {
    let needs = record.job.needs
    var names: [String] = []
    for need in needs where !need.when.isMet(by: run.jobs[need.job.index].state) {
      names.append(run.jobs[need.job.index].job.name + (need.when.phrase.map { " " + $0 } ?? ""))
      if names.count == 3 { break }
    }
    if names.isEmpty { return StatusText(needs.isEmpty ? "waiting" : "needs met") }
    let more = record.unmetNeeds - names.count
    let list = names.joined(separator: ", ") + (more > 0 ? " +\(more)" : "")
    return StatusText("needs \(record.unmetNeeds) of \(needs.count)", list, joint: ": ")
  }

  private static func ready(
    _ record: JobRecord, _ room: JobState.Room, _ run: Run, _ index: JobIndex, _ keys: KeyMap?
  ) -> StatusText {
    if run.stopping != nil { return StatusText("ready", "the run is stopping", joint: ", but ") }
    if run.isDraining { return StatusText("ready: draining", keys?.hint(.drain, "goes on") ?? "", isHint: true) }
    switch room {
    case .slot:
      return StatusText("ready: slot \(run.counts.active)/\(Run.slotsText(run.slots))")
    case .pool(let name):
      let taken = index.open.reduce(0) {
        run.jobs[$1.index].state.isActive ? $0 + (run.jobs[$1.index].job.uses[name] ?? 0) : $0
      }
      let width = run.start?.pools[name].map { "/\($0)" } ?? ""
      return StatusText("ready: pool \(name) \(taken)\(width)")
    }
  }

  /// The list shows an executing job's progress as a bar, and only the reason of this text.
  private static func executing(_ record: JobRecord) -> StatusText {
    var parts: [String] = []
    let number = record.attempt?.number ?? 0
    if number > 1 { parts.append("attempt \(number)") }
    if let progress = record.progress {
      switch (progress.unit, progress.total) {
      case (.bytes, let total?): parts.append("\(Format.bytes(progress.done))/\(Format.bytes(total))")
      case (.bytes, nil): parts.append("\(Format.bytes(progress.done))/?")
      case (.steps, let total?): parts.append("\(progress.done)/\(total)")
      case (.steps, nil): parts.append("step \(progress.done)")
      }
    }
    return StatusText("running", parts.joined(separator: ", "))
  }
}
