import Foundation

/// A rule that has to hold before an operation may execute.
///
/// A condition is evaluated when the queue starts the operation, which keeps its slot meanwhile, but no thread. In an
/// `OperationFeeder`, a condition that takes time is evaluated before that, when a slot is free, and takes no slot,
/// unless the operation excludes others. If the condition doesn't hold, the operation finishes with a
/// `ConditionFailure` without executing, and its dependents run, as after any end.
public struct OperationCondition: Sendable {
  /// A question that is answered by returning, or by throwing the reason why the condition doesn't hold.
  indirect enum Question: Sendable {
    case atOnce(@Sendable (AsyncOperation) throws -> Void)
    case later(@Sendable (AsyncOperation) async throws -> Void)
    case not(OperationCondition)
    case all([OperationCondition])
    case together([OperationCondition])
    case any([OperationCondition])
    case orCancelled(OperationCondition)
  }

  /// The condition's name in a `ConditionFailure`.
  public let name: String
  private let question: Question
  /// The categories that the operation has to itself while it executes.
  let categories: Set<ExclusionCategory>

  init(_ name: String, _ question: Question, categories: Set<ExclusionCategory> = []) {
    self.name = name
    self.question = question
    self.categories = categories
  }

  /// Makes a condition from a closure, which returns whether it holds or throws the reason why it doesn't.
  ///
  /// The closure runs in a task of its own, which is cancelled with the operation; a later answer is ignored. The
  /// closure may be called again if the operation got another dependency meanwhile.
  public init(_ name: String, _ holds: @escaping @Sendable (AsyncOperation) async throws -> Bool) {
    self.init(
      name, .later { operation in if try await !holds(operation) { throw ConditionFailure.Reason.doesNotHold } })
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
    OperationCondition(
      "all of \(conditions.map(\.name).joined(separator: ", "))", .all(conditions),
      categories: conditions.reduce(into: []) { $0.formUnion($1.categories) })
  }

  /// Holds if all conditions do; they are evaluated concurrently, and the first failure cancels the others.
  ///
  ///     sync.addCondition(.together(isOnline, mayUseContacts))
  ///
  /// For conditions that take time and don't need each other's answer.
  public static func together(_ conditions: OperationCondition...) -> OperationCondition {
    OperationCondition(
      "all of \(conditions.map(\.name).joined(separator: ", "))", .together(conditions),
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

  /// This condition, except that it cancels an operation that it stops, which then has no `ConditionFailure`.
  public func orCancelled() -> OperationCondition {
    OperationCondition(name, .orCancelled(self), categories: categories)
  }

  /// Makes a condition that first runs another operation, made by `dependency`, and is evaluated after its end.
  ///
  /// `dependency` is called when the condition is due; it returns nil if no operation has to run first. The outcome of
  /// the operation does not matter. The operation is announced to observers as produced. It runs in the feeder or the
  /// group of the operation with the condition. A plain queue might be full of operations that wait here, so there it
  /// runs beside the queue. It is cancelled with the operation.
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
    OperationCondition(
      "no failed dependencies",
      .atOnce { operation in
        var isAnyCancelled = false
        for dependency in operation.dependencies {
          guard let cause = dependency.failureOrCancellation else { continue }
          guard ignoringCancellations, cause is CancellationError else {
            throw DependencyFailure(dependency: AsyncOperation.displayName(of: dependency), cause: cause)
          }
          isAnyCancelled = true
        }
        if isAnyCancelled { throw QuietRefusal() }
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
    case .orCancelled(let condition): condition.hasQuestion
    case .atOnce, .later, .not, .any: true
    }
  }

  /// Whether the answer needs no task.
  var isAtOnce: Bool {
    switch question {
    case .atOnce: true
    case .later: false
    case .not(let condition), .orCancelled(let condition): condition.isAtOnce
    case .all(let conditions), .together(let conditions), .any(let conditions): conditions.allSatisfy(\.isAtOnce)
    }
  }

  /// Returns if the condition holds; otherwise throws an error that names the condition.
  func check(_ operation: AsyncOperation) async throws {
    do { try await answer(operation) } catch { throw failure(of: operation, error) }
  }

  /// As `check`, for a condition that is answered at once.
  func checkAtOnce(_ operation: AsyncOperation) throws {
    do { try answerAtOnce(operation) } catch { throw failure(of: operation, error) }
  }

  private func answer(_ operation: AsyncOperation) async throws {
    switch question {
    case .atOnce(let ask): try ask(operation)
    case .later(let ask): try await ask(operation)
    case .not(let condition):
      if (try? await condition.answer(operation)) != nil { throw ConditionFailure.Reason.holds }
    case .all(let conditions): for condition in conditions { try await condition.check(operation) }
    case .together(let conditions):
      try await withThrowingTaskGroup { group in
        for condition in conditions { group.addTask { try await condition.check(operation) } }
        for try await () in group {}
      }
    case .any(let conditions):
      for condition in conditions where (try? await condition.answer(operation)) != nil { return }
      throw ConditionFailure.Reason.noneHolds
    case .orCancelled(let condition):
      do { try await condition.answer(operation) } catch { throw QuietRefusal() }
    }
  }

  private func answerAtOnce(_ operation: AsyncOperation) throws {
    switch question {
    case .atOnce(let ask): try ask(operation)
    case .later: programmerError("\(name) is answered later")
    case .not(let condition):
      if (try? condition.answerAtOnce(operation)) != nil { throw ConditionFailure.Reason.holds }
    case .all(let conditions), .together(let conditions):
      for condition in conditions { try condition.checkAtOnce(operation) }
    case .any(let conditions):
      for condition in conditions where (try? condition.answerAtOnce(operation)) != nil { return }
      throw ConditionFailure.Reason.noneHolds
    case .orCancelled(let condition):
      do { try condition.answerAtOnce(operation) } catch { throw QuietRefusal() }
    }
  }

  private func failure(of operation: AsyncOperation, _ error: any Error) -> any Error {
    switch error {
    // A condition within `.all` has been named already, and so has a source without a value.
    case is ConditionFailure, is SourceFailure, is QuietRefusal: error
    default: ConditionFailure(operation: operation.displayName, condition: name, reason: error)
    }
  }
}

/// An operation finished without executing because one of its conditions did not hold.
public struct ConditionFailure: Error, CustomStringConvertible {
  /// The reason for the failure of a condition that threw no error of its own.
  public enum Reason: Error, Equatable, CustomStringConvertible {
    /// The condition's closure returned false.
    case doesNotHold
    /// The condition is the negation of one that holds.
    case holds
    /// No condition of several holds.
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

  /// The operation's name, or the name of its class.
  public let operation: String
  /// The name of the condition.
  public let condition: String
  /// The error thrown by the condition, or a `Reason`.
  public let reason: any Error

  /// Makes the error for an operation of this name.
  public init(operation: String, condition: String, reason: any Error) {
    self.operation = operation
    self.condition = condition
    self.reason = reason
  }

  /// One sentence.
  public var description: String { "\(operation) did not execute: \(condition): \(words(of: reason))" }
}

/// The reason why `noFailedDependencies` does not hold: the first failure, however many dependencies lie between.
///
/// A failure that a dependency has only because of one of its own dependencies is not wrapped again: its cause is taken
/// over, one step further away. So the failures at the end of a long chain are as short as the failure of the first
/// stopped operation.
public struct DependencyFailure: Error, CustomStringConvertible {
  /// The name of the operation that failed first, or the name of its class.
  public let dependency: String
  /// The failure of that operation; never a failure because of a dependency.
  public let cause: any Error
  /// The number of dependencies and groups on the way to that operation; 1 for a direct dependency.
  public let steps: Int

  /// Makes the error for a failed dependency of this name, or takes over the origin of `cause`.
  public init(dependency: String, cause: any Error) {
    let origin = FailureOrigin(of: cause, in: dependency)
    (self.dependency, self.cause, steps) = (origin.operation, origin.error, origin.steps + 1)
  }

  /// A few words.
  public var description: String {
    FailureOrigin(dependency, cause, steps - 1).sentence(words(of: cause))
  }
}

/// Thrown when a condition cancels an operation instead of failing it.
struct QuietRefusal: Error {}

extension Operation {
  /// The reason why a finished operation did not do its work; for other classes, only a cancellation is known.
  fileprivate var failureOrCancellation: (any Error)? {
    if let operation = self as? AsyncOperation { return operation.failure }
    return isCancelled ? CancellationError() : nil
  }
}

/// Carries the error of a source to the operation that receives from it and fails with the same error.
struct SourceFailure: Error {
  let cause: any Error
}
