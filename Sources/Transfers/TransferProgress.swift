/// How far a transfer has come, in bytes of the file.
public struct TransferProgress: Sendable, Equatable {
  /// What is there, including what an earlier attempt left.
  public var done: Int64
  /// Nil where the server does not say.
  public var total: Int64?

  /// Makes one from its two numbers.
  public init(done: Int64, total: Int64?) {
    self.done = done
    self.total = total
  }
}
