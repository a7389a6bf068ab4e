import Dashboard
import JobFiles
import Session

extension Settings {
  /// These where they say something, the file's where they don't.
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
  /// What the dashboard has for a settings file to speak of.
  static let dashboards = SettingsFile.Vocabulary(
    actions: KeyMap.standard.entries.map { .init(name: $0.action, keys: $0.keys, isNeeded: $0.isNeeded) },
    elements: ThemeElement.allCases.map(\.rawValue))
}
