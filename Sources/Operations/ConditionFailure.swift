/// An operation finished without executing because one of its conditions did not hold.
public struct ConditionFailure: Error, CustomStringConvertible {
  /// Why a condition failed that threw no error of its own.
  public enum Reason: Error, Equatable, CustomStringConvertible {
    /// Its closure answered false.
    case doesNotHold
    /// It is the negation of one that holds.
    case holds
    /// None of several holds.
    case noneHolds

    /// A few words.
    public var description: String {
      switch self {
      case .doesNotHold: "it does not hold"
      case .holds: "its opposite holds"
      case .noneHolds: "none of them holds"
      }
    }
  }

  /// The operation's name, or that of its class.
  public let operation: String
  /// The name of the condition.
  public let condition: String
  /// What the condition threw, or a `Reason`.
  public let reason: any Error

  /// One sentence.
  public var description: String { "\(operation) did not execute: \(condition): \(reason)" }
}

/// Why `noFailedDependencies` does not hold.
public struct DependencyFailure: Error, CustomStringConvertible {
  /// The name of the first dependency that failed, or that of its class.
  public let dependency: String
  /// What it failed with.
  public let cause: any Error

  /// A few words.
  public var description: String { "\(dependency) failed: \(cause)" }
}
