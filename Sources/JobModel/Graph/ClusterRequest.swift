/// Where the programs of `run` jobs are executed.
package enum Engine: String, Sendable, CaseIterable {
  /// This machine.
  case local
  /// A cluster, by its scheduler.
  case cluster = "slurm"
}

/// The resources that a job requests from the cluster's scheduler; nil requests nothing.
package struct ClusterRequest: Sendable, Equatable {
  /// The name in job files, events and screens.
  package static let word = Engine.cluster.rawValue

  /// The name that the cluster's own tools show; nil for the job's.
  package var name: String?
  /// Of each node.
  package var cpus: Int?
  /// Of each node, in MiB; 0 for all of it.
  package var memory: Int?
  package var gpus: Int?
  package var nodes: Int?
  /// The time limit, counted by the cluster from the start on a node.
  package var time: Duration?
  package var partition: String?
  package var account: String?
  package var qos: String?
  package var constraint: String?
  /// Further options of the scheduler's submission, each one word.
  package var options: [String]

  package init(
    name: String? = nil, cpus: Int? = nil, memory: Int? = nil, gpus: Int? = nil, nodes: Int? = nil,
    time: Duration? = nil, partition: String? = nil, account: String? = nil, qos: String? = nil,
    constraint: String? = nil, options: [String] = []
  ) {
    self.name = name
    self.cpus = cpus
    self.memory = memory
    self.gpus = gpus
    self.nodes = nodes
    self.time = time
    self.partition = partition
    self.account = account
    self.qos = qos
    self.constraint = constraint
    self.options = options
  }
}

/// Where a job is in the cluster.
package struct ClusterPlace: Sendable, Equatable {
  /// The job's number in the cluster's own tools, as `12` or `12_3`.
  package var id: String
  /// The nodes that it has, as `node[1-2]`; nil before its start.
  package var nodes: String?
  /// How long it has executed, by its node's clock; nil before its end, and where the node has not noted it.
  package var took: Duration?

  package init(id: String, nodes: String? = nil, took: Duration? = nil) {
    self.id = id
    self.nodes = nodes
    self.took = took
  }
}
