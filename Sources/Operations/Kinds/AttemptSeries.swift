import Foundation

/// Operations made one after another, with waits between, until one is the last.
///
/// Each has a queue to itself and to all that it depends on and that nobody else runs.
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
  private let feeder: OperationFeeder
  /// Observes the newest attempt.
  private let progress = Lock<ObservationToken?>(nil)

  init(
    clock: any OperationClock, make: @escaping @Sendable (Int) -> Attempt,
    judge: @escaping @Sendable (Attempt.Outcome, Int) -> Verdict
  ) {
    self.clock = clock
    self.make = make
    self.judge = judge
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = ProcessInfo.processInfo.activeProcessorCount
    feeder = OperationFeeder(feeding: queue)
  }

  /// The attempt that executes, or waits for what it depends on.
  var current: Attempt? {
    phase.withLock { phase in
      if case .executing(let attempt) = phase { return attempt }
      return nil
    }
  }

  /// The attempt and what it waits for.
  var unfinished: [Operation] { feeder.operations }

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
    let whole = owner.wholeProduct(attempt)
    // As a group's children they share the owner's mutual exclusions.
    for case let operation as AsyncOperation in whole {
      let sideState = operation.parts.sideState
      sideState.group = owner
    }
    QueueEntryObserver.tell(whole, .parent(owner))
    let token = attempt.observe(\.progress, on: .global()) { [weak owner] _, change in
      owner?.report(completed: change.newValue.completed, total: change.newValue.total)
    }
    progress.withLock { $0 = token }
    let isAlone = whole.count == 1
    attempt.whenDone { [weak attempt] outcome in
      guard !isAlone else { return self.attemptEnded(outcome, number, owner) }
      // Cancelled by itself, it may have left behind what it depends on.
      if attempt?.isCancelled == true { self.feeder.cancelAllOperations() }
      self.feeder.whenEmpty(on: DispatchQueue(label: "AttemptSeries")) { self.attemptEnded(outcome, number, owner) }
    }
    do { try feeder.add(whole) } catch {
      phase.withLock { $0 = .ended }
      for operation in whole { Operation.letGo(operation) }
      return owner.finish(.failure(error))
    }
    // Cancelled meanwhile, before there was this attempt to be cancelled.
    if owner.isCancelled { feeder.cancelAllOperations() }
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
    case .executing: feeder.cancelAllOperations()
    case .waiting(let timer, _):
      timer?.cancel()
      owner.finish(.failure(CancellationError()))
    case .idle, .ended: break
    }
  }
}
