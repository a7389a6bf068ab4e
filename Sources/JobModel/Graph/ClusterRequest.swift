import Basics

/// Where the programs of `run` jobs are executed.
package enum Engine: String, Sendable, CaseIterable {
  /// This machine.
  case local
  /// A cluster, by its scheduler.
  case cluster = "slurm"
}

package typealias ClusterRequest = ClusterResources

extension ClusterRequest {
  /// The name in job files, events and screens.
  package static let word = Engine.cluster.rawValue
}

/// Where a job is in the cluster.
package struct ClusterPlace: Sendable, Equatable {
  /// The job's number in the cluster's own tools, as `12` or `12_3`.
  package var id: String
  /// The nodes that it has, as `node[1-2]`; nil before its start.
  package var nodes: String?
  /// How long it has executed, by its node's clock; nil before its end, and where the node has not noted it.
  package var took: Duration?
  /// How long it had executed before this run saw it; nil for a job that this run has submitted.
  package var before: Duration?
  /// Whether the cluster has suspended it.
  package var isSuspended: Bool

  package init(
    id: String, nodes: String? = nil, took: Duration? = nil, before: Duration? = nil, isSuspended: Bool = false
  ) {
    self.id = id
    self.nodes = nodes
    self.took = took
    self.before = before
    self.isSuspended = isSuspended
  }

  /// How long it has executed since this run saw it.
  var tookHere: Duration? { took.map { max(.zero, $0 - (before ?? .zero)) } }
}
