import Screen

/// Text of a job file for a message: on one line, shortened, with unprintable characters escaped.
enum Quoted {
  static func text(_ text: String) -> String { "'\(bare(text))'" }

  static func bare(_ text: String) -> String { bare(text, limit: 60) }

  /// The text, cut after `limit` characters.
  static func bare(_ text: String, limit: Int) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(limit + 1) {
      if shown.unicodeScalars.count >= limit { return shown + "…" }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        shown += scalar.escaped(asASCII: true)
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// A cycle as `a -> b -> c -> a`; the middle of a very long one is left out.
  static func cycle(_ names: [String]) -> String {
    guard names.count > 12 else { return names.map(bare).joined(separator: " -> ") }
    let shown = names.prefix(4).map(bare) + ["… \(names.count - 7) more …"] + names.suffix(3).map(bare)
    return shown.joined(separator: " -> ")
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character, or one that reorders text.
  var isUnprintable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: TextWidth.isReordering(self)
    }
  }
}
