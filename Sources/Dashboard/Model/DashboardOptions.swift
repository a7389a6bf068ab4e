import Foundation
import Screen

/// The settings of a dashboard, from command line and settings file.
package struct DashboardOptions: Sendable {
  package var keepOpen: KeepOpen
  /// The name of the run in the header, such as the job file's; nil for the run's own name.
  package var source: String?
  package var usesMouse: Bool
  package var timeZone: TimeZone
  package var keys: KeyMap
  /// Styles that override the theme.
  package var looks: [ThemeElement: Style] = [:]
  /// How the person is notified of the run's end.
  package var notice = EndNotice.none
  /// Whether the run can leave its terminal and continue.
  package var canDetach = false

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
