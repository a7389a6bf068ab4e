/// A value of a YAML document with its place; aliases are resolved.
struct YAMLNode: Sendable {
  enum Content: Sendable {
    case scalar(String, isPlain: Bool)
    case list([YAMLNode])
    case map([YAMLEntry])
  }

  var content: Content
  var place: Place
  var end: Place

  /// The missing value of a key that is not in the file.
  static let null = YAMLNode(content: .scalar("", isPlain: true), place: .start, end: .start)

  /// Whether it is `~`, `null`, or the missing value of a key.
  var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return text.utf8.count <= 4 && ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// The number of keys and values in it, itself included, with aliases resolved.
  var weight: Int {
    switch content {
    case .scalar: 1
    case .list(let items): items.reduce(1) { $0 + $1.weight }
    case .map(let entries): entries.reduce(1) { $0 + 1 + $1.value.weight }
    }
  }

  /// The texts of all scalars in it, without keys.
  var texts: [String] {
    switch content {
    case .scalar(let text, _): [text]
    case .list(let items): items.flatMap(\.texts)
    case .map(let entries): entries.flatMap(\.value.texts)
    }
  }

  /// Follows "this is" in a message.
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
struct YAMLEntry: Sendable {
  var key: String
  var place: Place
  var value: YAMLNode
}
