import JobModel

// Reads the value of `retry`.

extension JobPolicy.Retry {
  /// Reads a value of `retry`, completed by the defaults; nil after a fault.
  init?(_ node: YAMLNode, _ name: String, _ values: ValueReader, over defaults: JobPolicy.Retry?) {
    self = defaults ?? JobPolicy.Retry(place: node.place)
    place = node.place
    if case .scalar = node.content {
      guard let max = values.whole(node, name, in: Self.range) else { return nil }
      self.max = max
    } else {
      guard let entries = JobFileKeys.retry.read(node, into: &self, values) else { return nil }
      // A wrong or misspelt max has been reported.
      if max == nil, entries["max"] != nil || entries.hasUnknown { max = 0 }
    }
  }
}

extension RetryCauses {
  private static let takes =
    "\(RetryPolicy.Cause.allCases.map(\.rawValue).joined(separator: ", ")), an exit status from 1 to 255, "
    + "or { output: PATTERN }"

  init?(_ node: YAMLNode, _ values: ValueReader) {
    self.init()
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
      let entries = JobFileKeys.retryOutput.read(item, into: &self, values)
      if let entries, entries["output"] == nil, !entries.hasUnknown {
        faults.add(item.place, "this item of retry.only is empty: write { output: PATTERN }")
      }
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

extension ValueKind<RetryCauses> {
  static let causes = ValueKind(
    .oneOrMore(
      .either([.choice(RetryPolicy.Cause.self), .whole(1...255), .object { JobFileKeys.retryOutput.form }]))
  ) { values, node, _ in RetryCauses(node, values) }
}
