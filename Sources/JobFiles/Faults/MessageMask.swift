import Basics

/// Replaces secret values in messages and in lines of files.
struct MessageMask {
  private let mask: SecretMask
  /// The values as they are and as a message quotes them, the longest first.
  private let values: [String]

  /// Nil without values.
  init?(_ secrets: Set<String>) {
    let quoted = secrets.map { $0.unicodeScalars.reduce(into: "") { $0 += Quoted.bare(String($1)) } }
    guard let mask = SecretMask(secrets.union(quoted)) else { return nil }
    self.mask = mask
    values = secrets.union(quoted).sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
  }

  /// The text with `***` in the place of each value, and of the beginning of one that a message has cut.
  func masked(_ text: String) -> String {
    let text = mask.masked(text)
    guard text.contains("…") else { return text }
    let parts = text.split(separator: "…", omittingEmptySubsequences: false).map(String.init)
    return (parts.dropLast().map(withoutBeginning) + [parts[parts.count - 1]]).joined(separator: "…")
  }

  /// The text with `***` in the place of the beginning of a value at its end.
  private func withoutBeginning(_ text: String) -> String {
    for value in values {
      // Messages quote at most 60 characters.
      var beginning = value.prefix(60)
      while beginning.count > 3, !text.hasSuffix(beginning) { beginning = beginning.dropLast() }
      if beginning.count > 3 { return text.dropLast(beginning.count) + "***" }
    }
    return text
  }
}
