import Dashboard
import JobFiles
import Session

extension Settings {
  /// These settings, completed by those of the file.
  func over(_ file: SettingsFile) -> Settings {
    var settings = self
    settings.keys = file.keys
    settings.looks = file.colors
    settings.background = background ?? file.background
    settings.notice = notice ?? file.notify
    settings.hasMouse = hasMouse && file.usesMouse != false
    settings.isASCII = isASCII || file.isASCII == true
    return settings
  }
}

extension SettingsFile.Vocabulary {
  /// The actions and elements of the dashboard.
  static let dashboards = SettingsFile.Vocabulary(
    actions: KeyMap.standard.entries.map { .init(name: $0.action, keys: $0.keys, isNeeded: $0.isNeeded) },
    elements: ThemeElement.allCases.map(\.rawValue))
}
