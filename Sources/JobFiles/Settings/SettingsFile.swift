import JobModel
import Screen

/// The content of a settings file; what it doesn't set is nil or missing.
package struct SettingsFile: Sendable, Equatable {
  /// The keys of each action in the file; empty for an action without keys.
  package var keys: [String: [Key]] = [:]
  /// The style of each element in the file.
  package var colors: [String: Style] = [:]
  package var background: ScreenTraits.Background?
  package var notify: EndNotice?
  package var usesMouse: Bool?
  package var isASCII: Bool?

  package init() {}

  /// The names that the dashboard lets a file use.
  package struct Vocabulary: Sendable {
    /// An action with its default keys.
    package struct Action: Sendable {
      package var name: String
      package var keys: [Key]
      /// Whether it must keep a key, because it can't be reached in another way.
      package var isNeeded: Bool

      package init(name: String, keys: [Key], isNeeded: Bool) {
        self.name = name
        self.keys = keys
        self.isNeeded = isNeeded
      }
    }

    package var actions: [Action]
    /// The elements that `colors` can style.
    package var elements: [String]

    package init(actions: [Action], elements: [String]) {
      self.actions = actions
      self.elements = elements
    }
  }

  /// Reads the file at `path`; nil if there is none.
  package static func load(path: String, _ vocabulary: Vocabulary) throws(JobFileFaults) -> SettingsFile? {
    guard JobFileInput.exists(path) else { return nil }
    return try decode(JobFileInput(path: path).bytes, file: path, vocabulary)
  }

  /// Decodes the text of a settings file, which faults call `file`.
  package static func decode(
    _ bytes: [UInt8], file: String, _ vocabulary: Vocabulary
  ) throws(JobFileFaults) -> SettingsFile {
    let source = try SourceText(bytes, file: file)
    let faults = FaultLog(file: file, source: source, kind: "a settings file")
    let root: YAMLNode?
    do throws(YAMLParser.Problem) {
      root = try YAMLReader.read(source, faults: faults)
    } catch {
      // The most frequent cause is an unquoted key that is YAML syntax.
      let advice = error.isSyntax ? " (keys such as ?, -, :, [ and % stand in quotes)" : ""
      faults.add(error.place, error.message + advice)
      throw faults.all
    }
    let variables = Variables(environment: [:], source: source, faults: faults)
    let decoder = SettingsDecoder(
      vocabulary: vocabulary, faults: faults, values: ValueReader(faults: faults, variables: variables))
    let settings = root.map { decoder.decode($0) } ?? SettingsFile()
    guard faults.isEmpty else { throw faults.all }
    return settings
  }
}

/// Decodes the YAML of a settings file and reports all faults.
private struct SettingsDecoder {
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
