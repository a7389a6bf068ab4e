import Dashboard
import JobFiles
import Session

extension Settings {
  /// These settings, completed by the settings file.
  func over(_ file: SettingsFile) -> Settings {
    var settings = self
    settings.keys = file.keys
    settings.looks = file.colors
    settings.background = background ?? file.background
    settings.notice = notice ?? file.notify
    settings.hasMouse = hasMouse && file.usesMouse != false
    settings.isASCII = isASCII || file.isASCII == true
    settings.retention = file.retention ?? retention
    return settings
  }
}

extension SettingsFile {
  /// The actions and elements of the dashboard.
  static let dashboards: Vocabulary = (
    KeyMap.standard.entries.map { ($0.action, $0.keys, $0.isNeeded) }, ThemeElement.allCases.map(\.rawValue)
  )
}
