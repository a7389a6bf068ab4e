/// Finds the name that a misspelt word most likely stands for.
package enum NearestName {
  /// The candidate nearest to `word`, the first of equals; nil if none is near.
  ///
  /// Every three characters of the word allow one edit, a shorter word allows one too; case does not count. If no
  /// candidate is that near, the only one that begins with `word` is returned.
  package static func of(_ word: String, in candidates: some Sequence<String>) -> String? {
    let typed = Array(word.lowercased().unicodeScalars)
    guard !typed.isEmpty, typed.count <= 100 else { return nil }
    var best: (name: String, slips: Int)?
    for candidate in candidates where candidate != word {
      let limit = min(best.map { $0.slips - 1 } ?? .max, max(1, typed.count / 3))
      if let slips = slips(from: typed, to: Array(candidate.lowercased().unicodeScalars), limit: limit) {
        best = (candidate, slips)
        if slips == 0 { break }
      }
    }
    return best?.name ?? only(in: candidates, beginningWith: word)
  }

  /// `: did you mean 'x'?`, or `otherwise` if no name is near.
  package static func hint(
    for word: String, in candidates: some Sequence<String>, otherwise: String = ""
  ) -> String {
    of(word, in: candidates).map { ": did you mean '\($0)'?" } ?? otherwise
  }

  private static func only(in candidates: some Sequence<String>, beginningWith word: String) -> String? {
    guard word.count > 1 else { return nil }
    var found: String?
    for candidate in candidates where candidate.hasPrefix(word) && candidate != word {
      guard found == nil else { return nil }
      found = candidate
    }
    return found
  }

  /// The number of characters removed, added, changed or swapped with a neighbour; nil if more than `limit`.
  private static func slips(from left: [Unicode.Scalar], to right: [Unicode.Scalar], limit: Int) -> Int? {
    guard limit >= 0, abs(left.count - right.count) <= limit else { return nil }
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    // With this many edits any word would become the other.
    guard limit < max(left.count, right.count) else { return nil }
    var before: [Int] = []
    var above = Array(0...right.count)
    for (row, scalar) in left.enumerated() {
      var line = [row + 1]
      line.reserveCapacity(right.count + 1)
      for (column, other) in right.enumerated() {
        var cost = min(above[column] + (scalar == other ? 0 : 1), above[column + 1] + 1, line[column] + 1)
        if row > 0, column > 0, scalar == right[column - 1], left[row - 1] == other {
          cost = min(cost, before[column - 1] + 1)
        }
        line.append(cost)
      }
      guard let least = line.min(), least <= limit else { return nil }
      before = above
      above = line
    }
    return above[right.count] <= limit ? above[right.count] : nil
  }
}
