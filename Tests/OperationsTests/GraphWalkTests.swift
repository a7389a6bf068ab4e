import Testing

@testable import Operations

struct GraphWalkTests {
  /// The edges of a small graph.
  private let edges = [1: [2, 3], 2: [4], 3: [4, 5], 4: [6], 5: [3], 6: []]

  private func path(_ starts: [Int], to goal: Int) -> [Int]? {
    GraphWalk.path(from: starts, key: \.self, next: { edges[$0] ?? [] }, to: { $0 == goal })
  }

  private func cycle(_ starts: [Int], where isWanted: ([Int]) -> Bool = { _ in true }) -> [Int]? {
    GraphWalk.cycle(from: starts, key: \.self, next: { edges[$0] ?? [] }, where: isWanted)
  }

  @Test func aPathHasBothEndsAndAtLeastOneEdge() {
    #expect(path([1], to: 6) == [1, 2, 4, 6] && path([1], to: 5) == [1, 3, 5])
    #expect(path([6], to: 6) == nil && path([3], to: 3) == [3, 5, 3])
    #expect(path([6, 2], to: 4) == [2, 4] && path([], to: 1) == nil && path([4], to: 1) == nil)
  }

  @Test func aCycleBeginsAndEndsWithTheSameNode() {
    #expect(cycle([1]) == [3, 5, 3] && cycle([5]) == [5, 3, 5])
    #expect(cycle([2, 4, 6]) == nil)
    #expect(cycle([1]) { !$0.contains(3) } == nil)
  }

  @Test func aNodeIsVisitedOnce() {
    var visited: [Int] = []
    _ = GraphWalk.path(
      from: [1, 3, 1], key: \.self,
      next: { node in
        visited.append(node)
        return edges[node] ?? []
      }, to: { _ in false })
    #expect(visited == [1, 2, 4, 6, 3, 5])
  }

  @Test func aChainLongerThanTheCallStackIsWalked() {
    let last = 300_000
    #expect(GraphWalk.path(from: [0], key: \.self, next: { [$0 + 1] }, to: { $0 == last })?.count == last + 1)
    let cycle = GraphWalk.cycle(from: [0], key: \.self, next: { [($0 + 1) % last] }, where: { _ in true })
    #expect(cycle?.count == last + 1)
  }
}
