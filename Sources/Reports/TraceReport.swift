import JobModel

/// Writes a Chrome trace-event file, for Perfetto and chrome://tracing.
///
/// Each slot is a track, each attempt a slice on it, each need an arrow between slices. Waits overlap, so they are
/// asynchronous slices of a process of their own. The file is a JSON array that grows event by event; the
/// format allows its end to be missing, so that the file of a killed run can be opened.
package struct TraceReport: Report {
  private struct Open {
    var track: Int
    var startedAt: Duration
    var number: Int
    /// The end of the slice before it on the track.
    var earliest: Duration
    var pausedAt: Duration?
  }

  /// The processes of the trace.
  private static let (work, waits) = (1, 2)

  private let write: ReportWriter
  private var text: [UInt8] = []
  private var isFirst = true
  /// When each job's wait began.
  private var waitStarts: [JobID: Duration] = [:]
  /// The job on each track, nil for a free slot, and the end of the last slice.
  private var tracks: [(job: JobID?, end: Duration)] = []
  private var open: [JobID: Open] = [:]
  private var ends: [JobID: (track: Int, startedAt: Duration, endedAt: Duration)] = [:]
  private var arrows = 0

  package init(write: @escaping ReportWriter) { self.write = write }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    switch event.fact {
    case .runStarted(let start):
      append("M", "process_name", ["args": ["name": start.name] as JSONObject])
      append("M", "process_name", ["args": ["name": "waits"] as JSONObject], process: Self.waits)
    case .jobAdded(let id, _): waitStarts[id] = event.time
    case .jobState(let id, let state, let attempt, _):
      let time = run[id].change(to: state, from: before, seenAt: event.time)
      if let before, before != state { wait(id, before, until: time, in: run) }
      move(id, to: state, attempt: attempt, at: time, in: run)
      if before?.isActive != state.isActive {
        append("C", "running", at: event.time, ["args": ["jobs": run.counts.active] as JSONObject])
      }
    case .stopRequested(let level, _):
      append("i", level == .terminate ? "stop" : "kill", at: event.time, ["s": "g"])
    case .runFinished:
      for id in open.keys.sorted() { close(id, "left", at: event.time, in: run) }
      for id in waitStarts.keys.sorted() { wait(id, run[id].state, until: event.time, in: run) }
      text.append(isFirst ? "[]\n" : "\n]\n")
    case .jobLaunched, .jobProgress, .jobLog, .programLog, .cancelRequested, .slotsChanged, .poolChanged,
      .arrivalsEnded, .priorityChanged, .drainChanged, .watchChanged, .jobRestored, .jobCaused, .inputsHashed,
      .jobOutputs, .jobPlaced,
      .clusterChanged, .warningRaised, .warningCleared:
      break
    }
  }

  package mutating func flush() { text.flush(to: write) }

  /// Writes the wait of a job that ends now, if it waited, and begins the next one.
  ///
  /// The two ends of a slice are stated at once: a wait of no time has none.
  private mutating func wait(_ id: JobID, _ state: JobState, until now: Duration, in run: Run) {
    let start = waitStarts.updateValue(now, forKey: id) ?? now
    guard let wait = state.wait, start.microseconds < now.microseconds else { return }
    let name = "\(run[id].job.name): \(wait)"
    let fields: JSONObject = ["cat": "wait." + Self.category(state), "id": id.index]
    append("b", name, at: start, fields + ["args": ["job": run[id].job.name] as JSONObject], process: Self.waits)
    append("e", name, at: now, fields, process: Self.waits)
  }

  private static func category(_ wait: JobState) -> String {
    switch wait {
    case .waiting: "needs"
    case .ready(.slot): "slot"
    case .ready(.pool): "pool"
    case .ready(.person): "person"
    case .ready(.cluster): "cluster"
    case .backingOff: "retry"
    default: "pause"
    }
  }

  private mutating func move(_ id: JobID, to state: JobState, attempt: Int, at now: Duration, in run: Run) {
    if let running = open[id], !state.isActive || running.number != attempt {
      close(id, state.word, at: now, in: run)
    }
    switch state {
    case .executing where open[id] == nil: start(id, attempt: attempt, at: now, in: run)
    case .executing, .serving:
      guard let running = open[id], let pausedAt = running.pausedAt else { return }
      slice("paused", "pause", track: running.track, from: pausedAt, to: now)
      open[id]?.pausedAt = nil
    case .paused(started: true): if open[id]?.pausedAt == nil { open[id]?.pausedAt = now }
    default: break
    }
  }

  private mutating func start(_ id: JobID, attempt: Int, at now: Duration, in run: Run) {
    let track = tracks.firstIndex { $0.job == nil && $0.end <= now } ?? tracks.count
    if track == tracks.count {
      tracks.append((id, .zero))
      append("M", "thread_name", track: track, ["args": ["name": "slot \(track + 1)"] as JSONObject])
      append("M", "thread_sort_index", track: track, ["args": ["sort_index": track + 1] as JSONObject])
    } else {
      tracks[track].job = id
    }
    open[id] = Open(track: track, startedAt: now, number: attempt, earliest: tracks[track].end)
    for need in run[id].job.needs {
      guard attempt <= 1, let end = ends[need.job] else { continue }
      // An arrow belongs to the slice that is open at its instant, so it starts just before the slice's end.
      arrow("s", track: end.track, at: max(end.startedAt, end.endedAt - .microseconds(1)))
      arrow("f", track: track, at: now)
      arrows += 1
    }
  }

  private mutating func close(_ id: JobID, _ outcome: String, at now: Duration, in run: Run) {
    guard let running = open.removeValue(forKey: id) else { return }
    if let pausedAt = running.pausedAt {
      slice("paused", "pause", track: running.track, from: pausedAt, to: now)
    }
    tracks[running.track] = (nil, now)
    let record = run[id]
    let attempt = record.attempts.last { $0.number == running.number }
    // The attempt may have begun before it was seen executing.
    let start = max(running.earliest, min(running.startedAt, attempt?.startedAt ?? now))
    ends[id] = (running.track, start, now)
    let reason = attempt?.failure?.reason
    let arguments: JSONObject = [
      "attempt": running.number, "outcome": attempt?.stop == .restarted ? "restarted" : outcome, "reason": reason,
    ]
    slice(
      record.job.name, record.job.work.kind, track: running.track, from: start, to: now,
      ["args": arguments])
  }

  private mutating func slice(
    _ name: String, _ category: String, track: Int, from: Duration, to: Duration, _ more: JSONObject = [:]
  ) {
    let length = max(0, to.microseconds - from.microseconds)
    append("X", name, track: track, at: from, ["dur": length, "cat": category] + more)
  }

  private mutating func arrow(_ phase: String, track: Int, at time: Duration) {
    append(phase, "needs", track: track, at: time, ["cat": "needs", "id": arrows, "bp": phase == "f" ? "e" : nil])
  }

  private mutating func append(
    _ phase: String, _ name: String, track: Int? = nil, at time: Duration? = nil, _ more: JSONObject,
    process: Int = work
  ) {
    text.append(isFirst ? "[\n" : ",\n")
    isFirst = false
    (["ph": phase, "name": name, "pid": process, "tid": (track ?? -1) + 1, "ts": time?.microseconds] + more)
      .append(to: &text)
  }
}
