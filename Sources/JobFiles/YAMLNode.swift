/// A value of a YAML document and where it stands; aliases are replaced by what they name.
struct YAMLNode {
  enum Content {
    case scalar(String, isPlain: Bool)
    case list([YAMLNode])
    case map([YAMLEntry])
  }

  var content: Content
  var place: Place
  var end: Place
  /// How many values it holds, itself included, each alias counted as what it names.
  var weight: Int

  /// Whether it is nothing at all: `~`, `null`, or a key with no value.
  var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// How a message names it after "this is".
  var words: String {
    switch content {
    case .list: return "a list"
    case .map: return "a map"
    case .scalar(let text, let isPlain):
      if isNull { return "empty" }
      return isPlain ? Quoted.text(text) : "the text \(Quoted.text(text))"
    }
  }
}

/// A key of a map with its value.
struct YAMLEntry {
  var key: String
  var place: Place
  var value: YAMLNode
}

/// Text of a job file inside a message: one line, no longer than a message bears, nothing that a terminal obeys.
enum Quoted {
  static func text(_ text: String) -> String { "'\(bare(text))'" }

  static func bare(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(61) {
      if shown.unicodeScalars.count >= 60 { return shown + "…" }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        shown += scalar.escaped(asASCII: true)
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}
