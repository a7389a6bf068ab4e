import Foundation

/// A rule that has to hold before an operation may execute.
///
/// A condition is evaluated when the queue starts the operation, which keeps its slot meanwhile, but no thread. In an
/// `DependencyQueue`, a condition that takes time is evaluated before that, when a slot is free, and takes no slot,
/// unless the operation excludes others. If the condition doesn't hold, the operation finishes with the
/// `OperationError` `.conditionFailed` without executing, and its dependents run, as after any end.
public struct OperationCondition: Sendable {
  /// The effect of a condition that doesn't hold on its operation.
  enum Refusal: Sendable {
    case failure(any Error)
    case cancellation

    /// The failure of an operation because of a condition of this name.
    static func reason(_ error: any Error, _ condition: String, _ operation: AsyncOperation) -> Refusal {
      // The failed condition of another operation, which the closure awaited, is named already.
      if let error = error as? OperationError, error.code == .conditionFailed { return .failure(error) }
      return .failure(
        OperationError(.conditionFailed, of: operation.displayName, condition: condition, underlying: [error]))
    }
  }

  /// A question that is answered by the reason why the condition doesn't hold, or by nil.
  indirect enum Question: Sendable {
    case atOnce(@Sendable (AsyncOperation) -> Refusal?)
    case later(@Sendable (AsyncOperation) async -> Refusal?)
    case not(OperationCondition)
    case all([OperationCondition])
    case together([OperationCondition])
    case any([OperationCondition])
    case allowingCancellation(OperationCondition)
  }

  /// The condition's name in the error `.conditionFailed`.
  public var name: String { makeName() }
  // Most names are never read.
  private let makeName: @Sendable () -> String
  private let question: Question
  /// The categories that the operation has to itself while it executes.
  let categories: Set<ExclusionCategory>

  init(
    _ name: @autoclosure @escaping @Sendable () -> String, _ question: Question, categories: Set<ExclusionCategory> = []
  ) {
    makeName = name
    self.question = question
    self.categories = categories
  }

  /// Makes a condition from a closure, which returns whether it holds or throws the reason why it doesn't.
  ///
  /// The closure runs in a task of its own, which is cancelled with the operation; a later answer is ignored. The
  /// closure may be called again if the operation got another dependency meanwhile.
  public init(_ name: String, _ holds: @escaping @Sendable (AsyncOperation) async throws -> Bool) {
    self.init(
      name,
      .later { operation in
        do {
          if try await holds(operation) { return nil }
          return .reason(OperationError(.doesNotHold, of: operation.displayName), name, operation)
        } catch {
          return .reason(error, name, operation)
        }
      })
  }

  /// Holds if `condition` doesn't.
  ///
  /// A mutual exclusion in `condition` is a programmer error, because an exclusion has no opposite.
  public static func not(_ condition: OperationCondition) -> OperationCondition {
    require(condition.categories.isEmpty, notCombined)
    return OperationCondition("not \(condition.name)", .not(condition))
  }

  /// Holds if all conditions do; they are evaluated in this order, until one fails.
  public static func all(_ conditions: OperationCondition...) -> OperationCondition {
    OperationCondition(allOf: conditions, .all(conditions))
  }

  /// Holds if all conditions do; they are evaluated concurrently, and the first failure cancels the others.
  ///
  ///     sync.addCondition(.together(isOnline, mayUseContacts))
  ///
  /// For conditions that take time and don't need each other's answer.
  public static func together(_ conditions: OperationCondition...) -> OperationCondition {
    OperationCondition(allOf: conditions, .together(conditions))
  }

  private init(allOf conditions: [OperationCondition], _ question: Question) {
    self.init(
      "all of \(conditions.map(\.name).joined(separator: ", "))", question,
      categories: conditions.reduce(into: []) { $0.formUnion($1.categories) })
  }

  /// Holds if one of the conditions does; they are evaluated in this order, until one holds.
  ///
  /// A mutual exclusion among them is a programmer error.
  public static func any(_ conditions: OperationCondition...) -> OperationCondition {
    require(conditions.allSatisfy(\.categories.isEmpty), notCombined)
    return OperationCondition("any of \(conditions.map(\.name).joined(separator: ", "))", .any(conditions))
  }

  private static let notCombined = "a mutual exclusion can be neither negated nor one of several to choose from"

  /// This condition, except that it cancels an operation that it stops, which then has no error.
  public func allowingCancellation() -> OperationCondition {
    OperationCondition(name, .allowingCancellation(self), categories: categories)
  }

  /// Makes a condition that first runs another operation, made by `dependency`, and is evaluated after its end.
  ///
  /// `dependency` is called when the condition is due; it returns nil if no operation has to run first. The outcome of
  /// the operation does not matter. The operation is announced to observers as produced. It runs in the dependency
  /// queue or the group of the operation with the condition. It takes no slot of the queue while that operation holds
  /// one, so that it does not wait for it. It is cancelled with the operation.
  public init(
    _ name: String, after dependency: @escaping @Sendable (AsyncOperation) async throws -> Operation?,
    _ holds: @escaping @Sendable (AsyncOperation) async throws -> Bool
  ) {
    self.init(name) { operation in
      if let dependency = try await dependency(operation) { await operation.runFirst(dependency) }
      return try await holds(operation)
    }
  }

  /// Holds if no dependency of the operation has failed.
  ///
  /// A dependency of a class other than `AsyncOperation` has failed if it was cancelled; no other failure is known.
  public static var noFailedDependencies: OperationCondition { noFailedDependencies(ignoringCancellations: false) }

  /// Holds if no dependency has failed; a cancellation without an error is a failure unless `ignoringCancellations`.
  ///
  /// With `ignoringCancellations`, such a cancellation cancels this operation too, without an error, unless another
  /// dependency has failed.
  public static func noFailedDependencies(ignoringCancellations: Bool) -> OperationCondition {
    let name = "no failed dependencies"
    return OperationCondition(
      name,
      .atOnce { operation in
        var refusal: Refusal?
        for dependency in operation.dependencies {
          guard let cause = dependency.failureOrCancellation else { continue }
          guard ignoringCancellations, cause is CancellationError else {
            let error = OperationError(dependency: dependency.displayName, cause: cause)
            return .reason(error, name, operation)
          }
          refusal = .cancellation
        }
        return refusal
      })
  }

  /// Keeps operations of the same category from executing at the same time, in any queues.
  ///
  /// The other operations wait for their turn in the order in which they otherwise became ready, and take no slot
  /// meanwhile. If a plain queue starts two of them at once, either may be first. Several categories, of one condition
  /// or of several, are taken all at once. Only an executing operation holds a category, so an operation in a suspended
  /// queue blocks no other. The children of a group share the group's categories with it, but not with each other, and
  /// go before others in the lines for their own. Give a group its children's categories too: if two groups each hold a
  /// category that a child of the other waits for, neither can end.
  public static func mutuallyExclusive(_ category: ExclusionCategory) -> OperationCondition {
    OperationCondition("mutually exclusive: \(category.name)", .all([]), categories: [category])
  }

  // MARK: Answers

  /// Whether there is anything to evaluate; a mutual exclusion is not a question.
  var hasQuestion: Bool {
    switch question {
    case .all(let conditions), .together(let conditions): conditions.contains(where: \.hasQuestion)
    case .allowingCancellation(let condition): condition.hasQuestion
    case .atOnce, .later, .not, .any: true
    }
  }

  /// Whether the answer needs no task.
  var isAtOnce: Bool {
    switch question {
    case .atOnce: true
    case .later: false
    case .not(let condition), .allowingCancellation(let condition): condition.isAtOnce
    case .all(let conditions), .together(let conditions), .any(let conditions): conditions.allSatisfy(\.isAtOnce)
    }
  }

  /// The reason why the condition doesn't hold, or nil if it does.
  func refusal(of operation: AsyncOperation) async -> Refusal? {
    switch question {
    case .atOnce(let ask): return ask(operation)
    case .later(let ask): return await ask(operation)
    case .not(let condition):
      return await condition.refusal(of: operation) == nil ? unmet(.oppositeHolds, operation) : nil
    case .all(let conditions): return await conditions.refusal(of: operation)
    case .together(let conditions):
      return await withTaskGroup { group in
        for condition in conditions {
          group.addTask { await AwaitingWork.perform(for: operation) { await condition.refusal(of: operation) } }
        }
        for await case let refusal? in group {
          group.cancelAll()
          return refusal
        }
        return nil
      }
    case .any(let conditions):
      for condition in conditions where await condition.refusal(of: operation) == nil { return nil }
      return unmet(.noneHolds, operation)
    case .allowingCancellation(let condition):
      return await condition.refusal(of: operation) == nil ? nil : .cancellation
    }
  }

  /// As `refusal(of:)`, for a condition that is answered at once.
  func refusalAtOnce(of operation: AsyncOperation) -> Refusal? {
    switch question {
    case .atOnce(let ask): return ask(operation)
    case .later: programmerError("\(name) is answered later")
    case .not(let condition):
      return condition.refusalAtOnce(of: operation) == nil ? unmet(.oppositeHolds, operation) : nil
    case .all(let conditions), .together(let conditions): return conditions.refusalAtOnce(of: operation)
    case .any(let conditions):
      for condition in conditions where condition.refusalAtOnce(of: operation) == nil { return nil }
      return unmet(.noneHolds, operation)
    case .allowingCancellation(let condition):
      return condition.refusalAtOnce(of: operation) == nil ? nil : .cancellation
    }
  }

  private func unmet(_ code: OperationError.Code, _ operation: AsyncOperation) -> Refusal {
    .reason(OperationError(code, of: operation.displayName), name, operation)
  }
}

extension [OperationCondition] {
  /// The first refusal; the conditions after it are not evaluated.
  func refusal(of operation: AsyncOperation) async -> OperationCondition.Refusal? {
    for condition in self { if let refusal = await condition.refusal(of: operation) { return refusal } }
    return nil
  }

  /// As `refusal(of:)`, for conditions that are answered at once.
  func refusalAtOnce(of operation: AsyncOperation) -> OperationCondition.Refusal? {
    for condition in self { if let refusal = condition.refusalAtOnce(of: operation) { return refusal } }
    return nil
  }
}

extension Operation {
  /// The reason why a finished operation did not do its work; for other classes, only a cancellation is known.
  fileprivate var failureOrCancellation: (any Error)? {
    if let operation = self as? AsyncOperation { return operation.failure }
    return isCancelled ? CancellationError() : nil
  }
}
