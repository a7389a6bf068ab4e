import JobModel

/// The tables of keys, which the decoder reads and the schema is made of.
extension JobFileKeys {
  static let rootTable: [KnownKey] = [
    KnownKey("version", .choice(["1"]), "the version of the format: 1"),
    KnownKey("name", .text, "the name of the run; the file's name without its ending if there is none"),
    KnownKey(
      "slots", .whole(1...JobFileDecoder.slotsLimit), "how many jobs run at once; the number of processors by default"),
    KnownKey("timeout", .duration, "how long the whole run may take"),
    KnownKey("on_failure", .choice(JobGraph.Failure.self), "the effect of a failed job on the others"),
    KnownKey("schedule", .choice(JobGraph.Schedule.self), "which of the ready jobs starts first"),
    KnownKey("shell", shellKind, "what runs a script: a known shell, or the words of the command line before it"),
    KnownKey("vars", .map(of: .text), "values that texts have as ${NAME}"),
    KnownKey(
      "secrets", .oneOrMore(.text), "names of variables whose values are never shown or kept"),
    KnownKey("env", .map(of: .text), "environment variables of every run job"),
    KnownKey("dotenv", .oneOrMore(.text), "files of NAME=VALUE lines, as environment of every run job"),
    KnownKey("include", .oneOrMore(.text), "other files whose jobs, vars, env and pools are added to this one"),
    KnownKey("pools", .map(of: .whole(1 ... .max)), "names of resources, and how many units each has"),
    KnownKey("on", .choice(Engine.self), "what executes the run jobs; local by default"),
    KnownKey("slurm", .object { fileSlurm }, "the resources that cluster jobs request from Slurm"),
    KnownKey("defaults", .object { defaults }, "settings of every job of this file that has none of its own"),
    KnownKey("jobs", .map(of: .either([.object { job }, .string])), "the jobs by their names"),
    KnownKey(
      "finally", .map(of: .either([.object { finalJob }, .string])), "jobs that run when all others have ended"),
  ]

  static let workTable: [KnownKey] = [
    KnownKey("run", .command, "a script for the shell, or a program and its arguments as a list"),
    KnownKey("download", .either([.url, .object { download }]), "a URL whose content is written to a file"),
    KnownKey("upload", .object { upload }, "a file that is sent to a URL"),
    KnownKey("simulate", .object { simulate }, "work that only takes time"),
  ]

  static let fileTable: [KnownKey] = [
    KnownKey("creates", .oneOrMore(.text), "files or folders that it makes: where they are there, it is up to date"),
    KnownKey(
      "inputs", .oneOrMore(.text), "files and patterns that it reads: while they are unchanged, it is up to date"),
  ]

  /// The policy for `run` jobs only.
  static let shellTable: [KnownKey] = [
    KnownKey("env", .map(of: .text), "environment variables"),
    KnownKey("dir", .text, "the folder that it runs in"),
    KnownKey("stop", .object { stop }, "how it is stopped"),
    KnownKey("progress", .pattern, "a regular expression over lines of output with one group (per cent) or two"),
    KnownKey("shell", shellKind, "what runs its script: a known shell, or the words of the command line before it"),
    KnownKey("tty", .flag, "whether it gets a terminal of its own"),
    KnownKey(
      "stderr", .choice(ShellWork.Stderr.self),
      "whether its standard error is in one stream with its output, in order, or apart, with a mark; together by default"
    ),
    KnownKey("silence", .duration, "how long it may write nothing before it is stopped"),
    KnownKey("on", .choice(Engine.self), "what executes it: this machine, or a cluster"),
    KnownKey("slurm", .object { slurm }, "the resources that it requests from Slurm, if a cluster executes it"),
  ]

  static let policyTable: [KnownKey] =
    [
      KnownKey("timeout", .duration, "how long one attempt may take"),
      KnownKey(
        "retry", .either([.whole(0...1_000_000), .object { retry }]), "how often and when a failed attempt is repeated"),
      KnownKey("priority", .choice(JobPriority.self), "which of the ready jobs goes first"),
      KnownKey("allow_failure", .flag, "whether the run can succeed although it fails"),
      KnownKey("uses", .map(of: .whole(0 ... .max)), "how many units of each pool it takes"),
      stallKey,
    ] + shellTable

  static let jobTable: [KnownKey] =
    [
      KnownKey("description", .text, "its purpose"),
      KnownKey("matrix", matrixKind, "names and their values: the job has an instance for each combination"),
      KnownKey(
        "needs", .either([.oneOrMore(.text), .map(of: .choice(JobNeed.Condition.self))]),
        "the jobs that it starts after, and how they must end"),
      KnownKey("if", .text, "the condition for it to run; it is skipped otherwise"),
      KnownKey("approve", .string, "a question to a person before it starts"),
      KnownKey(
        "service", .either([.flag, .object { service }]), "that it runs while others need it, and when it can be used"),
    ] + workTable + fileTable + policyTable

  static let finalJobTable: [KnownKey] =
    jobTable + [
      KnownKey(
        "when", .choice(FinalCondition.self), "the ends of all other jobs after which it runs; always by default")
    ]

  static let serviceTable: [KnownKey] = [
    KnownKey("ready", .either([.url, .object { ready }]), "how it is known that the service can be used"),
    KnownKey(
      "restart", .choice(Service.Restart.self), "which ends that were not asked for are followed by another start"),
  ]

  static let readyTable: [KnownKey] = [
    KnownKey("url", .url, "the URL answers with a status below 400"),
    KnownKey("port", .port, "the port, of this machine or as HOST:PORT, accepts a connection"),
    KnownKey("run", .command, "the command exits with 0"),
    KnownKey("output", .pattern, "a line of its output matches the regular expression"),
    KnownKey("every", .duration, "the time between two probes; 500ms by default"),
    KnownKey("timeout", .duration, "how long it may take until the service can be used; 30s by default"),
  ]

  static let retryTable: [KnownKey] = [
    KnownKey("max", .whole(0...1_000_000), "how many retries follow the first attempt"),
    KnownKey("backoff", .choice(RetryPolicy.Backoff.self), "whether the wait doubles"),
    KnownKey("initial", .duration, "the wait before the first retry; 1s by default"),
    KnownKey("cap", .duration, "the longest wait; 30s by default"),
    KnownKey("jitter", .flag, "whether each wait is drawn from half of it to the whole"),
    KnownKey(
      "only", .oneOrMore(.either([.choice(RetryPolicy.Cause.self), .whole(1...255), .object { retryOutput }])),
      "the failures that are retried: causes, exit statuses and lines of the output"),
  ]

  static let slurmTable: [KnownKey] = [
    KnownKey("name", .text, "the name that squeue shows; the job's by default"),
    KnownKey("cpus", .whole(1...1_000_000), "processors of each node"),
    KnownKey("memory", .text, "memory of each node, as 500M, 16G or 1T; 0 for all of it"),
    KnownKey("gpus", .whole(1...1_000_000), "GPUs"),
    KnownKey("nodes", .whole(1...1_000_000), "nodes"),
    KnownKey("time", .duration, "the time limit, from the start on a node; whole minutes"),
    KnownKey("partition", .text, "the partition, or several with commas"),
    KnownKey("account", .text, "the account that is charged"),
    KnownKey("qos", .text, "the quality of service"),
    KnownKey("constraint", .text, "the features of the nodes"),
    KnownKey("options", .oneOrMore(.text), "further options of sbatch, each one word"),
  ]

  static let fileSlurmTable: [KnownKey] =
    slurmTable + [
      KnownKey(
        "allocation", .object { allocation }, "what is held for the run, so that its cluster jobs are steps of it")
    ]

  static let stopTable: [KnownKey] = [
    KnownKey("signal", .signal(JobPolicy.signals.map(\.name)), "the signal that asks it to end; TERM by default"),
    KnownKey("grace", .duration, "the time from the signal until it is killed; 5s by default"),
  ]

  static let downloadTable: [KnownKey] = [
    KnownKey("url", .url, "where it is"),
    KnownKey("to", .text, "the file; the last component of the URL by default"),
    KnownKey("sha256", .text, "the SHA-256 of the content, 64 hexadecimal digits"),
    KnownKey("resume", .flag, "whether an interrupted transfer is resumed; true by default"),
    KnownKey("headers", .map(of: .text), "headers of the request"),
    stallKey,
  ]

  static let uploadTable: [KnownKey] = [
    KnownKey("file", .text, "the file"), KnownKey("url", .url, "where it is sent to"),
    KnownKey("method", .choice(WorkReader.Method.self), "the method of the request; PUT by default"),
    KnownKey("headers", .map(of: .text), "headers of the request"),
    stallKey,
  ]

  private static let stallKey = KnownKey(
    "stall", .duration, "the time without a moved byte after which a transfer fails; 5m by default, 0s for no limit")

  static let simulateTable: [KnownKey] = [
    KnownKey("duration", .duration, "how long it takes; 0s by default"),
    KnownKey("steps", .whole(1...1_000_000), "how many steps of progress it reports; 1 by default"),
    KnownKey("fail_rate", .fraction, "the probability that an attempt fails; 0 by default"),
    KnownKey("seed", .whole(0 ... .max), "the same seed gives the same events; 0 by default"),
  ]

  private static let matrixKind = ValueKind.map(of: .oneOrMore(.either([.text, .map(of: .oneOrMore(.text))])))
  private static let shellKind = ValueKind.either([.choice(ShellName.words.map(\.name)), .list(of: .text)])
}
