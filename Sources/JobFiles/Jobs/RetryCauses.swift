import JobModel

/// The value of `retry.only`: the failures that are followed by a retry.
struct RetryCauses {
  /// Nil if there are none.
  var causes: Set<RetryPolicy.Cause>?
  var exits: Set<Int32> = []
  var patterns: [String] = []

  private static let takes =
    "\(RetryPolicy.Cause.allCases.map(\.rawValue).joined(separator: ", ")), an exit status from 1 to 255, "
    + "or { output: PATTERN }"

  init?(_ node: YAMLNode, _ values: ValueReader) {
    // A single map is a single item.
    let items = if case .map = node.content { [node] } else { nil as [YAMLNode]? }
    guard let items = items ?? values.list(node, "retry.only", takes: Self.takes, isSingleAllowed: true) else {
      return nil
    }
    if items.isEmpty {
      values.faults.add(node.place, "retry.only is empty, so nothing would be retried: it takes \(Self.takes)")
    }
    for item in items { add(item, values) }
  }

  private mutating func add(_ item: YAMLNode, _ values: ValueReader) {
    let faults = values.faults
    if case .map = item.content {
      guard let entries = JobFileKeys.retryOutput.read(item, faults: faults) else { return }
      guard let node = entries["output"]?.value else {
        if !entries.hasUnknown { faults.add(item.place, "this item of retry.only is empty: write { output: PATTERN }") }
        return
      }
      let pattern = values.pattern(node, "retry.only.output", takes: "a regular expression")
      if let pattern, !patterns.contains(pattern) { patterns.append(pattern) }
      return
    }
    guard let text = values.text(item, "retry.only", takes: Self.takes) else { return }
    if let cause = RetryPolicy.Cause(rawValue: text) {
      causes = (causes ?? []).union([cause])
      return
    }
    guard let number = Int(text) else {
      let advice = NearestName.hint(for: text, in: RetryPolicy.Cause.allCases.map(\.rawValue))
      faults.add(item.place, "retry.only takes \(Self.takes); this is \(Quoted.text(text))\(advice)")
      return
    }
    switch number {
    case 1...255: exits.insert(Int32(number))
    case 0: faults.add(item.place, "retry.only: the exit status 0 is a success, which is never retried: delete it")
    case 400...499, 500...599:
      faults.add(
        item.place, "retry.only: \(number) is not an exit status; for an answer of HTTP write \(number / 100)xx")
    default:
      faults.add(item.place, "retry.only: \(Quoted.text(text)) is not an exit status: write a number from 1 to 255")
    }
  }
}
