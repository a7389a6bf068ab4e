import JobModel
import Screen

/// The content of a settings file; missing settings are nil or empty.
package struct SettingsFile: Sendable, Equatable {
  /// The keys of each action in the file; empty for an action without keys.
  package var keys: [String: [Key]] = [:]
  /// The style of each element in the file.
  package var colors: [String: Style] = [:]
  package var background: ScreenTraits.Background?
  package var notify: EndNotice?
  package var usesMouse: Bool?
  package var isASCII: Bool?
  package var retention: Retention?

  package init() {}

  /// The actions and the elements of `colors` that a file can name.
  ///
  /// An action that `isNeeded` must keep a key, because it can't be reached in another way.
  package typealias Vocabulary = (actions: [(name: String, keys: [Key], isNeeded: Bool)], elements: [String])

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
    do throws(YAMLError) {
      root = try YAMLReader.read(source, faults: faults)
    } catch {
      faults.add(error.place, error.message)
      throw faults.all
    }
    let variables = Variables(environment: [:], faults: faults)
    let values = ValueReader(faults: faults, variables: variables)
    let settings = root.map { SettingsFile($0, values, vocabulary) } ?? SettingsFile()
    guard faults.isEmpty else { throw faults.all }
    return settings
  }
}

extension SettingsFile {
  private static let history = KnownKeys<Retention>(
    "history", example: "history: { days: 30 }",
    [
      KnownKey(
        "days", ValueKind<Int>.whole(1...36_500).map { .seconds($0 * 86_400) }, into: \.age, "how long runs are kept"),
      KnownKey("runs", .whole(1...1_000_000), into: \.runs, "how many runs are kept"),
      KnownKey(
        "megabytes", ValueKind<Int>.whole(1...100_000_000).map { $0 * 1_000_000 }, into: \.bytes,
        "how much the runs that are kept may take"),
    ])

  private static let known = KnownKeys<SettingsFile>(
    "a settings file", path: "", example: "keys: { cancel: d }", others: .settings,
    [
      KnownKey("keys", .map(of: .oneOrMore(.text)), "the keys of each action"),
      KnownKey("colors", .map(of: .text), "the style of each element"),
      KnownKey("background", .choice(), into: \.background, "the background of the terminal"),
      KnownKey("notify", .choice(), into: \.notify, "how the end of a run is announced"),
      KnownKey("mouse", .flag, into: \.usesMouse, "whether the mouse is used"),
      KnownKey("ascii", .flag, into: \.isASCII, "whether only ASCII is drawn"),
      KnownKey("history", .object { history.form }, "what is kept of recorded runs") { entry, _, values, settings in
        var retention = Retention()
        if history.read(entry.value, into: &retention, values) != nil { settings.retention = retention }
      },
    ])

  /// Decodes the YAML of the file; valid only if no fault was reported.
  private init(_ root: YAMLNode, _ values: ValueReader, _ vocabulary: Vocabulary) {
    // A file may contain nothing but comments.
    guard !root.isNull, let file = Self.known.read(root, into: &self, values) else { return }
    keys = file["keys"].map { KeyReader(actions: vocabulary.actions, values: values).read($0.value) } ?? [:]
    colors = file["colors"].map { StyleReader(elements: vocabulary.elements, values: values).read($0.value) } ?? [:]
  }
}
