import Basics
import JobModel

/// How many slots were in use over the time of a run.
struct SlotUse {
  /// From this instant on, `busy` slots are in use; the first step is at or after the start.
  struct Step {
    var time: Duration
    var busy: Int
  }

  private(set) var steps: [Step] = []
  private(set) var peak = 0
  /// The sum of the times that each slot was in use.
  private(set) var busyTime: Duration = .zero

  init(_ run: Run, until end: Duration) {
    var changes: [(time: Duration, amount: Int)] = []
    for index in run.jobs.indices where run.jobs[index].job.takesSlot {
      Self.forEachAttempt(run.jobs[index], until: end) { from, to in
        changes.append((from, 1))
        changes.append((to, -1))
        busyTime += to - from
      }
    }
    var busy = 0
    for change in changes.sorted(by: { ($0.time, $0.amount) < ($1.time, $1.amount) }) {
      busy += change.amount
      if steps.last?.time == change.time { steps.removeLast() }
      steps.append(Step(time: change.time, busy: busy))
      peak = max(peak, busy)
    }
  }

  /// The execution of each attempt, pauses included.
  private static func forEachAttempt(
    _ record: JobRecord, until end: Duration, _ body: (_ from: Duration, _ to: Duration) -> Void
  ) {
    var begun: Duration?
    for place in 0..<record.phases.count {
      let phase = record.phases[place]
      let goesOn = phase.kind == .executing || (phase.kind == .paused && begun != nil)
      if goesOn, begun == nil { begun = phase.start }
      guard !goesOn, let from = begun else { continue }
      body(from, phase.start)
      begun = nil
    }
    if let from = begun, from < end { body(from, end) }
  }

  /// The time during which at least `busy` slots were in use.
  func time(with busy: Int) -> Duration {
    zip(steps, steps.dropFirst()).reduce(.zero) { $1.0.busy >= busy ? $0 + ($1.1.time - $1.0.time) : $0 }
  }

  /// The mean number of slots in use in each of `count` equal parts of the time until `end`.
  func curve(_ count: Int, until end: Duration) -> [Double] {
    var sums = [Double](repeating: 0, count: count)
    guard end > .zero else { return sums }
    for (step, next) in zip(steps, steps.dropFirst()) where step.busy > 0 {
      let (from, to) = (step.time / end * Double(count), min(Double(count), next.time / end * Double(count)))
      var at = from
      while at < to {
        let place = min(count - 1, Int(clamping: at))
        let stop = min(to, Double(place + 1))
        sums[place] += Double(step.busy) * (stop - at)
        if stop <= at { break }
        at = stop
      }
    }
    return sums
  }
}
