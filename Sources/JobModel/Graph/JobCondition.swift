/// The condition of a job file's `if`; a job whose condition is false is skipped.
package struct JobCondition: Sendable, Equatable {
  /// One comparison of two texts, or whether a text stands for true.
  package struct Term: Sendable, Equatable {
    package var left: String
    /// Nil to ask whether `left` stands for true.
    package var right: String?
    package var isNegated: Bool

    package init(_ left: String, equals right: String? = nil, isNegated: Bool = false) {
      self.left = left
      self.right = right
      self.isNegated = isNegated
    }
  }

  /// As the job file has it, with the values of the matrix.
  package var text: String
  /// The condition holds if all terms of one of these hold.
  package var alternatives: [[Term]]

  package init(_ text: String, _ alternatives: [[Term]] = []) {
    self.text = text
    self.alternatives = alternatives
  }

  /// Whether it holds; `resolve` puts the values of other jobs into a text.
  package func holds(resolve: (String) -> String = { $0 }) -> Bool {
    alternatives.contains { $0.allSatisfy { $0.holds(resolve) } }
  }

  /// Whether it can hold while the values that these texts stand for are not known; `resolve` puts others into a text.
  package func mayHold(without unknown: [String], resolve: (String) -> String = { $0 }) -> Bool {
    alternatives.contains { terms in
      terms.allSatisfy { term in
        let text = term.left + " " + (term.right ?? "")
        return unknown.contains(where: text.contains) || term.holds(resolve)
      }
    }
  }
}

extension JobCondition.Term {
  /// The texts that stand for false, in any case of letters; all others stand for true.
  private static let falsehoods: Set<String> = ["", "false", "0", "no", "off"]

  fileprivate func holds(_ resolve: (String) -> String) -> Bool {
    let left = resolve(left)
    let isTrue = right.map { left == resolve($0) } ?? !Self.falsehoods.contains(left.lowercased())
    return isTrue != isNegated
  }
}
