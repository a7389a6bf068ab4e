/// What has to hold before an operation may execute.
///
/// It is asked when all that the operation depends on has finished, right before the operation would start; meanwhile the
/// operation takes no slot of its queue and no thread. If it doesn't hold, the operation finishes with a
/// `ConditionFailure` without executing, and what depends on it goes on, as after any end.
public struct OperationCondition: Sendable {
  /// A question that is answered by returning, or by throwing why not.
  enum Question: Sendable {
    case atOnce(@Sendable (AsyncOperation) throws -> Void)
    case later(@Sendable (AsyncOperation) async throws -> Void)
    case all([OperationCondition])

    var isAtOnce: Bool {
      switch self {
      case .atOnce: true
      case .later: false
      case .all(let conditions): conditions.allSatisfy(\.question.isAtOnce)
      }
    }
  }

  /// What it is called when it fails.
  public let name: String
  let question: Question
  /// What its operation shares with no other while it executes.
  var categories: Set<ExclusionCategory> = []

  init(_ name: String, _ question: Question) {
    self.name = name
    self.question = question
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
  /// A mutual exclusion in it is a programmer error: nothing is the opposite of having something to oneself.
  public static func not(_ condition: OperationCondition) -> OperationCondition {
    precondition(
      condition.categories.isEmpty, "a mutual exclusion can be neither negated nor one of several to choose from")
    let name = "not \(condition.name)"
    if condition.question.isAtOnce {
      return OperationCondition(
        name,
        .atOnce { operation in
          do { try condition.answerAtOnce(operation) } catch { return }
          throw ConditionFailure.Reason.holds
        })
    }
    return OperationCondition(
      name,
      .later { operation in
        do { try await condition.answer(operation) } catch { return }
        throw ConditionFailure.Reason.holds
      })
  }

  /// Holds if all of them do; they are asked in this order, until one fails.
  public static func all(_ conditions: OperationCondition...) -> OperationCondition {
    var condition = OperationCondition(
      "all of \(conditions.map(\.name).joined(separator: ", "))", .all(conditions))
    condition.categories = conditions.reduce(into: []) { $0.formUnion($1.categories) }
    return condition
  }

  /// Holds if one of them does; they are asked in this order, until one holds.
  ///
  /// A mutual exclusion among them is a programmer error.
  public static func any(_ conditions: OperationCondition...) -> OperationCondition {
    precondition(
      conditions.allSatisfy(\.categories.isEmpty),
      "a mutual exclusion can be neither negated nor one of several to choose from")
    let name = "any of \(conditions.map(\.name).joined(separator: ", "))"
    let none = ConditionFailure.Reason.noneHolds
    if conditions.allSatisfy(\.question.isAtOnce) {
      return OperationCondition(
        name,
        .atOnce { operation in
          for condition in conditions where (try? condition.answerAtOnce(operation)) != nil { return }
          throw none
        })
    }
    return OperationCondition(
      name,
      .later { operation in
        for condition in conditions {
          do {
            try await condition.answer(operation)
            return
          } catch {}
        }
        throw none
      })
  }

  /// Holds if each operation that this one depends on did what it was made for.
  ///
  /// One of another class than ours has failed only if it was cancelled, because nothing else can be known of it.
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
            throw DependencyFailure(
              dependency: dependency.name ?? "\(type(of: dependency))", cause: CancellationError())
          }
        }
      })
  }

  /// Keeps operations of the same category from executing at the same time, in whatever queues they are.
  ///
  /// The others wait for their turn in the order in which they came to be ready otherwise, and take no slot meanwhile.
  /// Several categories, of one condition or of several, are taken all at once. Only what executes has a category to
  /// itself, so that an operation in a suspended queue is in nobody's way. The children of a group share the group's
  /// categories with it, but not with each other, and go before others in the lines for theirs. What a group's children
  /// need belongs to the group too: of two groups, each with what a child of the other waits for, neither can end.
  public static func mutuallyExclusive(_ category: ExclusionCategory) -> OperationCondition {
    var condition = OperationCondition("mutually exclusive: \(category.name)", .all([]))
    condition.categories = [category]
    return condition
  }

  // MARK: Answers

  func answer(_ operation: AsyncOperation) async throws {
    switch question {
    case .atOnce(let ask): try ask(operation)
    case .later(let ask): try await ask(operation)
    case .all(let conditions): for condition in conditions { try await condition.checkedAnswer(operation) }
    }
  }

  func answerAtOnce(_ operation: AsyncOperation) throws {
    switch question {
    case .atOnce(let ask): try ask(operation)
    case .later: preconditionFailure("\(name) is answered later")
    case .all(let conditions): for condition in conditions { try condition.checkedAnswerAtOnce(operation) }
    }
  }

  /// As `answer`; what is thrown says which condition it was.
  func checkedAnswer(_ operation: AsyncOperation) async throws {
    do { try await answer(operation) } catch { throw failure(of: operation, error) }
  }

  func checkedAnswerAtOnce(_ operation: AsyncOperation) throws {
    do { try answerAtOnce(operation) } catch { throw failure(of: operation, error) }
  }

  private func failure(of operation: AsyncOperation, _ error: any Error) -> any Error {
    switch error {
    // One of all has been named, and so has a source without a value.
    case is ConditionFailure, is SourceFailure: error
    default: ConditionFailure(operation: operation.displayName, condition: name, reason: error)
    }
  }
}

/// What operations that exclude each other have in common.
///
/// Made of text: `.mutuallyExclusive("alerts")`.
public struct ExclusionCategory: Hashable, Sendable, ExpressibleByStringLiteral {
  /// Equal names are the same category, in the whole program.
  public let name: String

  /// Makes a category of its name.
  public init(_ name: String) { self.name = name }

  /// Makes a category of its name.
  public init(stringLiteral name: String) { self.init(name) }
}
