import Foundation

/// The operations that wait for the end of another by code: in a condition, in the task that does their work, in an
/// awaited handler, or for an attempt that they make.
///
/// A value, protected by the dependency graph's lock.
struct AwaitTable {
  private struct Waits {
    weak var operation: AsyncOperation?
    /// The operation's own awaits, each for the end of any one of the operations returned.
    var own: [Int: @Sendable () -> [AsyncOperation]] = [:]
    /// The operations directly inside it that have an entry.
    var inside: Set<ObjectIdentifier> = []
    var outer: ObjectIdentifier?

    var isEmpty: Bool { own.isEmpty && inside.isEmpty }
  }

  /// The operations that await, and all operations that contain one.
  private var waits: [ObjectIdentifier: Waits] = [:]
  private var last = 0

  /// The ends that an operation waits for: of the operations it awaits, or of the operations inside it that await.
  ///
  /// Each element is one wait, for the end of any one of its operations.
  func ends(before operation: AsyncOperation) -> [[AsyncOperation]] {
    guard !waits.isEmpty, let outer = waits[ObjectIdentifier(operation)] else { return [] }
    var found = outer.own.map { (number: $0.key, ends: $0.value()) }
    var pile = Array(outer.inside)
    while let id = pile.popLast() {
      guard let inner = waits[id] else { continue }
      if inner.own.isEmpty {
        pile += inner.inside
      } else if let waiting = inner.operation {
        found += inner.own.keys.map { ($0, [waiting]) }
      }
    }
    return found.sorted { $0.number < $1.number }.map(\.ends)
  }

  /// `passed` gets operations to be released after the lock.
  fileprivate mutating func begin(
    _ operation: AsyncOperation, _ awaited: @escaping @Sendable () -> [AsyncOperation],
    _ passed: inout [AsyncOperation]
  ) -> Int {
    last += 1
    var id = ObjectIdentifier(operation)
    var isNew = waits[id] == nil
    waits[id, default: Waits(operation: operation)].own[last] = awaited
    // Up to an operation that has an entry, because those around it have one too: nests may be deep.
    var inner = operation
    while isNew, let group = inner.parts.existingRareState?.group {
      passed.append(group)
      let outer = ObjectIdentifier(group)
      isNew = waits[outer] == nil
      waits[outer, default: Waits(operation: group)].inside.insert(id)
      waits[id]?.outer = outer
      (inner, id) = (group, outer)
    }
    return last
  }

  fileprivate mutating func end(_ number: Int, of operation: ObjectIdentifier) {
    var id = operation
    waits[id]?.own[number] = nil
    while let entry = waits[id], entry.isEmpty {
      waits[id] = nil
      guard let outer = entry.outer else { return }
      waits[outer]?.inside.remove(id)
      id = outer
    }
  }
}

extension AsyncOperation {
  /// Records that this operation waits for the end of another until the token is freed; searches for a deadlock.
  final func beginAwait(of awaited: AsyncOperation) -> AwaitToken {
    beginAwait { [weak awaited] in awaited.map { [$0] } ?? [] }
  }

  /// As the other, for the end of any one of several operations, which `awaited` returns under the graph's lock.
  fileprivate final func beginAwait(_ awaited: @escaping @Sendable () -> [AsyncOperation]) -> AwaitToken {
    let number = DependencyGraph.change { contents, effects in
      contents.mayDeadlock = true
      var passed: [AsyncOperation] = []
      defer { effects.release(passed) }
      return contents.awaits.begin(self, awaited, &passed)
    }
    DependencyGraph.breakDeadlock(of: [isExecuting ? .end(self) : .start(self)])
    return AwaitToken(number: number, operation: ObjectIdentifier(self))
  }
}

/// Ends an entry of the `AwaitTable`.
final class AwaitToken: Sendable {
  private let number: Int
  private let operation: ObjectIdentifier

  fileprivate init(number: Int, operation: ObjectIdentifier) {
    self.number = number
    self.operation = operation
  }

  deinit { DependencyGraph.contents.withLock { $0.awaits.end(number, of: operation) } }
}

/// The work of an operation that the current task does: its closure, its conditions or its awaited handlers.
struct AwaitingWork: @unchecked Sendable {
  // Safe: a weak reference that is never reassigned, and a constant.
  private weak var operation: AsyncOperation?
  private let task: Int?

  /// Also set in tasks that the work has created, which are not the work.
  @TaskLocal private static var current: AwaitingWork?

  /// The operation whose work the current task is.
  static var currentOperation: AsyncOperation? {
    guard let current, current.task == currentTask else { return nil }
    return current.operation
  }

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Does work of `operation` in the current task.
  static func perform<Value>(for operation: AsyncOperation, _ work: () async throws -> Value) async rethrows -> Value {
    try await $current.withValue(AwaitingWork(operation: operation, task: currentTask), operation: work)
  }

  /// Records that the current task waits for `awaited`, if the task does the work of an operation.
  static func wait(for awaited: Operation) -> AwaitToken? {
    guard let operation = currentOperation, operation !== awaited, let awaited = awaited as? AsyncOperation,
      !awaited.isFinished
    else { return nil }
    return operation.beginAwait(of: awaited)
  }

  /// As the other, for the end of any one of several operations, which the caller retains.
  static func wait(for awaited: @escaping @Sendable () -> [AsyncOperation]) -> AwaitToken? {
    currentOperation?.beginAwait(awaited)
  }
}
