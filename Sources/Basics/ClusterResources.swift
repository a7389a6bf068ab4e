/// The resources that a job requests from the cluster's scheduler; nil requests nothing.
package struct ClusterResources: Sendable, Hashable {
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

/// One node of an allocation, with the resources that the allocation has on it.
package struct ClusterNode: Sendable, Equatable {
  package var name: String
  package var cpus: Int
  /// In MiB; nil where the cluster does not allocate memory.
  package var memory: Int?
  package var gpus: Int

  package init(name: String, cpus: Int, memory: Int? = nil, gpus: Int = 0) {
    self.name = name
    self.cpus = cpus
    self.memory = memory
    self.gpus = gpus
  }
}
