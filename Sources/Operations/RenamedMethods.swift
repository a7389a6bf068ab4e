import Foundation

extension AsyncOperation {
  /// The former name of `addDependencyOrThrow(_:)`.
  @available(*, deprecated, renamed: "addDependencyOrThrow(_:)")
  public final func depend(on operation: Operation) throws(DependencyCycle) { try addDependencyOrThrow(operation) }
}

extension InputReceiving {
  /// The former name of `takeInput(from:)`.
  @available(*, deprecated, renamed: "takeInput(from:)")
  public func receives(from source: ResultOperation<Input>) { takeInput(from: source) }
}
