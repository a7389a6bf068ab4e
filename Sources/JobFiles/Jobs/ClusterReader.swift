import JobModel

/// Reads `on` and `slurm`: the engine that executes a job, and its cluster resources.
struct ClusterReader {
  private static let most = 1_000_000

  let values: ValueReader

  private var faults: FaultLog { values.faults }

  func engine(_ node: YAMLNode) -> Engine? {
    guard !Self.isTrigger(node) else {
      return faults.fail(node.place, "'on' takes local or slurm, and opdash starts when you start it: delete it")
    }
    return values.choice(node, "on", as: Engine.self, others: Self.engines)
  }

  /// The words of other tools for where jobs are executed.
  private static let engines = [
    "cluster": "slurm", "hpc": "slurm", "sbatch": "slurm", "srun": "slurm", "remote": "slurm", "localhost": "local",
    "host": "local", "here": "local", "shell": "local",
  ]

  /// Whether it is the `on` of a tool that starts runs by itself.
  private static func isTrigger(_ node: YAMLNode) -> Bool {
    switch node.content {
    case .map, .list: true
    case .scalar(let text, _):
      ["push", "pull_request", "schedule", "workflow_dispatch", "workflow_call", "release"].contains(text)
    }
  }

  /// The resources of a job's or the defaults' `slurm`, and the place of each key; faulty values are left out.
  func terms(_ node: YAMLNode) -> (terms: ClusterTerms, places: [String: Place]) {
    guard let entries = JobFileKeys.slurm.read(node, faults: faults) else { return (ClusterTerms(), [:]) }
    return (terms(entries, "slurm"), entries.known.mapValues(\.place))
  }

  /// The resources of the file's `slurm`, and its allocation.
  func fileTerms(_ node: YAMLNode) -> (terms: ClusterTerms, places: [String: Place], allocation: ClusterTerms?) {
    guard let entries = JobFileKeys.fileSlurm.read(node, faults: faults) else { return (ClusterTerms(), [:], nil) }
    let allocation = entries["allocation"].map { entry in
      JobFileKeys.allocation.read(entry.value, faults: faults).map { terms($0, "slurm.allocation") } ?? ClusterTerms()
    }
    let places = entries.known.mapValues(\.place)
    if allocation != nil { checkStep(places) }
    return (terms(entries, "slurm"), places, allocation)
  }

  /// Reports keys that a step of an allocation can't have.
  func checkStep(_ places: [String: Place]) {
    for (key, place) in places.sorted(by: { $0.value < $1.value }) {
      switch key {
      case "cpus", "memory", "gpus", "allocation": continue
      case "nodes": faults.add(place, "a step of the allocation is executed on one of its nodes: delete 'nodes'")
      case "time":
        faults.add(
          place,
          "a step of the allocation has no time limit of its own: write 'timeout: …' for the job, or "
            + "'time' into 'slurm: { allocation: { … } }'")
      default:
        faults.add(
          place, "a step of the allocation can't have '\(key)': write it into 'slurm: { allocation: { … } }'")
      }
    }
  }

  private func terms(_ entries: KnownKeys.Entries, _ owner: String) -> ClusterTerms {
    var terms = ClusterTerms()
    func value(_ key: String) -> YAMLNode? { entries[key]?.value }
    func count(_ key: String) -> Int? {
      value(key).flatMap { values.whole($0, "\(owner).\(key)", in: 1...Self.most) }
    }
    terms.name = value("name").flatMap { values.line($0, "\(owner).name", takes: "a name") }
    terms.cpus = count("cpus")
    terms.memory = value("memory").flatMap { memory($0, "\(owner).memory") }
    terms.gpus = count("gpus")
    terms.nodes = count("nodes")
    terms.time = value("time").flatMap { values.duration($0, "\(owner).time", canBeZero: false) }
    terms.partition = value("partition").flatMap { word($0, "\(owner).partition") }
    terms.account = value("account").flatMap { word($0, "\(owner).account") }
    terms.qos = value("qos").flatMap { word($0, "\(owner).qos") }
    terms.constraint = value("constraint").flatMap { word($0, "\(owner).constraint") }
    terms.options = value("options").map { options($0, "\(owner).options") } ?? []
    return terms
  }

  /// An amount in MiB; 0 for all that a node has.
  private func memory(_ node: YAMLNode, _ name: String) -> Int? {
    let takes = "an amount as 500M, 16G or 1T, or 0 for all of the node"
    guard let text = values.line(node, name, takes: takes) else { return nil }
    guard let match = text.wholeMatch(of: /(\d{1,9}) ?([KkMmGgTt])?(i?[Bb])?/), let number = Int(match.1) else {
      return faults.fail(node.place, "\(name) takes \(takes); this is \(Quoted.text(text))")
    }
    if number == 0 { return 0 }
    switch match.2?.lowercased() {
    case "k": return max(1, number / 1024)
    case "m": return number
    case "g": return number << 10
    case "t": return number << 20
    default:
      return faults.fail(
        node.place, "\(name) takes \(takes); this is \(Quoted.text(text)): write \(number)G, or \(number)M")
    }
  }

  private func word(_ node: YAMLNode, _ name: String) -> String? {
    guard let text = values.line(node, name, takes: "a name") else { return nil }
    guard !text.contains(where: \.isWhitespace) else {
      return faults.fail(node.place, "\(name) takes a name; \(Quoted.text(text)) has a blank in it: delete it")
    }
    return text
  }

  private func options(_ node: YAMLNode, _ name: String) -> [String] {
    let takes = "options of sbatch, as in '[--exclusive]'"
    guard let items = values.list(node, name, takes: takes, isSingleAllowed: true) else { return [] }
    return items.compactMap { item in
      guard let text = values.line(item, name, takes: takes) else { return nil }
      guard text.hasPrefix("-"), !text.contains(where: \.isWhitespace) else {
        return faults.fail(
          item.place,
          "\(name) takes \(takes); this is \(Quoted.text(text)): write each as one word that begins with '--'")
      }
      return text
    }
  }
}
