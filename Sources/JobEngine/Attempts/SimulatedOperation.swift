import Dispatch
import JobModel
import Operations

/// Executes simulated work.
final class SimulationExecutor: Executor {
  private let clock: any OperationClock

  init(clock: any OperationClock) { self.clock = clock }

  func execution(of request: AttemptRequest) -> Execution {
    guard case .simulate(let work) = request.job.work else { preconditionFailure("it is not simulated work") }
    return Execution(SimulatedOperation(work, attempt: request.admission.attempt, clock: clock))
  }
}

/// Work that only takes time: equal steps, and a failure at a step that the seed determines.
package final class SimulatedOperation: AsyncOperation, ControllableOperation, @unchecked Sendable {
  // Safe: constants, and a lock guards all state.

  private struct State {
    var step = 0
    var nextStep: Duration = .zero
    var timer: (any OperationTimer)?
    var hasBegun = false
    var isPaused = false
    /// The rest of the step in progress while the operation is paused.
    var left: Duration
  }

  /// One queue serves all operations: a step is a few reports.
  private static let timers = DispatchQueue(label: "opdash.simulated", qos: .userInitiated)

  private let clock: any OperationClock
  private let steps: Int
  private let step: Duration
  /// The step after which the operation fails; nil if it succeeds.
  private let failingStep: Int?
  private let work: Lock<State>

  /// Creates the given attempt of `work`: the same attempt with the same seed takes the same course.
  package init(_ work: SimulatedWork, attempt: Int, clock: any OperationClock = .system) {
    self.clock = clock
    steps = max(1, work.steps)
    step = max(.zero, work.duration) / steps
    var random = SplitMix(seed: work.seed &+ UInt64(attempt) &* 0x9E37_79B9)
    failingStep = random.unit() < work.failRate ? Int.random(in: 1...steps, using: &random) : nil
    self.work = Lock(State(left: step))
  }

  package override func main() {
    guard step > .zero else {
      if steps > 1 { report(completed: Int64(failingStep ?? steps), total: Int64(steps)) }
      return end()
    }
    report(completed: 0, total: Int64(steps))
    work.withLock { work in
      work.hasBegun = true
      if !work.isPaused { arm(&work) }
    }
  }

  package override func didCancel() {
    work.withLock { work in
      work.timer?.cancel()
      work.timer = nil
      work.hasBegun = false
    }
    finish()
  }

  package func pause() {
    work.withLock { work in
      guard !work.isPaused else { return }
      work.isPaused = true
      guard let timer = work.timer else { return }
      timer.cancel()
      work.timer = nil
      work.left = max(.zero, work.nextStep - clock.now)
    }
  }

  package func resume() {
    work.withLock { work in
      guard work.isPaused else { return }
      work.isPaused = false
      if work.hasBegun { arm(&work) }
    }
  }

  /// Schedules the next step from the planned time, so that a late timer does not stretch the work.
  private func arm(_ work: inout State) {
    let now = clock.now
    work.nextStep = (work.timer == nil ? now : work.nextStep) + work.left
    work.left = step
    work.timer = clock.schedule(after: work.nextStep - now, on: Self.timers) { [weak self] in self?.takeStep() }
  }

  private func takeStep() {
    let reached = work.withLock { work -> Int? in
      guard work.hasBegun, !work.isPaused, clock.now >= work.nextStep else { return nil }
      work.step += 1
      if work.step == failingStep ?? steps { work.hasBegun = false } else { arm(&work) }
      return work.step
    }
    guard let reached else { return }
    report(completed: Int64(reached), total: Int64(steps))
    if reached == failingStep ?? steps { end() }
  }

  private func end() {
    if let failingStep { finish(with: SimulatedFailure(step: failingStep, of: steps)) } else { finish() }
  }
}

/// A simulated operation reached its failing step.
struct SimulatedFailure: Error, CustomStringConvertible {
  let step: Int
  let of: Int

  var description: String { "failed at step \(step) of \(of)" }
}

extension SimulatedFailure: JobFailureConvertible {
  var jobFailure: JobFailure { JobFailure(.simulated, description) }
}
