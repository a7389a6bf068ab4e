import JobModel

/// What of the dashboard a settings file can give a look to, by its raw value: the states of jobs, and a few roles.
package enum ThemeElement: String, Sendable, CaseIterable {
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
  /// Marks, rules of the pane that has the keys, what is found.
  case accent
  /// Names of keys.
  case key
  /// Words that stand back.
  case quiet
  /// The standing at the top left, and lines across the screen, while all is well, something is held, bad, done.
  case running
  case held
  case danger
  case done
  /// What a search has found, and where it is.
  case match
  case currentMatch = "current-match"
  /// The cursor's row, while its pane has the keys and while it has not.
  case cursor
  case restingCursor = "resting-cursor"
}

extension ThemeElement {
  init(_ state: StateClass) {
    self =
      switch state {
      case .failed: .failed
      case .timedOut: .timedOut
      case .executing: .executing
      case .paused: .paused
      case .backingOff: .backingOff
      case .ready: .ready
      case .waiting: .waiting
      case .allowedFailure: .allowedFailure
      case .cancelled: .cancelled
      case .skipped: .skipped
      case .succeeded: .succeeded
      case .upToDate: .upToDate
      }
  }
}
