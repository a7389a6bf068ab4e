import Basics

/// The status of a job in the words that every view has for it.
package struct StatusText: Equatable, Sendable {
  /// The state, in its style.
  package var status: String
  /// The circumstances in plain style, with the separator before them.
  package var detail: String

  package var whole: String { status + detail }

  private init(_ status: String, _ detail: String = "") {
    self.status = status
    self.detail = detail
  }

  /// A waiting job names as many of its needs as fit into `room` characters, and the number of the others.
  package init(_ id: JobID, _ run: Run, now: Duration, room: Int = .max) {
    let record = run.jobs[id.index]
    switch record.state {
    case .waiting:
      self.init(Self.waiting(id, run, room: room))
    case .ready(let wanted):
      self.init(Self.ready(wanted, id, run))
    case .executing, .serving, .paused(started: true):
      if let cancelling = record.cancelling {
        self.init(Self.stopping(record, cancelling, now: now), cancelling.by == .restart ? record.because : "")
      } else if record.state == .serving {
        self.init("serving", record.start)
      } else if record.job.service != nil, record.state == .executing {
        self.init("starting", record.start)
      } else if record.state == .executing {
        let slower = record.excess(at: now).flatMap { UsualText.slower($0) }
        let parts = [slower].compactMap(\.self) + ProgressText.parts(record, at: now)
        self.init("running", ([""] + parts).joined(separator: ", "))
      } else {
        self.init("paused", record.place?.isSuspended == true ? ", suspended by the cluster" : "")
      }
    case .paused:
      self.init(record.state.wait ?? "")
    case .backingOff(let until, _, _, let failure):
      self.init("\(record.state.wait ?? "") in \(Format.countdown(until - now))", ", after \(failure.reason)")
    case .succeeded(let upToDate):
      if let earlier = record.restored {
        self.init("ok in an earlier run", ", took \(Format.stretch(earlier.took))")
      } else {
        self.init(upToDate ? "up to date" : "ok", record.tries)
      }
    case .failed(let failure, let allowed):
      self.init(failure.reason, record.tries + (allowed ? ", allowed to fail" : ""))
    case .cancelled(let canceller):
      self.init("cancelled", Self.reason(canceller, record, run))
    case .skipped(let cause):
      self.init(cause.word, ", \(cause.phrase(id, in: run))")
    }
  }

  private static func stopping(_ record: JobRecord, _ cancelling: JobRecord.Cancelling, now: Duration) -> String {
    if cancelling.isKill { return "stopping, SIGKILL was sent" }
    let word = cancelling.by == .restart ? "restarting" : "stopping"
    return record.killTime.map { "\(word), killed in \(Format.countdown($0 - now))" } ?? word
  }

  private static func ready(_ wanted: JobState.Room, _ id: JobID, _ run: Run) -> String {
    let record = run.jobs[id.index]
    // Neither a stop nor a drain keeps a job back that is in the cluster's queue.
    if case .cluster(let reason) = wanted, reason != nil || record.place != nil { return "waits for \(wanted.phrase)" }
    // Jobs of `finally` run after a stop.
    if run.stopping != nil, record.job.finally == nil { return "waits: the run is stopping" }
    if run.isDraining, wanted != .person { return "waits: nothing new starts" }
    return "waits for \(wanted.phrase)" + (wanted == .person ? run.question(of: id).map { ": \($0)" } ?? "" : "")
  }

  /// The most unmet needs that are named.
  private static let mostNeeds = 8

  private static func waiting(_ id: JobID, _ run: Run, room: Int) -> String {
    let record = run.jobs[id.index]
    var names: [String] = []
    for need in run.knownNeeds(of: id) where !need.when.isMet(by: run.jobs[need.job.index].state) {
      names.append(run.jobs[need.job.index].job.name + (need.when.phrase.map { " " + $0 } ?? ""))
      if names.count == mostNeeds { break }
    }
    guard !names.isEmpty else { return record.job.finally == nil ? "waiting" : "waits for all other jobs" }
    func text(_ count: Int) -> String {
      "waits for " + names.joined(most: count, of: max(record.unmetNeeds, names.count))
    }
    return (1...names.count).reversed().lazy.map(text).first { TextWidth.of($0) <= room } ?? text(1)
  }

  /// Who cancelled, and the failure after which a retry was awaited.
  private static func reason(_ canceller: JobState.Canceller, _ record: JobRecord, _ run: Run) -> String {
    let failure = record.attempt?.failure.map { ", after \($0.reason)" } ?? ""
    guard canceller == .policy, let first = run.firstFailure else { return " \(canceller.phrase)" + failure }
    return ", \(run.jobs[first.index].job.name) \(StateClass(run.jobs[first.index].state).ending)" + failure
  }
}

extension JobRecord {
  /// Why the newest attempt of a service was made or, without a known cause, its number if it is not the first.
  fileprivate var start: String {
    because.isEmpty && tryNumber > 1 ? ", try \(tryNumber)" : because
  }

  /// `, src/main.c has changed`; empty without a known cause.
  fileprivate var because: String { reason.map { ", \($0)" } ?? "" }
}

/// The progress of an executing job in words.
package enum ProgressText {
  /// The amount, the number of the try if it is not the first, and the rate, the most important first.
  package static func parts(_ record: JobRecord, at now: Duration) -> [String] {
    var parts: [String] = []
    if let progress = record.progress {
      switch (progress.unit, progress.total) {
      case (.bytes, let total): parts.append(Format.bytes(progress.done, of: total))
      case (.steps, let total?): parts.append("\(progress.done) of \(total)")
      case (.steps, nil): parts.append("step \(progress.done)")
      }
    }
    if let number = record.attempt?.number, number > 1 {
      if let text = record.reason ?? (record.tryNumber > 1 ? "try \(record.tryNumber)" : nil) { parts.append(text) }
    }
    if let rate = record.rate(at: now), let unit = record.progress?.unit { parts.append(Format.rate(rate, unit)) }
    return parts
  }
}

extension Run {
  /// The question before the job starts, with the values of other jobs.
  ///
  /// A recorded run does not know which values a job reads: there the values of its needs are put in.
  package func question(of id: JobID) -> String? {
    let job = jobs[id.index].job
    guard let question = job.approval, question.holds("${") else { return job.approval }
    let read = job.outputs.filter { isKnown($0.job) }.compactMap { reference in
      jobs[reference.job.index].outputs[reference.name].map { (key: reference.text, value: $0) }
    }
    let needed = knownNeeds(of: id).flatMap { need in
      let record = jobs[need.job.index]
      return record.outputs.map { (key: "${jobs.\(record.job.name).\($0.key)}", value: $0.value) }
    }
    return question.replacing(read + needed)
  }
}
