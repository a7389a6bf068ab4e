/// A binary heap: the least element first.
@usableFromInline package struct Heap<Element: Comparable> {
  @usableFromInline var elements: [Element] = []

  @inlinable package init() {}

  @inlinable package var first: Element? { elements.first }
  @inlinable package var isEmpty: Bool { elements.isEmpty }
  @inlinable package var count: Int { elements.count }

  @inlinable package mutating func push(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  /// A heap of the elements that satisfy the condition.
  @inlinable package func filter(_ isIncluded: (Element) -> Bool) -> Heap {
    var kept = Heap()
    for element in elements where isIncluded(element) { kept.push(element) }
    return kept
  }

  @inlinable package mutating func pop() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < elements.count else { return first }
      if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
      guard elements[child] < elements[parent] else { return first }
      elements.swapAt(child, parent)
      parent = child
    }
  }
}
