import Foundation

/// Operations in the order in which they were added, each once.
struct OperationList {
  private(set) var items: [Operation] = []
  // Below this a walk is cheaper than a set.
  private static let smallest = 8
  private var known: Set<ObjectIdentifier> = []

  func contains(_ operation: Operation) -> Bool {
    known.isEmpty ? items.contains { $0 === operation } : known.contains(ObjectIdentifier(operation))
  }

  /// Must not be there already.
  mutating func append(_ operation: Operation) {
    items.append(operation)
    if !known.isEmpty {
      known.insert(ObjectIdentifier(operation))
    } else if items.count > Self.smallest {
      known = Set(items.map(ObjectIdentifier.init))
    }
  }

  /// False if it was not there.
  mutating func remove(_ operation: Operation) -> Bool {
    guard let index = items.firstIndex(where: { $0 === operation }) else { return false }
    items.remove(at: index)
    known = []
    return true
  }

  mutating func takeAll() -> [Operation] {
    defer { self = OperationList() }
    return items
  }
}
