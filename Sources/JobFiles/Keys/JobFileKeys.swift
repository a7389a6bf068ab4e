import JobModel

/// The keys of each map of a job file, which the decoder reads and the schema is made of.
enum JobFileKeys {
  static let file: KnownKeys<FileSettings> = KnownKeys(
    "a job file", path: "", example: "jobs: { build: { run: make } }", others: .file,
    elsewhere: places([(job.keys, "it is a key of a job: write it below the name of a job, in 'jobs'")]),
    [
      KnownKey("version", .choice(["1"]), "the version of the format: 1") { entry, _, values, _ in
        values.check(version: entry.value)
      },
      KnownKey(
        "name", .line("text"), into: \.graph.name,
        "the name of the run; the file's name without its ending if there is none"),
      KnownKey("slots", .slots, into: \.graph.slots, "how many jobs run at once; the number of processors by default"),
      KnownKey("timeout", .limit, into: \.graph.timeout, "how long the whole run may take"),
      KnownKey(
        "on_failure", .either([.choice(JobGraph.Failure.self), .object { onFailure.form }]),
        "the effect of a failed job on the others, or of some"
      ) { entry, name, values, settings in
        guard case .map = entry.value.content else {
          settings.graph.onFailure = ValueKind.onFailure.read(values, entry.value, name) ?? settings.graph.onFailure
          return
        }
        settings.graph.onFailure = .finishRunning
        let entries = onFailure.entries(of: entry.value, values.faults) { other in
          NearestName.of(other.key, in: onFailure.keys) == nil
            ? "write a job below 'finally:', with 'when: failed'" : nil
        }
        guard let entries else { return }
        onFailure.read(entries, into: &settings.graph, values)
        if entries["stop_after"] == nil, !entries.hasUnknown {
          values.faults.add(
            entry.value.place, "on_failure has no stop_after: say how many failures are too many, as in 'stop_after: 3'"
          )
        }
      },
      KnownKey("schedule", .choice(), into: \.graph.schedule, "which of the ready jobs starts first"),
      KnownKey(
        "stay", .flag, into: \.graph.keepsServices,
        "whether services stay up when no job needs them any more, until the run is quit; true where all jobs are services"
      ),
      KnownKey("watch", .object { watch.form }, "how changes of inputs are noticed by 'opdash watch'") {
        entry, _, values, settings in
        watch.read(entry.value, into: &settings.graph.watch, values)
      },
      KnownKey(
        "shell", ValueKind<[String]>.shell.form,
        "what runs a script: a known shell, or the words of the command line before it"),
      KnownKey("vars", .map(of: .text), "values that texts have as ${NAME}"),
      KnownKey("secrets", .oneOrMore(.text), "names of variables whose values are never shown or kept"),
      environmentKey("environment variables of every run job").within(\.policy),
      KnownKey("dotenv", .oneOrMore(.text), "files of NAME=VALUE lines, as environment of every run job"),
      KnownKey("include", .oneOrMore(.text), "other files whose jobs, vars, env and pools are added to this one"),
      KnownKey("pools", .pools, into: \.pools, "names of resources, and how many units each has"),
      KnownKey("on", .engine, into: \.policy.engine, "what executes the run jobs; local by default"),
      KnownKey("slurm", .object { fileSlurm.form }, "the resources that cluster jobs request from Slurm") {
        entry, _, values, settings in
        settings.resourcePlaces = fileSlurm.read(entry.value, into: &settings, values)?.places ?? [:]
      },
      KnownKey("defaults", .object { defaults.form }, "settings of every job of this file that has none of its own"),
      KnownKey("jobs", .map(of: .either([.object { job.form }, .string])), "the jobs by their names"),
      KnownKey(
        "finally", .map(of: .either([.object { finalJob.form }, .string])), "jobs that run when all others have ended"),
    ])

  /// `on_failure` as a map.
  static let onFailure: KnownKeys<JobGraph> = KnownKeys(
    "on_failure", example: "{ stop_after: 3 }",
    [
      KnownKey(
        "stop_after", .whole(1...1_000_000), into: \.failureLimit, "how many jobs may have failed when the run stops"),
      KnownKey(
        "then", .choice(others: ForeignValues.onFailure), into: \.onFailure,
        "what happens then: finish-running, the default, or stop-now"),
    ])

  /// The keys of the job file that those it includes can't have.
  private static let mainKeys: Set = [
    "name", "slots", "timeout", "on_failure", "schedule", "stay", "watch", "on", "slurm",
  ]

  static let included: KnownKeys<FileSettings> = KnownKeys(
    "an included file", path: "", example: file.example, others: .file,
    elsewhere: places([
      (Array(mainKeys), "it is of the whole run: write it into the file that includes this one"),
      (job.keys, "it is a key of a job: write it below the name of a job, in 'jobs'"),
    ]), file.table.filter { !mainKeys.contains($0.name) })

  static let defaults: KnownKeys<JobPolicy> = KnownKeys(
    "defaults", path: "", example: "{ timeout: 10m }", others: .job,
    elsewhere: places([(finalJob.keys, "each job has its own: write it into the jobs"), (file.keys, ofFile)]),
    policyTable)

  private static let jobTable: [KnownKey<JobDraft>] = [
    KnownKey("description", .text("text"), into: \.job.description, "its purpose"),
    KnownKey(
      "matrix", .map(of: .oneOrMore(.either([.text, .map(of: .oneOrMore(.text))]))),
      "names and their values: the job has an instance for each combination"),
    KnownKey("needs", ValueKind.needs.form, "the jobs that it starts after, and how they must end") {
      entry, name, values, draft in
      draft.needs = ValueKind.needs.read(values, entry.value, name) ?? []
    },
    KnownKey("if", .condition, into: \.job.condition, "the condition for it to run; it is skipped otherwise"),
    KnownKey("approve", .question, into: \.job.approval, "a question to a person before it starts"),
    KnownKey(
      "start", .choice(others: ForeignValues.start), into: \.start,
      "manual for a job that waits for a person to start it, and that no other job waits for; auto by default"),
    KnownKey(
      "service", .service, into: \.policy.service, "that it runs while others need it, and when it can be used"),
  ]

  static let job: KnownKeys<JobDraft> = KnownKeys(
    "a job", path: "", example: "{ run: make }", textKey: "run", others: .job, elsewhere: ofOtherMaps,
    jobTable + workTable + fileTable + policyTable.map { $0.within(\.policy) })

  /// A job of `finally`.
  static let finalJob: KnownKeys<JobDraft> = KnownKeys(
    "a job of finally", path: "", example: "{ run: make }", textKey: "run", others: .job, elsewhere: ofOtherMaps,
    job.table + [
      KnownKey(
        "when", .choice(FinalCondition.self), "the ends of all other jobs after which it runs; always by default"
      ) { entry, name, values, draft in
        draft.job.finally =
          values.choice(entry.value, name, as: FinalCondition.self, others: ForeignValues.when) ?? .always
      }
    ])

  static let work: [String] = workTable.map(\.name)
  /// The keys of the files that a job creates and reads.
  static let files: [String] = fileTable.map(\.name)
  /// The keys for `run` jobs only.
  static let shell: [String] = shellTable.map(\.name) + files + ["service"]

  // MARK: Jobs at other places

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

  private static let jobNames: Set<String> = Set(job.keys)
  /// Keys of a job that name no program.
  private static let noCommands: Set<String> = jobNames.subtracting([
    "env", "dir", "if", "timeout", "stop", "retry", "tty", "service",
  ])

  /// The advice for a job beside the file's keys, as in GitLab, or a command, as in a Procfile.
  static func jobAdvice(_ entry: YAMLEntry, in root: YAMLNode) -> String? {
    if isJob(entry.value) { return "it looks like a job: write it below 'jobs:', indented" }
    guard case .map(let entries) = root.content, !entries.contains(where: { $0.key == "jobs" }),
      case .scalar(let text, _) = entry.value.content, text.contains(where: { " /".contains($0) }),
      file.others.advice(for: entry) == nil, NearestName.of(entry.key, in: file.keys) == nil
    else { return nil }
    return "write a command as a job, 'jobs: { \(Quoted.bare(entry.key)): { run: \(Quoted.bare(text)) } }'"
  }

  // MARK: Keys of other maps

  private static var ofOtherMaps: [String: String] {
    places([
      (file.keys, ofFile),
      (download.keys, "it is a key of download: write it inside 'download: { … }'"),
      (upload.keys, "it is a key of upload: write it inside 'upload: { … }'"),
      (retry.keys, "it is a key of retry: write it inside 'retry: { … }'"),
      (simulate.keys, "it is a key of simulate: write it inside 'simulate: { … }'"),
      // A job's name is its key, and many write one into it.
      (slurm.keys.filter { $0 != "name" }, "it is a key of slurm: write it inside 'slurm: { … }'"),
      (["ready", "alive"], "it is a key of service: write it inside 'service: { … }'"),
      (watch.keys, "it is a key of watch, at the start of the file: 'watch: { … }'"),
    ])
  }

  static let ofFile = "it is a key of the whole file: write it at the start of a line"
  static let ofTheJob = "it is a key of the job: write it one level higher"
  static var ofJob: [String: String] { places([(job.keys, ofTheJob)]) }

  static func places(_ places: [(keys: [String], sentence: String)]) -> [String: String] {
    var found: [String: String] = [:]
    for (keys, sentence) in places {
      for key in keys where found[key] == nil { found[key] = sentence }
    }
    return found
  }
}
