import JobModel
import Operations
import Processes

/// Handles the events of attempts; on the stream's queue.
extension JobQueue {
  /// The kinds of events of an attempt that matter.
  static let kinds: OperationEvent.Kinds = [.begun, .launched, .progress, .lines, .stops, .placed, .ended]

  func take(_ event: OperationEvent, of attempt: Attempt, _ receipt: LogReceipt?) {
    switch event {
    case .begun: started(attempt)
    case .launched(let pid): launched(attempt, pid)
    case .progress(let progress): progressed(attempt, progress)
    case .lines(let lines): for line in lines { logged(attempt, line, receipt) }
    case .stopped(let signal): stopped(attempt, by: signal)
    case .continued: stopped(attempt, by: nil)
    case .placed(let status): if let report = cluster?.report(status, of: attempt) { take(report, of: attempt) }
    case .ended: finished(attempt)
    case .attached, .starting, .produced, .cancelled, .executed: break
    }
  }

  /// Called for the first observation of any kind: output may come before `main` has returned.
  private func started(_ attempt: Attempt) {
    guard !attempt.hasStarted, !attempt.isWithCluster, !gate.hasRefused(attempt.ticket) else { return }
    attempt.start(at: stream.journal.now)
    scheduler.attemptStarted(
      ticket: attempt.ticket, pid: (attempt.operation as? ShellOperation)?.processIdentifier,
      executedFor: attempt.timeBefore)
    if let note = attempt.note {
      stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(.note, note)))
    }
    // The scheduler takes it for ready at once.
    if let service = scheduler.graph[attempt.job].service, service.probe == nil { watchLife(of: attempt) }
    attempt.whenServing { [weak self, weak attempt] in
      if let attempt { self?.served(attempt) }
    }
  }

  /// Handles a service whose program can be used; any thread may call this.
  func served(_ attempt: Attempt) {
    // After every event that was posted before, such as the line that says so.
    stream.deliveries.deliverNow {
      self.enter(attempt) { queue in
        let isReading = attempt.readOutputsSoFar(on: queue.reading, secrets: queue.programs.secrets) {
          [weak queue] outputs in
          guard let queue else { return }
          queue.stream.queue.async { queue.enter(attempt) { $0.serve(attempt, outputs) } }
        }
        if !isReading { queue.serve(attempt, OutputValues([])) }
      }
    }
  }

  private func serve(_ attempt: Attempt, _ outputs: OutputValues) {
    // Other faults may come from a line that is still being written.
    note([outputs.secretFault].compactMap(\.self), of: attempt)
    state(outputs.values, of: attempt)
    if scheduler.serviceIsReady(ticket: attempt.ticket) { watchLife(of: attempt) }
  }

  /// States the values of the newest attempt; earlier ones don't count, even if it has written none.
  private func state(_ values: [String: String], of attempt: Attempt) {
    if !values.isEmpty || !stream.journal.run[attempt.job].outputs.isEmpty {
      stream.state(.jobOutputs(attempt.job, values))
    }
  }

  /// Notes in the log, once, why other jobs don't get a value.
  private func note(_ faults: [String], of attempt: Attempt) {
    for fault in faults where attempt.notedFaults.insert(fault).inserted {
      stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(.note, fault)))
    }
  }

  private func watchLife(of attempt: Attempt) {
    attempt.probe?.watch { [weak self, weak attempt] failure in
      if let self, let attempt { died(attempt, failure) }
    }
  }

  /// Handles a service that could be used and can't be any more; any thread may call this.
  private func died(_ attempt: Attempt, _ failure: JobFailure) {
    stream.deliveries.deliverNow {
      self.enter(attempt) { $0.scheduler.serviceHasDied(ticket: attempt.ticket, failure) }
    }
  }

  private func progressed(_ attempt: Attempt, _ progress: OperationProgress) {
    started(attempt)
    stream.report(
      JobProgress(done: progress.completed, total: progress.total, unit: attempt.unit), of: attempt.job)
  }

  private func logged(_ attempt: Attempt, _ line: OperationLogLine, _ receipt: LogReceipt?) {
    started(attempt)
    stateInputs(attempt)
    stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(line)))
    stream.holdOutput(receipt)
    guard line.source != .note else { return }
    scheduler.attemptSpoke(ticket: attempt.ticket)
  }

  private func launched(_ attempt: Attempt, _ pid: Int32) {
    let isFirst = !attempt.hasStarted
    started(attempt)
    stateInputs(attempt)
    // After a check or a pause the attempt has started before its program.
    if !isFirst { scheduler.attemptLaunched(ticket: attempt.ticket, pid: pid) }
  }

  /// States the result of the check of the inputs, if it is known and not stated yet.
  func stateInputs(_ attempt: Attempt) {
    if let cause = attempt.takeCause(), stream.journal.run[attempt.job].cause?.attempt != attempt.number {
      stream.state(.jobCaused(attempt.job, attempt: attempt.number, cause))
    }
    if let hash = attempt.takeInputsHash() { stream.state(.inputsHashed(attempt.job, hash)) }
    if !attempt.readsInputs, let change = attempt.heldChange.take() { inputsChanged([attempt.job: change]) }
  }

  /// Handles a program that was stopped by a signal that this run has not sent, or that continues.
  private func stopped(_ attempt: Attempt, by signal: Int32?) {
    started(attempt)
    let text =
      signal.map { "the program was stopped by \(SignalName.of($0)): resuming the job continues it" }
      ?? "the program continues"
    stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(.note, text)))
    attempt.probe?.isPaused = signal != nil
    scheduler.attemptStopped(ticket: attempt.ticket, isStopped: signal != nil)
  }

  func finished(_ attempt: Attempt) {
    if gate.hasRefused(attempt.ticket) {
      end(attempt)
      return scheduler.attemptWithdrawn(ticket: attempt.ticket)
    }
    if attempt.ending == nil, let cluster {
      let isPending = cluster.determinesEnd(of: attempt) { [weak self] failure in
        self?.enter(attempt) {
          attempt.ending = failure.map(AttemptOutcome.failed) ?? AttemptOutcome(of: attempt.operation)
          $0.finished(attempt)
        }
      }
      if isPending { return }
    }
    if attempt.isWithCluster, AttemptOutcome(of: attempt.operation) == .cancelled {
      // The attempt was withdrawn before the cluster had started it.
      end(attempt)
      return scheduler.attemptWithdrawn(ticket: attempt.ticket)
    }
    if attempt.isWithCluster, case .failed = attempt.outcome {
      // The cluster has never started the attempt.
      end(attempt)
      return scheduler.attemptEnded(ticket: attempt.ticket, attempt.outcome)
    }
    attempt.isWithCluster = false
    started(attempt)
    stateInputs(attempt)
    // On another queue: the program may have put anything in the file's place.
    let isReading = attempt.readOutputs(on: reading, secrets: programs.secrets) {
      [weak self, whenAttemptSucceeds] outputs, hasAddition in
      guard let self else { return }
      if let whenAttemptSucceeds, let values = outputs?.values,
        let success = attempt.success(at: stream.elapsed, outputs: values)
      {
        whenAttemptSucceeds(success)
      }
      stream.queue.async {
        self.enter(attempt) {
          attempt.outputs = outputs
          if hasAddition { attempt.foundAddition() }
          $0.finished(attempt)
        }
      }
    }
    if isReading || addJobs(of: attempt) { return }
    end(attempt)
    stream.flushProgress(of: attempt.job)
    let outcome = attempt.outcome
    note(attempt.outputs?.faults ?? [], of: attempt)
    if let values = outcome == .upToDate ? attempt.keptValues : attempt.outputs?.values ?? [:] {
      state(values, of: attempt)
    }
    scheduler.attemptEnded(ticket: attempt.ticket, outcome, outputMatches: attempt.outputMatches)
  }

  private func take(_ report: ClusterReport, of attempt: Attempt) {
    if case .requeued = report.standing {
      guard scheduler.attemptRequeued(ticket: attempt.ticket) else { return }
      attempt.requeue()
    }
    if let place = report.place, attempt.place != place {
      attempt.place = place
      stream.state(.jobPlaced(attempt.job, place))
    }
    switch report.standing {
    case .waits(let reason): scheduler.attemptWaits(ticket: attempt.ticket, reason: reason)
    case .executes:
      attempt.isWithCluster = false
      started(attempt)
      scheduler.attemptSuspended(ticket: attempt.ticket, isSuspended: false)
    case .suspended: scheduler.attemptSuspended(ticket: attempt.ticket, isSuspended: true)
    case .requeued, nil: break
    }
  }
}
