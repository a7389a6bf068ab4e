import JobModel

/// The places of jobs and needs in a picture: jobs are to the right of all that they need.
///
/// Up to `limit` jobs have a node each; in a larger graph the jobs of a layer with similar names share one, and if these are
/// still too many, all jobs of a few layers. Jobs without needs and dependents are left out.
struct GraphLayout {
  struct Node {
    var jobs: [JobID]
    var layer: Int
    /// The common part of the names; nil where the jobs have none.
    var stem: String?
    /// In rows, from the top; the distance of two nodes of a layer is at least 1.
    var y = 0.0
  }

  struct Edge: Hashable {
    var from: Int
    var to: Int
  }

  static let limit = 300
  /// The nodes of one layer that still have a node each.
  static let height = 80

  private(set) var nodes: [Node] = []
  private(set) var edges: [Edge] = []
  /// The edges between the jobs of the chain that is kept.
  let chain: Set<Edge>
  private(set) var layers = 0
  /// The number of jobs without needs and dependents.
  let lone: Int

  var isCollapsed: Bool { nodes.contains { $0.jobs.count > 1 } }
  var rows: Double { (nodes.map(\.y).max() ?? -1) + 1 }

  init(_ run: Run, keeping chain: [JobID]) {
    let needs = run.jobs.indices.map { index in
      Set(run.jobs[index].job.needs.map(\.job.index).filter { $0 < run.jobs.count && $0 != index }).sorted()
    }
    let layer = GraphTree.levels(needs)
    let needed = Set(needs.joined())
    let linked = needs.indices.filter { !needs[$0].isEmpty || needed.contains($0) }
    lone = needs.count - linked.count
    layers = (linked.map { layer[$0] }.max() ?? -1) + 1
    nodes = Self.nodes(run, linked, layer, layers)
    var place = [Int](repeating: 0, count: needs.count)
    for (index, node) in nodes.enumerated() { for job in node.jobs { place[job.index] = index } }
    self.chain = Set(zip(chain, chain.dropFirst()).map { Edge(from: place[$0.index], to: place[$1.index]) })
    var found = Set<Edge>()
    for job in linked {
      for need in needs[job] where place[need] != place[job] {
        found.insert(Edge(from: place[need], to: place[job]))
      }
    }
    edges = found.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    dropImplied()
    arrange()
  }

  private static func nodes(_ run: Run, _ linked: [Int], _ layer: [Int], _ layers: Int) -> [Node] {
    var widths = [Int](repeating: 0, count: layers)
    for job in linked { widths[layer[job]] += 1 }
    if linked.count <= limit, (widths.max() ?? 0) <= height {
      return linked.map { Node(jobs: [JobID($0)], layer: layer[$0], stem: run.jobs[$0].job.name) }
    }
    struct Key: Hashable {
      var layer: Int
      var stem: String?
    }
    func grouped(_ key: (Int) -> Key) -> [Node] {
      var places: [Key: Int] = [:]
      var nodes: [Node] = []
      for job in linked {
        let key = key(job)
        if let place = places[key] {
          nodes[place].jobs.append(JobID(job))
        } else {
          places[key] = nodes.count
          nodes.append(Node(jobs: [JobID(job)], layer: key.layer, stem: key.stem))
        }
      }
      return nodes
    }
    let similar = grouped { Key(layer: layer[$0], stem: stem(run.jobs[$0].job.name)) }
    if similar.count <= limit / 2 { return similar }
    let merged = (layers + 59) / 60
    return grouped { Key(layer: layer[$0] / merged, stem: nil) }
  }

  /// The name without a variant in brackets and without a number at its end.
  static func stem(_ name: String) -> String {
    let head = name.prefix { $0 != "[" && $0 != "(" }
    guard head.count == name.count else { return String(head) }
    let trimmed = String(name.reversed().drop { $0.isNumber || "-_. ".contains($0) }.reversed())
    return trimmed.isEmpty ? name : trimmed
  }

  /// Leaves out an edge beside a longer path between the same nodes.
  private mutating func dropImplied() {
    var before = [[Int]](repeating: [], count: nodes.count)
    for edge in edges { before[edge.to].append(edge.from) }
    var ancestors = [Set<Int>](repeating: [], count: nodes.count)
    for node in nodes.indices.sorted(by: { nodes[$0].layer < nodes[$1].layer }) {
      for need in before[node] { ancestors[node].formUnion(ancestors[need].union([need])) }
    }
    edges.removeAll { edge in
      !chain.contains(edge) && before[edge.to].contains { $0 != edge.from && ancestors[$0].contains(edge.from) }
    }
  }

  /// Gives each node a row close to its neighbours' rows.
  private mutating func arrange() {
    var columns = [[Int]](repeating: [], count: max(1, (nodes.map(\.layer).max() ?? 0) + 1))
    for node in nodes.indices {
      nodes[node].y = Double(columns[nodes[node].layer].count)
      columns[nodes[node].layer].append(node)
    }
    var before = [[Int]](repeating: [], count: nodes.count)
    var after = before
    for edge in edges {
      before[edge.to].append(edge.from)
      after[edge.from].append(edge.to)
    }
    for pass in 0..<12 {
      let neighbours = pass.isMultiple(of: 2) ? before : after
      let order = pass.isMultiple(of: 2) ? Array(columns.indices) : columns.indices.reversed()
      for column in order {
        columns[column] = settle(columns[column], neighbours)
      }
    }
    let top = nodes.map(\.y).min() ?? 0
    for node in nodes.indices { nodes[node].y -= top }
  }

  /// Moves the nodes of a column towards the mean row of their neighbours, at least one row apart; returns their order.
  private mutating func settle(_ column: [Int], _ neighbours: [[Int]]) -> [Int] {
    let wanted = Dictionary(
      uniqueKeysWithValues: column.map { node in
        let rows = neighbours[node].map { nodes[$0].y }
        return (node, rows.isEmpty ? nodes[node].y : rows.reduce(0, +) / Double(rows.count))
      })
    let order = column.sorted { (wanted[$0] ?? 0, $0) < (wanted[$1] ?? 0, $1) }
    // Blocks of touching nodes, each at the mean of what its nodes want, as in isotonic regression.
    var blocks: [(nodes: [Int], start: Double)] = []
    for node in order {
      blocks.append(([node], wanted[node] ?? 0))
      while blocks.count > 1, let last = blocks.last,
        blocks[blocks.count - 2].start + Double(blocks[blocks.count - 2].nodes.count) > last.start
      {
        blocks.removeLast()
        let joined = blocks[blocks.count - 1].nodes + last.nodes
        let sum = joined.enumerated().reduce(0.0) { $0 + (wanted[$1.element] ?? 0) - Double($1.offset) }
        blocks[blocks.count - 1] = (joined, sum / Double(joined.count))
      }
    }
    for block in blocks {
      for (offset, node) in block.nodes.enumerated() { nodes[node].y = block.start + Double(offset) }
    }
    return order
  }
}
