import Foundation

/// Operations made one after another, with waits between them, until one is the last.
///
/// Each attempt runs in the series' own queue, together with its dependencies that no other queue runs.
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
  private let dependencyQueue: DependencyQueue
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
    dependencyQueue = DependencyQueue(feeding: queue)
  }

  /// The attempt that executes or waits for its dependencies.
  var current: Attempt? {
    phase.withLock { phase in
      if case .executing(let attempt) = phase { return attempt }
      return nil
    }
  }

  /// The attempt and its dependencies in the queue of the series that have not finished.
  var unfinished: [Operation] { dependencyQueue.operations }

  /// Begins an attempt of `owner`, which finishes with the outcome of the last attempt.
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
    DependencyGraph.contents.withLock { _ in owner.parts.node.hasChildren = true }
    // Like a group's children, they share the owner's mutual exclusions.
    for case let operation as AsyncOperation in whole {
      let rareState = operation.parts.rareState
      rareState.group = owner
    }
    QueueEntryObserver.tell(whole, .parent(owner))
    let token = attempt.observe(\.progress, on: .global()) { [weak self, weak owner] attempt, _ in
      self?.pass(attempt, to: owner)
    }
    progress.withLock { $0 = token }
    let isAlone = whole.count == 1
    let wait = owner.beginAwait(of: attempt)
    attempt.whenDone { [weak attempt] outcome in
      defer { withExtendedLifetime(wait) {} }
      // The last change may not have been delivered yet.
      if let attempt, attempt.progress != OperationProgress() { self.pass(attempt, to: owner) }
      guard !isAlone else { return self.attemptEnded(outcome, number, owner) }
      // An attempt that was cancelled on its own may leave dependencies unfinished.
      if attempt?.isCancelled == true { self.dependencyQueue.cancelAllOperations() }
      self.dependencyQueue.whenEmpty(on: DispatchQueue(label: "AttemptSeries")) {
        self.attemptEnded(outcome, number, owner)
      }
    }
    do { try dependencyQueue.add(whole) } catch {
      phase.withLock { $0 = .ended }
      for operation in whole { Operation.letGo(operation) }
      return owner.finish(.failure(error))
    }
    // The owner was cancelled meanwhile, before this attempt existed.
    if owner.isCancelled { dependencyQueue.cancelAllOperations() }
  }

  /// Passes on the progress of the attempt, unless another one has begun.
  private func pass(_ attempt: Attempt, to owner: ResultOperation<Success>?) {
    owner?.report { current === attempt ? attempt.progress : nil }
  }

  private func attemptEnded(_ outcome: Attempt.Outcome, _ number: Int, _ owner: ResultOperation<Success>) {
    switch owner.isCancelled ? .end(outcome) : judge(outcome, number) {
    case .end(let outcome):
      phase.withLock { $0 = .ended }
      // In a deep nest, the end of one ends the next.
      Nesting.call { owner.finish(outcome) }
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
      // The owner was cancelled meanwhile, before this wait existed.
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

  /// Ends a wait at once, or cancels the attempt, which ends when it responds.
  func cancel(_ owner: ResultOperation<Success>) {
    let old = phase.withLock { phase in
      defer { if case .waiting = phase { phase = .ended } }
      return phase
    }
    switch old {
    case .executing: Nesting.call { self.dependencyQueue.cancelAllOperations() }
    case .waiting(let timer, _):
      timer?.cancel()
      owner.finish(.failure(CancellationError()))
    case .idle, .ended: break
    }
  }
}
