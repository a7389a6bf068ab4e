import Foundation

/// Something that `IdentityList` tells from its equals.
protocol Identifying {
  var identity: ObjectIdentifier { get }
}

extension Operation: Identifying {
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

extension DependencyNode: Identifying {
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// Elements in the order in which they were added, found and removed in constant time however many there are.
struct IdentityList<Element: Identifying> {
  private var dense: [Element] = []
  /// All of them with a hole for each that was removed, from the first removal from a large list until half are holes.
  private var sparse: [Element?] = []
  private var holes = 0
  /// Where each element stands; made when a large list is first searched.
  private var index: [ObjectIdentifier: Int] = [:]
  // Below this a walk is cheaper than an index.
  private static var smallest: Int { 8 }

  var items: [Element] { sparse.isEmpty ? dense : sparse.compactMap { $0 } }
  var count: Int { dense.count + sparse.count - holes }
  var isEmpty: Bool { count == 0 }

  mutating func contains(_ element: Element) -> Bool { place(of: element.identity) != nil }

  mutating func find(_ identity: ObjectIdentifier) -> Element? {
    place(of: identity).flatMap { sparse.isEmpty ? dense[$0] : sparse[$0] }
  }

  /// Must not be there already.
  mutating func append(_ element: Element) {
    if !index.isEmpty { index[element.identity] = dense.count + sparse.count }
    if sparse.isEmpty { dense.append(element) } else { sparse.append(element) }
  }

  /// Returns the element; nil if it was not there.
  @discardableResult
  mutating func remove(_ identity: ObjectIdentifier) -> Element? {
    guard let place = place(of: identity) else { return nil }
    guard dense.count + sparse.count > Self.smallest else { return dense.remove(at: place) }
    if sparse.isEmpty {
      sparse = dense
      dense = []
    }
    let element = sparse[place]
    sparse[place] = nil
    index[identity] = nil
    holes += 1
    if 2 * holes >= sparse.count {
      let left = items
      self = IdentityList()
      dense = left
    }
    return element
  }

  /// Calls `body` with each in order, without copying them first.
  func visit(_ body: (Element) -> Void) {
    for place in dense.indices { body(dense[place]) }
    for case let element? in sparse { body(element) }
  }

  /// The elements that nothing else references.
  mutating func findUnshared() -> [Element] where Element: AnyObject {
    let unshared = dense.indices.filter { isKnownUniquelyReferenced(&dense[$0]) }.map { dense[$0] }
    return unshared + sparse.indices.filter { isKnownUniquelyReferenced(&sparse[$0]) }.compactMap { sparse[$0] }
  }

  mutating func takeAll() -> [Element] {
    defer { self = IdentityList() }
    return items
  }

  private mutating func place(of identity: ObjectIdentifier) -> Int? {
    guard dense.count + sparse.count > Self.smallest else { return dense.firstIndex { $0.identity == identity } }
    if index.isEmpty {
      for (place, element) in dense.enumerated() { index[element.identity] = place }
      for (place, element) in sparse.enumerated() { if let element { index[element.identity] = place } }
    }
    return index[identity]
  }
}
