import Dashboard
import Reports
import Screen

/// The output of `opdash keys`: every action with its keys and its help, marked if the settings file changes it.
struct KeyListText {
  let keys: KeyMap
  /// The path of the settings file, whether or not it exists; nil if unknown.
  let file: String?
  let isThere: Bool
  let paint: Paint
  let isASCII: Bool

  var lines: [TerminalText] {
    let entries = keys.entries
    let names = entries.map { $0.keys.map { $0.name(isASCII: isASCII) }.joined(separator: " ") }
    let keyWidth = (names.map { TextWidth.of($0) }.max() ?? 0) + 2
    let actionWidth = (entries.map(\.action.count).max() ?? 0) + 2
    var lines: [TerminalText] = []
    var section: String?
    for (entry, name) in zip(entries, names) {
      if entry.section != section {
        if section != nil { lines.append("") }
        lines.append(paint(.strong, "\(entry.section)"))
        section = entry.section
      }
      let mark: TerminalText = entry.isChanged ? paint(.warning, "* ") : "  "
      let shown = entry.keys.isEmpty ? paint(.quiet, padded("none", keyWidth)) : paint(.active, padded(name, keyWidth))
      lines.append("\(mark)\(shown)\(padded(entry.action, actionWidth))\(entry.help)")
    }
    return lines + ["", paint(.quiet, source)]
  }

  private var source: TerminalText {
    guard let file else {
      return "There is no settings file: neither XDG_CONFIG_HOME nor HOME is set."
    }
    guard isThere else { return "All as usual: there is no \(file)." }
    let isChanged = keys.entries.contains(where: \.isChanged)
    return isChanged ? "* changed by \(file)" : "All as usual: \(file) changes none."
  }

  private func padded(_ text: String, _ width: Int) -> TerminalText {
    MessageText.of(text) + .blanks(width - TextWidth.of(text))
  }
}
