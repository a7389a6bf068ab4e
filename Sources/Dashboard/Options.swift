import Foundation
import Screen

/// How a dashboard behaves, as the command line and the settings say.
package struct Options: Sendable {
  package enum KeepOpen: String, Sendable, CaseIterable {
    /// Stays when a job failed that was not allowed to.
    case onFailure = "on-failure"
    case always
    case never
  }

  package var keepOpen: KeepOpen
  /// What the header calls the run, such as the job file's name; nil means the run's own name.
  package var source: String?
  package var usesMouse: Bool
  /// For times shown on the wall clock.
  package var timeZone: TimeZone
  package var keys: KeyMap
  /// Looks that a person wants otherwise than the theme has them.
  package var looks: [ThemeElement: Style] = [:]
  /// How a person wants to be told that the run is over.
  package var notice = EndNotice.none

  package init(
    keepOpen: KeepOpen = .onFailure, source: String? = nil, usesMouse: Bool = true, timeZone: TimeZone = .current,
    keys: KeyMap = .standard
  ) {
    self.keepOpen = keepOpen
    self.source = source
    self.usesMouse = usesMouse
    self.timeZone = timeZone
    self.keys = keys
  }
}
