extension AsyncOperation {
  /// Where an operation stands, in the order in which it passes through; being cancelled is beside this.
  public enum State: Int, Sendable, CaseIterable, Comparable {
    /// Waits for an operation that it depends on.
    case pending
    /// May start as soon as its queue, or whoever holds it, starts it.
    case ready
    /// Between the call of `main` and `finish()`.
    case executing
    /// For good.
    case finished

    /// Whether an operation passes through `left` before `right`.
    public static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
  }
}
