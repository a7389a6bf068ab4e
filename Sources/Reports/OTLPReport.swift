import Basics
import Foundation
import JobModel

/// Makes the spans of one OpenTelemetry trace: the run, its jobs and their attempts.
///
/// An attempt's span is made when the attempt ends, a job's when the job ends, the run's at its end. Waits are events of the
/// job's span, failures the status of the job and the attempt.
package struct OTLPReport: Report {
  /// Takes spans, each a JSON object of OTLP.
  package typealias SpanWriter = @Sendable ([[UInt8]]) -> Void

  private struct OpenJob {
    var span: UInt64
    var startedAt: Duration
    /// When its wait began.
    var waitsSince: Duration
    var waits: [(name: String, start: Duration, length: Duration)] = []
    var droppedWaits = 0
    var attempt: (number: Int, startedAt: Duration)?
  }

  /// OpenTelemetry keeps as many by default.
  private static let eventLimit = 128

  private let write: SpanWriter
  private let makeID: @Sendable () -> UInt64
  private let trace: String
  private let root: UInt64
  private var spans: [[UInt8]] = []
  private var jobs: [JobID: OpenJob] = [:]
  /// The beginning of the run in nanoseconds since 1970.
  private var epoch: Int64 = 0

  /// `makeID` gives a number other than 0, by default at random.
  package init(makeID: @escaping @Sendable () -> UInt64 = { .random(in: 1 ... .max) }, write: @escaping SpanWriter) {
    self.write = write
    self.makeID = makeID
    trace = Self.hexadecimal(makeID()) + Self.hexadecimal(makeID())
    root = makeID()
  }

  package var logCapacity: Int { 0 }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    switch event.fact {
    case .runStarted(let start):
      epoch = Int64(clamping: start.at.timeIntervalSince1970 * 1000).times(1_000_000)
    case .jobAdded(let id, _): open(id, at: event.time)
    case .jobState(let id, let state, let attempt, _):
      let time = run[id].change(to: state, from: before, seenAt: event.time)
      move(id, from: before, to: state, attempt: attempt, at: time, in: run)
    case .runFinished:
      for id in jobs.keys.sorted() {
        endAttempt(of: id, run[id].state, at: event.time, in: run)
        endJob(id, run[id].state, at: event.time, in: run)
      }
      endRun(at: event.time, run)
    default: break
    }
  }

  package mutating func flush() { spans.flush(to: write) }

  /// The body of a request with these spans.
  package static func document(_ spans: some Sequence<[UInt8]>) -> [UInt8] {
    var text: [UInt8] = []
    text.append(#"{"resourceSpans":[{"resource":{"attributes":["#)
    attribute("service.name", "opdash").append(to: &text)
    text.append(#"]},"scopeSpans":[{"scope":{"name":"opdash"},"spans":["#)
    for (index, span) in spans.enumerated() {
      if index > 0 { text.append(",") }
      text += span
    }
    text.append("]}]}]}")
    return text
  }

  // MARK: The states of a job

  private mutating func open(_ id: JobID, at time: Duration) {
    jobs[id] = OpenJob(span: makeID(), startedAt: time, waitsSince: time)
  }

  private mutating func move(
    _ id: JobID, from before: JobState?, to state: JobState, attempt: Int, at time: Duration, in run: Run
  ) {
    // A person has it executed again.
    if jobs[id] == nil { open(id, at: time) }
    if let before, before != state { endWait(of: id, before, at: time) }
    if let open = jobs[id]?.attempt, !state.isActive || open.number != attempt {
      endAttempt(of: id, state, at: time, in: run)
    }
    if state.isActive, jobs[id]?.attempt == nil { jobs[id]?.attempt = (attempt, time) }
    if state.isTerminal { endJob(id, state, at: time, in: run) }
  }

  private mutating func endWait(of id: JobID, _ state: JobState, at time: Duration) {
    guard let job = jobs[id] else { return }
    jobs[id]?.waitsSince = time
    guard let wait = state.wait, job.waitsSince < time else { return }
    if job.waits.count < Self.eventLimit {
      jobs[id]?.waits.append((wait, job.waitsSince, time - job.waitsSince))
    } else {
      jobs[id]?.droppedWaits += 1
    }
  }

  private mutating func endAttempt(of id: JobID, _ state: JobState, at time: Duration, in run: Run) {
    guard let job = jobs[id], let open = job.attempt else { return }
    jobs[id]?.attempt = nil
    let record = run[id]
    let attempt = record.attempts.last { $0.number == open.number }
    let failure = attempt?.failure
    let outcome = failure != nil ? "failed" : attempt?.stop == .restarted ? "restarted" : state.word
    let status: JSONObject? = failure.map { Self.failed($0.reason) } ?? (state.isOK ? Self.succeeded : nil)
    add(
      makeID(), in: job.span, record.job.name, from: min(open.startedAt, attempt?.startedAt ?? time), to: time, status,
      [
        Self.attribute("opdash.job", record.job.name), Self.attribute("opdash.attempt", Int64(open.number)),
        Self.attribute("opdash.outcome", outcome),
        Self.attribute("opdash.kind", record.job.work.kind),
      ])
  }

  private mutating func endJob(_ id: JobID, _ state: JobState, at time: Duration, in run: Run) {
    guard let job = jobs.removeValue(forKey: id) else { return }
    let record = run[id]
    var attributes = [
      Self.attribute("opdash.job", record.job.name), Self.attribute("opdash.outcome", state.word),
      Self.attribute("opdash.attempts", Int64(record.attempt?.number ?? 0)),
    ]
    var status: JSONObject?
    switch state {
    case .failed(let failure, let isAllowed):
      status = isAllowed ? nil : Self.failed(failure.reason)
      attributes.append(Self.attribute("opdash.reason", failure.reason))
    case .skipped(let cause): attributes.append(Self.attribute("opdash.reason", cause.phrase(id, in: run)))
    case .succeeded: status = Self.succeeded
    default: break
    }
    let events: [JSONObject] = job.waits.map { wait in
      [
        "timeUnixNano": moment(wait.start), "name": wait.name,
        "attributes": [Self.attribute("opdash.wait_ns", wait.length.nanoseconds)],
      ]
    }
    let dropped = job.droppedWaits == 0 ? nil : job.droppedWaits
    add(
      job.span, in: root, record.job.name, from: job.startedAt, to: time, status, attributes,
      ["events": events, "droppedEventsCount": dropped])
  }

  private mutating func endRun(at time: Duration, _ run: Run) {
    let summary = run.summary ?? RunSummary(of: run)
    let status = summary.exit == ExitStatus.success ? Self.succeeded : Self.failed("exit status \(summary.exit)")
    add(
      root, in: nil, run.start?.name ?? "run", from: .zero, to: time, status,
      [
        Self.attribute("opdash.run", run.start?.id ?? ""), Self.attribute("opdash.exit", Int64(summary.exit)),
        Self.attribute("opdash.jobs", Int64(run.jobs.count)),
      ])
  }

  // MARK: JSON

  private mutating func add(
    _ id: UInt64, in parent: UInt64?, _ name: String, from start: Duration, to end: Duration, _ status: JSONObject?,
    _ attributes: [JSONObject], _ more: JSONObject = [:]
  ) {
    var text: [UInt8] = []
    let span: JSONObject = [
      "traceId": trace, "spanId": Self.hexadecimal(id), "parentSpanId": parent.map(Self.hexadecimal), "name": name,
      "kind": 1, "startTimeUnixNano": moment(start), "endTimeUnixNano": moment(max(start, end)),
      "attributes": attributes, "status": status,
    ]
    (span + more).append(to: &text)
    spans.append(text)
  }

  private static var succeeded: JSONObject { ["code": 1] }

  private static func failed(_ reason: String) -> JSONObject { ["code": 2, "message": reason] }

  private static func attribute(_ key: String, _ text: String) -> JSONObject {
    ["key": key, "value": ["stringValue": text] as JSONObject]
  }

  /// OTLP writes integers of 64 bits as text.
  private static func attribute(_ key: String, _ number: Int64) -> JSONObject {
    ["key": key, "value": ["intValue": String(number)] as JSONObject]
  }

  /// A moment of the run in nanoseconds since 1970, as text.
  private func moment(_ time: Duration) -> String { String(epoch.plus(time.nanoseconds)) }

  private static func hexadecimal(_ number: UInt64) -> String { String(number, radix: 16, digits: 16) }
}
