import Foundation

/// Operations made one after another, with waits between, until one is the last.
///
/// Each has a queue to itself, so that it may have dependencies and conditions of its own.
final class AttemptSeries<Success: Sendable>: Sendable {
  typealias Attempt = ResultOperation<Success>

  enum Verdict {
    case again(after: Duration)
    case end(Attempt.Outcome)
  }

  private enum Phase {
    case idle
    case executing(Attempt)
    case waiting((any OperationTimer)?, after: Int)
    case ended
  }

  private let phase = Lock(Phase.idle)
  private let clock: any OperationClock
  private let make: @Sendable (Int) -> Attempt
  private let judge: @Sendable (Attempt.Outcome, Int) -> Verdict
  private let queue = OperationQueue()
  /// Observes the newest attempt.
  private let progress = Lock<ObservationToken?>(nil)

  init(
    clock: any OperationClock, make: @escaping @Sendable (Int) -> Attempt,
    judge: @escaping @Sendable (Attempt.Outcome, Int) -> Verdict
  ) {
    self.clock = clock
    self.make = make
    self.judge = judge
    queue.maxConcurrentOperationCount = 1
  }

  /// The attempt that executes.
  var current: Attempt? {
    phase.withLock { phase in
      if case .executing(let attempt) = phase { return attempt }
      return nil
    }
  }

  /// Begins an attempt of `owner`, which finishes with the outcome of the last one.
  func begin(_ number: Int, of owner: ResultOperation<Success>) {
    let attempt = make(number)
    require(attempt.state < .executing, "\(attempt) has been started before: make a new one each time")
    let isCurrent = phase.withLock { phase in
      if case .ended = phase { return false }
      phase = .executing(attempt)
      return true
    }
    guard isCurrent else { return }
    owner.post(.produced(attempt))
    QueueEntryObserver.tell([attempt], .parent(owner))
    // As a group's child it shares the owner's mutual exclusions.
    let sideState = attempt.parts.sideState
    sideState.group = owner
    let token = attempt.observe(\.progress, on: .global()) { [weak owner] _, change in
      owner?.report(completed: change.newValue.completed, total: change.newValue.total)
    }
    progress.withLock { $0 = token }
    attempt.whenDone { self.attemptEnded($0, number, owner) }
    queue.addOperation(attempt)
    // Cancelled meanwhile, before there was this attempt to be cancelled.
    if owner.isCancelled { attempt.cancel() }
  }

  private func attemptEnded(_ outcome: Attempt.Outcome, _ number: Int, _ owner: ResultOperation<Success>) {
    switch owner.isCancelled ? .end(outcome) : judge(outcome, number) {
    case .end(let outcome):
      phase.withLock { $0 = .ended }
      owner.finish(outcome)
    case .again(let delay):
      phase.withLock { $0 = .waiting(nil, after: number) }
      guard delay > .zero else { return waitEnded(after: number, owner) }
      let timer = clock.schedule(after: delay) { self.waitEnded(after: number, owner) }
      let isWaiting = phase.withLock { phase in
        guard case .waiting(_, number) = phase else { return false }
        phase = .waiting(timer, after: number)
        return true
      }
      if !isWaiting { timer.cancel() }
      // Cancelled meanwhile, before there was this wait to be ended.
      if owner.isCancelled { cancel(owner) }
    }
  }

  private func waitEnded(after number: Int, _ owner: ResultOperation<Success>) {
    let isCurrent = phase.withLock { phase in
      guard case .waiting(_, number) = phase else { return false }
      phase = .idle
      return true
    }
    if isCurrent { begin(number + 1, of: owner) }
  }

  /// Ends a wait at once; an attempt ends as soon as it obeys.
  func cancel(_ owner: ResultOperation<Success>) {
    let old = phase.withLock { phase in
      defer { if case .waiting = phase { phase = .ended } }
      return phase
    }
    switch old {
    case .executing(let attempt): attempt.cancel()
    case .waiting(let timer, _):
      timer?.cancel()
      owner.finish(.failure(CancellationError()))
    case .idle, .ended: break
    }
  }
}
