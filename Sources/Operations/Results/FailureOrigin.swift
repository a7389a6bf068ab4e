/// The failure at the start of a chain of failures, and the operation that failed first, not because of another.
///
/// Found in constant time however long the chain is, because each of the library's errors with another error as its
/// cause stores the origin.
struct FailureOrigin {
  /// The operation's name, or the name of its class.
  let operation: String
  let error: any Error
  /// The number of dependencies and groups between that operation and the given one; 0 for the operation itself.
  let steps: Int

  /// The origin of the failure of an operation with this name, searched for beyond its dependencies.
  init(of error: any Error, in operation: String) {
    if let failure = Self.dependencyFailure(error) {
      self.init(failure.dependency, failure.cause, failure.steps)
    } else if let group = error as? GroupFailure, group.isLedByDependency, let origin = group.origin {
      self.init(origin.operation, origin.error, origin.steps + 1)
    } else {
      self.init(operation, error, 0)
    }
  }

  /// The origin of a child's failure, searched for in nested groups too.
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

  /// Whether an operation that failed with `error` did so because of a dependency, its own or one of its children's.
  static func isLedByDependency(_ error: any Error) -> Bool {
    dependencyFailure(error) != nil || (error as? GroupFailure)?.isLedByDependency == true
  }

  private static func dependencyFailure(_ error: any Error) -> DependencyFailure? {
    (error as? ConditionFailure)?.reason as? DependencyFailure ?? error as? DependencyFailure
  }

  /// The failure as a sentence, with the error in these words.
  func sentence(_ words: String) -> String {
    "\(operation)\(steps > 0 ? ", \(steps + 1) steps away," : "") failed: \(words)"
  }
}
