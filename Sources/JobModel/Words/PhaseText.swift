extension Phase.Kind {
  /// The time that a job spent in such phases, as in `waited for a slot 12.1s`; ends take none and have no words.
  package var phrase: String {
    switch self {
    case .waiting: "waited for needs"
    case .forSlot: "waited for a slot"
    case .forPool: "waited for a pool"
    case .forPerson: "waited for approval"
    case .forCluster: "waited for the cluster"
    case .backingOff: "between tries"
    case .paused: "paused"
    case .executing: "running"
    case .succeeded, .failed, .cancelled, .skipped: ""
    }
  }
}
