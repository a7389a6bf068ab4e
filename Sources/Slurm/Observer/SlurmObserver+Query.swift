import Foundation
import Operations

extension SlurmObserver {
  /// Schedules a query of all jobs after a delay, no earlier than the interval allows; without jobs, only a controller
  /// that is down is queried.
  func requestQuery(after delay: Duration) {
    let isEnding = cancelTime.map { clock.now - $0 < settings.endingTime } ?? false
    let due = max(clock.now + delay, isEnding ? nextQueryOfEnds : nextQuery)
    if let queryTimer {
      guard due < queryTimer.due else { return }
      queryTimer.timer.cancel()
    }
    let timer = clock.schedule(after: due - clock.now, on: queue) { [weak self] in
      self?.queryTimer = nil
      self?.query()
    }
    queryTimer = (timer, due)
  }

  private func query() {
    guard !isQuerying, isControllerDown || active.values.contains(where: { $0.phase == .submitted }) else { return }
    isQuerying = true
    let began = clock.now
    runner.run(SlurmRecord.query) { [self] answer in
      queue.async { self.received(answer, began: began) }
    }
  }

  private func received(_ answer: SlurmAnswer, began: Duration) {
    isQuerying = false
    unreadableBatches = []
    (claimants, hasFiles) = (nil, nil)
    guard answer.isSuccess else {
      nextQuery = clock.now + settings.downInterval
      nextQueryOfEnds = nextQuery
      controllerIsDown(since: began, answer)
      return requestQuery(after: settings.downInterval)
    }
    let share = (clock.now - began) * 5
    nextQuery = clock.now + max(settings.queryInterval, share)
    nextQueryOfEnds = clock.now + max(settings.endingInterval, share)
    controllerAnswers()
    for followed in active.values where !followed.refused.isEmpty { followed.refused = [] }
    let undecided = take(records(in: answer.output), began: began)
    if !undecided.isEmpty { askForStatuses(of: undecided) }
    requestControl()
    requestSubmission(after: .zero)
    resolveMissing()
    requestQuery(after: .zero)
  }

  /// The records of followed jobs, matched by their numbers and by the attempts that they name.
  private func records(in output: String) -> [SlurmIdentity: [SlurmRecord]] {
    var records: [SlurmIdentity: [SlurmRecord]] = [:]
    let numbered = Dictionary(active.values.compactMap { job in job.id.map { ($0.description, job) } }) { $1 }
    for line in output.lines {
      let number = String(line.prefix { $0 != SlurmRecord.separator })
      guard numbered[number] != nil || line.contains(mark), let record = SlurmRecord(queueLine: line) else { continue }
      if let identity = identity(of: record) {
        if active[identity] != nil { records[identity, default: []].append(record) }
      } else if let followed = numbered[number], isRecord(record, of: followed) {
        records[followed.identity, default: []].append(record)
      }
    }
    return records
  }

  /// The text in each line that names an attempt of this run.
  var mark: String { "opdash/\(run)/" }

  /// Whether a record with a job's number belongs to the job: a controller that was killed reuses numbers.
  ///
  /// The attempt that the record names decides; without one, the submission time; and the name while that time is not
  /// known.
  func isRecord(_ record: SlurmRecord, of followed: FollowedJob) -> Bool {
    guard record.mark == nil else { return identity(of: record) == followed.identity }
    if let known = followed.submitTime, let time = record.submitTime { return time == known }
    return followed.mayHaveName(record.name)
  }

  /// The attempt that a record's mark and index name; nil for a job of another run or of someone else.
  func identity(of record: SlurmRecord) -> SlurmIdentity? {
    guard let mark = record.mark, mark.run == run else { return nil }
    switch mark {
    case .job(let identity): return identity
    case .batch(_, let name):
      if batches[name] == nil, !unreadableBatches.contains(name) {
        batches[name] = files.batch(named: name, run: run)
        if batches[name] == nil { unreadableBatches.insert(name) }
      }
      guard let batch = batches[name], let index = record.id.index, batch.indices.contains(index) else { return nil }
      return batch[index]
    }
  }

  /// Applies the answer to a query; returns the failed jobs whose status is not known yet.
  private func take(_ records: [SlurmIdentity: [SlurmRecord]], began: Duration) -> [FollowedJob] {
    var undecided: [FollowedJob] = []
    for followed in active.values where followed.phase == .submitted {
      if let record = records[followed.identity].flatMap({ choose($0, for: followed) }) {
        if !update(followed, record) { undecided.append(followed) }
        endHalt(of: followed, record, began: began)
      } else if followed.since < began {
        followed.misses += 1
        if isForgotten(followed, at: began) { finish(followed, SlurmOutcome(.cancelled, id: followed.id)) }
      }
    }
    return undecided
  }

  /// Whether a missing job was cancelled before it began.
  ///
  /// Slurm forgets such a job of an array at once if other jobs of the array are left.
  private func isForgotten(_ followed: FollowedJob, at began: Duration) -> Bool {
    guard followed.isCancelSent, let cancelTime, cancelTime <= began, !isAfterOutage else { return false }
    return !followed.status.isOnNodes && !files.hasClaim(of: followed.identity)
  }

  /// The job that executes an attempt, or will, among several jobs of the attempt.
  private func choose(_ records: [SlurmRecord], for followed: FollowedJob) -> SlurmRecord? {
    let isKnown = followed.id == nil || followed.id == records[0].id
    if records.count == 1, isKnown, followed.claimant == nil { return records[0] }
    if followed.claimant == nil { followed.claimant = files.claim(of: followed.identity) }
    let chosen: SlurmRecord?
    if let claimant = followed.claimant {
      chosen = records.first { $0.id == claimant }
    } else {
      // An ended job without a claim counts only if it is the followed one: it may belong to an earlier submission.
      let possible = records.filter { !$0.state.isEnded || followed.id == nil || $0.id == followed.id }
      chosen = possible.min { ($0.state.rank, $0.id.number) < ($1.state.rank, $1.id.number) }
    }
    for record in records where record.state == .pending && record.id != chosen?.id { surplus.insert(record.id) }
    return chosen
  }

  /// Applies a record to a job; false if the job has ended and its end is not known yet.
  func update(_ followed: FollowedJob, _ record: SlurmRecord) -> Bool {
    followed.misses = 0
    if !record.state.isEnded { followed.orphanSince = nil }
    followed.id = record.id
    followed.refusal = nil
    if record.state == .pending, hasBeenRequeued(followed, record) {
      files.removeExit(of: followed.identity)
      followed.tell(.requeued(record.id))
    }
    followed.last = record
    followed.submitTime = record.submitTime ?? followed.submitTime
    switch record.state {
    case .pending:
      followed.hold = followed.halt.isStanding && record.reason == SlurmRecord.userHold ? .held : .none
      followed.tell(.pending(record.id, record.reason.map { SlurmReason($0) }))
    case .running:
      if followed.hold == .held { followed.hold = .none }
      if followed.halt.isStanding, record.isStopped { followed.hold = .suspended }
      tellExecution(of: followed, record)
      if let exit = exitLongAgo(of: followed) {
        finish(followed, SlurmOutcome(SlurmEnd(shellStatus: exit.status), id: record.id, nodes: record.nodes))
      }
    default:
      guard let end = record.end else { return false }
      conclude(followed, end, record)
    }
    return true
  }

  private func tellExecution(of followed: FollowedJob, _ record: SlurmRecord) {
    let isSuspended = record.isSuspended || record.isStopped && !followed.halt.isStanding
    if !followed.status.isOnNodes, followed.mayExist, let used = record.used {
      followed.tell(.found(record.id, after: max(.zero, used - .seconds(1) - followed.halt.stopped)))
    }
    if !followed.status.isOnNodes || !isSuspended { followed.tell(.running(record.id, nodes: record.nodes)) }
    if isSuspended { followed.tell(.suspended(record.id, nodes: record.nodes)) }
  }

  /// Notes that a job is neither held nor stopped any more, according to a query after the last request for that: a later
  /// hold is someone else's.
  private func endHalt(of followed: FollowedJob, _ record: SlurmRecord, began: Duration) {
    guard followed.halt.isStanding, !followed.isPauseWanted, !isControlling, began >= controlTime else { return }
    // A job that began when it was to be held keeps that reason.
    guard record.state == .pending ? !record.isHeld : record.state == .running && !record.isStopped else { return }
    followed.halt.end()
    files.record(followed.halt, of: followed.identity)
  }

  /// Whether Slurm has taken a job off its nodes to execute it again; only then does its submission time change.
  ///
  /// A controller that was killed may report an executing job as pending.
  private func hasBeenRequeued(_ followed: FollowedJob, _ record: SlurmRecord) -> Bool {
    guard followed.last?.state == .running, followed.last?.id == record.id else { return false }
    return followed.submitTime != nil && record.submitTime != nil && followed.submitTime != record.submitTime
  }

  /// The end that the script of a job has recorded, if it did so a while ago and Slurm still lists the job as
  /// executing.
  ///
  /// The node's report of the end is lost if the controller is killed at that moment, and is not repeated for minutes.
  /// For a script that was asked to end, Slurm's own report decides.
  private func exitLongAgo(of followed: FollowedJob) -> SlurmFiles.Exit? {
    guard let look = followed.look else {
      followed.look = (clock.now, false)
      return nil
    }
    guard clock.now - look.time >= settings.orphanTime else { return nil }
    let exit = files.exit(of: followed.identity)
    followed.look = (clock.now, exit != nil)
    return look.hasEnded && exit?.wasStopped == false && !followed.isCancelWanted ? exit : nil
  }

  /// Ends a job, unless it has left its attempt to another one.
  func conclude(_ followed: FollowedJob, _ end: SlurmEnd, _ record: SlurmRecord) {
    var end = end
    if followed.isStopped, end == .exited(0) {
      end = .cancelled
    } else if end == .exited(BatchScript.duplicateStatus), files.hasClaim(of: followed.identity) {
      guard let real = endOfDuplicate(followed, files.claim(of: followed.identity), record) else { return }
      end = real
    } else if end == .exited(BatchScript.unreadStatus), record.id.index != nil, !files.hasClaim(of: followed.identity) {
      guard followed.submissions >= settings.submissions else { return putBack([followed]) }
      end = .notStarted("\(record.nodes) can't read its script in \(files.folder): all nodes must see this folder")
    } else if case .exited = end, isAfterOutage || followed.orphanSince != nil {
      guard let real = endAfterOutage(followed, end) else { return }
      end = real
    } else if case .exited(let status) = end, BatchScript.unreadableStatuses.contains(status),
      hasNotBegun(followed, on: record.nodes)
    {
      guard followed.submissions >= settings.submissions else { return putBack([followed]) }
      end = .notStarted("its script could not be executed (exit \(status))")
    } else if let status = exitStatus(of: followed, despite: end) {
      end = SlurmEnd(shellStatus: status)
    } else if end == .cancelled, !followed.isCancelWanted, mayBeginAgain(followed) {
      return putBack([followed])
    } else if record.reason == "JobLaunchFailure", !files.hasClaim(of: followed.identity) {
      end = .notStarted("JobLaunchFailure")
    }
    finish(followed, SlurmOutcome(end, id: record.id, nodes: record.nodes))
  }

  /// The end of a duplicate submission; nil if the observer now follows the job that has the claim, or awaits the exit
  /// file.
  private func endOfDuplicate(_ followed: FollowedJob, _ claimant: SlurmJobID?, _ record: SlurmRecord) -> SlurmEnd? {
    if let claimant, claimant != record.id {
      followed.claimant = claimant
      followed.id = claimant
      followed.since = clock.now
      return nil
    }
    // The same job was started twice: a controller that was killed has forgotten the first start.
    if let exit = files.exit(of: followed.identity) { return SlurmEnd(shellStatus: exit.status) }
    return hasWaitedEnough(forExitOf: followed) ? .lost(hasBegun: true) : nil
  }

  /// The end of a job that Slurm reports as exited soon after an outage; nil if it is submitted again or its exit file
  /// is awaited.
  ///
  /// A controller that was killed reuses the numbers of jobs that it has forgotten, and attributes the ends that nodes
  /// report for the old jobs to the new ones: such a job is completed without a start.
  private func endAfterOutage(_ followed: FollowedJob, _ end: SlurmEnd) -> SlurmEnd? {
    if let exit = files.exit(of: followed.identity) { return SlurmEnd(shellStatus: exit.status) }
    // Nodes that don't see the folder leave no files of any job.
    let hasFiles = hasFiles ?? files.hasAttempts()
    self.hasFiles = hasFiles
    guard hasFiles else { return end }
    if files.hasClaim(of: followed.identity) {
      return hasWaitedEnough(forExitOf: followed) ? .lost(hasBegun: true) : nil
    }
    guard followed.submissions < settings.submissions else { return .lost(hasBegun: false) }
    putBack([followed])
    return nil
  }

  /// The status of a program that had ended before Slurm ended its job or lost its node.
  private func exitStatus(of followed: FollowedJob, despite end: SlurmEnd) -> Int32? {
    switch end {
    case .cancelled where !followed.isCancelWanted, .nodeFailure:
      // A cancelled program leaves a status too; one that dies at once may do so before its script notes the signal.
      files.exit(of: followed.identity).flatMap { $0.wasStopped || $0.status == 128 + SIGTERM ? nil : $0.status }
    default: nil
    }
  }

  /// Whether a job has exited without a claim on a node that has made others: its script was not executed.
  private func hasNotBegun(_ followed: FollowedJob, on nodes: String) -> Bool {
    // A script is executed by the first one.
    guard let node = AllocatedNode.expanded(nodes).first else { return false }
    guard !files.hasClaim(of: followed.identity) else { return false }
    let claimants = claimants ?? files.claimants()
    self.claimants = claimants
    return claimants.contains(node)
  }

  /// Whether a job that this run has not cancelled is submitted again.
  ///
  /// A controller that was killed reuses the numbers of jobs that it has forgotten, and ends the new jobs when the
  /// nodes name the old ones.
  private func mayBeginAgain(_ followed: FollowedJob) -> Bool {
    isAfterOutage && followed.submissions < settings.submissions && !files.hasClaim(of: followed.identity)
  }

  /// Queries the statuses of all failed jobs in one call.
  private func askForStatuses(of undecided: [FollowedJob]) {
    runner.run(SlurmRecord.statusQuery) { [self] answer in
      queue.async { self.receivedStatuses(answer, for: undecided) }
    }
  }

  private func receivedStatuses(_ answer: SlurmAnswer, for undecided: [FollowedJob]) {
    // The next query asks again.
    guard !answer.isWithoutController else { return }
    var statuses: [SlurmJobID: Int32] = [:]
    for line in answer.output.lines {
      if let (id, status) = SlurmRecord.status(line: line) { statuses[id] = status }
    }
    for followed in undecided where followed.phase == .submitted {
      guard var record = followed.last, record.state == .failed, followed.id == record.id else { continue }
      record.status = statuses[record.id]
      if let end = record.end ?? files.exit(of: followed.identity).map({ SlurmEnd(shellStatus: $0.status) }) {
        conclude(followed, end, record)
      } else {
        // Treats the job as missing: scontrol or a later source may know its status.
        followed.misses = Self.certainMisses
      }
    }
    resolveMissing()
  }

  /// How many consecutive answers must lack an accepted job: a controller may just have been started.
  static let certainMisses = 2
}

/// Jobs that are missing from the answers: scontrol is queried, then the accounting, then their own files.
extension SlurmObserver {
  func resolveMissing() {
    guard !isResolving, !isControllerDown else { return }
    let missing = active.values.filter { followed in
      followed.phase == .submitted && followed.misses >= (followed.id == nil ? 1 : Self.certainMisses)
    }
    guard !missing.isEmpty else { return }
    // A job that executes an attempt has written its number to the claim.
    for followed in missing where followed.id == nil { followed.id = files.claim(of: followed.identity) }
    let numbered = missing.filter { $0.id != nil }
    for followed in missing where followed.id == nil { decideByFiles(followed) }
    guard !numbered.isEmpty else { return }
    isResolving = true
    let one = numbered.count == 1 ? numbered[0].id.map { [$0.description] } : nil
    runner.run(SlurmCommand(["scontrol", "show", "job", "-a", "-o"] + (one ?? []))) { [self] answer in
      queue.async { self.receivedDetails(answer, of: numbered) }
    }
  }

  private func receivedDetails(_ answer: SlurmAnswer, of missing: [FollowedJob]) {
    guard !answer.isWithoutController else {
      isResolving = false
      return controllerIsDown(since: clock.now, answer)
    }
    let records = answer.output.lines.lazy.compactMap { SlurmRecord(controlLine: $0) }
    let left = take(records, for: missing) { _, _ in true }
    guard !left.isEmpty, hasAccounting else { return endResolving(left) }
    runner.run(SlurmRecord.accountingQuery(left.compactMap(\.id))) { [self] answer in
      queue.async { self.receivedAccounts(answer, of: left) }
    }
  }

  private func receivedAccounts(_ answer: SlurmAnswer, of missing: [FollowedJob]) {
    hasAccounting = answer.isSuccess || answer.isWithoutController
    // The accounting keeps a job that a killed controller has forgotten as not ended, and up to 24.11 it misreports a
    // status above 127.
    let records = answer.output.lines.compactMap { SlurmRecord(accountingLine: $0) }
      .filter(\.state.isEnded)
    endResolving(
      take(records, for: missing) { record, followed in
        let isExit = record.state == .completed || record.state == .failed
        return !(isExit && files.exit(of: followed.identity) != nil)
      })
  }

  /// Applies the records that belong to missing jobs; returns the jobs that are left.
  private func take(
    _ records: some Sequence<SlurmRecord>, for missing: [FollowedJob], where fits: (SlurmRecord, FollowedJob) -> Bool
  ) -> [FollowedJob] {
    let byID = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
    return missing.filter { followed in
      guard isMissing(followed) else { return false }
      guard let record = followed.id.flatMap({ byID[$0] }), fits(record, followed), isRecord(record, of: followed)
      else { return true }
      return !update(followed, record)
    }
  }

  private func endResolving(_ left: [FollowedJob]) {
    isResolving = false
    for followed in left where isMissing(followed) { decideByFiles(followed) }
  }

  /// Whether no query has found the job meanwhile.
  private func isMissing(_ followed: FollowedJob) -> Bool { followed.phase == .submitted && followed.misses > 0 }

  /// Whether the exit file of a job that Slurm has abandoned was awaited long enough; the first call begins the wait.
  func hasWaitedEnough(forExitOf followed: FollowedJob) -> Bool {
    let since = followed.orphanSince ?? clock.now
    followed.orphanSince = since
    return clock.now - since >= settings.orphanTime
  }

  /// Decides about a job that Slurm does not know, by its files.
  private func decideByFiles(_ followed: FollowedJob) {
    func end(_ end: SlurmEnd) {
      finish(followed, SlurmOutcome(end, id: followed.id, nodes: followed.last?.nodes ?? ""))
    }
    // A job that Slurm accepted late and still starts exits without having executed anything. A job that has just begun
    // is found in the next query.
    func giveUp(_ reason: SlurmEnd) {
      if files.withdraw(followed.identity) { end(reason) }
    }
    if let exit = files.exit(of: followed.identity) {
      end(SlurmEnd(shellStatus: exit.status))
    } else if files.isWithdrawn(followed.identity) {
      end(.lost(hasBegun: false))
    } else if followed.isCancelWanted {
      let isWithdrawn = files.withdraw(followed.identity)
      if isWithdrawn || followed.id != nil || hasWaitedEnough(forExitOf: followed) { end(.cancelled) }
    } else if followed.last?.state == .running || files.hasClaim(of: followed.identity) {
      if hasWaitedEnough(forExitOf: followed) { end(.lost(hasBegun: true)) }
    } else if let refusal = followed.refusal {
      giveUp(.refused(refusal))
    } else if followed.submissions < settings.submissions {
      // The job has not begun; if it still begins, its claim leaves the work to one of the two.
      putBack([followed])
    } else {
      giveUp(.lost(hasBegun: false))
    }
  }
}

extension FollowedJob {
  /// Whether the job may have been submitted with this name.
  func mayHaveName(_ name: String?) -> Bool {
    guard submittedName.isEmpty else { return name == submittedName }
    // Another process has submitted it, by itself or in an array.
    let own = job.resources.name ?? job.name
    return [own, FollowedJob.arrayName(of: own)].contains(name)
  }
}

extension SlurmState {
  /// The precedence among several jobs of one attempt; the lowest is first.
  fileprivate var rank: Int {
    switch self {
    case .running: 0
    case .pending: 1
    default: 2
    }
  }
}
