import Foundation
import Operations

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
    return [own, String(own.prefix { $0 != "[" }), SlurmObserver.mixedName].contains(name)
  }
}
