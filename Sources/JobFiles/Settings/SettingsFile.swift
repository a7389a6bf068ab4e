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
    do throws(YAMLParser.Problem) {
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
  private static let history = KnownKeys(
    owner: "history",
    table: [
      KnownKey("days", .whole(1...36_500), "how long runs are kept"),
      KnownKey("runs", .whole(1...1_000_000), "how many runs are kept"),
      KnownKey("megabytes", .whole(1...100_000_000), "how much the runs that are kept may take"),
    ], example: "history: { days: 30 }")

  /// The limits for recorded runs; missing keys keep their default.
  private static func retention(_ node: YAMLNode, _ values: ValueReader) -> Retention? {
    guard let map = history.read(node, faults: values.faults) else { return nil }
    func number(_ key: String, upTo most: Int) -> Int? {
      map[key].flatMap { values.whole($0.value, "history.\(key)", in: 1...most) }
    }
    var retention = Retention()
    if let days = number("days", upTo: 36_500) { retention.age = .seconds(days * 86_400) }
    if let runs = number("runs", upTo: 1_000_000) { retention.runs = runs }
    if let megabytes = number("megabytes", upTo: 100_000_000) { retention.bytes = megabytes * 1_000_000 }
    return retention
  }

  private static let known = KnownKeys(
    owner: "a settings file",
    table: [
      KnownKey("keys", .map(of: .oneOrMore(.text)), "the keys of each action"),
      KnownKey("colors", .map(of: .text), "the style of each element"),
      KnownKey("background", .choice(ScreenTraits.Background.self), "the background of the terminal"),
      KnownKey("notify", .choice(EndNotice.self), "how the end of a run is announced"),
      KnownKey("mouse", .flag, "whether the mouse is used"), KnownKey("ascii", .flag, "whether only ASCII is drawn"),
      KnownKey("history", .object { SettingsFile.history }, "what is kept of recorded runs"),
    ],
    example: "keys: { cancel: d }", others: .settings)

  /// Decodes the YAML of the file; valid only if no fault was reported.
  private init(_ root: YAMLNode, _ values: ValueReader, _ vocabulary: Vocabulary) {
    // A file may contain nothing but comments.
    guard !root.isNull, let file = Self.known.read(root, faults: values.faults) else { return }
    func value(_ key: String) -> YAMLNode? { file[key]?.value }

    keys = value("keys").map { KeyReader(actions: vocabulary.actions, values: values).read($0) } ?? [:]
    colors = value("colors").map { LookReader(elements: vocabulary.elements, values: values).read($0) } ?? [:]
    background = value("background").flatMap { values.choice($0, "background", as: ScreenTraits.Background.self) }
    notify = value("notify").flatMap { values.choice($0, "notify", as: EndNotice.self) }
    usesMouse = value("mouse").flatMap { values.flag($0, "mouse") }
    isASCII = value("ascii").flatMap { values.flag($0, "ascii") }
    retention = value("history").flatMap { Self.retention($0, values) }
  }
}
