import Basics
import Foundation
import JobModel

/// Reads a job's `if`: texts compared with `==` and `!=`, which `&&` and `||` join.
struct ConditionReader {
  let values: ValueReader

  private var faults: FaultLog { values.faults }

  func read(_ node: YAMLNode) -> JobCondition? {
    guard case .scalar(let text, _) = node.content, !text.allSatisfy(\.isWhitespace), !node.isNull else {
      let found = if case .scalar = node.content { "empty" } else { node.words }
      return faults.fail(
        node.place, "if takes a condition as text, as in if: \"${env.CI} == 'true'\"; this is \(found)")
    }
    if text.holds("${{") {
      return fail("'${{ … }}' is a form of GitHub Actions: write ${NAME}, or ${env.NAME}", "${{", node)
    }
    values.variables.warnOfShellNames(in: text, at: node, "if", isArgument: false)
    var scanner = ConditionScanner(text)
    var parts: [ConditionScanner.Part] = []
    while let part = scanner.next() {
      if case .fault(let message, let written) = part { return fail(message, written, node) }
      parts.append(part)
    }
    guard let alternatives = alternatives(parts, node) else { return nil }
    // Distinguishes the instances of a matrix.
    let known = (values.variables.matrix?.values ?? [:]).compactMapValues { $0 }
    let condition = JobCondition(
      text.replacing(known.map { (key: "${matrix.\($0.key)}", value: $0.value) }), alternatives)
    if !text.holds("${"),
      !["true", "false"].contains(text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased())
    {
      let advice = self.advice(for: parts) ?? "compare a variable, as in \"${env.CI} == 'true'\", or delete it"
      faults.warn(
        node.place, "if \(condition.holds() ? "always" : "never") holds, because it has no '${…}': \(advice)")
    }
    return condition
  }

  /// The advice for a condition that begins with the name of a variable without `${…}`.
  private func advice(for parts: [ConditionScanner.Part]) -> String? {
    guard case .operand(let name, isBare: true)? = parts.first(where: { $0 != .negation }) else { return nil }
    if values.variables.isVar(name) { return "write '${\(name)}'" }
    return values.variables.environment[name].map { _ in "write '${env.\(name)}'" }
  }

  private func fail<Value>(_ message: String, _ written: String, _ node: YAMLNode) -> Value? {
    values.variables.report(message, written, 0, in: node)
    return nil
  }

  // MARK: Grammar

  private func alternatives(_ parts: [ConditionScanner.Part], _ node: YAMLNode) -> [[JobCondition.Term]]? {
    var alternatives: [[JobCondition.Term]] = [[]]
    var rest = parts[...]
    while true {
      let last = parts.prefix(rest.startIndex).last
      guard let term = term(&rest, after: last, node) else { return nil }
      alternatives[alternatives.count - 1].append(term)
      switch rest.popFirst() {
      case nil: return alternatives
      case .junction("&&"): continue
      case .junction: alternatives.append([])
      case .operand(let text, _):
        let operators = ["and": "&&", "or": "||", "not": "!", "is": "==", "eq": "==", "ne": "!="]
        if let word = operators[text.lowercased()] {
          return fail("'\(text)' is not an operator: write \(word)", text, node)
        }
        return fail(
          "\(Quoted.text(text)) follows another text: put text with blanks in quotes, or write ==, !=, && or || between",
          text, node)
      case .negation:
        return fail("'!' stands after a text: write '!=' to compare, or && before it", "!", node)
      case .comparison(let sign):
        return fail("'\(sign)' is the second comparison of its texts: write && between two comparisons", sign, node)
      case .fault(let message, let written): return fail(message, written, node)
      }
    }
  }

  private func term(
    _ rest: inout ArraySlice<ConditionScanner.Part>, after last: ConditionScanner.Part?, _ node: YAMLNode
  ) -> JobCondition.Term? {
    var isNegated = false
    if rest.first == .negation {
      isNegated = true
      rest = rest.dropFirst()
    }
    guard let left = operand(&rest, after: isNegated ? .negation : last, node) else { return nil }
    guard case .comparison(let sign)? = rest.first else { return JobCondition.Term(left, isNegated: isNegated) }
    rest = rest.dropFirst()
    if isNegated { return fail("'!' stands before a comparison: delete it, and write '!=' for '=='", "!", node) }
    guard let right = operand(&rest, after: .comparison(sign), node) else { return nil }
    return JobCondition.Term(left, equals: right, isNegated: sign == "!=")
  }

  private func operand(
    _ rest: inout ArraySlice<ConditionScanner.Part>, after last: ConditionScanner.Part?, _ node: YAMLNode
  ) -> String? {
    guard case .operand(let text, let isBare)? = rest.popFirst() else {
      let sign = last?.sign ?? ""
      if sign.isEmpty { return fail("if begins with an operator: write a text before it", "", node) }
      return fail("nothing stands after '\(sign)': write a text there, '' for an empty one", sign, node)
    }
    if isBare, text.lowercased() == "not", case .operand? = rest.first {
      return fail("'\(text)' is not an operator: write !", text, node)
    }
    if isBare, let dot = text.firstIndex(of: "."), ["env", "matrix", "jobs", "vars"].contains(text[..<dot]) {
      let name = text.hasPrefix("vars.") ? String(text[text.index(after: dot)...]) : text
      return fail("\(Quoted.text(text)) is plain text: write '${\(Quoted.bare(name))}'", text, node)
    }
    return values.variables.expand(text, in: node, unknown: .isFault, allowing: [.outputs, .unset])
  }
}

extension ValueKind<JobCondition> {
  static let condition = ValueKind(.text) { values, node, _ in ConditionReader(values: values).read(node) }
}
