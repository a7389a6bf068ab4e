import Screen

/// What a person's settings file asks for; what it leaves open is nil or missing.
package struct SettingsFile: Sendable, Equatable {
  /// The keys of each action that the file names; empty where it takes them away.
  package var keys: [String: [Key]] = [:]
  /// The look of each element that the file names.
  package var colors: [String: Style] = [:]
  /// What the terminal draws on; unknown where the file says `auto`.
  package var background: ScreenTraits.Background?
  package var notify: EndNotice?
  package var usesMouse: Bool?
  package var isASCII: Bool?

  package init() {}

  /// What such a file may speak of: it depends on the dashboard that it is for.
  package struct Vocabulary: Sendable {
    /// An action, with the keys that it has where the file says nothing.
    package struct Action: Sendable {
      package var name: String
      package var keys: [Key]
      /// Whether it must keep a key, because there is no other way to what it does.
      package var isNeeded: Bool

      package init(name: String, keys: [Key], isNeeded: Bool) {
        self.name = name
        self.keys = keys
        self.isNeeded = isNeeded
      }
    }

    package var actions: [Action]
    /// What `colors` can give a look to.
    package var elements: [String]

    package init(actions: [Action], elements: [String]) {
      self.actions = actions
      self.elements = elements
    }
  }

  /// Reads the file at `path`; nil where there is none.
  package static func load(path: String, _ vocabulary: Vocabulary) throws(JobFileFaults) -> SettingsFile? {
    guard JobFileInput.exists(path) else { return nil }
    return try decode(JobFileInput(path: path).bytes, file: path, vocabulary)
  }

  /// Reads the text of a settings file; `file` is how faults name it.
  package static func decode(
    _ bytes: [UInt8], file: String, _ vocabulary: Vocabulary
  ) throws(JobFileFaults) -> SettingsFile {
    let source = try SourceText(bytes, file: file)
    let faults = FaultLog(file: file, source: source, kind: "a settings file")
    let root: YAMLNode?
    do throws(YAMLParser.Problem) {
      root = try YAMLReader.read(source, faults: faults)
    } catch {
      // Most often because of a key that YAML takes for a mark of its own.
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
