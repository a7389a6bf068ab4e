import Basics

/// Makes names of jobs and pools of the names that another tool has for them.
struct ImportNames {
  private var used: Set<String> = []
  /// The number of the next name that would be equal to one that is used.
  private var next: [String: Int] = [:]

  /// A valid name that is like `text` and that no other has.
  mutating func name(for text: String) -> String {
    let name = Self.valid(text)
    if used.insert(name).inserted { return name }
    // With room for the number; a cut name can begin with a character that no name may begin with.
    let base = Self.valid(Self.end(of: name, JobName.limit - 20))
    while true {
      let number = next[base, default: 2]
      next[base] = number + 1
      let other = "\(base)-\(number)"
      if used.insert(other).inserted { return other }
    }
  }

  /// The text with `_` for what no name has, and for what would make a need a pattern.
  static func valid(_ text: String) -> String {
    var name = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isGood = !scalar.isUnprintable && !scalar.isInvisible && !"[]*?{}".unicodeScalars.contains(scalar)
      name.append(isGood ? scalar : "_")
    }
    var valid = end(of: String(name), JobName.limit)
    if valid.first == "-" || valid.first?.isWhitespace == true { valid = "_" + valid.dropFirst() }
    if valid.last?.isWhitespace == true { valid = valid.dropLast() + "_" }
    // YAML takes '<<' for a merge.
    return JobName.fault(in: valid) == nil && valid != "<<" ? valid : "job"
  }

  /// The last scalars of a text: the end of a path says more than its beginning.
  private static func end(of text: String, _ count: Int) -> String { String(text.unicodeScalars.suffix(count)) }
}
