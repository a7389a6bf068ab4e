/// Walks along the edges of a graph, depth first.
///
/// Without recursion, because a chain may be longer than the call stack is deep. `key` distinguishes the nodes, `next`
/// has the ends of the edges from a node, and is called once for each node that is visited.
enum GraphWalk {
  /// A path from one of the nodes, by one edge or more, to a node that satisfies `isGoal`; both ends included.
  static func path<Node, ID: Hashable>(
    from nodes: [Node], key: (Node) -> ID, next: (Node) -> [Node], to isGoal: (Node) -> Bool
  ) -> [Node]? {
    walk(from: nodes, key: key, next: next) { way, node, _ in isGoal(node) ? way.map(\.node) + [node] : nil }
  }

  /// A cycle that can be reached from the nodes and that satisfies `isWanted`; the last node is the first again.
  static func cycle<Node, ID: Hashable>(
    from nodes: [Node], key: (Node) -> ID, next: (Node) -> [Node], where isWanted: ([Node]) -> Bool
  ) -> [Node]? {
    walk(from: nodes, key: key, next: next) { way, node, isOnWay in
      guard isOnWay else { return nil }
      let cycle = Array(way.map(\.node).drop { key($0) != key(node) }) + [node]
      return isWanted(cycle) ? cycle : nil
    }
  }

  private typealias Way<Node> = [(node: Node, rest: ArraySlice<Node>)]

  /// Calls `look` at each edge, with the way to its first end, its second end, and whether that is on the way; returns
  /// the first answer.
  private static func walk<Node, ID: Hashable>(
    from starts: [Node], key: (Node) -> ID, next: (Node) -> [Node], _ look: (Way<Node>, Node, Bool) -> [Node]?
  ) -> [Node]? {
    var isSeen: Set<ID> = []
    for start in starts where isSeen.insert(key(start)).inserted {
      var way: Way<Node> = [(start, next(start)[...])]
      var isOnWay: Set<ID> = [key(start)]
      while let top = way.last {
        guard let node = top.rest.first else {
          isOnWay.remove(key(top.node))
          way.removeLast()
          continue
        }
        way[way.count - 1].rest.removeFirst()
        if let answer = look(way, node, isOnWay.contains(key(node))) { return answer }
        guard isSeen.insert(key(node)).inserted else { continue }
        way.append((node, next(node)[...]))
        isOnWay.insert(key(node))
      }
    }
    return nil
  }
}
