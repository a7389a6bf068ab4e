import Dispatch
import JobModel
import Operations

/// Work that only takes time: even steps, and a failure at a step that the seed decides.
final class SimulatedRunner: Runner, Sendable {
  private struct State {
    var report: AttemptReport?
    var step = 0
    var nextStep: Duration = .zero
    var timer: (any OperationTimer)?
    /// What was left of the step in progress when it was paused.
    var left: Duration?
    var hasEnded = false
  }

  /// One queue serves all: a step is a few facts.
  private static let queue = DispatchQueue(label: "opdash.simulated", qos: .userInitiated)

  private let work: SimulatedWork
  private let clock: any OperationClock
  /// The step after which the attempt fails; nil if it succeeds.
  private let failingStep: Int?
  private let state = Lock(State())

  init(_ work: SimulatedWork, attempt: Int, clock: any OperationClock) {
    self.work = work
    self.clock = clock
    var random = SplitMix(seed: work.seed &+ UInt64(attempt) &* 0x9E37_79B9)
    let fails = random.unit() < work.failRate
    failingStep = fails ? Int.random(in: 1...max(1, work.steps), using: &random) : nil
  }

  func start(_ report: AttemptReport) {
    report.started(nil)
    guard work.duration > .zero else {
      if work.steps > 1 { report.progress(progress(failingStep ?? work.steps)) }
      return report.ended(outcome)
    }
    state.withLock { state in
      state.report = report
      state.nextStep = clock.now + step
      arm(&state)
    }
    report.progress(progress(0))
  }

  func cancel() {
    let report = state.withLock { state in
      state.timer?.cancel()
      defer { state.hasEnded = true }
      return state.hasEnded ? nil : state.report
    }
    report?.ended(.cancelled)
  }

  func pause() {
    state.withLock { state in
      guard !state.hasEnded, state.left == nil, state.timer != nil else { return }
      state.timer?.cancel()
      state.left = max(.zero, state.nextStep - clock.now)
    }
  }

  func resume() {
    state.withLock { state in
      guard !state.hasEnded, let left = state.left else { return }
      state.left = nil
      state.nextStep = clock.now + left
      arm(&state)
    }
  }

  private var step: Duration { work.duration / max(1, work.steps) }

  private var outcome: AttemptOutcome {
    failingStep.map { .failed(JobFailure(.simulated, "failed at step \($0) of \(max(1, work.steps))")) } ?? .succeeded
  }

  private func progress(_ step: Int) -> JobProgress {
    JobProgress(done: Int64(step), total: Int64(max(1, work.steps)), unit: .steps)
  }

  private func arm(_ state: inout State) {
    state.timer = clock.schedule(after: state.nextStep - clock.now, on: Self.queue) { [weak self] in self?.takeStep() }
  }

  private func takeStep() {
    let (report, step) = state.withLock { state -> (AttemptReport?, Int) in
      guard !state.hasEnded, state.left == nil, clock.now >= state.nextStep else { return (nil, 0) }
      state.step += 1
      if state.step == failingStep ?? max(1, work.steps) {
        state.hasEnded = true
      } else {
        // From the planned instant, so that a late timer does not stretch the work.
        state.nextStep += self.step
        arm(&state)
      }
      return (state.report, state.step)
    }
    guard let report else { return }
    report.progress(progress(step))
    if step == failingStep ?? max(1, work.steps) { report.ended(outcome) }
  }
}
