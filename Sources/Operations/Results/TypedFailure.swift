extension AsyncOperation {
  /// The first failure of a type: the operation's own, or one that led to it.
  ///
  /// The search covers the failures of conditions, of dependencies and of a group's children, at any depth. Among
  /// several children, the failure of the child that ended first comes first. Nil if there is none, or the operation
  /// has not finished.
  public final func failure<Failure: Error>(as type: Failure.Type = Failure.self) -> Failure? {
    var pile: [any Error] = failure.map { [$0] } ?? []
    while let error = pile.popLast() {
      if let found = error as? Failure { return found }
      switch error {
      case let error as GroupFailure: pile += error.children.reversed().map(\.failure)
      case let error as ConditionFailure: pile.append(error.reason)
      case let error as DependencyFailure: pile.append(error.cause)
      default: break
      }
    }
    return nil
  }
}
