import JobModel

// The values of `on` and `slurm`: the engine that executes a job, and its cluster resources.

extension ValueKind<Engine> {
  static let engine = ValueKind(.choice(Engine.self)) { values, node, name in
    guard !isTrigger(node) else {
      return values.faults.fail(
        node.place, "'on' takes local or slurm, and opdash starts when you start it: delete it")
    }
    return values.choice(node, name, as: Engine.self, others: ForeignValues.engine)
  }

  /// Whether it is the `on` of a tool that starts runs by itself.
  private static func isTrigger(_ node: YAMLNode) -> Bool {
    switch node.content {
    case .map, .list: true
    case .scalar(let text, _):
      ["push", "pull_request", "schedule", "workflow_dispatch", "workflow_call", "release"].contains(text)
    }
  }
}

extension ValueKind<Int> {
  /// An amount in MiB; 0 for all that a node has.
  static let memory = ValueKind(.text) { values, node, name in
    let takes = "an amount as 500M, 16G or 1T, or 0 for all of the node"
    guard let text = values.line(node, name, takes: takes) else { return nil }
    guard let match = text.wholeMatch(of: /(\d{1,9}) ?([KkMmGgTt])?(i?[Bb])?/), let number = Int(match.1) else {
      return values.faults.fail(node.place, "\(name) takes \(takes); this is \(Quoted.text(text))")
    }
    if number == 0 { return 0 }
    switch match.2?.lowercased() {
    case "k": return max(1, number / 1024)
    case "m": return number
    case "g": return number << 10
    case "t": return number << 20
    default:
      return values.faults.fail(
        node.place, "\(name) takes \(takes); this is \(Quoted.text(text)): write \(number)G, or \(number)M")
    }
  }
}

extension ValueKind<String> {
  static let word = ValueKind(.text) { values, node, name in
    guard let text = values.line(node, name, takes: "a name") else { return nil }
    guard !text.contains(where: \.isWhitespace) else {
      return values.faults.fail(node.place, "\(name) takes a name; \(Quoted.text(text)) has a blank in it: delete it")
    }
    return text
  }
}

extension ValueKind<[String]> {
  /// Nil also for an empty list.
  static let slurmOptions = ValueKind(.oneOrMore(.text)) { values, node, name in
    let takes = "options of sbatch, as in '[--exclusive]'"
    guard let items = values.list(node, name, takes: takes, isSingleAllowed: true) else { return nil }
    let options = items.compactMap { item -> String? in
      guard let text = values.line(item, name, takes: takes) else { return nil }
      guard text.hasPrefix("-"), !text.contains(where: \.isWhitespace) else {
        return values.faults.fail(
          item.place,
          "\(name) takes \(takes); this is \(Quoted.text(text)): write each as one word that begins with '--'")
      }
      return text
    }
    return options.isEmpty ? nil : options
  }
}
