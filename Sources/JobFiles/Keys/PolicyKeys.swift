import JobModel

// The keys of the settings of jobs: of `defaults`, and of a job besides its work.

extension JobFileKeys {
  static let policyTable: [KnownKey<JobPolicy>] =
    [
      KnownKey("timeout", .limit, into: \.timeout, "how long one attempt may take"),
      KnownKey(
        "retry", .either([.whole(JobPolicy.Retry.range), .object { retry.form }]),
        "how often and when a failed attempt is repeated"
      ) { entry, name, values, policy in
        policy.retry = JobPolicy.Retry(entry.value, name, values, over: policy.retry) ?? policy.retry
      },
      KnownKey(
        "priority", .choice(others: ForeignValues.priority), into: \.priority, "which of the ready jobs goes first"),
      KnownKey("allow_failure", .flag, into: \.allowFailure, "whether the run can succeed although it fails"),
      KnownKey("uses", .map(of: .whole(0 ... .max)), "how many units of each pool it takes") {
        entry, _, values, policy in
        policy.uses.merge(values.uses(entry.value)) { $1 }
      },
      stallKey(\.stall),
    ] + shellTable

  /// The settings for `run` jobs only.
  static let shellTable: [KnownKey<JobPolicy>] = [
    environmentKey("environment variables"),
    KnownKey("dir", .directory, into: \.directory, "the folder that it runs in"),
    KnownKey("stop", .object { stop.form }, "how it is stopped") { entry, _, values, policy in
      stop.read(entry.value, into: &policy.stop, values)
    },
    KnownKey(
      "progress", .progress, into: \.progress,
      "a regular expression over lines of output with one group (per cent) or two"),
    KnownKey(
      "shell", .shell, into: \.shell, "what runs its script: a known shell, or the words of the command line before it"),
    KnownKey("tty", .flag, into: \.hasTerminal, "whether it gets a terminal of its own"),
    KnownKey(
      "stderr", .choice(others: ForeignValues.stderr), into: \.stderr,
      "whether its standard error is in one stream with its output, in order, or apart, with a mark; together by default"
    ),
    KnownKey(
      "jobserver", .jobserver, into: \.jobserver,
      "whether make, ninja and cargo in it share the run's slots: true, or fifo for make 4.4 and ninja"),
    KnownKey("silence", .limit, into: \.silence, "how long it may write nothing before it is stopped"),
    KnownKey("on", .engine, into: \.engine, "what executes it: this machine, or a cluster"),
    KnownKey("slurm", .object { slurm.form }, "the resources that it requests from Slurm, if a cluster executes it") {
      entry, _, values, policy in
      let entries = slurm.read(entry.value, into: &policy.clusterRequest, values)
      policy.resourcePlaces.merge(entries?.places ?? [:]) { $1 }
    },
  ]

  static let retry: KnownKeys<JobPolicy.Retry> = KnownKeys(
    "retry", example: "{ max: 2, initial: 5s }", others: .retry, elsewhere: ofJob,
    [
      KnownKey("max", .whole(JobPolicy.Retry.range), into: \.max, "how many retries follow the first attempt"),
      KnownKey("backoff", .choice(others: ForeignValues.backoff), into: \.backoff, "whether the wait doubles"),
      KnownKey("initial", .duration, into: \.initial, "the wait before the first retry; 1s by default"),
      KnownKey("cap", .duration, into: \.cap, "the longest wait; 30s by default"),
      KnownKey("jitter", .flag, into: \.jitter, "whether each wait is drawn from half of it to the whole"),
      KnownKey(
        "only", .causes, into: \.only, "the failures that are retried: causes, exit statuses and lines of the output"),
    ])

  static let retryOutput: KnownKeys<RetryCauses> = KnownKeys(
    "an item of retry.only", path: "retry.only.", example: "{ output: 'try again' }", elsewhere: ofJob,
    [
      KnownKey("output", .pattern, "a regular expression: a failure is retried if a line of the output matches it") {
        entry, name, values, causes in
        let pattern = values.pattern(entry.value, name, takes: "a regular expression")
        if let pattern, !causes.patterns.contains(pattern) { causes.patterns.append(pattern) }
      }
    ])

  static let stop: KnownKeys<ShellWork.Stop> = KnownKeys(
    "stop", example: "{ signal: INT, grace: 10s }", textKey: "signal", others: .stop, elsewhere: ofJob,
    [
      KnownKey("signal", .signal, into: \.signal, "the signal that asks it to end; TERM by default"),
      KnownKey("grace", .duration, into: \.grace, "the time from the signal until it is killed; 5s by default"),
    ])

  static let slurm: KnownKeys<ClusterRequest> = KnownKeys(
    "slurm", example: "{ cpus: 8, memory: 16G }", others: .slurm,
    elsewhere: ofJob.merging([
      "allocation": "it is of the whole run: write it into 'slurm:' at the start of a line"
    ]) { own, _ in own },
    [
      KnownKey("name", .line("a name"), into: \.name, "the name that squeue shows; the job's by default"),
      KnownKey("cpus", .whole(1...1_000_000), into: \.cpus, "processors of each node"),
      KnownKey("memory", .memory, into: \.memory, "memory of each node, as 500M, 16G or 1T; 0 for all of it"),
      KnownKey("gpus", .whole(1...1_000_000), into: \.gpus, "GPUs"),
      KnownKey("nodes", .whole(1...1_000_000), into: \.nodes, "nodes"),
      KnownKey("time", .limit, into: \.time, "the time limit, from the start on a node; whole minutes"),
      KnownKey("partition", .word, into: \.partition, "the partition, or several with commas"),
      KnownKey("account", .word, into: \.account, "the account that is charged"),
      KnownKey("qos", .word, into: \.qos, "the quality of service"),
      KnownKey("constraint", .word, into: \.constraint, "the features of the nodes"),
      KnownKey("options", .slurmOptions, into: \.options, "further options of sbatch, each one word"),
    ])

  static let allocation: KnownKeys<ClusterRequest> = KnownKeys(
    "slurm.allocation", example: "{ nodes: 2, cpus: 8 }", others: .slurm, elsewhere: ofJob, slurm.table)

  static let fileSlurm: KnownKeys<FileSettings> = KnownKeys(
    "slurm of the file", path: "slurm.", example: "{ allocation: { nodes: 2, cpus: 8 } }", others: .slurm,
    elsewhere: ofJob,
    slurm.table.map { $0.within(\.policy.clusterRequest) } + [
      KnownKey(
        "allocation", .object { allocation.form }, "what is held for the run, so that its cluster jobs are steps of it"
      ) { entry, _, values, settings in
        var clusterRequest = ClusterRequest()
        allocation.read(entry.value, into: &clusterRequest, values)
        settings.graph.allocation = clusterRequest
      }
    ])

  /// A job's variables complete the defaults' and the file's.
  static func environmentKey(_ text: String) -> KnownKey<JobPolicy> {
    KnownKey("env", .map(of: .text), text) { entry, name, values, policy in
      policy.environment.merge(values.environment(entry.value, name)) { $1 }
    }
  }

  static func stallKey<Record>(_ path: KnownKey<Record>.Path<Duration>) -> KnownKey<Record> {
    KnownKey(
      "stall", .duration, into: path,
      "the time without a moved byte after which a transfer fails; 5m by default, 0s for no limit")
  }
}
