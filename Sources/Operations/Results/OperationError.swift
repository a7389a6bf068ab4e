import Foundation

/// A failure for a reason that the library knows: a code to act on, and the operations and errors behind it.
///
///     do { try await upload.value } catch let error as OperationError where error.code == .timedOut { … }
///
/// An error that is thrown by an operation's own code stays as it is. It is `underlying` in the failures of groups and
/// conditions that it leads to; `AsyncOperation.failure(as:)` finds it there.
public struct OperationError: Error, Equatable, LocalizedError, CustomStringConvertible {
  /// The kinds of failure that a program treats differently.
  public enum Code: Sendable {
    /// The operation executed for longer than its `limit`, or at its deadline, and was cancelled.
    case timedOut
    /// The operation finished without executing because its `condition` did not hold; the reason is underlying.
    case conditionFailed
    /// A reason for `conditionFailed`: the condition's closure returned false.
    case doesNotHold
    /// A reason for `conditionFailed`: the condition is the negation of one that holds.
    case oppositeHolds
    /// A reason for `conditionFailed`: no condition of several holds.
    case noneHolds
    /// A reason for `conditionFailed`: a dependency failed, or one of its own dependencies.
    ///
    /// The failures at the end of a long chain are as short as the first: only `steps` grows.
    case dependencyFailed
    /// Children of a group failed; their failures are underlying, in the order of their ends.
    case childrenFailed
    /// Children were added to a group that had finished.
    case groupHasFinished
    /// The operation finished without a result: a fault of its class, which called only `finish()`.
    case missingResult
    /// A dependency or a child would make operations wait for each other indefinitely; it was not added.
    case dependencyCycle
    /// Operations waited for each other indefinitely; one of them was cancelled, so that the others continue.
    ///
    /// Found in three cases: a group takes part, which ends after its children; an executing operation has a category
    /// to itself that another operation waits for; a condition or the task of a `TaskOperation` waits for an operation.
    case deadlock
    /// A task waited for the end of an operation that was freed before: it was in no queue, or never started.
    case freed
  }

  /// The kind of failure.
  public let code: Code
  /// The operation's name, or the name of its class.
  ///
  /// With `dependencyFailed` and `childrenFailed`, the operation that failed first; with `deadlock`, the cancelled one.
  public let operation: String
  /// The name of the condition, with `conditionFailed`.
  public let condition: String?
  /// The time limit, with `timedOut`; at a deadline, the time from the beginning to it.
  public let limit: Duration?
  /// The names of several operations.
  ///
  /// With `childrenFailed`, the children that failed, in the order of `underlying`. With `dependencyCycle` and
  /// `deadlock`, each operation waits for the next; the last is the first again.
  public let names: [String]
  /// The number of dependencies and groups on the way to the operation that failed first; 0 with most codes.
  ///
  /// With `dependencyFailed` and `childrenFailed`; 1 for a direct dependency or child.
  public let steps: Int
  /// The failure of the operation that failed first, with `dependencyFailed` and `childrenFailed`.
  ///
  /// Never a failure because of a dependency.
  public let rootCause: (any Error)?
  /// Whether a dependency failed, or a child failed because of a dependency.
  private let isLedByDependency: Bool
  /// Whether the time limit was a date.
  private let isAtDeadline: Bool
  private let causes: Causes

  /// The errors that led to this one: a condition's reason, the root cause of a dependency, the children's failures.
  public var underlying: [any Error] { causes.errors }

  init(
    _ code: Code, of operation: String, condition: String? = nil, limit: Duration? = nil, isAtDeadline: Bool = false,
    names: [String] = [], steps: Int = 0, rootCause: (any Error)? = nil, isLedByDependency: Bool = false,
    underlying: [any Error] = []
  ) {
    self.code = code
    self.operation = operation
    self.condition = condition
    self.limit = limit
    self.names = names
    self.steps = steps
    self.rootCause = rootCause
    self.isLedByDependency = isLedByDependency
    self.isAtDeadline = isAtDeadline
    causes = Causes(underlying)
  }

  /// The reason why `noFailedDependencies` does not hold; the origin of `cause` is taken over.
  init(dependency: String, cause: any Error) {
    let origin = Self.origin(of: cause, in: dependency, throughGroups: false)
    self.init(
      .dependencyFailed, of: origin.operation, steps: origin.steps + 1, rootCause: origin.error,
      isLedByDependency: true, underlying: [origin.error])
  }

  /// The failure of a group, from its failed children in the order of their ends; nil if there are none.
  init?(children: [(name: String, failure: any Error)]) {
    guard let first = children.first else { return nil }
    let origin = Self.origin(of: first.failure, in: first.name, throughGroups: true)
    self.init(
      .childrenFailed, of: origin.operation, names: children.map(\.name), steps: origin.steps + 1,
      rootCause: origin.error, isLedByDependency: children.contains { Self.led($0.failure)?.isLedByDependency == true },
      underlying: children.map(\.failure))
  }

  /// A refused dependency or child; the last operation is the first again.
  init(cycle: [Operation]) {
    let names = cycle.map(\.displayName)
    self.init(.dependencyCycle, of: names.first ?? "", names: names)
  }

  /// The same code, names and numbers, and underlying errors of the same text.
  public static func == (left: OperationError, right: OperationError) -> Bool {
    (left.code, left.operation, left.condition, left.limit, left.names, left.steps)
      == (right.code, right.operation, right.condition, right.limit, right.names, right.steps)
      && left.isAtDeadline == right.isAtDeadline && left.underlying.map(words(of:)) == right.underlying.map(words(of:))
  }

  // MARK: Origin

  /// The failure at the start of a chain of failures, and the operation that failed first.
  ///
  /// Found in constant time however long the chain is, because each error in it has the root cause.
  private static func origin(
    of error: any Error, in operation: String, throughGroups: Bool
  ) -> (operation: String, error: any Error, steps: Int) {
    guard let led = led(error), throughGroups || led.isLedByDependency, let cause = led.rootCause else {
      return (operation, error, 0)
    }
    return (led.operation, cause, led.steps)
  }

  /// The part of an operation's failure that has the root cause; nil if it failed by itself.
  private static func led(_ error: any Error) -> OperationError? {
    guard let error = error as? OperationError else { return nil }
    if let reason = error.underlying.first as? OperationError, error.code == .conditionFailed {
      return reason.code == .dependencyFailed ? reason : nil
    }
    return error.rootCause == nil ? nil : error
  }

  /// Errors; nested ones are freed one by one, because recursion would overflow the stack.
  private final class Causes: @unchecked Sendable {
    // Safe: changed only by the holder of the only reference.
    var errors: [any Error]

    init(_ errors: [any Error]) { self.errors = errors }

    deinit {
      var pile = exchange(&errors, with: [])
      while !pile.isEmpty {
        guard var inner = Self.causes(of: pile.removeLast()), isKnownUniquelyReferenced(&inner) else { continue }
        pile += exchange(&inner.errors, with: [])
      }
    }

    /// `error` is released on return.
    private static func causes(of error: consuming any Error) -> Causes? { (error as? OperationError)?.causes }
  }

  // MARK: Text

  /// A few words or one sentence.
  ///
  /// The failure of a group names its first child and, if that is a group, the operation that failed first. The middle
  /// of a very long cycle is left out.
  public var description: String {
    switch code {
    case .timedOut:
      let reason = isAtDeadline ? "its deadline had passed" : "it executed for longer than \(limit ?? .zero)"
      return "\(operation) was cancelled because \(reason)"
    case .conditionFailed:
      return "\(operation) did not execute: \(condition ?? ""): \(underlying.first.map(words(of:)) ?? "")"
    case .doesNotHold: return "it does not hold"
    case .oppositeHolds: return "its opposite holds"
    case .noneHolds: return "none of them holds"
    case .dependencyFailed: return failed(words(of:))
    case .childrenFailed:
      guard let inner = underlying[0] as? OperationError, inner.code == .childrenFailed else { return groupFailed }
      return "\(names[0]) failed: \(inner.groupFailed)\(others)"
    case .groupHasFinished: return "the group has finished, and takes no more children"
    case .missingResult: return "\(operation) finished without a result; call finish(_:) with one"
    case .dependencyCycle:
      let isLong = names.count > 12
      let shown = isLong ? names.prefix(4) + ["… \(names.count - 7) more …"] + names.suffix(3) : names[...]
      return "the dependency would close a cycle in which nothing can start: \(shown.joined(separator: " -> "))"
    case .deadlock:
      return "\(operation) was cancelled because these wait for each other: \(names.joined(separator: " -> "))"
    case .freed: return "\(operation) was freed before it had finished; keep it, or add it to a queue"
    }
  }

  /// The description.
  public var errorDescription: String? { description }

  private var groupFailed: String { failed(line(of:)) + others }
  private var others: String { names.count > 1 ? " (and \(names.count - 1) more)" : "" }

  private func failed(_ text: (any Error) -> String) -> String {
    "\(operation)\(steps > 1 ? ", \(steps) steps away," : "") failed: \(rootCause.map(text) ?? "")"
  }
}

extension Operation {
  /// The operation's name or, without one, the name of its class.
  final var displayName: String { Self.displayName(name, of: type(of: self)) }

  static func displayName(_ name: String?, of type: Operation.Type) -> String {
    guard let name, !name.isEmpty else { return "\(type)" }
    return name
  }
}
