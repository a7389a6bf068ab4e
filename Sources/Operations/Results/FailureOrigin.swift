/// The failure at the beginning of others, and the operation that it is of, which did not fail because of another one.
///
/// Found at once however long the way is, because each error of ours that has another as its cause knows the origin.
struct FailureOrigin {
  /// The operation's name, or that of its class.
  let operation: String
  let error: any Error
  /// How many dependencies and groups lie between that operation and the one that was asked about; 0 for itself.
  let steps: Int

  /// The origin that has led to the failure of an operation with this name, looked for beyond its dependencies.
  init(of error: any Error, in operation: String) {
    if let failure = Self.dependencyFailure(error) {
      self.init(failure.dependency, failure.cause, failure.steps)
    } else if let group = error as? GroupFailure, group.isLedByDependency, let origin = group.origin {
      self.init(origin.operation, origin.error, origin.steps + 1)
    } else {
      self.init(operation, error, 0)
    }
  }

  /// The origin of a child's failure, looked for in the groups within it too.
  init(of child: GroupFailure.Child) {
    if let origin = (child.failure as? GroupFailure)?.origin {
      self.init(origin.operation, origin.error, origin.steps + 1)
    } else {
      self.init(of: child.failure, in: child.name)
    }
  }

  init(_ operation: String, _ error: any Error, _ steps: Int) {
    (self.operation, self.error, self.steps) = (operation, error, steps)
  }

  /// Whether an operation that failed with `error` did so because of one that it, or a child of it, depends on.
  static func isLedByDependency(_ error: any Error) -> Bool {
    dependencyFailure(error) != nil || (error as? GroupFailure)?.isLedByDependency == true
  }

  private static func dependencyFailure(_ error: any Error) -> DependencyFailure? {
    (error as? ConditionFailure)?.reason as? DependencyFailure ?? error as? DependencyFailure
  }

  /// The failure for a person, with the error in these words.
  func sentence(_ words: String) -> String {
    "\(operation)\(steps > 0 ? ", \(steps + 1) steps away," : "") failed: \(words)"
  }
}
