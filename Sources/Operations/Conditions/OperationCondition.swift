import Foundation

/// A rule that has to hold before an operation may execute.
///
/// It is asked when the queue starts the operation, which keeps its slot meanwhile, but no thread; in an `OperationFeeder` a
/// condition that takes its time is asked before that, when a slot is free, and takes none, unless the operation excludes others.
/// If it doesn't hold, the operation finishes with a `ConditionFailure` without executing, and its dependents run, as after any
/// end.
public struct OperationCondition: Sendable {
  /// A question that is answered by returning, or by throwing why not.
  indirect enum Question: Sendable {
    case atOnce(@Sendable (AsyncOperation) throws -> Void)
    case later(@Sendable (AsyncOperation) async throws -> Void)
    case not(OperationCondition)
    case all([OperationCondition])
    case together([OperationCondition])
    case any([OperationCondition])
    case orCancelled(OperationCondition)
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
    require(condition.categories.isEmpty, notCombined)
    return OperationCondition("not \(condition.name)", .not(condition))
  }

  /// Holds if all of them do; they are asked in this order, until one fails.
  public static func all(_ conditions: OperationCondition...) -> OperationCondition {
    OperationCondition(
      "all of \(conditions.map(\.name).joined(separator: ", "))", .all(conditions),
      categories: conditions.reduce(into: []) { $0.formUnion($1.categories) })
  }

  /// Holds if all of them do; they are asked side by side, and the first that fails ends the questions of the others.
  ///
  ///     sync.addCondition(.together(isOnline, mayUseContacts))
  ///
  /// For conditions that take their time and don't need each other's answer.
  public static func together(_ conditions: OperationCondition...) -> OperationCondition {
    OperationCondition(
      "all of \(conditions.map(\.name).joined(separator: ", "))", .together(conditions),
      categories: conditions.reduce(into: []) { $0.formUnion($1.categories) })
  }

  /// Holds if one of them does; they are asked in this order, until one holds.
  ///
  /// A mutual exclusion among them is a programmer error.
  public static func any(_ conditions: OperationCondition...) -> OperationCondition {
    require(conditions.allSatisfy(\.categories.isEmpty), notCombined)
    return OperationCondition("any of \(conditions.map(\.name).joined(separator: ", "))", .any(conditions))
  }

  private static let notCombined = "a mutual exclusion can be neither negated nor one of several to choose from"

  /// This condition, except that an operation that it stops is cancelled, and so has no `ConditionFailure`.
  public func orCancelled() -> OperationCondition {
    OperationCondition(name, .orCancelled(self), categories: categories)
  }

  /// Makes a condition that is asked after another operation, which it makes itself, has finished, whichever way it ended.
  ///
  /// `dependency` is called when the condition is due; nil if nothing needs to be done first. The operation is announced to
  /// observers as produced. It runs in the feeder or the group that the operation with the condition is in; a plain queue
  /// might be full with what waits here, so there it runs beside the queue. It is cancelled with the operation.
  public init(
    _ name: String, after dependency: @escaping @Sendable (AsyncOperation) async throws -> Operation?,
    _ holds: @escaping @Sendable (AsyncOperation) async throws -> Bool
  ) {
    self.init(name) { operation in
      if let dependency = try await dependency(operation) { await operation.runFirst(dependency) }
      return try await holds(operation)
    }
  }

  /// Holds if no operation that this one depends on has failed.
  ///
  /// An operation of another class than `AsyncOperation` has failed if it was cancelled; more is not known of it.
  public static var noFailedDependencies: OperationCondition { noFailedDependencies(ignoringCancellations: false) }

  /// Holds if no operation that this one depends on has failed; one that was cancelled without an error has, unless
  /// `ignoringCancellations`.
  ///
  /// Then this operation is cancelled as well, without an error, unless another dependency has failed.
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

  /// Keeps operations of the same category from executing at the same time, in whatever queues they are.
  ///
  /// The others wait for their turn in the order in which they became ready otherwise, and take no slot meanwhile; of
  /// two that a plain queue starts at once either may be first. Several categories, of one condition or of several, are
  /// taken all at once. Only an executing operation holds a category, so one in a suspended queue blocks no other. The
  /// children of a group share the group's categories with it, but not with each other, and go before others in the
  /// lines for theirs. Give a group the categories of its children too: of two groups, each holding what a child of the
  /// other waits for, neither can end.
  public static func mutuallyExclusive(_ category: ExclusionCategory) -> OperationCondition {
    OperationCondition("mutually exclusive: \(category.name)", .all([]), categories: [category])
  }

  // MARK: Answers

  /// Whether there is anything to ask; a mutual exclusion is not a question.
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
    // A condition within `.all` has been named, and so has a source without a value.
    case is ConditionFailure, is SourceFailure, is QuietRefusal: error
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

  /// Makes the error that an operation of this name fails with.
  public init(operation: String, condition: String, reason: any Error) {
    self.operation = operation
    self.condition = condition
    self.reason = reason
  }

  /// One sentence.
  public var description: String { "\(operation) did not execute: \(condition): \(words(of: reason))" }
}

/// Why `noFailedDependencies` does not hold: what failed first, however many dependencies lie between.
///
/// A failure that a dependency has only because of one of its own is not wrapped again: its cause is taken over, one step
/// further away. So the failures at the end of a long chain are as short as that of the first to be stopped.
public struct DependencyFailure: Error, CustomStringConvertible {
  /// The name of the operation that failed first, or that of its class.
  public let dependency: String
  /// What it failed with; never because of a dependency.
  public let cause: any Error
  /// How many dependencies and groups away it is; 1 is a dependency of the operation's own.
  public let steps: Int

  /// Makes the error that a dependency of this name leads to, or takes over what led to `cause`.
  public init(dependency: String, cause: any Error) {
    let origin = FailureOrigin(of: cause, in: dependency)
    (self.dependency, self.cause, steps) = (origin.operation, origin.error, origin.steps + 1)
  }

  /// A few words.
  public var description: String {
    FailureOrigin(dependency, cause, steps - 1).sentence(words(of: cause))
  }
}

/// Why an operation that a condition stops is cancelled rather than failed.
struct QuietRefusal: Error {}

extension Operation {
  /// Why a finished operation did not do its work; of another class than ours only a cancellation is known.
  fileprivate var failureOrCancellation: (any Error)? {
    if let operation = self as? AsyncOperation { return operation.failure }
    return isCancelled ? CancellationError() : nil
  }
}

/// Carries the error of a source to the operation that receives from it and fails with the same error.
struct SourceFailure: Error {
  let cause: any Error
}
