import Basics

/// Reads the lines that `EventWriter` writes, and gives back equal events that a `Run` can fold, whatever the lines hold.
///
/// Fields that it does not know are ignored; a type or a word that it does not know is a fault, because the run would not
/// be the fold of the other events. After a fault no further line may be read.
package struct EventReader: Sendable {
  private var names = JobNames()
  private var line = 0
  private var nextSeq = 0
  private var time: Duration = .zero
  /// How many jobs must be added before the events in `held` are given out.
  private var awaited = 0
  private var held: [JobEvent] = []

  package init() {}

  /// Goes on after `run`, whose jobs it has read.
  mutating func follow(_ run: Run) {
    (nextSeq, time) = (run.nextSeq, run.time)
    awaited = run.jobs.lazy.flatMap(\.job.needs).reduce(run.start?.jobs ?? 0) { max($0, $1.job.index + 1) }
  }

  /// Whether jobs are missing that the run declares or that others need; the events that wait for them belong to no run yet.
  package var isHolding: Bool { !held.isEmpty }

  /// The next events: mostly one, none for an empty line and while jobs are missing, then all of them.
  package mutating func read(_ line: String) throws(EventFault) -> [JobEvent] {
    var line = line
    let result = line.withUTF8 { bytes in Result { () throws(EventFault) in try read(bytes) } }
    return try result.get()
  }

  /// As `read(_ line: String)`, of the bytes of a line with or without its line feed.
  package mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(EventFault) -> [JobEvent] {
    line += 1
    if bytes.isEmpty || (bytes.count == 1 && bytes[0] == UInt8(ascii: "\n")) { return [] }
    do throws(JSONFault) {
      return give(try event(JSONScanner.fields(of: bytes)))
    } catch {
      throw EventFault(line: line, message: error.message)
    }
  }

  /// The events of a line whose fields are known.
  package mutating func read(_ fields: JSONFields) throws(JSONFault) -> [JobEvent] { give(try event(fields)) }

  private mutating func give(_ event: JobEvent) -> [JobEvent] {
    if held.isEmpty, names.count >= awaited { return [event] }
    held.append(event)
    guard names.count >= awaited else { return [] }
    return exchange(&held, with: [])
  }

  private mutating func event(_ fields: JSONFields) throws(JSONFault) -> JobEvent {
    let version = try fields.count("v")
    guard version == EventWriter.version else {
      throw JSONFault("the events are of version \(version), which a newer opdash wrote: read them with that one")
    }
    let seq = try fields.count("seq")
    guard seq == nextSeq else { throw JSONFault("'seq' is \(seq) where \(nextSeq) comes next: lines are missing") }
    let time = try fields.duration("t")
    guard time <= DurationText.limit else { throw JSONFault("'t' is longer than any run") }
    guard time >= self.time else { throw JSONFault("'t' is earlier than in the line before") }
    let type: FactType = try fields.word("type")
    guard (type == .runStarted) == (seq == 0) else {
      throw JSONFault("'run_started' must be the first event, and no other")
    }
    let fact = try fact(type, fields)
    nextSeq += 1
    self.time = time
    return JobEvent(seq: seq, time: time, fact: fact)
  }

  private mutating func fact(_ type: FactType, _ fields: JSONFields) throws(JSONFault) -> JobFact {
    switch type {
    case .runStarted:
      let start = try RunStart(fields)
      awaited = start.jobs
      return .runStarted(start)
    case .jobAdded:
      let (id, job) = try added(fields)
      return .jobAdded(id, job)
    case .jobState:
      let id = try job(fields)
      let state = try state(fields)
      return .jobState(
        id, state, attempt: try fields.count("attempt"), pid: try fields.whole(ifAny: "pid", in: 0...Int32.max))
    case .jobLaunched:
      let id = try job(fields)
      return .jobLaunched(id, pid: try fields.required("pid", fields.whole(ifAny: "pid", in: 0...Int32.max)))
    case .jobRestored: return .jobRestored(try job(fields), try EarlierSuccess(fields))
    case .jobCaused:
      return .jobCaused(try job(fields), attempt: try fields.count("attempt"), try fields.text("cause"))
    case .inputsHashed: return .inputsHashed(try job(fields), try fields.text("hash"))
    case .jobOutputs:
      return .jobOutputs(try job(fields), try fields.required("values", fields.textMap(ifAny: "values")))
    case .jobPlaced: return .jobPlaced(try job(fields), try ClusterPlace(fields))
    case .jobProgress: return .jobProgress(try job(fields), try JobProgress(fields))
    case .jobLog:
      return .jobLog(
        try job(fields), attempt: try fields.count("attempt"), try LogLine(fields, try fields.word("stream")))
    case .programLog: return .programLog(try LogLine(fields, try fields.word(ifAny: "stream") ?? .stdout))
    case .cancelRequested:
      return .cancelRequested(try job(fields), by: try fields.word("by"), kill: try fields.flag("kill"))
    case .slotsChanged: return .slotsChanged(try fields.slots())
    case .poolChanged: return .poolChanged(try fields.text("pool"), try fields.count("size"))
    case .clusterChanged: return .clusterChanged(fault: try fields.text(ifAny: "fault"))
    case .arrivalsEnded: return .arrivalsEnded
    case .priorityChanged: return .priorityChanged(try job(fields), try fields.word("priority"))
    case .drainChanged: return .drainChanged(try fields.flag("draining"))
    case .watchChanged: return .watchChanged(try fields.flag("watching"), fault: try fields.text(ifAny: "fault"))
    case .stopRequested: return .stopRequested(try fields.word("level"), by: try fields.word("by"))
    case .warningRaised: return .warningRaised(try warning(fields))
    case .warningCleared:
      return .warningCleared(RunWarning.Key(try fields.word("warning"), try jobIfAny(fields)))
    case .runFinished: return .runFinished(try RunSummary(fields))
    }
  }

  /// The job that comes next, and its number.
  mutating func added(_ fields: JSONFields) throws(JSONFault) -> (JobID, Job) {
    let id = JobID(names.count)
    let name = try fields.text("job")
    if let number = try fields.count(ifAny: "id"), number != id.index {
      throw JSONFault("'id' is \(number) where \(id.index) comes next")
    }
    var job = Job(name: name, work: try JobWork(fields))
    try job.read(fields)
    names.append(name)
    var last = id.index
    for item in try fields.list(ifAny: "needs") ?? [] {
      guard case .object(let need) = item else { throw JSONFault("'needs' must be a list of objects") }
      let needed = try reference(need, "job", "id", mayBeLater: true)
      guard needed != id else { throw JSONFault("the job '\(name)' needs itself") }
      job.needs.append(JobNeed(needed, when: try need.word("when")))
      last = max(last, needed.index)
    }
    if fields.has("parent") {
      let parent = try reference(fields, "parent", "parent_id")
      guard parent < id else { throw JSONFault("the job '\(name)' is a part of itself") }
      job.parent = parent
    }
    awaited = max(awaited, last + 1)
    return (id, job)
  }

  private func job(_ fields: JSONFields) throws(JSONFault) -> JobID { try reference(fields, "job", "id") }

  private func jobIfAny(_ fields: JSONFields) throws(JSONFault) -> JobID? {
    fields.has("job") || fields.has("id") ? try job(fields) : nil
  }

  func warning(_ fields: JSONFields) throws(JSONFault) -> RunWarning {
    var jobs: [JobID] = []
    if let first = try jobIfAny(fields) { jobs.append(first) }
    for item in try fields.list(ifAny: "others") ?? [] {
      guard case .object(let other) = item else { throw JSONFault("'others' must be a list of objects") }
      guard !jobs.isEmpty else { throw JSONFault("'others' stands beside no 'job'") }
      jobs.append(try job(other))
    }
    return RunWarning(
      try fields.word("warning"), jobs, try fields.text("evidence"), advice: try fields.text("advice"),
      since: try fields.duration("since"))
  }

  /// The job that a field names, or that another gives the number of.
  private func reference(
    _ fields: JSONFields, _ field: String, _ number: String, mayBeLater: Bool = false
  ) throws(JSONFault) -> JobID {
    let name = try fields.text(ifAny: field)
    if let index = try fields.count(ifAny: number) {
      let id = JobID(index)
      guard mayBeLater || index < names.count else { throw JSONFault("'\(number)' is \(index): there is no such job") }
      guard name == nil || names[id] == nil || names[id] == name else {
        throw JSONFault("'\(field)' is not the name of job \(index)")
      }
      return id
    }
    let known = try fields.required(field, name)
    guard let id = names.id(named: known) else {
      throw JSONFault("'\(field)' is '\(known)': there is no such job, or several without '\(number)'")
    }
    return id
  }

  /// A state; with `mayBeLater`, of a job that may have been skipped because of one that is not read yet.
  func state(_ fields: JSONFields, mayBeLater: Bool = false) throws(JSONFault) -> JobState {
    let word = try fields.text("state")
    switch word {
    case "waiting": return .waiting
    case "ready":
      let room = try fields.text("for")
      switch room {
      case "slot": return .ready(for: .slot)
      case "pool": return .ready(for: .pool(try fields.text("pool")))
      case "person": return .ready(for: .person)
      case "cluster": return .ready(for: .cluster(reason: try fields.text(ifAny: "reason")))
      default: throw fields.unknown("for", room)
      }
    case "executing": return .executing
    case "serving": return .serving
    case "paused": return .paused(started: try fields.flag("started"))
    case "backing_off":
      return .backingOff(
        until: try fields.duration("until"), number: try fields.count("retry"), limit: try fields.count("retries"),
        after: try JobFailure(fields))
    case "succeeded": return .succeeded(upToDate: try fields.flag(ifAny: "up_to_date") ?? false)
    case "failed": return .failed(try JobFailure(fields), allowed: try fields.flag(ifAny: "allowed") ?? false)
    case "cancelled": return .cancelled(by: try fields.word("by"))
    case "skipped":
      switch try fields.text(ifAny: "for") {
      case nil:
        return .skipped(because: .job(try reference(fields, "because", "because_id", mayBeLater: mayBeLater)))
      case "condition": return .skipped(because: .condition)
      case "outcome": return .skipped(because: .outcome)
      case "unneeded": return .skipped(because: .unneeded)
      case "manual": return .skipped(because: .manual)
      case let cause?: throw fields.unknown("for", cause)
      }
    default: throw fields.unknown("state", word)
    }
  }
}

/// The reason why a line of a recording can't be read.
package struct EventFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// From 1.
  package var line: Int
  /// The fault and, where there is one, its remedy.
  package var message: String

  package init(line: Int, message: String) {
    self.line = line
    self.message = message
  }

  package var description: String { "line \(line): \(message)" }
}
