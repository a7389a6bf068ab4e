/// How far an operation has come, in whatever unit it counts.
public struct OperationProgress: Sendable, Equatable {
  /// How much is done.
  public var completed: Int64
  /// How much there is to do; nil while that is not known.
  public var total: Int64?

  /// Makes a progress with nothing done, of an unknown whole, unless told otherwise.
  public init(completed: Int64 = 0, total: Int64? = nil) {
    self.completed = completed
    self.total = total
  }

  /// From 0 to 1, or nil while the total is not known.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, max(0, Double(completed) / Double(total)))
  }
}
