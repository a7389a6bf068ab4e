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
  mutating func begin(
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

  mutating func end(_ number: Int, of operation: ObjectIdentifier) {
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
