/// The topological order of a directed graph, and its cycles.
///
/// Takes time and memory linear in nodes and edges, without recursion: a chain may be as long as memory allows.
package struct DependencyOrder: Sendable, Equatable {
  /// Every node once, after the nodes that it needs; on a cycle, one node comes before.
  package private(set) var order: [Int] = []
  /// Cycles that share no node, each as a path that ends with its first node; empty exactly if the graph has no cycle.
  package private(set) var cycles: [[Int]] = []

  private struct Step {
    var node: Int
    var next = 0
    /// The deepest step of the path, down to this one, whose node is in a reported cycle; -1 for none.
    var reported: Int
  }

  /// `needs[n]` are the nodes that `n` needs, each an index of `needs`.
  package init(_ needs: [[Int]]) { self.init(needs) { $0 } }

  /// The order of jobs by their needs.
  package init(of needs: [[JobNeed]]) { self.init(needs) { $0.job.index } }

  // Private, because other modules would not get it specialized.
  private init<Need>(_ needs: [[Need]], by node: (Need) -> Int) {
    let new = -1
    let done = -2
    // For a node on the path: its depth.
    var marks = [Int](repeating: new, count: needs.count)
    var path: [Step] = []
    order.reserveCapacity(needs.count)
    for root in needs.indices where marks[root] == new {
      marks[root] = 0
      path.append(Step(node: root, reported: -1))
      while let step = path.last {
        let top = path.count - 1
        guard step.next < needs[step.node].count else {
          marks[step.node] = done
          order.append(step.node)
          path.removeLast()
          continue
        }
        path[top].next += 1
        let need = node(needs[step.node][step.next])
        if marks[need] == new {
          marks[need] = path.count
          path.append(Step(node: need, reported: step.reported))
        } else if marks[need] != done, step.reported < marks[need] {
          let start = marks[need]
          cycles.append(path[start...].map(\.node) + [need])
          for depth in start...top { path[depth].reported = depth }
        }
      }
    }
  }
}
