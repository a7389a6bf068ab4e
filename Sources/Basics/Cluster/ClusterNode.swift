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
