import Foundation

/// Operations made one after another, with waits between, until one says that it was the last.
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
    case executing(Attempt, Int)
    case waiting((any OperationTimer)?, Int)
    case ended
  }

  private let phase = Lock(Phase.idle)
  private let clock: any OperationClock
  private let make: @Sendable (Int) -> Attempt
  private let judge: @Sendable (Attempt.Outcome, Int) -> Verdict
  private let queue = OperationQueue()
  // Of the newest attempt.
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

  /// Makes the attempts of `owner`, which finishes with what the last of them ends with.
  func begin(_ number: Int, of owner: ResultOperation<Success>) {
    let attempt = make(number)
    precondition(attempt.state < .executing, "an operation runs once: make a new one for each attempt")
    let isOn = phase.withLock { phase in
      if case .ended = phase { return false }
      phase = .executing(attempt, number)
      return true
    }
    guard isOn else { return }
    owner.post(.produced(attempt))
    // A child of the owner as for a group: it shares what the owner has to itself.
    attempt.parts.sideState.group = owner
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
    let verdict = owner.isCancelled ? .end(outcome) : judge(outcome, number)
    switch verdict {
    case .end(let outcome):
      phase.withLock { $0 = .ended }
      owner.finish(outcome)
    case .again(let delay):
      phase.withLock { $0 = .waiting(nil, number) }
      guard delay > .zero else { return go(on: number, owner) }
      let timer = clock.schedule(after: delay) { self.go(on: number, owner) }
      let isWaiting = phase.withLock { phase in
        guard case .waiting(_, number) = phase else { return false }
        phase = .waiting(timer, number)
        return true
      }
      if !isWaiting { timer.cancel() }
      // Cancelled meanwhile, before there was this wait to be ended.
      if owner.isCancelled { cancel(owner) }
    }
  }

  /// The wait after attempt `number` is over.
  private func go(on number: Int, _ owner: ResultOperation<Success>) {
    let isOn = phase.withLock { phase in
      guard case .waiting(_, number) = phase else { return false }
      phase = .idle
      return true
    }
    if isOn { begin(number + 1, of: owner) }
  }

  /// Ends a wait at once and an attempt as soon as it obeys.
  func cancel(_ owner: ResultOperation<Success>) {
    let (attempt, timer, isOver) = phase.withLock { phase -> (Attempt?, (any OperationTimer)?, Bool) in
      switch phase {
      case .executing(let attempt, _): return (attempt, nil, false)
      case .waiting(let timer, _):
        phase = .ended
        return (nil, timer, true)
      case .idle, .ended: return (nil, nil, false)
      }
    }
    timer?.cancel()
    attempt?.cancel()
    if isOver { owner.finish(.failure(CancellationError())) }
  }
}
