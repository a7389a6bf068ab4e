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
