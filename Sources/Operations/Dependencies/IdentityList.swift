import Foundation

/// An element that `IdentityList` distinguishes from its equals.
protocol Identifying {
  var identity: ObjectIdentifier { get }
}

extension Operation: Identifying {
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// Elements in the order of their addition, found and removed in constant time regardless of their number.
struct IdentityList<Element: Identifying> {
  private var dense: [Element] = []
  /// All elements with a hole for each removed one, from the first removal from a large list until half are holes.
  private var sparse: [Element?] = []
  private var holes = 0
  /// The position of each element; created when a large list is first searched.
  private var index: [ObjectIdentifier: Int] = [:]
  // Below this count a linear search is cheaper than an index.
  private static var smallest: Int { 8 }

  var items: [Element] { sparse.isEmpty ? dense : sparse.compactMap { $0 } }
  var count: Int { dense.count + sparse.count - holes }
  var isEmpty: Bool { count == 0 }

  mutating func contains(_ element: Element) -> Bool { place(of: element.identity) != nil }

  mutating func find(_ identity: ObjectIdentifier) -> Element? {
    place(of: identity).flatMap { sparse.isEmpty ? dense[$0] : sparse[$0] }
  }

  /// Adds an element, which must not be in the list already.
  mutating func append(_ element: Element) {
    if !index.isEmpty { index[element.identity] = dense.count + sparse.count }
    if sparse.isEmpty { dense.append(element) } else { sparse.append(element) }
  }

  /// Removes an element and returns it; nil if it was not in the list.
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

  /// Calls `body` with each element in order, without copying the elements first.
  func visit(_ body: (Element) -> Void) {
    for place in dense.indices { body(dense[place]) }
    for case let element? in sparse { body(element) }
  }

  /// The elements that nothing else references.
  mutating func findUnshared() -> [Element] where Element: AnyObject {
    let unshared = dense.indices.filter { isKnownUniquelyReferenced(&dense[$0]) }.map { dense[$0] }
    return unshared + sparse.indices.filter { isKnownUniquelyReferenced(&sparse[$0]) }.compactMap { sparse[$0] }
  }

  mutating func takeAll() -> [Element] { exchange(&self, with: IdentityList()).items }

  private mutating func place(of identity: ObjectIdentifier) -> Int? {
    guard dense.count + sparse.count > Self.smallest else { return dense.firstIndex { $0.identity == identity } }
    if index.isEmpty {
      for (place, element) in dense.enumerated() { index[element.identity] = place }
      for (place, element) in sparse.enumerated() { if let element { index[element.identity] = place } }
    }
    return index[identity]
  }
}
