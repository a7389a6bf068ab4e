import JobModel

/// Decodes the YAML of a job file into a graph and reports its faults.
struct JobFileDecoder {
  static let slotsLimit = 100_000

  /// A job with the parts that could be read.
  private struct Draft {
    var name: String
    var place: Place
    var description: String?
    var needs: [NeedReader.Need] = []
    /// Nil after a fault.
    var work: JobWork?
    /// The place of a download's file name.
    var target: Place?
    var creates: [String] = []
    var inputs: [String] = []
    var policy: JobPolicy
  }

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
      let message = "--set names \(Quoted.text(name)), which is no var of this file\(advice)"
      faults.add(value("vars")?.place ?? root.place, message)
    }
    if let node = value("version") { values.check(version: node) }
    var graph = JobGraph(name: value("name").flatMap { values.line($0, "name", takes: "text") } ?? standardName)
    graph.slots = value("slots").flatMap { slots($0) }
    graph.onFailure =
      value("on_failure").flatMap { values.choice($0, "on_failure", as: JobGraph.Failure.self, others: Self.policies) }
      ?? .keepGoing
    graph.schedule =
      value("schedule").flatMap { values.choice($0, "schedule", as: JobGraph.Schedule.self) } ?? .criticalPath
    graph.timeout = value("timeout").flatMap { values.duration($0, "timeout", canBeZero: false) }
    let own = value("env").map { JobPolicy.environment($0, "env", values) } ?? [:]
    let environment = parts.dotenv.merging(own) { $1 }
    let pools = value("pools").map { self.pools($0) } ?? [:]
    let defaults = self.defaults(value("defaults"), value("shell"))

    guard let jobs = value("jobs") else {
      if !file.hasUnknown {
        faults.add(root.place, "there are no jobs: add 'jobs:' with one job, as in '\(JobFileKeys.file.example)'")
      }
      return nil
    }
    guard let entries = self.entries(ofJobs: jobs) else { return nil }
    guard !entries.isEmpty else {
      return faults.fail(
        file["jobs"]?.place ?? jobs.place, "jobs is empty: add a job, as in '\(JobFileKeys.file.example)'")
    }
    let reader = WorkReader(values: values, environment: environment)
    var drafts: [Draft] = []
    var index: [String: Int] = [:]
    drafts.reserveCapacity(entries.count)
    for entry in entries {
      if faults.isCut { return nil }
      let draft = self.draft(entry, reader, defaults: defaults[entry.place.file] ?? JobPolicy())
      if index[entry.key] == nil {
        index[entry.key] = drafts.count
        drafts.append(draft)
      }
    }
    let needs = resolve(drafts, index)
    checkCycles(drafts, needs)
    checkTargets(drafts)
    checkUses(drafts, pools)

    graph.pools = pools.compactMapValues { $0 }
    graph.jobs = zip(drafts, needs).compactMap { draft, needs in job(draft, needs) }
    return graph
  }

  // MARK: The file's own keys

  /// The mend for a job beside the file's keys, as GitLab has it, or a command, as a Procfile has it.
  static func jobAdvice(_ entry: YAMLEntry, in root: YAMLNode) -> String? {
    if JobFileKeys.isJob(entry.value) { return "it looks like a job: write it below 'jobs:', indented" }
    guard case .map(let entries) = root.content, !entries.contains(where: { $0.key == "jobs" }),
      case .scalar(let text, _) = entry.value.content, text.contains(where: { " /".contains($0) }),
      JobFileKeys.file.others.mend(for: entry) == nil, NearestName.of(entry.key, in: JobFileKeys.file.keys) == nil
    else { return nil }
    return "write a command as a job, 'jobs: { \(Quoted.bare(entry.key)): { run: \(Quoted.bare(text)) } }'"
  }

  /// The words of other tools for what a failure does.
  private static let policies = [
    "continue": "keep-going", "ignore": "keep-going", "true": "keep-going", "never": "keep-going", "stop": "stop-now",
    "abort": "stop-now", "fail-fast": "stop-now", "failfast": "stop-now", "fail": "stop-now", "cancel": "stop-now",
    "exit": "stop-now", "kill": "stop-now", "now": "stop-now", "false": "stop-now", "wait": "finish-running",
    "drain": "finish-running", "soon": "finish-running",
  ]

  private func entries(ofJobs node: YAMLNode) -> [YAMLEntry]? {
    let takes = "a map of names to jobs"
    guard case .list(let items) = node.content else { return values.map(node, "jobs", takes: takes) }
    var mend = "write 'NAME:' before each instead of '-'"
    if case .map(let entries) = items.first?.content, let name = entries.first(where: { $0.key == "name" })?.value,
      case .scalar(let text, _) = name.content
    {
      mend = "write '\(Quoted.bare(text)):' instead of '- name: \(Quoted.bare(text))'"
    }
    return faults.fail(node.place, "jobs takes \(takes); this is a list: \(mend)")
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
      pools[entry.key] = .some(values.whole(entry.value, "pools.\(Quoted.bare(entry.key))", in: 1 ... .max))
    }
    return pools
  }

  /// The defaults of each file, by its number, with its shell; `node` and `shell` are those of the job file.
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

  // MARK: One job

  private func draft(_ entry: YAMLEntry, _ reader: WorkReader, defaults: JobPolicy) -> Draft {
    if let fault = JobName.fault(in: entry.key) { faults.add(entry.place, "a job's name \(fault)") }
    var draft = Draft(name: entry.key, place: entry.place, policy: JobPolicy())
    if entry.value.isNull {
      faults.add(entry.place, "job \(Quoted.text(entry.key)) has nothing to do: \(Self.workAdvice)")
      return draft
    }
    guard let job = JobFileKeys.job.read(entry.value, faults: faults) else { return draft }
    draft.description = job["description"].flatMap { values.text($0.value, "description", takes: "text") }
    if let node = job["needs"]?.value { draft.needs = NeedReader(values: values).read(node) }
    draft.policy = JobPolicy(job, values).over(defaults)

    let works = JobFileKeys.work.compactMap { job[$0] }.sorted { $0.place < $1.place }
    let read = works.map { reader.read($0, draft.policy) }
    guard let work = works.first else {
      if !job.hasUnknown {
        faults.add(entry.place, "job \(Quoted.text(entry.key)) has nothing to do: \(Self.workAdvice)")
      }
      return draft
    }
    for other in works.dropFirst() {
      faults.add(
        other.place,
        "a job has one of \(JobFileKeys.work.joined(last: "or")), and this one has '\(work.key)' already: "
          + "delete one, or make two jobs of it")
    }
    if work.key != "run", works.count == 1 {
      for key in JobFileKeys.shell {
        if let entry = job[key] {
          faults.add(entry.place, "'\(key)' is for run jobs; this is \(Self.article(work.key)): delete it")
        }
      }
    }
    let files = FileListReader(values: values)
    draft.creates = job["creates"].map { files.creates($0.value) } ?? []
    draft.inputs = job["inputs"].map { files.inputs($0.value) } ?? []
    draft.work = read[0]?.work
    draft.target = read[0]?.target
    return draft
  }

  private static let workAdvice = "give it one of \(JobFileKeys.work.joined(last: "or"))"

  private static func article(_ key: String) -> String { key == "upload" ? "an upload" : "a \(key)" }

  private func job(_ draft: Draft, _ needs: [Need]) -> Job? {
    let retry = draft.policy.retry.map { $0.policy(faults) }
    guard let work = draft.work else { return nil }
    return Job(
      name: draft.name, work: work, needs: needs.map { JobNeed(JobID($0.job), when: $0.when) },
      priority: draft.policy.priority ?? .normal,
      uses: draft.policy.uses.mapValues(\.amount).filter { $0.value > 0 }, timeout: draft.policy.timeout,
      retry: retry ?? ServiceReader.standardRetry(of: work), allowFailure: draft.policy.allowFailure ?? false,
      description: draft.description,
      creates: draft.creates, inputs: draft.inputs, approval: draft.policy.approval?.question(for: draft.name))
  }

  // MARK: All jobs together

  private struct Need {
    var job: Int
    var when: JobNeed.Condition
    var place: Place
  }

  private func resolve(_ drafts: [Draft], _ index: [String: Int]) -> [[Need]] {
    // Bounds the search for near names in a file with very many unknown ones.
    var comparisons = 2_000_000
    return drafts.map { draft in
      draft.needs.compactMap { need in
        if faults.isCut { return nil }
        if let job = index[need.name] { return Need(job: job, when: need.when, place: need.place) }
        comparisons -= drafts.count
        let names = drafts.lazy.map(\.name).prefix(comparisons > 0 ? .max : 0)
        let advice =
          NeedReader.mend(for: need.name, among: index)
          ?? NearestName.hint(for: need.name, in: names, otherwise: ": add the job, or delete the need")
        return faults.fail(need.place, "unknown job \(Quoted.text(need.name)) in needs\(advice)")
      }
    }
  }

  private func checkCycles(_ drafts: [Draft], _ needs: [[Need]]) {
    for cycle in DependencyOrder(needs.map { $0.map(\.job) }).cycles {
      let place = needs[cycle[0]].first { $0.job == cycle[1] }?.place ?? drafts[cycle[0]].place
      guard cycle[0] != cycle[1] else {
        faults.add(place, "job \(Quoted.text(drafts[cycle[0]].name)) needs itself: delete this need")
        continue
      }
      let path = Quoted.cycle(cycle.map { drafts[$0].name })
      faults.add(place, "jobs need each other: \(path): delete one of these needs")
    }
  }

  private func checkTargets(_ drafts: [Draft]) {
    var writers: [String: Int] = [:]
    for (index, draft) in drafts.enumerated() {
      guard case .download(let work) = draft.work, let place = draft.target else { continue }
      guard let first = writers[work.file] else {
        writers[work.file] = index
        continue
      }
      faults.add(
        place,
        "\(Quoted.text(work.file)) is already the file of job \(Quoted.text(drafts[first].name)), "
          + "\(faults.words(drafts[first].target ?? drafts[first].place, from: place)): give one another 'to'")
    }
  }

  private func checkUses(_ drafts: [Draft], _ pools: [String: Int?]) {
    for draft in drafts {
      for (pool, use) in draft.policy.uses {
        guard let known = pools[pool] else {
          let advice = NearestName.hint(
            for: pool, in: pools.keys.sorted(),
            otherwise: ": declare it under pools, as in 'pools: { \(Quoted.bare(pool)): 1 }'")
          faults.add(use.place, "unknown pool \(Quoted.text(pool))\(advice)")
          continue
        }
        guard let size = known, use.amount > size else { continue }
        faults.add(
          use.place,
          "takes \(use.amount) of pool \(Quoted.text(pool)), which has \(size), so it would never start: "
            + "enlarge the pool or take less")
      }
    }
  }
}
