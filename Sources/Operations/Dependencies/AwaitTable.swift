import Foundation

/// The operations that wait for the end of another by code: in one of their conditions, or in the task that does their
/// work.
///
/// A value, protected by the dependency graph's lock.
struct AwaitTable {
  private struct Await {
    weak var waiting: AsyncOperation?
    weak var awaited: AsyncOperation?
  }

  private var awaits: [Int: Await] = [:]
  /// The numbers of the awaits of each operation and of all operations inside it.
  private var numbers: [ObjectIdentifier: Set<Int>] = [:]
  private var last = 0

  /// The operations whose ends an operation waits for: the operations it awaits, or the operations inside it that
  /// await.
  func ends(before operation: AsyncOperation) -> [AsyncOperation] {
    guard !numbers.isEmpty, let numbers = numbers[ObjectIdentifier(operation)] else { return [] }
    return numbers.sorted().compactMap { number in
      guard let entry = awaits[number], let waiting = entry.waiting else { return nil }
      return waiting === operation ? entry.awaited : waiting
    }
  }

  /// `homes` are the operation itself and the groups that contain it.
  fileprivate mutating func begin(
    _ operation: AsyncOperation, _ awaited: AsyncOperation, in homes: [ObjectIdentifier]
  ) -> Int {
    last += 1
    awaits[last] = Await(waiting: operation, awaited: awaited)
    for home in homes { numbers[home, default: []].insert(last) }
    return last
  }

  fileprivate mutating func end(_ number: Int, in homes: [ObjectIdentifier]) {
    awaits[number] = nil
    for home in homes {
      numbers[home]?.remove(number)
      if numbers[home]?.isEmpty == true { numbers[home] = nil }
    }
  }
}

extension AsyncOperation {
  /// Records that this operation waits for the end of another until the token is freed; searches for a deadlock.
  final func beginAwait(of awaited: AsyncOperation) -> AwaitToken {
    let homes = sequence(first: self) { $0.parts.existingSideState?.group }.map(ObjectIdentifier.init)
    let number = DependencyGraph.change { contents, _ in
      contents.mayDeadlock = true
      return contents.awaits.begin(self, awaited, in: homes)
    }
    DependencyGraph.breakDeadlock(of: [isExecuting ? .end(self) : .start(self)])
    return AwaitToken(number: number, homes: homes)
  }
}

/// Ends an entry of the `AwaitTable`.
final class AwaitToken: Sendable {
  private let number: Int
  private let homes: [ObjectIdentifier]

  fileprivate init(number: Int, homes: [ObjectIdentifier]) {
    self.number = number
    self.homes = homes
  }

  deinit { DependencyGraph.contents.withLock { $0.awaits.end(number, in: homes) } }
}

/// The operation whose work the current task is, as a weak reference.
enum AwaitingOperation {
  struct Weak: @unchecked Sendable {
    // Safe: a weak reference that is never reassigned.
    weak var operation: AsyncOperation?
  }

  /// Also set in tasks that the operation's task has created, which are not its work.
  @TaskLocal static var current: Weak?

  /// Records that the current task waits for `awaited`, if the task is the work of an operation.
  static func wait(for awaited: Operation) -> AwaitToken? {
    guard let operation = current?.operation, operation.isItsTaskCurrent, operation !== awaited,
      let awaited = awaited as? AsyncOperation, !awaited.isFinished
    else { return nil }
    return operation.beginAwait(of: awaited)
  }
}
