/// Words that other tools have for the keys of a job file: make, just, Taskfile, GitHub Actions, GitLab CI, Compose, Procfiles.
struct ForeignKeys: Sendable {
  /// The advice for a word: `write 'needs'`.
  struct Advice {
    var sentence: String
    /// The key of ours that takes the same values.
    var key: String?

    init(_ sentence: String, key: String? = nil) {
      self.sentence = sentence
      self.key = key
    }
  }

  /// Finds the advice from the value.
  typealias Finder = @Sendable (YAMLNode) -> Advice

  private var finders: [String: Finder] = [:]

  /// `words` are those for each key of ours, separated by blanks.
  ///
  /// `sentences` are for words without a counterpart, and `finders` look at the value. Upper case, '-', '_' and '.' don't count.
  init(_ words: [String: String] = [:], sentences: [String: String] = [:], finders: [String: Finder] = [:]) {
    for (key, words) in words { add(words) { _ in Advice("write '\(key)'", key: key) } }
    for (sentence, words) in sentences { add(words) { _ in Advice(sentence) } }
    for (words, finder) in finders { add(words, finder) }
  }

  private mutating func add(_ words: String, _ finder: @escaping Finder) {
    for word in words.split(separator: " ") { finders[String(word)] = finder }
  }

  /// The advice for an entry whose key is a word of another tool.
  func advice(for entry: YAMLEntry) -> Advice? {
    guard entry.key.utf8.count < 50 else { return nil }
    return finders[String(entry.key.lowercased().filter { $0 != "-" && $0 != "_" && $0 != "." })]?(entry.value)
  }
}

extension ForeignKeys {
  private static let noContainer = "opdash runs jobs on this machine, not in containers: delete it"

  static let file = ForeignKeys(
    [
      "jobs": "task tasks step steps target targets process processes service services recipes rules commands",
      "slots": "parallel parallelism concurrency maxconcurrency maxparallel maxworkers workers threads numjobs procs",
      "env": "environment envs environ environmentvariables", "vars": "variables params parameters args inputs defines",
      "name": "title project", "pools": "limits resources semaphores", "schedule": "order queue",
      "dotenv": "envfile envfiles", "include": "includes imports import extends", "shell": "interpreter defaultshell",
      "slurm": "sbatch cluster hpc", "on": "engine executor backend",
      "finally": "after cleanup teardown ensure post always onexit atexit",
    ],
    sentences: [
      "write 'on_failure: keep-going', finish-running or stop-now":
        "failfast onerror stoponerror continueonerror keepgoing",
      "write it as a comment": "description desc summary",
      noContainer: "image container containers runson volumes networks",
      "opdash starts when you start it: delete it": "trigger triggers when cron",
    ], finders: ["stage stages": stages])

  static let job = ForeignKeys(
    [
      "description": "desc summary help doc",
      "needs":
        "dependson depend depends requires require requirements dependencies dependency deps after waitfor runafter prerequisites",
      "dir": "cwd workingdirectory workingdir workdir directory wd chdir folder path",
      "env": "environment envs environ envvars variables environmentvariables",
      "allow_failure":
        "continueonerror ignoreerrors ignoreerror ignorefailure ignorefailures canfail maybefail optional",
      "priority": "nice weight", "uses": "pool pools semaphore mutex lock resources resourcegroup concurrencygroup",
      "progress": "pattern progresspattern regex", "download": "fetch wget curl",
      "timeout": "timelimit maxduration deadline", "creates": "generates outputs produces", "inputs": "sources srcs",
      "slurm": "sbatch cluster hpc", "on": "engine executor backend",
      "shell": "interpreter", "tty": "terminal pty", "stderr": "standarderror streams",
      "silence": "nooutputtimeout outputtimeout idletimeout",
      "approve": "approval confirm confirmation prompt manual",
    ],
    sentences: [
      "the key below 'jobs' is the job's name: delete it": "name title id job",
      "write it as a comment": "desc summary label help doc comment",
      "write 'needs' in the other job": "before requiredby",
      "write a job below 'finally:' with 'when: failed', or one that needs '{ NAME: failed }'":
        "onfailure onerror rescue catch",
      "write a job below 'finally:'": "finally cleanup teardown ensure defer onexit afterscript",
      "'url' stands in download or upload, as in 'download: { url: … }'": "uri href link",
      "vars are of the whole file: write them at its start, or 'env' here": "vars",
      "write 'dotenv' at the start of the file, for all of its jobs": "envfile envfiles dotenv",
      "write 'if' with the condition for it to run": "when only rules condition runif onlyif",
      "write 'if' with the opposite": "except unless skipif",
      "write 'matrix: { NAME: [value, …] }' in the job": "strategy foreach withitems parallel loop",
      noContainer: "image container runson volumes ports network networks user",
    ],
    finders: [
      "cmd cmds command commands script scripts exec execute bash sh steps entrypoint args arguments program":
        command,
      "timeoutminutes timeoutmins": { timeout($0, "m") }, "timeoutseconds timeoutsecs timeoutsec": { timeout($0, "s") },
      "timeoutms timeoutmillis": { timeout($0, "ms") },
      "retries maxretries retrycount": { retry($0, first: 0) },
      "attempts maxattempts tries maxtries": { retry($0, first: 1) },
      "stopsignal killsignal signal": { Advice("write 'stop: { signal: \(scalar($0) ?? "INT") }'") },
      "stopgraceperiod graceperiod killtimeout shutdowntimeout grace": {
        Advice("write 'stop: { grace: \(scalar($0).map(seconds) ?? "5s") }'")
      },
      "restart restartpolicy availability autorestart": restart,
      "healthcheck readinessprobe startupprobe": probe("ready"), "livenessprobe": probe("alive"),
      "readylogline": { Advice("write 'service: { ready: { output: \(scalar($0) ?? "…") } }'") },
    ])

  static let service = ForeignKeys(
    sentences: ["write 'retry: N' beside 'service' for how often it may be started again": "maxrestarts retries"],
    finders: [
      "healthcheck readinessprobe startupprobe probe readiness health": probe("ready", isInside: true),
      "livenessprobe liveness heartbeat": probe("alive", isInside: true),
      "readylogline": { Advice("write 'ready: { output: \(scalar($0) ?? "…") }'") },
      "restartpolicy availability autorestart": {
        Advice("write 'restart: \(restartWord($0) ?? "on-failure")'")
      },
      "url": { Advice("write 'ready: { url: \(text($0)) }'") },
      "port": { Advice("write 'ready: { port: \(text($0)) }'") },
      "run": { Advice("write 'ready: { run: \(text($0)) }'") },
      "output": { Advice("write 'ready: { output: \(text($0)) }'") },
    ])

  static let ready = ForeignKeys(
    [
      "url": "http uri href link", "port": "tcp", "run": "command cmd test script",
      "output": "log logline readylogline pattern line stdout", "every": "interval period frequency",
      "timeout": "deadline within maxwait",
    ],
    sentences: [
      "the first probe comes with the start, and 'timeout' is how long all of them may take: delete it":
        "initialdelay initialdelayseconds startperiod startinterval delay",
      "write 'timeout', how long all probes may take": "retries failurethreshold successthreshold attempts",
    ],
    finders: [
      "httpget tcpsocket exec": probe("ready", isInside: true),
      "periodseconds": { Advice("write 'every: \(scalar($0).map(seconds) ?? "10s")'") },
      "timeoutseconds": { Advice("write 'timeout: \(scalar($0).map(seconds) ?? "30s")'") },
    ])

  static let alive = ForeignKeys(
    [
      "url": "http uri href link", "port": "tcp", "run": "command cmd test script",
      "every": "interval period frequency", "failures": "retries failurethreshold attempts tries",
    ],
    sentences: [
      "the first probe comes once the service can be used, so it needs no delay: delete it":
        "initialdelay initialdelayseconds startperiod startinterval delay",
      "one answer is enough: delete it": "successthreshold",
    ],
    finders: [
      "httpget tcpsocket exec": probe("alive", isInside: true),
      "periodseconds": { Advice("write 'every: \(scalar($0).map(seconds) ?? "10s")'") },
      "timeoutseconds": { Advice("write 'timeout: \(scalar($0).map(seconds) ?? "5s")'") },
    ])

  static let watch = ForeignKeys(
    [
      "debounce": "delay wait interval quiet settle batch",
      "ignore": "exclude excludes ignored ignores except skip not",
    ],
    sentences: [
      "opdash watches the 'inputs' of the jobs: write them there": "paths path files include patterns dirs exts"
    ])

  static let retry = ForeignKeys(
    [
      "max": "attempts maxattempts retries maxretries times count limit tries",
      "initial": "delay wait interval initialdelay initialinterval sleep pause",
      "cap": "maxdelay maxinterval maxwait", "only": "on when codes causes",
      "backoff": "strategy policy multiplier factor",
    ], sentences: ["timeout is a key of the job: write it beside 'retry'": "timeout"])

  static let slurm = ForeignKeys(
    [
      "name": "jobname", "cpus": "cpuspertask cpu cores ncpus threads c", "memory": "mem ram memorymb",
      "gpus": "gpu gpuspernode", "nodes": "node nnodes nodecount", "time": "timelimit walltime timeout duration",
      "partition": "queue p", "account": "project", "constraint": "constraints feature features",
      "options": "option extra flags args arguments sbatch",
    ],
    sentences: [
      "a job is one program: write 'cpus' for its processors, or 'options: [--ntasks=N]'": "ntasks tasks n",
      "write 'memory', which is of each node, or 'options: [--mem-per-cpu=…]'": "mempercpu",
      "write 'gpus: N', or 'options: [--gres=…]'": "gres",
      "write 'matrix' in the job": "array", "write 'needs' in the job": "dependency dependencies",
      "opdash keeps the output of each job: delete it": "output error o e",
    ])

  static let stop = ForeignKeys(["signal": "sig kill", "grace": "timeout after wait delay graceperiod"])

  static let download = ForeignKeys([
    "url": "uri href link source src from", "to": "dest destination output out file path target filename saveas",
    "sha256": "checksum hash digest integrity sha sha256sum", "resume": "continue", "headers": "header",
    "stall": "stalltimeout idletimeout readtimeout",
  ])

  static let upload = ForeignKeys([
    "url": "uri href link to dest destination target", "file": "from source src path data body", "headers": "header",
    "method": "verb", "stall": "stalltimeout idletimeout readtimeout",
  ])

  static let simulate = ForeignKeys(["duration": "time seconds sleep", "fail_rate": "failure failurerate errorrate"])

  static let settings = ForeignKeys([
    "keys": "bindings keybindings shortcuts keymap", "colors": "theme palette style styles",
  ])

  // MARK: Advice with a value

  /// The stages of GitLab are a list of names.
  private static let stages: Finder = { node in
    if case .list = node.content { return Advice("opdash orders the jobs by their 'needs': delete it") }
    return Advice("write 'jobs'", key: "jobs")
  }

  private static let command: Finder = { node in
    guard case .list(let items) = node.content else { return Advice("write 'run'", key: "run") }
    let isText = items.contains { item in
      if case .scalar(let text, _) = item.content { text.contains(" ") } else { true }
    }
    return isText
      ? Advice("write 'run: |' with one command on each line below it") : Advice("write 'run'", key: "run")
  }

  private static func timeout(_ node: YAMLNode, _ unit: String) -> Advice {
    let value = scalar(node).flatMap(Double.init).map { $0 > 0 } == true ? scalar(node) : nil
    return Advice(
      value.map { "write 'timeout: \($0)\(unit)'" } ?? "write 'timeout' with its unit, as in 'timeout: 10m'")
  }

  /// The number of retries, where the value counts the first attempt or not.
  private static func retry(_ node: YAMLNode, first: Int) -> Advice {
    guard let count = scalar(node).flatMap(Int.init), count >= first, count < 1000 else {
      return Advice("write 'retry'")
    }
    return Advice("write 'retry: \(count - first)'" + (first == 1 ? ", the attempts after the first" : ""))
  }

  static func scalar(_ node: YAMLNode) -> String? {
    guard case .scalar(let text, _) = node.content, !node.isNull, text.count < 20 else { return nil }
    return Quoted.bare(text)
  }

  private static func seconds(_ text: String) -> String { Int(text) == nil ? text : "\(text)s" }
}
