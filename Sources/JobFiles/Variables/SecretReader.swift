import Basics

/// Reads `secrets`: the names of variables whose values are never shown or kept, wherever they come from: the environment,
/// `dotenv`, `env` or `vars`.
struct SecretReader {
  private let reader: ValueReader
  private var places: [(name: String, place: Place)] = []

  /// Reads `secrets` of all files.
  ///
  /// `environment` is without `dotenv`. `overrides` are values of the command line, which others can see and records keep:
  /// no secret can be among them.
  init(_ parts: JobFileParts, _ reader: ValueReader, environment: [String: String], overrides: [String: String]) {
    self.reader = reader
    var names: Set<String> = []
    let takes = "a name of an environment variable, or a list of names"
    for node in parts.secrets {
      for item in reader.list(node, "secrets", takes: takes, isSingleAllowed: true) ?? [] {
        guard let name = Self.name(item, reader) else { continue }
        guard names.insert(name).inserted else { continue }
        places.append((name, item.place))
      }
    }
    reader.variables.secretNames = names
    for (name, place) in places {
      let replaced = parts.replaced.variables.filter { $0.name == name }.map(\.value)
      for value in [reader.variables.environment[name], environment[name]].compactMap(\.self) + replaced {
        reader.variables.noteSecret(value, of: name, at: place)
      }
      guard overrides[name] != nil else { continue }
      reader.faults.add(
        place,
        "\(name) is a secret, and a command line is shown and kept: instead of --set, write \(name): ${env.\(name)} under "
          + "vars, and set \(name) in the environment")
    }
    for entry in parts.replaced.entries {
      // References of replaced values are not resolved.
      guard case .scalar(let text, _) = entry.value.content, !text.holds("${") else { continue }
      reader.variables.noteSecret(text, of: entry.key, at: entry.place)
    }
  }

  /// Warns of the secrets without a value that the file asks for, so that what takes their place is shown; once all is read.
  func warnOfMissing() {
    for (name, place) in places where reader.variables.missingSecrets.contains(name) {
      reader.faults.warn(
        place, "\(name) has no value in the environment, so the file's text in its place is shown: set \(name)")
    }
  }

  private static func name(_ node: YAMLNode, _ reader: ValueReader) -> String? {
    guard case .scalar(let text, _) = node.content, !node.isNull else {
      return reader.faults.fail(
        node.place,
        "secrets takes names of environment variables; this item is \(node.words): write a name, as in [TOKEN]")
    }
    if Variables.isName(text) { return text }
    let bare = text.wholeMatch(of: /\$\{?(?:env\.)?(\w+)\}?/).map { String($0.1) }
    // The text may be a secret itself, which is not repeated.
    let advice =
      bare.map { "; this is \(Quoted.text(text)): write \($0)" }
      ?? ", and this is none: write the name, and give the variable its value outside of the file"
    return reader.faults.fail(node.place, "secrets takes names of environment variables\(advice)")
  }
}
