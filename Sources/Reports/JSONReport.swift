import Basics
import Foundation
import JobModel

/// Writes one JSON object per event and line, as the events reference describes, version 1.
///
/// The order of the fields is fixed; optional fields without a value are left out.
package struct JSONReport: Report {
  private let write: ReportWriter
  private var line: [UInt8] = []
  private var names: [String] = []
  /// The jobs added before all names are known, because a need may name a later job.
  private var held: [JobEvent] = []

  package init(write: @escaping ReportWriter) { self.write = write }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    guard case .jobAdded(_, let job) = event.fact else {
      release()
      append(event)
      return
    }
    names.append(job.name)
    held.append(event)
    if names.count == run.start?.jobs { release() }
  }

  package mutating func flush() {
    guard !line.isEmpty else { return }
    write(line)
    line.removeAll(keepingCapacity: true)
  }

  private mutating func release() {
    for event in held { append(event) }
    held = []
  }

  private mutating func append(_ event: JobEvent) {
    let (type, fields) = object(event.fact)
    (["v": 1, "seq": event.seq, "t": event.time, "type": type] + fields).append(to: &line)
    line.append("\n")
  }

  private func object(_ fact: JobFact) -> (type: String, fields: JSONObject) {
    switch fact {
    case .runStarted(let start): ("run_started", fields(start))
    case .jobAdded(let id, let job): ("job_added", fields(id, job))
    case .jobState(let id, let state, let attempt, let pid):
      ("job_state", ["job": name(id), "state": state.word, "attempt": attempt, "pid": pid] + fields(state))
    case .jobProgress(let id, let progress):
      (
        "job_progress",
        [
          "job": name(id), "done": progress.done, "total": progress.total ?? JSONNull(),
          "unit": progress.unit.rawValue,
        ]
      )
    case .jobLog(let id, let attempt, let text):
      (
        "job_log",
        [
          "job": name(id), "stream": text.stream.rawValue, "text": text.text, "attempt": attempt,
          "cut": text.isCut ? true : nil, "unfinished": text.isUnfinished ? true : nil,
        ]
      )
    case .cancelRequested(let id, let canceller, let isKill):
      ("cancel_requested", ["job": name(id), "by": canceller.rawValue, "kill": isKill])
    case .slotsChanged(let number): ("slots_changed", ["slots": slots(number)])
    case .priorityChanged(let id, let priority):
      ("priority_changed", ["job": name(id), "priority": priority.rawValue])
    case .drainChanged(let isDraining): ("drain_changed", ["draining": isDraining])
    case .stopRequested(let level, let canceller):
      ("stop_requested", ["level": level.rawValue, "by": canceller.rawValue])
    case .runFinished(let summary): ("run_finished", fields(summary))
    }
  }

  private func fields(_ start: RunStart) -> JSONObject {
    [
      "run": start.id, "name": start.name, "slots": slots(start.slots),
      "at": Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(start.at), "jobs": start.jobs,
      "pools": start.pools.isEmpty ? nil : counts(start.pools), "folder": start.folder,
    ]
  }

  private func fields(_ id: JobID, _ job: Job) -> JSONObject {
    let needs = job.needs.map { ["job": name($0.job), "when": $0.when.rawValue] as JSONObject }
    return ["job": name(id), "kind": job.work.kind, "needs": needs] + fields(job.work) + [
      "priority": job.priority == .normal ? nil : job.priority.rawValue,
      "uses": job.uses.isEmpty ? nil : counts(job.uses), "timeout": job.timeout,
      "retries": job.retry.max > 0 ? job.retry.max : nil, "allow_failure": job.allowFailure ? true : nil,
    ]
  }

  /// Headers, environment and credentials in URLs are left out, because they are secrets.
  private func fields(_ work: JobWork) -> JSONObject {
    switch work {
    case .shell(let shell):
      switch shell.command {
      case .script(let text): ["command": text]
      case .argv(let words): ["command": words]
      }
    case .download(let download): ["url": download.url.maskedURL, "file": download.file]
    case .upload(let upload): ["url": upload.url.maskedURL, "file": upload.file, "method": upload.method]
    case .simulate(let work): ["duration": work.duration, "steps": work.steps]
    case .operation(let work): ["class": work.className, "seen": work.visibility.rawValue]
    }
  }

  private func fields(_ state: JobState) -> JSONObject {
    switch state {
    case .waiting, .executing: [:]
    case .ready(.slot): ["for": "slot"]
    case .ready(.pool(let pool)): ["for": "pool", "pool": pool]
    case .paused(let started): ["started": started]
    case .backingOff(let until, let number, let limit, let failure):
      fields(failure) + ["until": until, "retry": number, "retries": limit]
    case .succeeded(let upToDate): ["up_to_date": upToDate ? true : nil]
    case .failed(let failure, let allowed): fields(failure) + ["allowed": allowed ? true : nil]
    case .cancelled(let canceller): ["by": canceller.rawValue]
    case .skipped(let cause): ["because": name(cause)]
    }
  }

  private func fields(_ failure: JobFailure) -> JSONObject {
    let shared: JSONObject = [
      "reason": failure.reason, "exit": failure.exit ?? JSONNull(), "cause": failure.cause.word,
    ]
    switch failure.cause {
    case .signal(let number): return shared + ["signal": number]
    case .http(let status): return shared + ["status": status]
    default: return shared
    }
  }

  private func fields(_ summary: RunSummary) -> JSONObject {
    [
      "succeeded": summary.succeeded, "failed": summary.failed, "skipped": summary.skipped,
      "cancelled": summary.cancelled, "exit": summary.exit, "allowed": summary.allowed, "left": summary.left,
    ]
  }

  /// A truncated recording may name a job that it doesn't add.
  private func name(_ id: JobID) -> any JSONValue { id.index < names.count ? names[id.index] : JSONNull() }

  private func slots(_ number: Int) -> any JSONValue { number == Run.unlimited ? JSONNull() : number }

  private func counts(_ counts: [String: Int]) -> JSONObject {
    counts.sorted { $0.key < $1.key }.reduce([:]) { $0 + JSONObject(dictionaryLiteral: ($1.key, $1.value)) }
  }
}

extension JobFailure.Cause {
  /// The word in `job_state` events.
  var word: String {
    switch self {
    case .exit: "exit"
    case .signal: "signal"
    case .launch: "launch"
    case .http: "http"
    case .network: "network"
    case .timedOut: "timeout"
    case .checksum: "checksum"
    case .file: "file"
    case .simulated: "simulated"
    case .error: "error"
    }
  }
}
