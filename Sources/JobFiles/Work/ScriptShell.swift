/// Reads `shell`: a shell that opdash knows, or the words of a command line before a script.
enum ScriptShell {
  /// The shells and interpreters that a file can name by a word, and their options before a script.
  static let words: [(name: String, options: [String])] = [
    ("sh", ["-e", "-c"]), ("bash", ["-e", "-c"]), ("zsh", ["-e", "-c"]), ("dash", ["-e", "-c"]),
    ("ksh", ["-e", "-c"]), ("fish", ["-c"]), ("python", ["-c"]), ("python3", ["-c"]), ("node", ["-e"]),
    ("perl", ["-e"]), ("ruby", ["-e"]),
  ]

  private static let shells: Set = ["sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "busybox", "fish"]

  /// Whether a script that these words run is one of a shell.
  static func isShell(_ words: [String]) -> Bool {
    words.contains { shells.contains(FilePath.name(of: $0)) }
  }

  /// The words of the command line; nil after a fault.
  static func read(_ node: YAMLNode, _ values: ValueReader) -> [String]? {
    let names = words.map(\.name).joined(last: "or")
    let takes = "\(names), or a list of the words before the script, as in [bash, -eu, -c]"
    if case .list(let items) = node.content { return list(items, node, takes, values) }
    guard let text = values.line(node, "shell", takes: takes) else { return nil }
    if let options = words.first(where: { $0.name == FilePath.name(of: text) })?.options { return [text] + options }
    return values.faults.fail(node.place, "\(Quoted.text(text)) is not a shell that opdash knows: \(advice(for: text))")
  }

  private static func advice(for text: String) -> String {
    let parts = text.split(separator: " ").map(String.init)
    guard let known = words.first(where: { $0.name == FilePath.name(of: parts[0]) }) else {
      return "write a command as 'run', and another shell as a list, as in [\(Quoted.bare(parts[0])), -c]"
    }
    let hasOption = known.options.last.map { option in parts.contains { $0.hasPrefix("-") && $0.last == option.last } }
    let all = parts.filter { $0 != "{0}" } + (hasOption == true ? [] : known.options.suffix(1))
    return "write its words as a list, as in [\(all.map(Quoted.bare).joined(separator: ", "))]"
  }

  private static func list(
    _ items: [YAMLNode], _ node: YAMLNode, _ takes: String, _ values: ValueReader
  ) -> [String]? {
    let words = items.compactMap { item in
      values.text(item, "a word of shell", takes: "text", isArgument: true)
    }
    guard words.count == items.count else { return nil }
    guard let first = words.first, !first.isEmpty else {
      return values.faults.fail(node.place, "shell names no program: it takes \(takes)")
    }
    if words.last == "{0}" {
      return values.faults.fail(
        items[items.count - 1].place,
        "'{0}' is a form of GitHub Actions: the script itself is the last word, so write -c in its place")
    }
    if words.count == 1, let known = Self.words.first(where: { $0.name == FilePath.name(of: first) }) {
      return values.faults.fail(
        node.place,
        "\(Quoted.text(first)) alone would take the script for the name of a file: "
          + "write [\(([first] + known.options).map(Quoted.bare).joined(separator: ", "))]")
    }
    return words
  }
}

extension ValueKind<[String]> {
  static let shell = ValueKind(.either([.choice(ScriptShell.words.map(\.name)), .list(of: .text)])) { values, node, _ in
    ScriptShell.read(node, values)
  }
}
