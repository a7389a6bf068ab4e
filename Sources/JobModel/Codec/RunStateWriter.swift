/// Writes a run as it stands, without the events that led to it, as lines of JSON.
///
/// One line is for the run; each job has one, and one for each kept line of its output; then come the program's own
/// output and an end. `RunStateReader` makes an equal run of them, but for the secrets that `Job.stated` leaves out.
package struct RunStateWriter: Sendable {
  private let run: Run
  private let writer: EventWriter
  private let logLines: Int
  /// The job whose lines come next; -1 before the line of the run.
  private var next = -1

  /// With at most `logLines` lines of each job's output.
  package init(_ run: Run, logLines: Int = .max) {
    self.run = run
    self.logLines = logLines
    writer = EventWriter(after: run)
  }

  package var isDone: Bool { next > run.jobs.count }

  /// Appends the next lines: the run's, one job's, or the last ones.
  package mutating func appendNext(to bytes: inout [UInt8]) {
    switch next {
    case ..<0: appendRun(to: &bytes)
    case ..<run.jobs.count: appendJob(JobID(next), to: &bytes)
    default:
      for warning in run.warnings {
        append("snapshot_warning", to: &bytes) { bytes in
          if let job = warning.jobs.first { writer.append(job, to: &bytes) }
          writer.append(warning, to: &bytes)
        }
      }
      append("snapshot_program", to: &bytes) { append(ring: run.programLog, to: &$0) }
      appendLines(of: run.programLog, to: &bytes)
      append("snapshot_end", to: &bytes) { _ in }
    }
    next += 1
  }

  private func append(_ type: StaticString, to bytes: inout [UInt8], _ fields: (inout [UInt8]) -> Void) {
    bytes.append("{")
    bytes.append(field: "type", "\(type)")
    fields(&bytes)
    bytes.append("}\n")
  }

  private func appendRun(to bytes: inout [UInt8]) {
    append("snapshot", to: &bytes) { bytes in
      bytes.append(field: "seq", run.nextSeq)
      bytes.append(field: "t", run.time)
      bytes.append(field: "jobs", run.jobs.count)
      if let start = run.start { bytes.append(object: "start") { writer.append(start, to: &$0) } }
      bytes.append(field: "slots", orNull: EventWriter.slots(run.slots))
      bytes.append(field: "pools", run.pools)
      bytes.append(field: "draining", run.isDraining)
      bytes.append(field: "watching", run.isWatching)
      bytes.append(field: "watch_fault", run.watchFault)
      bytes.append(field: "open", run.isOpen)
      if let stopping = run.stopping {
        bytes.append(object: "stopping") { bytes in
          bytes.append(field: "level", stopping.level.rawValue)
          bytes.append(field: "by", stopping.by.rawValue)
          bytes.append(field: "at", stopping.at)
        }
      }
      if let outage = run.clusterOutage {
        bytes.append(object: "outage") { bytes in
          bytes.append(field: "fault", outage.fault)
          bytes.append(field: "since", outage.since)
        }
      }
      if let summary = run.summary { bytes.append(object: "summary") { writer.append(summary, to: &$0) } }
      bytes.append(field: "last_end", run.lastEnd)
      bytes.append(field: "rest", run.rest)
      bytes.append(field: "first_failure", run.firstFailure?.index)
      bytes.append(field: "ended", run.endedLogs.jobs[run.endedLogs.first...].map(\.index))
      bytes.append(field: "ended_memory", run.endedLogs.memory)
    }
  }

  private func appendJob(_ id: JobID, to bytes: inout [UInt8]) {
    let record = run[id]
    append("snapshot_job", to: &bytes) { bytes in
      writer.appendAll(id, record.job, to: &bytes)
      bytes.append(object: "record") { append(record, to: &$0) }
    }
    appendLines(of: record.log, to: &bytes)
  }

  private func append(_ record: JobRecord, to bytes: inout [UInt8]) {
    bytes.append(object: "state") { bytes in
      bytes.append(field: "state", record.state.word)
      writer.append(record.state, to: &bytes)
      if case .skipped(.job(let cause)) = record.state { bytes.append(field: "because_id", cause.index) }
    }
    bytes.append(field: "since", record.since)
    if let progress = record.progress { bytes.append(object: "progress") { progress.append(to: &$0) } }
    bytes.append(field: "rate", record.details.value.rate)
    if let sample = record.rateSample {
      bytes.append(object: "rate_sample") { bytes in
        bytes.append(field: "t", sample.time)
        bytes.append(field: "done", sample.done)
        bytes.append(field: "pause", sample.pause)
      }
    }
    if record.rates != RateHistory() { bytes.append(object: "rates") { record.rates.append(to: &$0) } }
    bytes.append(field: "attempts", record.attempts.map { AttemptObject(attempt: $0, writer: writer) })
    if let restored = record.restored { bytes.append(object: "restored") { restored.append(to: &$0) } }
    if let cause = record.cause {
      bytes.append(object: "cause") { bytes in
        bytes.append(field: "attempt", cause.attempt)
        bytes.append(field: "cause", cause.text)
      }
    }
    bytes.append(field: "hash", record.inputsHash)
    bytes.append(field: "outputs", record.outputs.isEmpty ? nil : record.outputs)
    if let place = record.newestPlace { bytes.append(object: "place") { place.append(to: &$0) } }
    bytes.append(field: "place_over", record.details.value.isPlaceOver ? true : nil)
    if let cancelling = record.cancelling {
      bytes.append(object: "cancelling") { bytes in
        bytes.append(field: "by", cancelling.by.rawValue)
        bytes.append(field: "kill", cancelling.isKill)
        bytes.append(field: "at", cancelling.at)
      }
    }
    // Pairs of a kind and nanoseconds.
    bytes.append(field: "phases", record.phases.all.flatMap { [Int64($0.kind.rawValue), $0.nanoseconds] })
    let merged = record.phases.merged.sorted { $0.key.rawValue < $1.key.rawValue }
    bytes.append(
      field: "merged",
      merged.isEmpty ? nil : merged.flatMap { [Int64($0.key.rawValue), Int64(clamping: $0.value / .nanoseconds(1))] })
    append(ring: record.log, to: &bytes)
  }

  private func kept(_ ring: LogRing) -> Int { min(ring.count, logLines) }

  private func append(ring: LogRing, to bytes: inout [UInt8]) {
    guard ring.total > 0 || ring.head > 0 else { return }
    bytes.append(object: "log") { bytes in
      bytes.append(field: "total", ring.total)
      bytes.append(field: "empty", kept(ring) < ring.count ? 0 : ring.head)
      let open = Dictionary(ring.unfinished.map { ($0.stream.rawValue, $0.seq) }) { $1 }
      bytes.append(field: "unfinished", open.isEmpty ? nil : open)
    }
  }

  private func appendLines(of ring: LogRing, to bytes: inout [UInt8]) {
    for position in (ring.count - kept(ring))..<ring.count {
      let entry = ring[position]
      append("snapshot_line", to: &bytes) { bytes in
        bytes.append(field: "n", entry.number)
        bytes.append(field: "seq", entry.seq)
        bytes.append(field: "t", entry.time)
        bytes.append(field: "attempt", entry.attempt)
        bytes.append(field: "stream", entry.line.stream.rawValue)
        bytes.append(field: "text", entry.line.text)
        writer.appendMarks(of: entry.line, to: &bytes)
      }
    }
  }
}

private struct AttemptObject: JSONValue {
  let attempt: JobRecord.Attempt
  let writer: EventWriter

  func append(to bytes: inout [UInt8]) {
    bytes.append("{")
    bytes.append(field: "number", attempt.number)
    bytes.append(field: "started", attempt.startedAt)
    bytes.append(field: "ended", attempt.endedAt)
    bytes.append(field: "pid", attempt.pid)
    bytes.append(field: "paused", attempt.pausedFor == .zero ? nil : attempt.pausedFor)
    bytes.append(field: "stop", attempt.stop?.rawValue)
    if let failure = attempt.failure {
      bytes.append(object: "failure") { bytes in
        writer.append(failure, to: &bytes)
        bytes.append(field: "retry_after", failure.retryAfter)
      }
    }
    bytes.append("}")
  }
}

extension RateHistory {
  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.append(field: "samples", samples.map { Double($0) })
    bytes.append(field: "begun", begun)
    bytes.append(field: "done", done)
  }
}
