import Basics
import JobModel

/// The allocation whose steps are the cluster jobs, and the free resources of its nodes.
///
/// A step is executed on one node, the first that has its resources free.
package struct NodeAllocator {
  enum Stand {
    /// No allocation is requested or held.
    case absent
    /// The allocation is requested and has no nodes yet.
    case requested
    case held
    /// The allocation may have ended.
    case inDoubt
  }

  package typealias Node = ClusterNode

  /// The resources that a step takes from its node.
  package struct Request: Hashable {
    var cpus: Int
    var memory: Int
    var gpus: Int

    package init(_ request: ClusterRequest) {
      (cpus, memory, gpus) = (request.cpus ?? 1, request.memory ?? 0, request.gpus ?? 0)
    }
  }

  private(set) var stand = Stand.absent
  /// The scheduler's reason for the wait of an allocation without nodes.
  var reason: String?
  /// Whether a step was admitted to this allocation.
  private(set) var hasServed = false
  /// A job that the allocation is kept for.
  var keeper: JobID?
  private var nodes: [Node] = []
  private var free: [Node] = []
  private var taken: [JobID: (node: Int, need: Request)] = [:]

  mutating func request() { (stand, reason) = (.requested, nil) }

  mutating func hold(_ nodes: [Node]) {
    (stand, reason, hasServed) = (.held, nil, false)
    (self.nodes, free, taken) = (nodes, nodes, [:])
  }

  /// Sets whether the allocation may have ended; nothing is admitted while it may.
  mutating func setInDoubt(_ isInDoubt: Bool) {
    switch stand {
    case .held where isInDoubt: stand = .inDoubt
    case .inDoubt where !isInDoubt: stand = .held
    default: break
    }
  }

  /// Forgets the allocation; steps that have not ended take nothing from the next one.
  mutating func end() {
    (stand, reason, hasServed) = (.absent, nil, false)
    (nodes, free, taken) = ([], [], [:])
  }

  /// The failure of a step that no node of the allocation can execute.
  func fault(_ need: Request) -> JobFailure? { Self.fault(need, in: nodes) }

  /// The failure of a step that none of the nodes can execute.
  package static func fault(_ need: Request, in nodes: [Node]) -> JobFailure? {
    guard node(for: need, in: nodes) == nil else { return nil }
    let limits: [(String, Int, Int, String)] = [
      ("cpus", need.cpus, nodes.map(\.cpus).max() ?? 0, "CPUs"),
      ("memory", need.memory, nodes.map { $0.memory ?? .max }.max() ?? 0, "MiB"),
      ("gpus", need.gpus, nodes.map(\.gpus).max() ?? 0, "GPUs"),
    ]
    guard let (key, asked, most, unit) = limits.first(where: { $0.1 > $0.2 }) else {
      return JobFailure(.launch, "no node of the allocation has the CPUs, the memory and the GPUs together")
    }
    return JobFailure(
      .launch,
      "\(ClusterRequest.word).\(key): \(asked) is too much: a node of the allocation has at most \(most) \(unit): "
        + "ask for less, or for a larger allocation")
  }

  func fits(_ need: Request) -> Bool { stand == .held && Self.node(for: need, in: free) != nil }

  /// Takes the resources of a step; returns the name of its node, or nil if no node has them free.
  mutating func take(_ need: Request, for id: JobID) -> String? {
    guard let node = Self.node(for: need, in: free) else { return nil }
    taken[id] = (node, need)
    hasServed = true
    change(node, need, by: -1)
    return free[node].name
  }

  mutating func release(_ id: JobID) {
    if let (node, need) = taken.removeValue(forKey: id) { change(node, need, by: 1) }
  }

  private mutating func change(_ node: Int, _ need: Request, by sign: Int) {
    free[node].cpus += sign * need.cpus
    free[node].memory = free[node].memory.map { $0 + sign * need.memory }
    free[node].gpus += sign * need.gpus
  }

  private static func node(for need: Request, in nodes: [Node]) -> Int? {
    nodes.firstIndex { $0.cpus >= need.cpus && $0.memory ?? .max >= need.memory && $0.gpus >= need.gpus }
  }
}
