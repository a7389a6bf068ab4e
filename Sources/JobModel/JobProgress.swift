/// How far an attempt has come, in its own unit.
package struct JobProgress: Sendable, Equatable {
  package enum Unit: String, Sendable {
    case bytes
    case steps
  }

  package var done: Int64
  /// Nil while it is not known.
  package var total: Int64?
  package var unit: Unit

  package init(done: Int64, total: Int64?, unit: Unit) {
    self.done = done
    self.total = total
    self.unit = unit
  }

  /// From 0 to 1, or nil while the total is not known.
  package var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return Swift.min(1, Swift.max(0, Double(done) / Double(total)))
  }
}
