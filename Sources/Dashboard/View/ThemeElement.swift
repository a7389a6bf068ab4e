/// The parts of the dashboard whose style a settings file can set, by their raw values: job states and roles.
package enum ThemeElement: String, Sendable, CaseIterable {
  // The states of jobs, in the order of `StateClass`.
  case failed
  case timedOut = "timed-out"
  case executing
  case paused
  case backingOff = "backing-off"
  case ready
  case waiting
  case allowedFailure = "allowed-failure"
  case cancelled
  case skipped
  case succeeded
  case upToDate = "up-to-date"
  /// Marks, matches, and rules of the focused pane.
  case accent
  /// Names of keys.
  case key
  /// Secondary text.
  case quiet
  /// The run's state at the top left and the banner: while it executes, is held, has failures, is done.
  case running
  case held
  case danger
  case done
  /// The matches of a search, and the current one.
  case match
  case currentMatch = "current-match"
  /// The cursor's row with and without the focus.
  case cursor
  case restingCursor = "resting-cursor"
}
