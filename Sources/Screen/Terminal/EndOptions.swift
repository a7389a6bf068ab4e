/// When the dashboard stays open after the last job has ended; the raw values are the words of `--keep-open`.
package enum KeepOpen: String, Sendable, CaseIterable {
  /// Stays if a job failed that was not allowed to, or if a person cancelled one that can be retried.
  case onFailure = "on-failure"
  case always
  case never
}

/// How the end of the run is announced; the raw values are the words of `--notify` and the settings file.
package enum EndNotice: String, Sendable, CaseIterable {
  case none
  /// The terminal's bell.
  case bell
  /// A desktop notification (OSC 9), in terminals that have them.
  case message
}
