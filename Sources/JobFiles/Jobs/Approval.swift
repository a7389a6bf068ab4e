/// A job's value of `approve`: what a person is asked before it starts.
enum Approval {
  case asking(String)
  /// `true`
  case byName

  /// Nil for `false`, and after a fault.
  init?(_ node: YAMLNode, _ values: ValueReader) {
    if case .scalar(let text, isPlain: true) = node.content, ["true", "false"].contains(text.lowercased()) {
      guard values.flag(node, "approve") == true else { return nil }
      self = .byName
      return
    }
    guard let text = values.line(node, "approve", takes: "a question to a person, or true", allowing: .outputs) else {
      return nil
    }
    self = .asking(text)
  }

  func question(for job: String) -> String {
    switch self {
    case .asking(let text): text
    case .byName: "Start \(job)?"
    }
  }
}
