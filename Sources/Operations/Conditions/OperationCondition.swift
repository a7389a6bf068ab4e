/// A rule that has to hold before an operation may execute.
///
/// It is asked when all that the operation depends on has finished, right before the operation would start; meanwhile the
/// operation takes no slot of its queue and no thread. If it doesn't hold, the operation finishes with a
/// `ConditionFailure` without executing, and its dependents run, as after any end.
public struct OperationCondition: Sendable {
  /// A question that is answered by returning, or by throwing why not.
  indirect enum Question: Sendable {
    case atOnce(@Sendable (AsyncOperation) throws -> Void)
    case later(@Sendable (AsyncOperation) async throws -> Void)
    case not(OperationCondition)
    case all([OperationCondition])
    case any([OperationCondition])
  }

  /// Its name in a `ConditionFailure`.
  public let name: String
  private let question: Question
  /// The categories that the operation has to itself while it executes.
  let categories: Set<ExclusionCategory>

  init(_ name: String, _ question: Question, categories: Set<ExclusionCategory> = []) {
    self.name = name
    self.question = question
    self.categories = categories
  }

  /// Makes a condition of a closure, which answers whether it holds or throws why it doesn't.
  ///
  /// The closure runs in a task of its own, which is cancelled with the operation; an answer that comes later is ignored.
  /// It may be asked again if the operation got another dependency meanwhile.
  public init(_ name: String, _ holds: @escaping @Sendable (AsyncOperation) async throws -> Bool) {
    self.init(
      name, .later { operation in if try await !holds(operation) { throw ConditionFailure.Reason.doesNotHold } })
  }

  /// Holds if `condition` doesn't.
  ///
  /// A mutual exclusion in it is a programmer error: having something to oneself has no opposite.
  public static func not(_ condition: OperationCondition) -> OperationCondition {
    precondition(condition.categories.isEmpty, notCombined)
    return OperationCondition("not \(condition.name)", .not(condition))
  }

  /// Holds if all of them do; they are asked in this order, until one fails.
  public static func all(_ conditions: OperationCondition...) -> OperationCondition {
    OperationCondition(
      "all of \(conditions.map(\.name).joined(separator: ", "))", .all(conditions),
      categories: conditions.reduce(into: []) { $0.formUnion($1.categories) })
  }

  /// Holds if one of them does; they are asked in this order, until one holds.
  ///
  /// A mutual exclusion among them is a programmer error.
  public static func any(_ conditions: OperationCondition...) -> OperationCondition {
    precondition(conditions.allSatisfy(\.categories.isEmpty), notCombined)
    return OperationCondition("any of \(conditions.map(\.name).joined(separator: ", "))", .any(conditions))
  }

  private static let notCombined = "a mutual exclusion can be neither negated nor one of several to choose from"

  /// Holds if no operation that this one depends on has failed.
  ///
  /// An operation of another class than `AsyncOperation` has failed if it was cancelled; more is not known of it.
  public static var noFailedDependencies: OperationCondition {
    OperationCondition(
      "no failed dependencies",
      .atOnce { operation in
        for dependency in operation.dependencies {
          if let dependency = dependency as? AsyncOperation {
            if let failure = dependency.failure {
              throw DependencyFailure(dependency: dependency.displayName, cause: failure)
            }
          } else if dependency.isCancelled {
            throw DependencyFailure(dependency: AsyncOperation.displayName(of: dependency), cause: CancellationError())
          }
        }
      })
  }

  /// Keeps operations of the same category from executing at the same time, in whatever queues they are.
  ///
  /// The others wait for their turn in the order in which they became ready otherwise, and take no slot meanwhile. Several
  /// categories, of one condition or of several, are taken all at once. Only an executing operation holds a category, so
  /// one in a suspended queue blocks no other. The children of a group share the group's categories with it, but not with
  /// each other, and go before others in the lines for theirs. Give a group the categories of its children too: of two
  /// groups, each holding what a child of the other waits for, neither can end.
  public static func mutuallyExclusive(_ category: ExclusionCategory) -> OperationCondition {
    OperationCondition("mutually exclusive: \(category.name)", .all([]), categories: [category])
  }

  // MARK: Answers

  /// Whether the answer needs no task.
  var isAtOnce: Bool {
    switch question {
    case .atOnce: true
    case .later: false
    case .not(let condition): condition.isAtOnce
    case .all(let conditions), .any(let conditions): conditions.allSatisfy(\.isAtOnce)
    }
  }

  /// Returns if the condition holds; the error otherwise says which condition it was.
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
    case .any(let conditions):
      for condition in conditions where (try? await condition.answer(operation)) != nil { return }
      throw ConditionFailure.Reason.noneHolds
    }
  }

  private func answerAtOnce(_ operation: AsyncOperation) throws {
    switch question {
    case .atOnce(let ask): try ask(operation)
    case .later: preconditionFailure("\(name) is answered later")
    case .not(let condition):
      if (try? condition.answerAtOnce(operation)) != nil { throw ConditionFailure.Reason.holds }
    case .all(let conditions): for condition in conditions { try condition.checkAtOnce(operation) }
    case .any(let conditions):
      for condition in conditions where (try? condition.answerAtOnce(operation)) != nil { return }
      throw ConditionFailure.Reason.noneHolds
    }
  }

  private func failure(of operation: AsyncOperation, _ error: any Error) -> any Error {
    switch error {
    // A condition within `.all` has been named, and so has a source without a value.
    case is ConditionFailure, is SourceFailure: error
    default: ConditionFailure(operation: operation.displayName, condition: name, reason: error)
    }
  }
}

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

/// Carries the error of a source to the operation that receives from it and fails with the same error.
struct SourceFailure: Error {
  let cause: any Error
}
