import JobModel
import Screen

/// A line across the screen for urgent information; most of the time there is none.
struct Banner {
  let text: String
  /// Replacements where `text` does not fit, the longest first.
  private var shortTexts: [String] = []
  /// Keys with their effects, never cut; the first ones are dropped where even a short text does not fit.
  private let keys: [String]
  private let style: KeyPath<Theme, Style>

  static func isShown(_ model: Model) -> Bool {
    model.isFrozen || model.isOver || model.live.isComplete || model.live.stopping != nil || model.isClosedByPolicy
      || !model.index.asking.isEmpty || model.live.clusterOutage != nil || model.live.watchFault != nil
  }

  init(_ model: Model, now: Duration) {
    let run = model.live
    let isEnding = run.summary == nil && !run.isComplete
    /// Empty where the key has another effect or none.
    func hint(_ command: Command, _ words: String) -> String {
      let isDead = model.page == .help || command.changesRun && !command.isEnabled(in: model)
      return isDead ? "" : model.keys.hint(command, words)
    }
    let asking = model.isFrozen ? nil : model.index.asking.min()
    // A job of `finally` may ask in a run that is ending: once nothing executes, the run waits for its answer alone.
    let waitsForAnswer = asking != nil && run.counts.active + run.counts.withCluster == 0
    if isEnding, let stopping = run.stopping, !waitsForAnswer {
      style = \.danger
      let who = Self.stopped(run, model)
      let failure = stopping.by == .policy ? Self.failure(run).map { $0 + ". " } ?? "" : ""
      if stopping.level == .kill {
        text = "\(failure)Killing \(who ?? "0 jobs")\(Self.outage(run))"
        keys = []
      } else {
        let kill = run.clusterOutage == nil ? Self.countdown(run, model, now) : nil
        let what = who.map { "Stopping \($0)" } ?? "Stopped; finally: \(Self.final(run, model))"
        text = "\(failure)\(what)\(Self.outage(run))" + (kill.map { ", killed in \($0)" } ?? "")
        keys =
          switch stopping.by {
          case _ where model.isReplay || model.attachment != nil: [hint(.quit, "leaves")]
          case .signal: ["Ctrl-C kills now"]
          case .program: [hint(.quit, "leaves")]
          case .person, .policy, .timeout, .unneeded, .restart: [hint(.quit, "kills now")]
          }
      }
    } else if isEnding, let id = asking, waitsForAnswer || !model.isClosedByPolicy {
      style = \.warning
      let job = run.jobs[id.index].job
      let more = model.index.asking.count - 1
      let others = more > 0 ? " (and \(Format.count(more, "more job")))" : ""
      text = "\(job.name) asks: \(run.question(of: id) ?? "")\(others)"
      keys = [hint(.approve, "approves")]
    } else if isEnding, !model.isFrozen, !model.isClosedByPolicy, let outage = run.clusterOutage {
      style = \.warning
      let time = Format.time(outage.since)
      text = "The cluster's controller is down since \(time), waiting for it; its jobs continue"
      shortTexts = ["The cluster's controller is down since \(time)"]
      keys = []
    } else if isEnding, !model.isFrozen, !model.isClosedByPolicy, let fault = run.watchFault {
      style = \.warning
      text = fault.prefix(1).uppercased() + fault.dropFirst()
      keys = [hint(.watch, "tries again")]
    } else if isEnding, !model.isFrozen {
      style = \.danger
      text = "\(Self.failure(run) ?? "A job failed"). Nothing new starts, \(Self.running(run, model)) still running"
      keys = []
    } else if model.isPast {
      style = \.warning
      let time = model.shownTime(now)
      let end = PastTime.end(model, now)
      // Tenths where a step is shorter than a second.
      let tenths = PastTime.step(end) < .seconds(1) ? ".\(Int(time / .milliseconds(100)) % 10)" : ""
      let instant = "\(Format.time(time))\(tenths)"
      text = "PAST: the run at \(instant) of \(Format.time(end))"
      shortTexts = ["PAST: \(instant) of \(Format.time(end))", "PAST: \(instant)"]
      keys = [
        hint(.scrubBack, "back"), hint(.scrubForward, "forward"),
        model.presentKey.map { "\($0) live" } ?? "",
      ]
    } else if model.isFrozen {
      style = \.warning
      let news = (model.behind?.nextSeq ?? 0) - model.run.nextSeq
      text = "FROZEN at \(Format.time(model.elapsed(at: now))), \(Format.count(news, "event")) since then"
      keys = [hint(.freeze, "shows the present")]
    } else {
      let hasFailed = run.counts.failed > 0
      let isBroken = run.counts.cancelled > 0 || run.counts.open > 0
      style = hasFailed ? \.danger : isBroken ? \.warning : \.good
      text = Self.ending(run)
      keys = [hint(.retryFailed, "retries all failed"), hint(.quit, "quits")]
    }
  }

  func draw(_ frame: inout Frame, _ area: Rect, _ theme: Theme) {
    let style = theme[keyPath: style]
    frame.fill(area, style: style)
    let keys = keys.filter { !$0.isEmpty }
    func room(beside right: String) -> Int { area.width - 2 - (right.isEmpty ? 0 : TextWidth.of(right) + 2) }
    var (left, right) = (text, keys.joined(separator: "  "))
    if !shortTexts.isEmpty {
      let rights = keys.indices.map { keys[$0...].joined(separator: "  ") }
      let forms = rights.flatMap { right in ([text] + shortTexts).map { ($0, right) } }
      (left, right) = forms.first { TextWidth.of($0) <= room(beside: $1) } ?? (left, right)
    }
    frame.put(right, endingAt: area.maxX - 1, y: area.y, style: style)
    frame.put(theme.elision.end(left, to: room(beside: right)), x: area.x + 1, y: area.y, style: style)
  }

  /// `3 jobs: fetch, build, api`; of jobs that the cluster has and has not started the number only.
  private static func running(_ run: Run, _ model: Model) -> String {
    let active = model.liveIndex.open.filter { run.jobs[$0.index].state.isActive }
    return naming(active, of: run.counts.active + run.counts.withCluster, run)
  }

  /// The jobs that are being stopped; nil once only jobs of `finally` are left.
  private static func stopped(_ run: Run, _ model: Model) -> String? {
    guard run.counts.openFinal > 0 else { return running(run, model) }
    let stopping = model.liveIndex.open.filter { run.jobs[$0.index].cancelling != nil }
    // The cluster gives back the others before one of `finally` begins.
    let withCluster = run.counts.open > run.counts.openFinal ? run.counts.withCluster : 0
    let count = stopping.count + withCluster
    return count > 0 ? naming(stopping, of: count, run) : nil
  }

  /// The jobs of `finally` that execute or await a retry; the number of all while none does.
  private static func final(_ run: Run, _ model: Model) -> String {
    let begun = model.liveIndex.open.filter { run.jobs[$0.index].job.finally != nil }
    if begun.isEmpty { return Format.count(run.counts.openFinal, "job") }
    return begun.sorted().prefix(8).map { run.jobs[$0.index].job.name }.joined(most: 8, of: begun.count)
  }

  private static func naming(_ jobs: Set<JobID>, of count: Int, _ run: Run) -> String {
    let names = jobs.sorted().prefix(8).map { run.jobs[$0.index].job.name }
    let number = Format.count(count, "job")
    return names.isEmpty ? number : "\(number): \(names.joined(most: names.count, of: count))"
  }

  /// Why a job of the cluster does not end.
  private static func outage(_ run: Run) -> String {
    run.clusterOutage == nil ? "" : "; the cluster's controller is down, and is waited for"
  }

  /// `lint failed: exit 1`.
  private static func failure(_ run: Run) -> String? {
    guard let id = run.firstFailure, case .failed(let failure, _) = run.jobs[id.index].state else { return nil }
    return "\(run.jobs[id.index].job.name) failed: \(failure.reason)"
  }

  /// The time until the last of the jobs that are being stopped is killed.
  private static func countdown(_ run: Run, _ model: Model, _ now: Duration) -> String? {
    model.liveIndex.open.compactMap { run.jobs[$0.index].killTime }.max().map { Format.countdown($0 - now) }
  }

  private static func ending(_ run: Run) -> String {
    let counts = run.counts
    var parts: [String] = []
    func part(_ count: Int, _ words: String) { if count > 0 { parts.append("\(count) \(words)") } }
    part(counts.failed, "failed")
    part(counts.skipped, "skipped")
    part(counts.notStarted, "not started")
    part(counts.cancelled, "cancelled")
    part(counts.open, "not run")
    part(counts.allowed, "allowed to fail")
    part(counts.succeeded, "ok")
    return "Ended after \(Format.stretch(run.length)): \(parts.joined(separator: ", "))"
  }
}
