import Basics
import JobModel

/// Reads a command: a script as text, or a program and its arguments as a list.
struct CommandReader {
  let values: ValueReader
  /// The words of the command line before a script.
  let shell: [String]
  /// The environment variables that a file gives to a script.
  let environment: [String: String]

  private var faults: FaultLog { values.faults }

  private var takes: String {
    let program = shell == ShellWork.standardShell ? "sh" : Quoted.bare(FilePath.name(of: shell[0]))
    return "a command for \(program) as text, or a program and its arguments as a list"
  }

  func read(
    _ node: YAMLNode, _ name: String, allowing allowances: Variables.Allowances = []
  ) -> ShellWork.Command? {
    if case .list(let items) = node.content { return list(items, node, name, allowances) }
    let isShell = shell == ShellWork.standardShell || ScriptShell.isShell(shell)
    let unknown = isShell ? Variables.Unknown.isForShell(knowing: Set(environment.keys)) : .isForProgram
    guard let text = values.text(node, name, takes: takes, unknown: unknown, allowing: allowances) else { return nil }
    guard !text.allSatisfy(\.isWhitespace) else {
      return faults.fail(node.place, "\(name) is empty: it takes \(takes)")
    }
    warnOfComment(after: node)
    warnOfQuote(at: node)
    return .script(text)
  }

  private func list(
    _ items: [YAMLNode], _ node: YAMLNode, _ name: String, _ allowances: Variables.Allowances
  ) -> ShellWork.Command? {
    var words: [String] = []
    words.reserveCapacity(items.count)
    var first: String?
    for (position, item) in items.enumerated() {
      guard !item.isNull else {
        faults.add(item.place, "an argument of \(name) is empty: write \"\" for an empty one")
        continue
      }
      let word = values.text(item, "an argument of \(name)", takes: "text", isArgument: true, allowing: allowances)
      if position == 0 { first = word }
      if let word { words.append(word) }
    }
    guard !items.isEmpty else { return faults.fail(node.place, "\(name) is empty: it takes \(takes)") }
    if first?.isEmpty == true {
      return faults.fail(
        items[0].place, "\(name) names no program, because its first word is empty: write the program first")
    }
    // Compose has these before the command of a probe.
    if let first, first == "CMD" || first == "CMD-SHELL" {
      return faults.fail(
        items[0].place,
        "'\(first)' is a word of Compose: "
          + (first == "CMD" ? "delete it, so that the program is the first word" : "write the command as text"))
    }
    if let first, first.hasByte(UInt8(ascii: " ")), !first.isAbsolutePath, !first.hasPrefix(".") {
      faults.warn(
        items[0].place,
        "a list is one program and its arguments, so \(Quoted.text(first)) is the name of a program: "
          + "write commands as text, below 'run: |'")
    }
    return words.count == items.count ? .argv(words) : nil
  }

  /// Warns where YAML took the end of an unquoted command for a comment that the shell would not have.
  private func warnOfComment(after node: YAMLNode) {
    let source = faults.source(at: node.place)
    guard case .scalar(let text, isPlain: true) = node.content, let place = source.comment(after: node.end)
    else { return }
    let comment = source.rest(from: place)
    // `make # the lot` is a comment to a person and to sh; `echo "issue #12"` and `tool #12` are most likely not.
    let isInQuotes = text.count { $0 == "\"" } % 2 == 1 || text.count { $0 == "'" } % 2 == 1
    guard isInQuotes || comment.dropFirst().first.map({ !$0.isWhitespace && $0 != "#" }) == true else { return }
    faults.warn(
      place.of(file: node.place.file),
      "YAML takes \(Quoted.text(comment)) for a comment: put the command in quotes or below 'run: |'"
        + (isInQuotes ? "" : ", or write '# ' if it is one"))
  }

  /// Warns of a typographic quote, which neither YAML nor the shell takes for one.
  private func warnOfQuote(at node: YAMLNode) {
    guard case .scalar(let text, isPlain: true) = node.content, let first = text.first, "“”„‘’«»".contains(first) else {
      return
    }
    faults.warn(node.place, "\(first) is not a quote to YAML or the shell: write \" or '")
  }
}
