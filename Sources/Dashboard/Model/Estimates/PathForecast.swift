import Basics
import JobModel

/// The forecast for timeline and critical path, kept for about a second: computing it walks the whole graph.
struct PathForecast {
  /// A row of the critical path.
  struct Row: Equatable {
    var job: JobID
    /// Nil for a job that is not on the chain.
    var link: Forecast.Link?
    var slack: Duration?
    /// How much sooner the run would end if the rest of the job took half the time.
    var saving: Duration?
  }

  private(set) var rows: [Row] = []
  private(set) var forecast: Forecast?
  /// The schedule with the present number of slots.
  private(set) var schedule: Forecast.Schedule?
  /// How much sooner the run would end with one more slot.
  private(set) var slotSaving: Duration = .zero
  private(set) var onChain: Set<JobID> = []
  private var graph: Forecast.Graph?
  private var madeAt: Duration?
  private var extent = Extent.chain
  /// Whether a part is left to the next frame.
  private(set) var isPartial = false
  private var madeFor = (seq: 0, jobs: 0)

  /// The parts of the forecast; each needs the ones before it.
  enum Extent: Int {
    /// Chain and slack.
    case chain
    /// The bars that the timeline draws.
    case schedule
    /// The rows of the critical path, and the effect of another slot.
    case rows
  }

  /// In a larger graph the forecast is computed only for panels that show it, a part with each frame.
  static let frequentLimit = 20_000

  /// The number of jobs with the least slack that are listed below the chain.
  private static let others = 200
  /// The number of jobs, those with most work left, whose saving is computed with a pass over the graph each.
  private static let savings = 12

  mutating func invalidate() { madeAt = nil }

  /// Whether a job decides when the run ends; none does where all jobs are independent.
  func isCritical(_ id: JobID) -> Bool { onChain.count > 1 && onChain.contains(id) }

  /// Slack as text, rounded to milliseconds first: rounding errors would change a steady slack as time passes.
  static func text(slack: Duration) -> String {
    "~" + Format.time(.milliseconds(Int64(clamping: (slack / .milliseconds(1)).rounded())))
  }

  /// Computes the `wanted` extent of the forecast again after events, once the old one is too old for the graph's size.
  ///
  /// For a large graph each call computes a part, so that no key waits for the whole.
  mutating func update(_ run: Run, _ index: JobIndex, now: Duration, _ wanted: Extent) {
    let isLarge = run.jobs.count > Self.frequentLimit
    let isContinued = exchange(&isPartial, with: false)
    if isLarge, wanted == .chain { return }
    if !isRecent(run, now: now) {
      // The old results don't cover new jobs.
      if madeFor.jobs != run.jobs.count { (schedule, rows) = (nil, []) }
      // The frame that answers a key has sorted all jobs already.
      isPartial = isLarge && !isContinued
      if isPartial { return }
      makeForecast(run, index, now: now)
      isPartial = isLarge && wanted != .chain
    }
    guard !isPartial, extent.rawValue < wanted.rawValue, let forecast else { return }
    if extent == .chain {
      schedule = run.isComplete ? nil : forecast.schedule(slots: run.slots)
      extent = .schedule
      isPartial = isLarge && wanted == .rows
    }
    guard !isPartial, wanted == .rows else { return }
    extent = .rows
    if let schedule {
      slotSaving = max(.zero, schedule.end - forecast.schedule(slots: run.slots + 1).end)
      rows = Self.rows(forecast, run)
    } else {
      slotSaving = .zero
      rows = forecast.chain.map { Row(job: $0.job, link: $0) }
    }
  }

  /// The graph of the run, which is made when jobs have been added.
  mutating func graph(of run: Run) -> Forecast.Graph {
    if let graph, graph.jobs == run.jobs.count { return graph }
    let made = Forecast.Graph(run)
    graph = made
    return made
  }

  private mutating func makeForecast(_ run: Run, _ index: JobIndex, now: Duration) {
    madeAt = now
    madeFor = (run.nextSeq, run.jobs.count)
    let times = ExpectedTimes(index)
    let forecast = Forecast(run, graph(of: run), now: now) { times.of($0, in: run, at: now)?.soonest }
    self.forecast = forecast
    onChain = Set(forecast.chain.map(\.job))
    extent = .chain
  }

  private func isRecent(_ run: Run, now: Duration) -> Bool {
    guard let madeAt, madeFor.jobs == run.jobs.count else { return false }
    let age = Duration.milliseconds(max(900, run.jobs.count / 2))
    return (now >= madeAt && now - madeAt < age && (madeFor.seq == run.nextSeq || !run.isComplete))
      || (madeFor.seq == run.nextSeq && run.counts.executing == 0 && run.counts.backingOff == 0
        && run.counts.withCluster == 0)
  }

  private static func rows(_ forecast: Forecast, _ run: Run) -> [Row] {
    let chain = forecast.chain
    let longest = chain.filter { !run.jobs[$0.job.index].state.isTerminal }
      .sorted { $0.executing > $1.executing }.prefix(savings).map(\.job)
    let isOnChain = Set(chain.map(\.job))
    let beside = leastSlack(forecast, run.ids.filter { !isOnChain.contains($0) })
    var rows = chain.map { link in
      let saving = longest.contains(link.job) ? forecast.saving(byHalving: link.job) : nil
      return Row(job: link.job, link: link, slack: forecast.slack(link.job), saving: saving)
    }
    for other in beside { rows.append(Row(job: other.id, slack: other.slack)) }
    return rows
  }

  /// The jobs with the least slack; of a large graph only these are sorted.
  private static func leastSlack(_ forecast: Forecast, _ ids: [JobID]) -> [(id: JobID, slack: Duration)] {
    var least: [(id: JobID, slack: Duration)] = []
    var limit: Duration?
    func sortOut() {
      least.sort { $0.slack == $1.slack ? $0.id < $1.id : $0.slack < $1.slack }
      least.removeLast(max(0, least.count - others))
    }
    for id in ids {
      guard let slack = forecast.slack(id), limit.map({ slack < $0 }) != false else { continue }
      least.append((id, slack))
      guard least.count == others * 2 else { continue }
      sortOut()
      limit = least.last?.slack
    }
    sortOut()
    return least
  }
}
