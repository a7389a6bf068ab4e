import JobModel

/// Decodes the YAML of a job file into a graph and reports its faults.
struct JobFileDecoder {
  static let slotsLimit = 100_000
  /// As many units can be added to others without an overflow, and an event can state them.
  static let poolLimit = 1_000_000_000

  let values: ValueReader
  let parts: JobFileParts
  /// The run's name if the file has none.
  let standardName: String

  private var faults: FaultLog { values.faults }

  /// The result is valid only if no fault was reported.
  func decode(_ root: YAMLNode, overrides: [String: String]) -> JobGraph? {
    guard !root.isNull else {
      return faults.fail(root.place, "the file is empty: write a job, as in '\(JobFileKeys.file.example)'")
    }
    let file = JobFileKeys.file.read(root, faults: faults, advice: { Self.jobAdvice($0, in: root) })
    guard let file else { return nil }
    func value(_ key: String) -> YAMLNode? { file[key]?.value }

    let vars = value("vars").flatMap { values.map($0, "vars", takes: "a map of names to values") } ?? []
    values.variables.declare(vars, overrides: overrides)
    for name in overrides.keys.sorted() where !vars.contains(where: { $0.key == name }) {
      let advice = NearestName.hint(for: name, in: vars.map(\.key).sorted(), otherwise: ": declare it under vars")
      let message = "--set names \(Quoted.text(name)), which is not a var of this file\(advice)"
      faults.add(value("vars")?.place ?? root.place, message)
    }
    if let node = value("version") { values.check(version: node) }
    var graph = JobGraph(name: value("name").flatMap { values.line($0, "name", takes: "text") } ?? standardName)
    graph.slots = value("slots").flatMap { slots($0) }
    graph.onFailure = value("on_failure").flatMap { onFailure($0) } ?? .keepGoing
    graph.schedule =
      value("schedule").flatMap { values.choice($0, "schedule", as: JobGraph.Schedule.self) } ?? .criticalPath
    graph.timeout = value("timeout").flatMap { values.duration($0, "timeout", canBeZero: false) }
    let own = value("env").map { JobPolicy.environment($0, "env", values) } ?? [:]
    let environment = parts.dotenv.merging(own) { $1 }
    let pools = value("pools").map { self.pools($0) } ?? [:]
    let defaults = self.defaults(value("defaults"), value("shell"))

    let cluster = ClusterReader(values: values)
    let slurm = value("slurm").map { cluster.fileTerms($0) }
    graph.allocation = slurm?.allocation
    let work = WorkReader(
      values: values, environment: environment, engine: value("on").flatMap { cluster.engine($0) } ?? .local,
      terms: slurm?.terms ?? ClusterTerms())

    guard file["jobs"] != nil else {
      if !file.hasUnknown {
        faults.add(root.place, "there are no jobs: add 'jobs:' with one job, as in '\(JobFileKeys.file.example)'")
      }
      return nil
    }
    let reader = JobReader(values: values, work: work, defaults: defaults)
    guard let drafts = drafts(jobs: file["jobs"], finally: file["finally"], reader) else { return nil }
    var resolver = NeedResolver(drafts, faults)
    let needs = resolver.resolve()
    let checks = JobChecks(drafts: drafts, faults: faults)
    let hasCycle = checks.cycles(needs)
    checks.targets()
    checks.uses(pools)
    if graph.allocation != nil { checks.steps(cluster) }
    let outputs = OutputResolver(drafts, needs, values).resolve(hasCycle: hasCycle)

    graph.pools = pools.compactMapValues { $0 }
    graph.jobs = drafts.indices.compactMap { drafts[$0].job(needs[$0], outputs[$0], faults) }
    return graph
  }

  // MARK: The file's own keys

  /// The advice for a job beside the file's keys, as in GitLab, or a command, as in a Procfile.
  static func jobAdvice(_ entry: YAMLEntry, in root: YAMLNode) -> String? {
    if JobFileKeys.isJob(entry.value) { return "it looks like a job: write it below 'jobs:', indented" }
    guard case .map(let entries) = root.content, !entries.contains(where: { $0.key == "jobs" }),
      case .scalar(let text, _) = entry.value.content, text.contains(where: { " /".contains($0) }),
      JobFileKeys.file.others.mend(for: entry) == nil, NearestName.of(entry.key, in: JobFileKeys.file.keys) == nil
    else { return nil }
    return "write a command as a job, 'jobs: { \(Quoted.bare(entry.key)): { run: \(Quoted.bare(text)) } }'"
  }

  /// Other tools' words for the effect of a failure.
  private static let policies = [
    "continue": "keep-going", "ignore": "keep-going", "true": "keep-going", "never": "keep-going", "stop": "stop-now",
    "abort": "stop-now", "fail-fast": "stop-now", "failfast": "stop-now", "fail": "stop-now", "cancel": "stop-now",
    "exit": "stop-now", "kill": "stop-now", "now": "stop-now", "false": "stop-now", "wait": "finish-running",
    "drain": "finish-running", "soon": "finish-running",
  ]

  private func onFailure(_ node: YAMLNode) -> JobGraph.Failure? {
    if case .map = node.content {
      return faults.fail(
        node.place, "on_failure takes a word; this is a map: write a job below 'finally:', with 'when: failed'")
    }
    return values.choice(node, "on_failure", as: JobGraph.Failure.self, others: Self.policies)
  }

  /// The entries of `jobs` or `finally`; nil after a fault.
  private func entries(of map: YAMLEntry) -> [YAMLEntry]? {
    let takes = "a map of names to jobs"
    let node = map.value
    guard case .list(let items) = node.content else {
      guard let entries = values.map(node, map.key, takes: takes) else { return nil }
      guard entries.isEmpty else { return entries }
      let mend = map.key == "jobs" ? "add a job, as in '\(JobFileKeys.file.example)'" : "add a job, or delete it"
      return faults.fail(map.place, "\(map.key) is empty: \(mend)")
    }
    var mend = "write 'NAME:' before each instead of '-'"
    if case .map(let entries) = items.first?.content, let name = entries.first(where: { $0.key == "name" })?.value,
      case .scalar(let text, _) = name.content
    {
      mend = "write '\(Quoted.bare(text)):' instead of '- name: \(Quoted.bare(text))'"
    }
    return faults.fail(node.place, "\(map.key) takes \(takes); this is a list: \(mend)")
  }

  private func slots(_ node: YAMLNode) -> Int? {
    if case .scalar(let text, _) = node.content, ["auto", "max", "all", "unlimited"].contains(text.lowercased()) {
      return faults.fail(
        node.place,
        "slots takes a whole number, 1 or more; this is \(Quoted.text(text)): delete the line for as many as there are processors"
      )
    }
    guard let slots = values.whole(node, "slots", in: 1 ... .max) else { return nil }
    if slots > Self.slotsLimit { faults.add(node.place, "slots takes at most \(Self.slotsLimit)") }
    return slots
  }

  /// The pools; nil for a size with a fault.
  private func pools(_ node: YAMLNode) -> [String: Int?] {
    var pools: [String: Int?] = [:]
    let takes = "a map of names to sizes, as in 'pools: { net: 4 }'"
    for entry in values.map(node, "pools", takes: takes) ?? [] where pools[entry.key] == nil {
      if let fault = JobName.fault(in: entry.key) { faults.add(entry.place, "a pool's name \(fault)") }
      let key = "pools.\(Quoted.bare(entry.key))"
      let size = values.whole(entry.value, key, in: 1 ... .max)
      if let size, size > Self.poolLimit { faults.add(entry.value.place, "\(key) takes at most \(Self.poolLimit)") }
      pools[entry.key] = .some(size)
    }
    return pools
  }

  /// The defaults of each file, by its number, with its shell; `node` and `shell` belong to the job file.
  private func defaults(_ node: YAMLNode?, _ shell: YAMLNode?) -> [Int: JobPolicy] {
    var nodes = parts.defaults
    var shells = parts.shells
    nodes[0] = node
    shells[0] = shell
    var policies: [Int: JobPolicy] = [:]
    for (file, node) in nodes.sorted(by: { $0.key < $1.key }) where !node.isNull {
      policies[file] = JobFileKeys.defaults.read(node, faults: faults).map { JobPolicy($0, values) }
    }
    for (file, node) in shells.sorted(by: { $0.key < $1.key }) {
      let shell = ShellName.read(node, values)
      if policies[file]?.shell == nil { policies[file, default: JobPolicy()].shell = shell }
    }
    return policies
  }

  // MARK: The jobs

  /// The instances of all jobs, with `finally` last; nil if nothing more can be checked.
  private func drafts(jobs: YAMLEntry?, finally: YAMLEntry?, _ reader: JobReader) -> [JobDraft]? {
    guard let jobs, let entries = entries(of: jobs) else { return nil }
    var reader = reader
    var drafts: [JobDraft] = []
    var places: [String: Place] = [:]
    drafts.reserveCapacity(entries.count)
    for entry in entries {
      if faults.isCut { return nil }
      let found = reader.read(entry, isFinal: false)
      // Of two equal keys the first counts; the YAML reader has reported the second.
      if places.updateValue(places[entry.key] ?? entry.place, forKey: entry.key) == nil { drafts += found }
    }
    var finals: Set<String> = []
    for entry in finally.flatMap({ self.entries(of: $0) }) ?? [] {
      if faults.isCut { return nil }
      let found = reader.read(entry, isFinal: true)
      if let first = places[entry.key] {
        faults.add(
          entry.place,
          "\(Quoted.text(entry.key)) is a job of 'jobs' already, \(faults.words(first, from: entry.place)): give this one another name"
        )
      } else if finals.insert(entry.key).inserted {
        drafts += found
      }
    }
    return drafts
  }
}
