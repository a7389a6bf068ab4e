import Foundation
import Operations

/// Cancelling, killing and pausing: one call for many jobs, repeated until Slurm has accepted it.
extension SlurmObserver {
  /// The maximum number of jobs in one call.
  private static let callSize = 2000
  /// The delay before a call, to gather similar requests.
  private static let controlDelay = Duration.milliseconds(5)

  private enum Kind: CaseIterable {
    case surplus
    case kill
    case stop
    case cancel
    case suspend
    case proceed
    case hold
    case release
  }

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
    for kind in Kind.allCases {
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

  private static func needs(_ followed: FollowedJob, _ kind: Kind) -> Bool {
    // A number that the controller does not list with our comment may belong to someone else's job by now.
    guard followed.id != nil, followed.misses == 0 else { return false }
    let isRunning = if case .running = followed.status { true } else { false }
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
    case .proceed: return !followed.isPauseWanted && followed.hold == .suspended
    case .hold: return followed.isPauseWanted && !isRunning && followed.hold == .none
    case .release: return !followed.isPauseWanted && followed.hold == .held
    case .surplus, .kill, .stop, .cancel: return false
    }
  }

  /// The signal that is sent to a job.
  private static func signal(_ kind: Kind, _ followed: FollowedJob) -> String? {
    switch kind {
    case .kill: BatchScript.killSignal(of: followed.job)
    case .stop: followed.job.stop.signalName
    case .suspend: "STOP"
    case .proceed: "CONT"
    case .surplus, .cancel, .hold, .release: nil
    }
  }

  private func send(_ kind: Kind, _ signal: String?, to jobs: [FollowedJob], _ ids: [SlurmJobID]) {
    isControlling = true
    // Before the answer: a controller that accepts the call may fail to answer in time.
    if kind == .hold || kind == .suspend { for followed in jobs { followed.mayBeHeld = true } }
    let list = ids.map(\.description).sorted().joined(separator: ",")
    let toSignal = signal.map { ["--signal=\($0)"] } ?? []
    let arguments: [String] =
      switch kind {
      case .surplus: ["scancel", "--state=PENDING"] + ids.words
      case .kill: ["scancel", "--batch"] + toSignal + ids.words
      case .stop, .suspend, .proceed: ["scancel", "--full"] + toSignal + ids.words
      case .cancel: ["scancel"] + words(of: ids)
      case .hold: ["scontrol", "hold", list]
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
    _ kind: Kind, to jobs: [FollowedJob], _ ids: [SlurmJobID], _ answer: SlurmAnswer, began: Duration
  ) {
    isControlling = false
    guard !answer.isWithoutController else { return controllerIsDown(since: began, answer) }
    // A job that has ended meanwhile makes the call fail; the next query shows which requests were refused.
    for followed in jobs {
      switch kind {
      case .kill: followed.isKillSent = true
      case .stop:
        followed.isStopSent = true
        followed.isStopped = followed.id.map { !answer.refuses($0) } ?? false
      case .cancel: followed.isCancelSent = true
      case .suspend: followed.hold = .suspended
      case .proceed, .release: followed.hold = .none
      case .hold: followed.hold = .held
      case .surplus: break
      }
    }
    if kind == .surplus { surplus.subtract(ids) }
    if kind == .stop || kind == .cancel { beginGraces(of: jobs) }
    // The user who cancelled them is waiting for their ends.
    if kind == .kill || kind == .stop || kind == .cancel { cancelTime = clock.now }
    requestQuery(after: .zero)
    requestControl()
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

extension SlurmAnswer {
  /// Whether a scancel call for several jobs had no effect on this one.
  fileprivate func refuses(_ id: SlurmJobID) -> Bool { error.contains(" job id \(id):") }
}
