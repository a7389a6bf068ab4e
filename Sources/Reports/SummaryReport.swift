import JobModel

/// What is left on the normal screen when the dashboard has closed, so that leaving it loses nothing.
package enum SummaryReport {
  /// The failures, then one line with what the jobs came to; each line without its line feed.
  package static func lines(of run: Run, paint: Paint) -> [String] {
    FailureList(run: run, paint: paint).lines + [TallyText.line(run, paint: paint)]
  }
}
