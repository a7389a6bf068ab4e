import Testing

@testable import Operations

struct ReadyQueueTests {
  private func nodes(_ count: Int) -> [DependencyNode] {
    (0..<count).map { index in
      let node = DependencyNode(isOurs: true)
      node.index = index
      node.place = .inLine(ticket: node.ticket)
      return node
    }
  }

  private func drain(_ queue: inout ReadyQueue) -> [Int] {
    var indices: [Int] = []
    while let node = queue.popFirst() { indices.append(node.index) }
    return indices
  }

  @Test func theFirstInIsTheFirstOut() {
    var queue = ReadyQueue()
    #expect(queue.isEmpty)
    for node in nodes(3) { queue.append(node) }
    #expect(!queue.isEmpty)
    #expect(drain(&queue) == [0, 1, 2])
    #expect(queue.isEmpty)
    for node in nodes(2) { queue.append(node) }
    #expect(drain(&queue) == [0, 1])
  }

  @Test func whatIsPutBeforeAllOthersComesNext() {
    var queue = ReadyQueue()
    let nodes = nodes(6)
    for node in nodes[..<3] { queue.append(node) }
    queue.prepend(nodes[3])
    #expect(queue.popFirst() === nodes[3])
    #expect(queue.popFirst() === nodes[0])
    // In the place of one that has gone, and before the place of all.
    for node in nodes[3...] { queue.prepend(node) }
    #expect(drain(&queue) == [5, 4, 3, 1, 2])
  }

  @Test func anEntryWhoseNodeHasMovedOnIsPassedOver() {
    var queue = ReadyQueue()
    let nodes = nodes(3)
    for node in nodes { queue.append(node) }
    nodes[0].place = .waiting
    nodes[1].ticket += 1
    nodes[1].place = .inLine(ticket: nodes[1].ticket)
    queue.append(nodes[1])
    #expect(drain(&queue) == [2, 1])
    nodes[2].place = .outside
    queue.append(nodes[2])
    #expect(!queue.isEmpty)
    #expect(queue.popFirst() == nil && queue.isEmpty)
  }

  @Test(arguments: [1023, 1024, 1025, 2047, 2048, 2049, 5000]) func manyComeInOrderHoweverManyThereAre(count: Int) {
    var queue = ReadyQueue()
    let nodes = nodes(count)
    for node in nodes { queue.append(node) }
    var popped: [Int] = []
    for _ in 0..<count / 2 { if let node = queue.popFirst() { popped.append(node.index) } }
    queue.prepend(nodes[0])
    queue.append(nodes[1])
    #expect(popped + drain(&queue) == Array(0..<count / 2) + [0] + Array(count / 2..<count) + [1])
  }
}
