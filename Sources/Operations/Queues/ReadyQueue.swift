/// Ready nodes of one priority, first in, first out; entries whose node has moved on are skipped.
struct ReadyQueue {
  private var entries: [(node: DependencyNode, ticket: Int)] = []
  private var head = 0

  /// Whether the queue has no entries at all, valid or to be skipped.
  var isEmpty: Bool { entries.isEmpty }

  mutating func append(_ node: DependencyNode) { entries.append((node, node.ticket)) }

  /// Inserts a node before all others.
  mutating func prepend(_ node: DependencyNode) {
    guard head > 0 else { return entries.insert((node, node.ticket), at: 0) }
    head -= 1
    entries[head] = (node, node.ticket)
  }

  /// Inserts nodes before all others, in their order.
  mutating func prepend(contentsOf nodes: [DependencyNode]) {
    entries.replaceSubrange(..<head, with: nodes.map { ($0, $0.ticket) })
    head = 0
  }

  mutating func popFirst() -> DependencyNode? {
    while head < entries.count {
      let (node, ticket) = entries[head]
      head += 1
      // Removed in bulk, so that each entry is moved at most once.
      if head == entries.count {
        entries.removeAll(keepingCapacity: true)
        head = 0
      } else if head >= 1024, head * 2 >= entries.count {
        entries.removeFirst(head)
        head = 0
      }
      if node.place == .inLine(ticket: ticket) { return node }
    }
    return nil
  }
}
