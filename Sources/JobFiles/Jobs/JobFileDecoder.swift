import JobModel

/// Decodes the YAML of a job file into a graph and reports its faults.
struct JobFileDecoder {
  let values: ValueReader
  let parts: JobFileParts
  /// The run's name if the file has none.
  let standardName: String
  /// The jobs of the run that the file adds to; nil for a run of its own.
  var known: KnownJobs?

  private var faults: FaultLog { values.faults }

  /// The result is valid only if no fault was reported.
  func decode(_ root: consuming YAMLNode, overrides: [String: String]) -> JobGraph? {
    guard let (settings, new) = read(&root, overrides: overrides) else { return nil }
    var graph = settings.graph
    graph.pools = settings.pools.compactMapValues { $0 }.filter { known?.pools[$0.key] == nil }
    guard let known else {
      graph.jobs = linked(consume new, settings)
      return graph
    }
    let (drafts, numbers) = known.joined(with: new)
    let jobs = linked(drafts, settings)
    graph.jobs = jobs.indices.compactMap { index in
      if numbers[index] < known.count { return nil }
      var job = jobs[index]
      job.needs = job.needs.map { JobNeed(JobID(numbers[$0.job.index]), when: $0.when) }
      job.outputs = job.outputs.map { OutputReference($0.text, job: JobID(numbers[$0.job.index]), name: $0.name) }
      return job
    }
    return graph
  }

  /// The jobs of the drafts with their needs and the values that they read, after the checks of all together.
  private func linked(_ drafts: consuming [JobDraft], _ settings: FileSettings) -> [Job] {
    let (needs, outputs) = links(of: drafts, settings)
    for index in drafts.indices {
      drafts[index].job.needs = needs[index]
      if !outputs[index].isEmpty { drafts[index].job.outputs = outputs[index] }
    }
    return drafts.map(\.job)
  }

  private func links(
    of drafts: [JobDraft], _ settings: FileSettings
  ) -> (needs: [[JobNeed]], outputs: [[OutputReference]]) {
    var resolver = NeedResolver(drafts, faults)
    var needs = resolver.resolve()
    let checks = JobChecks(drafts: drafts, faults: faults)
    // Once the pattern is right, it may name none of these jobs.
    let hasCycle = checks.cycles(needs) || !resolver.doubtful.isEmpty
    for (job, more) in resolver.doubtful { needs[job] += more }
    checks.targets(known)
    checks.uses(settings.pools)
    if hasAllocation(settings) { checks.steps() }
    // A job of the extended run has its needs already.
    let all = zip(needs, drafts).map { $0 + $1.job.needs }
    return (needs, OutputResolver(drafts, all, values).resolve(hasCycle: hasCycle))
  }

  private func hasAllocation(_ settings: FileSettings) -> Bool {
    settings.graph.allocation != nil || known?.allocation != nil
  }

  /// The settings and the instances of all jobs; nil if nothing more can be checked.
  ///
  /// The tree, which is the largest object here, is taken out of `root`.
  private func read(
    _ root: inout YAMLNode, overrides: [String: String]
  ) -> (settings: FileSettings, drafts: [JobDraft])? {
    let tree = exchange(&root, with: .null)
    let place = tree.place
    guard !tree.isNull else {
      return faults.fail(place, "the file is empty: write a job, as in '\(JobFileKeys.file.example)'")
    }
    guard var file = JobFileKeys.file.entries(of: tree, faults, advice: { JobFileKeys.jobAdvice($0, in: tree) }) else {
      return nil
    }
    _ = consume tree
    func value(_ key: String) -> YAMLNode? { file[key]?.value }

    let vars = value("vars").flatMap { values.map($0, "vars", takes: "a map of names to values") } ?? []
    values.variables.declare(vars, overrides: overrides)
    for name in overrides.keys.sorted() where !vars.contains(where: { $0.key == name }) {
      let advice = NearestName.hint(for: name, in: vars.map(\.key).sorted(), otherwise: ": declare it under vars")
      let message = "--set names \(Quoted.text(name)), which is not a var of this file\(advice)"
      faults.add(value("vars")?.place ?? place, message)
    }
    var settings = FileSettings(graph: JobGraph(name: standardName))
    settings.policy.environment = parts.dotenv
    JobFileKeys.file.read(file, into: &settings, values)
    if let known { check(file, &settings, addedTo: known) }
    if hasAllocation(settings) { JobChecks.step(settings.resourcePlaces, faults) }
    let defaults = self.defaults(value("defaults"), value("shell"), over: settings.policy)

    guard file["jobs"] != nil else {
      if !file.hasUnknown {
        faults.add(place, "there are no jobs: add 'jobs:' with one job, as in '\(JobFileKeys.file.example)'")
      }
      return nil
    }
    let reader = JobReader(values: values, policy: settings.policy, defaults: defaults)
    let (jobs, finally) = (file.take("jobs"), file.take("finally"))
    return drafts(jobs: consume jobs, finally: finally, reader).map { (settings, $0) }
  }

  /// Settings of a whole run, with advice for a live one.
  private static let ofRun = [
    ("slots", "opdash slots changes them"), ("timeout", "give the jobs one"), ("on_failure", nil), ("schedule", nil),
    ("stay", nil), ("watch", nil),
  ]

  /// Reports settings that a live run can't take over from the file, and adds the pools of the run.
  private func check(_ file: KnownEntries, _ settings: inout FileSettings, addedTo known: KnownJobs) {
    for (key, advice) in Self.ofRun {
      guard let entry = file[key] else { continue }
      let more = advice.map { ": \($0)" } ?? ""
      faults.warn(entry.place, "'\(key)' has no effect on a run that is going on\(more)")
    }
    if settings.graph.allocation != nil, let entry = file["slurm"] {
      faults.add(
        entry.place, "an allocation is requested by the file that starts the run: delete 'allocation' from this one")
    }
    let sizes = settings.pools
    settings.pools.merge(known.pools) { _, size in size }
    guard case .map(let entries) = file["pools"]?.value.content else { return }
    for entry in entries {
      guard let size = known.pools[entry.key], let own = sizes[entry.key], let own, own != size else { continue }
      faults.warn(
        entry.place, "pool \(Quoted.text(entry.key)) has \(size) in the run, and keeps that size")
    }
  }

  // MARK: The file's own keys

  /// The entries of `jobs` or `finally`; nil after a fault.
  private func entries(of map: YAMLEntry) -> [YAMLEntry]? {
    let takes = "a map of names to jobs"
    let node = map.value
    guard case .list(let items) = node.content else {
      guard let entries = values.map(node, map.key, takes: takes) else { return nil }
      guard entries.isEmpty else { return entries }
      let advice = map.key == "jobs" ? "add a job, as in '\(JobFileKeys.file.example)'" : "add a job, or delete it"
      return faults.fail(map.place, "\(map.key) is empty: \(advice)")
    }
    var advice = "write 'NAME:' before each instead of '-'"
    if case .map(let entries) = items.first?.content, let name = entries.first(where: { $0.key == "name" })?.value,
      case .scalar(let text, _) = name.content
    {
      advice = "write '\(Quoted.bare(text)):' instead of '- name: \(Quoted.bare(text))'"
    }
    return faults.fail(node.place, "\(map.key) takes \(takes); this is a list: \(advice)")
  }

  /// The settings of each file that has its own, by its number; `node` and `shell` belong to the job file.
  private func defaults(_ node: YAMLNode?, _ shell: YAMLNode?, over policy: JobPolicy) -> [Int: JobPolicy] {
    var nodes = parts.defaults
    var shells = parts.shells
    nodes[0] = node
    shells[0] = shell
    var policies: [Int: JobPolicy] = [:]
    for (file, node) in shells.sorted(by: { $0.key < $1.key }) {
      if let shell = ScriptShell.read(node, values) { policies[file, default: policy].shell = shell }
    }
    for (file, node) in nodes.sorted(by: { $0.key < $1.key }) where !node.isNull {
      guard let entries = JobFileKeys.defaults.entries(of: node, faults) else { continue }
      JobFileKeys.defaults.read(entries, into: &policies[file, default: policy], values)
      policies[file]?.check(entries, faults)
    }
    return policies
  }

  // MARK: The jobs

  /// The instances of all jobs, with `finally` last; nil if nothing more can be checked.
  private func drafts(jobs: consuming YAMLEntry?, finally: YAMLEntry?, _ reader: JobReader) -> [JobDraft]? {
    guard var entries = jobs.flatMap({ entries(of: $0) }) else { return nil }
    jobs = nil
    var reader = reader
    var drafts: [JobDraft] = []
    // Read for their faults only.
    var others: [JobDraft] = []
    var places: [String: Place] = [:]
    // Of two equal keys the first counts; the second has been reported when the file was read.
    let areUnique = faults.isEmpty && finally == nil
    drafts.reserveCapacity(entries.count)
    for index in entries.indices {
      if faults.isCut { return nil }
      // Freed job by job: the entries take more memory than anything made of them.
      let entry = entries[index]
      entries[index].value = .null
      reportKnown(entry)
      if !areUnique, let first = places.updateValue(entry.place, forKey: entry.key) {
        places[entry.key] = first
        reader.read(entry, isFinal: false, into: &others)
      } else {
        reader.read(entry, isFinal: false, into: &drafts)
      }
    }
    var finals: Set<String> = []
    for entry in finally.flatMap({ self.entries(of: $0) }) ?? [] {
      if faults.isCut { return nil }
      reportKnown(entry)
      let isFirst = places[entry.key] == nil && finals.insert(entry.key).inserted
      if isFirst {
        reader.read(entry, isFinal: true, into: &drafts)
      } else {
        reader.read(entry, isFinal: true, into: &others)
      }
      if let first = places[entry.key] {
        faults.add(
          entry.place,
          "\(Quoted.text(entry.key)) is a job of 'jobs' already, \(faults.words(first, from: entry.place)): give this one another name"
        )
      }
    }
    return drafts
  }

  /// Reports a job whose name a job of the run has.
  private func reportKnown(_ entry: YAMLEntry) {
    guard let known, known.has(entry.key) else { return }
    faults.add(
      entry.place, "\(Quoted.text(entry.key)) is a job of the run already: give this one another name")
  }
}

extension ValueKind<Int> {
  static let slots = ValueKind(.whole(1...100_000)) { values, node, name in
    if case .scalar(let text, _) = node.content, ["auto", "max", "all", "unlimited"].contains(text.lowercased()) {
      return values.faults.fail(
        node.place,
        "slots takes a whole number, 1 or more; this is \(Quoted.text(text)): delete the line for as many as there are processors"
      )
    }
    return values.whole(node, name, upTo: 100_000)
  }
}

extension ValueKind<JobGraph.Failure> {
  static let onFailure = ValueKind(.choice(JobGraph.Failure.self)) { values, node, name in
    return values.choice(node, name, as: JobGraph.Failure.self, others: ForeignValues.onFailure)
  }
}

extension ValueKind<[String: Int?]> {
  /// The pools; nil for a size with a fault.
  static let pools = ValueKind(.map(of: .whole(1 ... .max))) { values, node, name in
    var pools: [String: Int?] = [:]
    let takes = "a map of names to sizes, as in 'pools: { net: 4 }'"
    for entry in values.map(node, name, takes: takes) ?? [] where pools[entry.key] == nil {
      if let fault = JobName.fault(in: entry.key) { values.faults.add(entry.place, "a pool's name \(fault)") }
      // As many units can be added to others without an overflow, and an event can state them.
      let size = values.whole(entry.value, "pools.\(Quoted.bare(entry.key))", upTo: 1_000_000_000)
      pools[entry.key] = .some(size)
    }
    return pools
  }
}
