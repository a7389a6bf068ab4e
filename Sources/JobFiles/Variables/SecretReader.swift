/// Reads `secrets`: the names of variables whose values are never shown or kept, wherever they come from: the environment,
/// `dotenv`, `env` or `vars`.
struct SecretReader {
  private let reader: ValueReader
  private var places: [(name: String, place: Place)] = []

  /// `nodes` are the values of `secrets` of all files.
  init(_ nodes: [YAMLNode], _ reader: ValueReader) {
    self.reader = reader
    var names: Set<String> = []
    let takes = "a name of an environment variable, or a list of names"
    for node in nodes {
      for item in reader.list(node, "secrets", takes: takes, isSingleAllowed: true) ?? [] {
        guard let name = Self.name(item, reader) else { continue }
        guard names.insert(name).inserted else { continue }
        places.append((name, item.place))
      }
    }
    reader.variables.secretNames = names
    for (name, place) in places {
      if let value = reader.variables.environment[name] { reader.variables.noteSecret(value, of: name, at: place) }
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
