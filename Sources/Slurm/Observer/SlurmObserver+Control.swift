import Foundation
import Operations

/// Cancelling, killing and pausing: one call for many jobs, repeated until Slurm has accepted it.
extension SlurmObserver {
  /// The maximum number of jobs in one call.
  private static let callSize = 2000
  /// The delay before a call, to gather similar requests.
  private static let controlDelay = Duration.milliseconds(5)

  /// Schedules a comparison of the requests for the jobs with the calls already made, after a short delay.
  func requestControl() {
    guard controlTimer == nil else { return }
    controlTimer = clock.schedule(after: Self.controlDelay, on: queue) { [weak self] in
      self?.controlTimer = nil
      self?.control()
    }
  }

  private func control() {
    orderKills()
    guard !isControlling, !isControllerDown else { return }
    for kind in SlurmRequest.allCases {
      let candidates = active.values.filter { $0.phase == .submitted && Self.needs($0, kind) }
      let signal = candidates.first.flatMap { Self.signal(kind, $0) }
      let jobs = candidates.filter { Self.signal(kind, $0) == signal }.prefix(Self.callSize)
      let ids = kind == .surplus ? Array(surplus.prefix(Self.callSize)) : jobs.compactMap(\.id)
      guard !ids.isEmpty else { continue }
      return send(kind, signal, to: Array(jobs), ids)
    }
  }

  /// Orders kills by file: Slurm passes no signal on to a job that it is ending.
  private func orderKills() {
    for followed in active.values where followed.isKillWanted && followed.isCancelSent && !followed.isKillSent {
      files.orderKill(of: followed.identity)
      followed.isKillSent = true
    }
  }

  private static func needs(_ followed: FollowedJob, _ kind: SlurmRequest) -> Bool {
    // A number that the controller does not list with our comment may belong to someone else's job by now.
    guard followed.id != nil, followed.misses == 0, !followed.refused.contains(kind) else { return false }
    // Slurm passes no signal on to a job that it has suspended.
    let isRunning = followed.status.isOnNodes && followed.last?.isSuspended != true
    if followed.isCancelWanted {
      let isStoppedFirst = isRunning && !followed.job.stop.isDefault && !followed.isKillWanted
      switch kind {
      case .kill: return followed.isKillWanted && !followed.isKillSent && isRunning
      case .stop: return isStoppedFirst && !followed.isStopSent && !followed.isCancelSent
      case .cancel: return !isStoppedFirst && !followed.isCancelSent
      // A suspended program receives its stop signal only when it continues.
      case .proceed: return followed.isStopSent && followed.hold == .suspended
      default: return false
      }
    }
    switch kind {
    case .suspend: return followed.isPauseWanted && isRunning && followed.hold != .suspended
    case .proceed: return !followed.isPauseWanted && followed.hold == .suspended && isRunning
    case .hold:
      return followed.isPauseWanted && !followed.status.isOnNodes && followed.hold == .none && !followed.isHeldByOthers
    case .release: return !followed.isPauseWanted && followed.hold == .held
    case .surplus, .kill, .stop, .cancel: return false
    }
  }

  /// The signal that is sent to a job.
  private static func signal(_ kind: SlurmRequest, _ followed: FollowedJob) -> String? {
    switch kind {
    case .kill: BatchScript.killSignal(of: followed.job)
    case .stop: followed.job.stop.signalName
    case .suspend: "STOP"
    case .proceed: "CONT"
    case .surplus, .cancel, .hold, .release: nil
    }
  }

  private func send(_ kind: SlurmRequest, _ signal: String?, to jobs: [FollowedJob], _ ids: [SlurmJobID]) {
    isControlling = true
    // Before the answer: a controller that accepts the call may fail to answer in time.
    if kind == .hold || kind == .suspend {
      for followed in jobs {
        followed.halt.begin(isStop: kind == .suspend)
        files.record(followed.halt, of: followed.identity)
      }
    }
    let list = ids.map(\.description).sorted().joined(separator: ",")
    let toSignal = signal.map { ["--signal=\($0)"] } ?? []
    let arguments: [String] =
      switch kind {
      case .surplus: ["scancel", "--state=PENDING"] + ids.words
      case .kill: ["scancel", "--batch"] + toSignal + ids.words
      case .stop, .suspend, .proceed: ["scancel", "--full"] + toSignal + ids.words
      case .cancel: ["scancel"] + words(of: ids)
      case .hold: ["scontrol", "uhold", list]
      case .release: ["scontrol", "release", list]
      }
    let began = clock.now
    runner.run(SlurmCommand(arguments)) { [self] answer in
      queue.async { self.sent(kind, to: jobs, ids, answer, began: began) }
    }
  }

  /// The scancel arguments for the jobs, as few as possible: an array is its number alone if all of its jobs are meant.
  private func words(of ids: [SlurmJobID]) -> [String] {
    // An array of another process may contain jobs that are not followed yet.
    let (ids, others) = (ids.filter(isWhole), ids.filter { !isWhole($0) })
    let living = Set(active.values.compactMap(\.id))
    let left = Dictionary(grouping: living.subtracting(ids), by: \.number)
    let (whole, part) = (ids.filter { left[$0.number] == nil }, ids.filter { left[$0.number] != nil })
    return Set(whole.map(\.number)).sorted().map(String.init) + (part + others).words
  }

  private func isWhole(_ id: SlurmJobID) -> Bool { id.index == nil || ownArrays.contains(id.number) }

  private func sent(
    _ kind: SlurmRequest, to jobs: [FollowedJob], _ ids: [SlurmJobID], _ answer: SlurmAnswer, began: Duration
  ) {
    isControlling = false
    controlTime = clock.now
    guard !answer.isWithoutController else { return controllerIsDown(since: began, answer) }
    let errors = CallErrors(answer, of: kind)
    // A job that has another number by now, or none, has not received the call.
    let received = zip(jobs, ids).filter { $0.id == $1 }.map(\.0)
    let accepted = received.filter { followed in
      guard let fault = followed.id.flatMap({ errors.refusal(of: $0) }) else { return true }
      refuse(kind, to: followed, fault)
      return false
    }
    for followed in accepted {
      // A job that has ended meanwhile makes the call fail; the next query shows its end.
      let hasReceived = followed.id.map { errors.error(for: $0) == nil } ?? false
      followed.notedFault = nil
      switch kind {
      case .kill: followed.isKillSent = true
      case .stop:
        followed.isStopSent = true
        followed.isStopped = hasReceived
      case .cancel: followed.isCancelSent = true
      case .suspend: followed.hold = .suspended
      case .proceed, .release: followed.hold = .none
      case .hold where hasReceived: followed.hold = .held
      // The job has begun: the next query shows that it must be stopped.
      case .hold: followed.refused.insert(.hold)
      case .surplus: break
      }
    }
    if kind == .surplus { surplus.subtract(ids) }
    if kind == .stop || kind == .cancel { beginGraces(of: accepted) }
    // The user who cancelled them is waiting for their ends.
    if [.kill, .stop, .cancel].contains(kind), !accepted.isEmpty { cancelTime = clock.now }
    requestQuery(after: .zero)
    requestControl()
  }

  /// Notes a request that is to be made again after the next query.
  private func refuse(_ kind: SlurmRequest, to followed: FollowedJob, _ fault: String) {
    followed.refused.insert(kind)
    guard followed.notedFault != fault else { return }
    followed.notedFault = fault
    let program = kind == .hold || kind == .release ? "scontrol" : "scancel"
    followed.note("\(program) has failed, and is called again: \(fault)")
  }

  /// Schedules the kill of jobs that were asked to end, after their graces.
  private func beginGraces(of jobs: [FollowedJob]) {
    for (grace, jobs) in Dictionary(grouping: jobs, by: \.job.stop.grace) {
      _ = clock.schedule(after: grace, on: queue) { [weak self] in
        guard let self else { return }
        for followed in jobs { followed.isKillWanted = true }
        requestControl()
      }
    }
  }
}

/// The errors with which a call for several jobs has failed for some of them, or for all.
private struct CallErrors {
  /// By the job, with `12_[` for a part of an array.
  private var byJob: [Substring: String] = [:]
  private var ofAll: String?

  private static let hasEnded = "already completed"

  init(_ answer: SlurmAnswer, of kind: SlurmRequest) {
    guard !answer.isSuccess else { return }
    for line in answer.error.lines {
      if let job = Self.job(in: String(line)) { byJob[job] = SlurmAnswer.withoutProgram(String(line)) }
    }
    // A call that fails as a whole names no job.
    guard byJob.isEmpty else { return }
    // A signal to a job that has ended fails without a word.
    let isSilent = kind != .cancel && answer.errors == nil
    ofAll = isSilent ? Self.hasEnded : answer.fault
  }

  /// The error for a job; nil if the job has received the request.
  func error(for id: SlurmJobID) -> String? {
    let words = [id.description, String(id.number), "\(id.number)_["]
    return ofAll ?? words.lazy.compactMap { byJob[$0[...]] }.first
  }

  /// The error with which Slurm has refused a request for a job, which did not end or begin meanwhile.
  func refusal(of id: SlurmJobID) -> String? {
    let isOver = ["Invalid job id", Self.hasEnded, "already completing", "no longer pending"]
    return error(for: id).flatMap { error in isOver.contains { error.contains($0) } ? nil : error }
  }

  /// The job that a line names, as in `Kill job error on job id 1_[0-4]: …` and `Invalid job id specified for job 1`.
  private static func job(in line: String) -> Substring? {
    guard let mark = line.firstRange(of: " for job ") ?? line.firstRange(of: " job id ") else { return nil }
    let word = line[mark.upperBound...].prefix { $0 != ":" && $0 != " " }
    return word.firstIndex(of: "[").map { word[...$0] } ?? word
  }
}
