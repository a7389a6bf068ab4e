import JobModel

/// The keys of each map of a job file.
enum JobFileKeys {
  /// The keys of a job's work.
  static let work: [String] = workTable.map(\.name)
  /// The keys of the files that a job creates and reads.
  static let files: [String] = fileTable.map(\.name)
  /// The keys for `run` jobs only.
  static let shell: [String] = shellTable.map(\.name) + files + ["service"]

  static let file: KnownKeys = KnownKeys(
    owner: "a job file", table: rootTable, example: "jobs: { build: { run: make } }", others: .file,
    elsewhere: places(
      [(jobTable.map(\.name), "it is a key of a job: write it below the name of a job, in 'jobs'")]))

  /// The keys of the job file that those it includes can't have.
  private static let mainKeys: Set = ["name", "slots", "timeout", "on_failure", "schedule", "on", "slurm"]

  static let included: KnownKeys = KnownKeys(
    owner: "an included file", table: rootTable.filter { !mainKeys.contains($0.name) },
    example: "jobs: { build: { run: make } }", others: .file,
    elsewhere: places([
      (Array(mainKeys), "it is of the whole run: write it into the file that includes this one"),
      (jobTable.map(\.name), "it is a key of a job: write it below the name of a job, in 'jobs'"),
    ]))

  static let defaults: KnownKeys = KnownKeys(
    owner: "defaults", table: policyTable, example: "{ timeout: 10m }", others: .job,
    elsewhere: places([
      (finalJobTable.map(\.name), "each job has its own: write it into the jobs"), (rootTable.map(\.name), ofFile),
    ]))

  static let job: KnownKeys = job("a job", jobTable)
  /// A job of `finally`.
  static let finalJob: KnownKeys = job("a job of finally", finalJobTable)

  private static func job(_ owner: String, _ table: [KnownKey]) -> KnownKeys {
    KnownKeys(
      owner: owner, table: table, example: "{ run: make }", textKey: "run", others: .job,
      elsewhere: jobPlaces)
  }

  private static let jobPlaces: [String: String] = places([
    (rootTable.map(\.name), ofFile),
    (downloadTable.map(\.name), "it is a key of download: write it inside 'download: { … }'"),
    (uploadTable.map(\.name), "it is a key of upload: write it inside 'upload: { … }'"),
    (retryTable.map(\.name), "it is a key of retry: write it inside 'retry: { … }'"),
    (simulateTable.map(\.name), "it is a key of simulate: write it inside 'simulate: { … }'"),
    // A job's name is its key, and many write one into it.
    (slurmTable.map(\.name).filter { $0 != "name" }, "it is a key of slurm: write it inside 'slurm: { … }'"),
    (["ready"], "it is a key of service: write it inside 'service: { … }'"),
  ])

  static let retry: KnownKeys = KnownKeys(
    owner: "retry", table: retryTable, example: "{ max: 2, initial: 5s }", others: .retry, elsewhere: ofJob)
  static let retryOutput: KnownKeys = KnownKeys(
    owner: "an item of retry.only",
    table: [
      KnownKey("output", .pattern, "a regular expression: a failure is retried if a line of the output matches it")
    ], example: "{ output: 'try again' }", elsewhere: ofJob)
  static let slurm: KnownKeys = KnownKeys(
    owner: "slurm", table: slurmTable, example: "{ cpus: 8, memory: 16G }", others: .slurm,
    elsewhere: ofJob.merging([
      "allocation": "it is of the whole run: write it into 'slurm:' at the start of a line"
    ]) { own, _ in own })
  /// `slurm` of the file.
  static let fileSlurm: KnownKeys = KnownKeys(
    owner: "slurm of the file", table: fileSlurmTable, example: "{ allocation: { nodes: 2, cpus: 8 } }", others: .slurm,
    elsewhere: ofJob)
  static let allocation: KnownKeys = KnownKeys(
    owner: "slurm.allocation", table: slurmTable, example: "{ nodes: 2, cpus: 8 }", others: .slurm, elsewhere: ofJob)
  static let stop: KnownKeys = KnownKeys(
    owner: "stop", table: stopTable, example: "{ signal: INT, grace: 10s }", textKey: "signal", others: .stop,
    elsewhere: ofJob)
  static let service: KnownKeys = KnownKeys(
    owner: "service", table: serviceTable, example: "{ ready: { port: 8080 } }", others: .service,
    elsewhere: places([
      (readyTable.map(\.name), "it is a key of ready: write it inside 'ready: { … }'"),
      (jobTable.map(\.name), ofTheJob),
    ]))
  static let ready: KnownKeys = KnownKeys(
    owner: "service.ready", table: readyTable, example: "{ port: 8080 }", others: .ready,
    elsewhere: places([
      (["restart"], "it is a key of service: write it beside 'ready'"), (jobTable.map(\.name), ofTheJob),
    ]))
  static let download: KnownKeys = KnownKeys(
    owner: "download", table: downloadTable, example: "{ url: http://…, to: FILE }", others: .download,
    elsewhere: ofJob)
  static let upload: KnownKeys = KnownKeys(
    owner: "upload", table: uploadTable, example: "{ file: out.zip, url: http://… }", others: .upload,
    elsewhere: ofJob)
  static let simulate: KnownKeys = KnownKeys(
    owner: "simulate", table: simulateTable, example: "{ duration: 8s }", others: .simulate, elsewhere: ofJob)

  /// Whether a map of the file's level looks like a job.
  static func isJob(_ node: YAMLNode) -> Bool {
    guard case .map(let entries) = node.content else { return false }
    return entries.contains { work.contains($0.key) || ["script", "command", "cmd", "cmds"].contains($0.key) }
  }

  /// A job written as the text of its command, as the equivalent map.
  static func whole(_ node: YAMLNode) -> YAMLNode {
    guard case .scalar(let text, let isPlain) = node.content else { return node }
    if isPlain {
      // A number or a boolean is not a command, and `run make` lacks a colon.
      let first = String(text.prefix { $0.isLetter || $0 == "_" })
      let isWord = node.isNull || ["true", "false"].contains(text.lowercased()) || Double(text) != nil
      let isKey = jobNames.contains(first) && text.dropFirst(first.count).hasPrefix(":")
      if isWord || isKey || noCommands.contains(first) { return node }
    }
    var whole = node
    whole.content = .map([YAMLEntry(key: "run", place: node.place, value: node)])
    return whole
  }

  private static let jobNames: Set<String> = Set(jobTable.map(\.name))
  /// Keys of a job that name no program.
  private static let noCommands: Set<String> = jobNames.subtracting([
    "env", "dir", "if", "timeout", "stop", "retry", "tty", "service",
  ])

  private static let ofFile = "it is a key of the whole file: write it at the start of a line"
  private static let ofTheJob = "it is a key of the job: write it one level higher"
  private static let ofJob: [String: String] = places([(jobTable.map(\.name), ofTheJob)])

  private static func places(_ places: [(keys: [String], sentence: String)]) -> [String: String] {
    var found: [String: String] = [:]
    for (keys, sentence) in places {
      for key in keys where found[key] == nil { found[key] = sentence }
    }
    return found
  }
}
