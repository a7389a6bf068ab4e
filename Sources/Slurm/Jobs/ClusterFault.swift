import Basics

extension SlurmResources {
  /// What this cluster can't give; empty where all is well or can't be known.
  package func faults(on cluster: ClusterInfo) -> [ResourceFault] {
    guard !cluster.groups.isEmpty else { return [] }
    // Several partitions may be given, of which Slurm takes the first that fits.
    let names = (partition ?? cluster.defaultPartition)?.split(separator: ",").map(String.init)
    var groups = cluster.groups
    if let names {
      for name in names where !groups.contains(where: { $0.partition == name }) {
        return [ResourceFault("partition", "there is no partition '\(name)': \(cluster.partitionList)")]
      }
      groups = groups.filter { names.contains($0.partition) }
    }
    let place = names.map { "partition '\($0.joined(separator: ","))'" } ?? "the cluster"
    if !groups.contains(where: \.isUp) {
      return [ResourceFault("partition", "\(place) is down: name another one: \(cluster.partitionList)")]
    }
    let faults =
      amountFaults(groups, place) + [timeFault(groups, place), constraintFault(groups, place)].compactMap(\.self)
    guard faults.isEmpty, !groups.contains(where: fits) else { return faults }
    return [ResourceFault("cpus", "no node of \(place) has the CPUs, the memory and the GPUs together")]
  }

  private func amountFaults(_ groups: [ClusterInfo.Group], _ place: String) -> [ResourceFault] {
    let partitions = Dictionary(grouping: groups, by: \.partition).values
    let nodeCount = partitions.map { partition in partition.reduce(0) { $0.plus($1.nodes) } }.max() ?? 0
    let allGPUs = partitions.map { partition in partition.reduce(0) { $0.plus($1.gpus.times($1.nodes)) } }.max() ?? 0
    let nodeGPUs = groups.map(\.gpus).max() ?? 0
    let limits: [(key: String, asked: Int?, most: Int, what: String)] = [
      ("cpus", cpus, groups.map(\.cpus).max() ?? 0, "CPUs on a node of"),
      ("memory", memory, groups.map(\.memory).max() ?? 0, "MiB on a node of"),
      ("nodes", nodes, nodeCount, "nodes in"),
      ("gpus", gpus, nodes == 1 ? nodeGPUs : allGPUs, nodes == 1 ? "GPUs on a node of" : "GPUs in"),
    ]
    return limits.compactMap { limit in
      guard let asked = limit.asked, asked > limit.most else { return nil }
      return ResourceFault(
        limit.key, "\(asked) is too much: there are at most \(limit.most) \(limit.what) \(place): ask for less")
    }
  }

  private func timeFault(_ groups: [ClusterInfo.Group], _ place: String) -> ResourceFault? {
    let limits = groups.compactMap(\.timeLimit)
    guard let time, limits.count == groups.count, let limit = limits.max(), time > limit else { return nil }
    let minutes = Self.minutes(limit)
    return ResourceFault("time", "longer than the limit of \(place), which is \(minutes) min: ask for less")
  }

  /// Of a constraint that is a feature's name; an expression is left to Slurm.
  private func constraintFault(_ groups: [ClusterInfo.Group], _ place: String) -> ResourceFault? {
    guard let constraint, constraint.allSatisfy({ $0.isLetter || $0.isNumber || "_-.".contains($0) }),
      !groups.contains(where: { $0.features.contains(constraint) })
    else { return nil }
    let known = Set(groups.flatMap(\.features)).sorted()
    let list = known.isEmpty ? "its nodes have none" : "there are \(known.joined(separator: ", "))"
    return ResourceFault("constraint", "no node of \(place) has the feature '\(constraint)': \(list)")
  }

  private func fits(_ group: ClusterInfo.Group) -> Bool {
    (cpus ?? 0) <= group.cpus && (memory ?? 0) <= group.memory && (nodes != 1 || (gpus ?? 0) <= group.gpus)
  }
}
