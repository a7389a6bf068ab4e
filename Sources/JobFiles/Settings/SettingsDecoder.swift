import JobModel
import Screen

/// Decodes the YAML of a settings file and reports all faults.
struct SettingsDecoder {
  private static let keys = KnownKeys(
    owner: "a settings file", keys: ["keys", "colors", "background", "notify", "mouse", "ascii"])

  let vocabulary: SettingsFile.Vocabulary
  let faults: FaultLog
  let values: ValueReader

  /// The result is valid only if no fault was reported.
  func decode(_ root: YAMLNode) -> SettingsFile {
    var settings = SettingsFile()
    // A file may contain nothing but comments.
    guard !root.isNull, let file = Self.keys.read(root, faults: faults) else { return settings }
    func value(_ key: String) -> YAMLNode? { file[key]?.value }

    if let node = value("keys") {
      settings.keys = KeyReader(actions: vocabulary.actions, faults: faults, values: values).read(node)
    }
    if let node = value("colors") {
      settings.colors = LookReader(elements: vocabulary.elements, faults: faults, values: values).read(node)
    }
    settings.background = value("background").flatMap {
      values.choice($0, "background", as: ScreenTraits.Background.self)
    }
    settings.notify = value("notify").flatMap { values.choice($0, "notify", as: EndNotice.self) }
    settings.usesMouse = value("mouse").flatMap { values.flag($0, "mouse") }
    settings.isASCII = value("ascii").flatMap { values.flag($0, "ascii") }
    return settings
  }
}
