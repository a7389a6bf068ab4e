import Basics
import JobModel
import Screen

/// The differences of a run from an earlier one; jobs are paired by name.
///
/// Jobs of one name are paired in order. Only attempts that succeeded in both runs have times; a job that is up to
/// date or was done in an earlier run has none.
package struct RunDiff {
  /// The smallest change of a job's time that is reported; both limits must be reached.
  package struct Thresholds: Sendable, Equatable {
    /// The longer time divided by the shorter one.
    package var ratio: Double
    package var difference: Duration

    package init(ratio: Double = 1.2, difference: Duration = .seconds(1)) {
      self.ratio = ratio
      self.difference = difference
    }

    func isReached(_ before: Duration, _ after: Duration) -> Bool {
      let (short, long) = (min(before, after), max(before, after))
      return long - short >= difference && long / .seconds(1) >= short / .seconds(1) * ratio
    }
  }

  package struct Change: Sendable, Equatable {
    package var name: String
    package var before: Duration
    package var after: Duration
  }

  /// A job with the reason of its failure, or its state.
  package struct Ending: Sendable, Equatable {
    package var name: String
    package var text: String
  }

  /// The greatest change first.
  package private(set) var slower: [Change] = []
  package private(set) var faster: [Change] = []
  package private(set) var newlyFailed: [Ending] = []
  package private(set) var fixed: [Ending] = []
  /// Jobs that succeeded before and now did not fail but were skipped, cancelled or not run.
  package private(set) var notDone: [Ending] = []
  package private(set) var added: [String] = []
  package private(set) var removed: [String] = []
  /// The lengths of the runs.
  package let total: Change

  private let before: Run
  private let after: Run
  private let thresholds: Thresholds

  /// The most jobs that are named of each kind.
  static let most = 20
  private static let nameWidth = 44

  package init(from before: Run, to after: Run, thresholds: Thresholds = Thresholds()) {
    (self.before, self.after, self.thresholds) = (before, after, thresholds)
    total = Change(
      name: JobText(after.start?.name ?? "run").plain, before: before.length, after: after.length)
    var earlier: [String: [JobID]] = [:]
    for id in before.ids.reversed() { earlier[before[id].job.name, default: []].append(id) }
    for id in after.ids {
      let name = StateText.name(id, in: after).text
      guard let old = earlier[after[id].job.name]?.popLast() else {
        added.append(name)
        continue
      }
      compare(name, before[old], id)
    }
    let gone = Set(earlier.values.joined())
    removed = before.ids.filter(gone.contains).map { StateText.name($0, in: before).text }
    slower.sort { $0.after - $0.before > $1.after - $1.before }
    faster.sort { $0.before - $0.after > $1.before - $1.after }
  }

  private mutating func compare(_ name: String, _ old: JobRecord, _ id: JobID) {
    let new = after[id]
    switch (old.state.isFailure, new.state.isFailure) {
    case (false, true):
      newlyFailed.append(Ending(name: name, text: phrase(id)))
    case (true, false) where new.state.isOK:
      fixed.append(Ending(name: name, text: phrase(id)))
    case (false, false) where old.state.isOK && !new.state.isOK:
      let text = phrase(id)
      notDone.append(Ending(name: name, text: text.isEmpty || !new.state.isTerminal ? "not run" : text))
    default: break
    }
    guard let was = old.timeOfSuccess, let now = new.timeOfSuccess, thresholds.isReached(was, now) else { return }
    let change = Change(name: name, before: was, after: now)
    if now > was { slower.append(change) } else { faster.append(change) }
  }

  private func phrase(_ id: JobID) -> String { StateText.phrase(id, before: nil, at: after.time, in: after).text }

  /// Whether nothing but times below the thresholds differs.
  package var isEmpty: Bool {
    slower.isEmpty && faster.isEmpty && newlyFailed.isEmpty && fixed.isEmpty && notDone.isEmpty && added.isEmpty
      && removed.isEmpty
  }

  // MARK: Text

  /// Without line feeds.
  package func lines(paint: Paint) -> [TerminalText] {
    var lines: [TerminalText] = [
      "\(paint(.strong, JobText.clean(total.name))): run \(id(before)) took \(Format.length(total.before)), "
        as TerminalText
        + "run \(id(after)) \(Format.length(total.after))\(Self.phrase(total))",
      paint(
        .quiet,
        "slower and faster: by \(Int(clamping: ((thresholds.ratio - 1) * 100).rounded()))% and " as TerminalText
          + "\(Format.length(thresholds.difference)) or more, of jobs that succeeded in both"),
    ]
    func add(_ title: TerminalText, _ role: Paint.Role, _ rows: [TerminalText]) {
      guard !rows.isEmpty else { return }
      lines += ["", paint(role, "\(title): \(rows.count)")] + rows.prefix(Self.most).map { "  " + $0 }
      if rows.count > Self.most { lines.append("  and \(rows.count - Self.most) more") }
    }
    add("Newly failed", .bad, newlyFailed.map(Self.row))
    add("Fixed", .good, fixed.map(Self.row))
    add("No longer done", .warning, notDone.map(Self.row))
    add("Slower", .warning, slower.map(Self.row))
    add("Faster", .good, faster.map(Self.row))
    add("Added", .strong, added.map { Self.name($0) })
    add("Removed", .strong, removed.map { Self.name($0) })
    if isEmpty { lines += ["", "no job differs"] }
    return lines
  }

  private func id(_ run: Run) -> TerminalText { MessageText.of(run.start?.id ?? "?") }

  /// The names of both runs.
  var runs: (before: String?, after: String?) { (before.start?.id, after.start?.id) }

  private static func name(_ name: String) -> TerminalText {
    Elision(isASCII: true).name(JobText.clean(name), to: nameWidth)
  }

  private static func row(_ ending: Ending) -> TerminalText {
    let name = name(ending.name)
    let room = RunReportText.width - 4 - TextWidth.of(name)
    return "\(name)  \(Elision(isASCII: true).end(JobText.clean(ending.text), to: room))"
  }

  private static func row(_ change: Change) -> TerminalText {
    "\(name(change.name).padded(to: nameWidth))  \(Format.length(change.before).padded(leftTo: 7)) -> " as TerminalText
      + "\(Format.length(change.after).padded(leftTo: 7))  \(percent(change).padded(leftTo: 6))"
  }

  private static func phrase(_ change: Change) -> String {
    let difference = change.after - change.before
    guard difference >= .milliseconds(50) || difference <= .milliseconds(-50) else { return ", the same" }
    let sign = difference > .zero ? "longer" : "shorter"
    let amount = Format.length(difference > .zero ? difference : .zero - difference)
    return ", \(amount) \(sign)" + (change.before > .zero ? " (\(percent(change)))" : "")
  }

  private static func percent(_ change: Change) -> String {
    guard change.before > .zero else { return "" }
    let percent = Int(clamping: ((change.after / change.before - 1) * 100).rounded())
    return "\(percent > 0 ? "+" : "")\(percent)%"
  }
}

extension JobRecord {
  /// The execution time of the attempt that succeeded in this run.
  fileprivate var timeOfSuccess: Duration? {
    guard case .succeeded(upToDate: false) = state, restored == nil, let attempt, let end = attempt.endedAt
    else { return nil }
    return end - attempt.startedAt - attempt.pausedFor
  }
}
