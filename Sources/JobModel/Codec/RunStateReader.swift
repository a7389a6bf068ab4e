import Basics

/// Makes a run of the lines of `RunStateWriter`, whatever they hold.
///
/// After a fault no further line may be read.
package struct RunStateReader: Sendable {
  /// A type of line; the value of its field `type`.
  package enum Line: String, Sendable {
    case run = "snapshot"
    case job = "snapshot_job"
    case line = "snapshot_line"
    case warning = "snapshot_warning"
    case program = "snapshot_program"
    case end = "snapshot_end"
  }

  private let logCapacity: Int
  private var run: Run
  private var events = EventReader()
  private var declared: Int?
  /// The ring whose lines come, without them.
  private var ring: (total: Int, empty: Int, unfinished: [LogLine.Stream: Int])?
  private var entries: [LogRing.Entry] = []
  private var hasProgram = false

  package init(logCapacity: Int = LogRing.capacity) {
    self.logCapacity = logCapacity
    run = Run(logCapacity: logCapacity)
  }

  /// The run and the reader of the events that follow it, once its last line is read.
  package mutating func read(
    _ line: Line, _ fields: JSONFields
  ) throws(JSONFault) -> (run: Run, events: EventReader)? {
    guard (line == .run) == (declared == nil) else {
      throw JSONFault("'snapshot' must be the first line of a snapshot, and no other")
    }
    switch line {
    case .run: try readRun(fields)
    case .job:
      try closeRing()
      try readJob(fields)
    case .line:
      guard ring != nil else { throw JSONFault("a line of output has no job") }
      entries.append(try LogRing.Entry(fields))
    case .warning:
      try closeRing()
      run.raise(try events.warning(fields))
    case .program:
      try closeRing()
      hasProgram = true
      try openRing(fields)
    case .end:
      try closeRing()
      return try finish()
    }
    return nil
  }

  private mutating func readRun(_ fields: JSONFields) throws(JSONFault) {
    declared = try fields.count("jobs")
    run.nextSeq = try fields.count("seq")
    run.time = try fields.duration("t")
    if let start = try fields.object(ifAny: "start") { run.start = try RunStart(start) }
    run.slots = try fields.slots()
    run.pools = try fields.counts(ifAny: "pools")
    run.isDraining = try fields.flag("draining")
    run.isWatching = try fields.flag("watching")
    run.watchFault = try fields.text(ifAny: "watch_fault")
    run.isOpen = try fields.flag("open")
    if let stopping = try fields.object(ifAny: "stopping") {
      run.stopping = Run.Stopping(
        level: try stopping.word("level"), by: try stopping.word("by"), at: try stopping.duration("at"))
    }
    if let outage = try fields.object(ifAny: "outage") {
      run.clusterOutage = Run.Outage(fault: try outage.text("fault"), since: try outage.duration("since"))
    }
    if let summary = try fields.object(ifAny: "summary") { run.summary = try RunSummary(summary) }
    run.lastEnd = try fields.duration("last_end")
    run.rest = try fields.duration("rest")
    run.firstFailure = try fields.count(ifAny: "first_failure").map { JobID($0) }
    run.endedLogs.jobs = try fields.numbers("ended").map { (index: Int) in JobID(index) }
    run.endedLogs.memory = try fields.count("ended_memory")
  }

  private mutating func readJob(_ fields: JSONFields) throws(JSONFault) {
    let (id, job) = try events.added(fields)
    guard !hasProgram, id.index < declared ?? 0 else { throw JSONFault("there are more jobs than 'jobs' says") }
    let fields = try fields.required("record", fields.object(ifAny: "record"))
    var record = JobRecord(job: job, run.details)
    record.state = try events.state(
      fields.required("state", fields.object(ifAny: "state")), mayBeLater: true)
    try record.read(fields)
    run.jobs.append(record)
    try openRing(fields)
  }

  private mutating func openRing(_ fields: JSONFields) throws(JSONFault) {
    guard let log = try fields.object(ifAny: "log") else { return }
    var unfinished: [LogLine.Stream: Int] = [:]
    for (name, seq) in try log.counts(ifAny: "unfinished") {
      guard let stream = LogLine.Stream(rawValue: name) else { throw log.unknown("unfinished", name) }
      unfinished[stream] = seq
    }
    let empty = try log.count("empty")
    // They take memory.
    guard empty <= logCapacity + 16 else { throw JSONFault("'empty' is more than a log holds") }
    ring = (try log.count("total"), empty, unfinished)
  }

  private mutating func closeRing() throws(JSONFault) {
    guard let (total, empty, unfinished) = ring.take() else { return }
    guard entries.count <= min(total, logCapacity) else { throw JSONFault("there are more lines than a log holds") }
    let log = LogRing(capacity: logCapacity, entries, head: empty, unfinished: unfinished, total: total)
    entries = []
    if hasProgram { run.programLog = log } else { run.jobs[run.jobs.count - 1].details.value.log = log }
  }

  private mutating func finish() throws(JSONFault) -> (run: Run, events: EventReader) {
    let count = run.jobs.count
    guard count == declared else { throw JSONFault("there are fewer jobs than 'jobs' says") }
    var references = run.endedLogs.jobs + (run.firstFailure.map { [$0] } ?? [])
    for case .skipped(because: .job(let cause)) in run.jobs.lazy.map(\.state) { references.append(cause) }
    guard references.allSatisfy({ (0..<count).contains($0.index) }) else {
      throw JSONFault("the snapshot names a job that there is not")
    }
    run.deriveRest()
    events.follow(run)
    return (run, events)
  }
}

extension JobRecord {
  /// Everything but the job, its state and its log.
  fileprivate mutating func read(_ fields: JSONFields) throws(JSONFault) {
    since = try fields.duration("since")
    var told = details.value
    told.progress = try fields.object(ifAny: "progress").map { fields throws(JSONFault) in try JobProgress(fields) }
    told.rate = try fields.number(ifAny: "rate")
    if let sample = try fields.object(ifAny: "rate_sample") {
      told.rateSample = RateSample(
        time: try sample.duration("t"), done: try sample.total("done"),
        pause: try sample.duration(ifAny: "pause") ?? .zero)
    }
    if let history = try fields.object(ifAny: "rates") { told.rates = try RateHistory(history) }
    for item in try fields.list(ifAny: "attempts") ?? [] {
      guard case .object(let attempt) = item else { throw JSONFault("'attempts' must be a list of objects") }
      attempts.append(try Attempt(attempt))
    }
    told.restored = try fields.object(ifAny: "restored").map { fields throws(JSONFault) in try EarlierSuccess(fields) }
    if let cause = try fields.object(ifAny: "cause") {
      told.cause = Cause(attempt: try cause.count("attempt"), text: try cause.text("cause"))
    }
    told.inputsHash = try fields.text(ifAny: "hash")
    told.outputs = try fields.textMap(ifAny: "outputs") ?? [:]
    told.place = try fields.object(ifAny: "place").map { fields throws(JSONFault) in try ClusterPlace(fields) }
    told.isPlaceOver = try fields.flag(ifAny: "place_over") ?? false
    if let cancelling = try fields.object(ifAny: "cancelling") {
      told.cancelling = Cancelling(
        by: try cancelling.word("by"), isKill: try cancelling.flag("kill"), at: try cancelling.duration("at"))
    }
    if told != details.value { details = Shared(told) }
    phases.all = try fields.phases("phases").map { Phase($0.kind, nanoseconds: $0.nanoseconds) }
    for (kind, nanoseconds) in try fields.phases("merged") { phases.merged[kind] = .nanoseconds(nanoseconds) }
  }
}

extension JSONFields {
  fileprivate func total(_ name: String) throws(JSONFault) -> Int64 {
    try required(name, whole(ifAny: name, in: 0...Int64.max))
  }

  fileprivate func phases(_ name: String) throws(JSONFault) -> [(kind: Phase.Kind, nanoseconds: Int64)] {
    let numbers: [Int64] = try numbers(name)
    var phases: [(Phase.Kind, Int64)] = []
    guard numbers.count.isMultiple(of: 2) else { throw JSONFault("'\(name)' must be pairs of numbers") }
    for place in stride(from: 0, to: numbers.count, by: 2) {
      guard let kind = UInt8(exactly: numbers[place]).flatMap(Phase.Kind.init(rawValue:)) else {
        throw JSONFault("'\(name)' has an unknown kind")
      }
      phases.append((kind, numbers[place + 1]))
    }
    return phases
  }
}

extension JobRecord.Attempt {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      number: try fields.count("number"), startedAt: try fields.duration("started"),
      endedAt: try fields.duration(ifAny: "ended"), pid: try fields.whole(ifAny: "pid", in: 0...Int32.max),
      failure: try fields.object(ifAny: "failure").map { fields throws(JSONFault) in try JobFailure(fields) },
      pausedFor: try fields.duration(ifAny: "paused") ?? .zero, stop: try fields.word(ifAny: "stop"))
  }
}

extension RateHistory {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    self.init()
    for item in try fields.list(ifAny: "samples") ?? [] {
      guard case .number(let text) = item, let sample = Double(text), sample.isFinite else {
        throw JSONFault("'samples' must be a list of numbers")
      }
      samples.append(Float(sample))
    }
    begun = try fields.duration(ifAny: "begun")
    done = try fields.total("done")
  }
}

extension LogRing.Entry {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      number: try fields.count("n"), seq: try fields.count("seq"), time: try fields.duration("t"),
      attempt: try fields.count("attempt"), line: try LogLine(fields, try fields.word("stream")))
  }
}
