/// The keys of each map of a job file.
enum JobFileKeys {
  /// The keys of a job's work.
  static let work = ["run", "download", "upload", "simulate"]
  /// The keys of a job's policy.
  static let policy = ["timeout", "retry", "priority", "allow_failure", "uses", "env", "dir", "stop", "progress"]
  /// The keys of the files that a job creates and reads.
  static let files = ["creates", "inputs"]
  /// The keys for `run` jobs only.
  static let shell = ["env", "dir", "stop", "progress"] + files

  static let file = KnownKeys(
    owner: "a job file", keys: fileKeys, example: "jobs: { build: { run: make } }",
    later: [
      "dotenv": "write the variables into env", "include": "write its jobs into this file",
      "timeout": "write it into defaults, for each job", "shell": "write run as a list, as in [bash, -c, 'a command']",
      "secrets": "delete it", "slurm": "delete it",
      "finally": "write a job that needs the others, as in 'needs: { a: finished }'",
    ], others: .file,
    elsewhere: places(
      [(jobKeys, "it is a key of a job: write it below the name of a job, in 'jobs'")]))

  static let defaults = KnownKeys(
    owner: "defaults", keys: policy, example: "{ timeout: 10m }", later: laterJobKeys, others: .job,
    elsewhere: places([
      (work + ["needs"] + files, "each job has its own: write it into the jobs"), (fileKeys, ofFile),
    ]))

  static let job = KnownKeys(
    owner: "a job", keys: jobKeys, example: "{ run: make }", textKey: "run", later: laterJobKeys, others: .job,
    elsewhere: places([
      (fileKeys, ofFile), (downloadKeys, "it is a key of download: write it inside 'download: { … }'"),
      (uploadKeys, "it is a key of upload: write it inside 'upload: { … }'"),
      (retryKeys, "it is a key of retry: write it inside 'retry: { … }'"),
      (simulateKeys, "it is a key of simulate: write it inside 'simulate: { … }'"),
    ]))

  static let retry = KnownKeys(
    owner: "retry", keys: retryKeys, example: "{ max: 2, initial: 5s }", others: .retry,
    elsewhere: places([(jobKeys, ofJob)]))
  static let stop = KnownKeys(
    owner: "stop", keys: ["signal", "grace"], example: "{ signal: INT, grace: 10s }", textKey: "signal",
    others: .stop,
    elsewhere: places([(jobKeys, ofJob)]))
  static let download = KnownKeys(
    owner: "download", keys: downloadKeys, example: "{ url: http://…, to: FILE }", others: .download,
    elsewhere: places([(jobKeys, ofJob)]))
  static let upload = KnownKeys(
    owner: "upload", keys: uploadKeys, example: "{ file: out.zip, url: http://… }", others: .upload,
    elsewhere: places([(jobKeys, ofJob)]))
  static let simulate = KnownKeys(
    owner: "simulate", keys: simulateKeys, example: "{ duration: 8s }", others: .simulate,
    elsewhere: places([(jobKeys, ofJob)]))

  /// Whether a map of the file's level looks like a job.
  static func isJob(_ node: YAMLNode) -> Bool {
    guard case .map(let entries) = node.content else { return false }
    return entries.contains { work.contains($0.key) || ["script", "command", "cmd", "cmds"].contains($0.key) }
  }

  private static let fileKeys = [
    "version", "name", "slots", "on_failure", "schedule", "vars", "env", "pools", "defaults", "jobs",
  ]
  private static let jobKeys = ["description", "needs"] + work + files + policy
  private static let downloadKeys = ["url", "to", "sha256", "resume", "headers"]
  private static let uploadKeys = ["file", "url", "method", "headers"]
  private static let retryKeys = ["max", "backoff", "initial", "cap", "jitter", "only"]
  private static let simulateKeys = ["duration", "steps", "fail_rate", "seed"]

  private static let laterJobKeys = [
    "matrix": "write the jobs out", "service": "delete it", "if": "delete it",
    "tty": "delete it", "silence": "write 'timeout'", "on": "delete it",
    "slurm": "delete it", "approve": "delete it",
  ]

  private static let ofFile = "it is a key of the whole file: write it at the start of a line"
  private static let ofJob = "it is a key of the job: write it one level higher"

  private static func places(_ places: [(keys: [String], sentence: String)]) -> [String: String] {
    var found: [String: String] = [:]
    for (keys, sentence) in places {
      for key in keys where found[key] == nil { found[key] = sentence }
    }
    return found
  }
}
