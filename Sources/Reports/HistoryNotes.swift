import JobModel
import Screen

/// The jobs of an ended run that were much slower than usual or are flaky, a line for each kind.
struct HistoryNotes {
  /// The jobs that a line names.
  static let named = 3

  let run: Run
  let paint: Paint

  /// Empty for a run without such jobs.
  var lines: [TerminalText] {
    [
      line("slower than usual", slower.map { "\(name($0.id)) \(Self.text(run[$0.id], $0.excess, at: run.time))" }),
      line("flaky", flaky.map { "\(name($0.id)) \($0.words)" }),
    ].compactMap(\.self)
  }

  /// `3m19s (2m21s) +41 %`.
  private static func text(_ record: JobRecord, _ excess: Double, at now: Duration) -> String {
    let took = record.elapsed(at: now) ?? .zero
    return "\(Format.length(took)) \(StateText.comparison(record, excess))"
  }

  /// The jobs that lost the most time first.
  private var slower: [(id: JobID, excess: Double, lost: Duration)] {
    run.ids.compactMap { id in
      guard let excess = run[id].excess(at: run.time), let usual = run[id].job.usual else { return nil }
      return (id, excess, usual.median * excess)
    }
    .sorted { ($1.lost, $0.id) < ($0.lost, $1.id) }
  }

  /// The executed jobs that failed most often first.
  private var flaky: [(id: JobID, words: String, share: Double)] {
    run.ids.compactMap { id in
      guard run[id].attempt != nil, let usual = run[id].job.usual, let words = UsualText.flaky(usual) else {
        return nil
      }
      return (id, words, Double(usual.failures) / Double(usual.attempts))
    }
    .sorted { ($1.share, $0.id) < ($0.share, $1.id) }
  }

  private func line(_ title: TerminalText, _ jobs: [TerminalText]) -> TerminalText? {
    guard !jobs.isEmpty else { return nil }
    let more: TerminalText = jobs.count > Self.named ? " and \(jobs.count - Self.named) more" : ""
    return "\(paint(.warning, title)): \(jobs.prefix(Self.named).joined(separator: ", "))\(more)"
  }

  private func name(_ id: JobID) -> TerminalText { paint(.strong, StateText.name(id, in: run)) }
}
