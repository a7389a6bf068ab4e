/// A fault in what a job asks the cluster for.
package struct ResourceFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The key of the job file, as `slurm.memory`.
  package let key: String
  /// What is wrong and what to do.
  package let message: String

  package init(_ key: String, _ message: String) {
    self.key = "slurm.\(key)"
    self.message = message
  }

  package var description: String { "\(key): \(message)" }
}

extension SlurmResources {
  /// What is wrong whatever the cluster is.
  package var faults: [ResourceFault] {
    var faults: [ResourceFault] = []
    let numbers = [("cpus", cpus), ("memory", memory), ("gpus", gpus), ("nodes", nodes)]
    for case (let key, let number?) in numbers where number < 1 {
      faults.append(ResourceFault(key, "\(number) is too little: 1 is the least; leave it out to ask for nothing"))
    }
    if let time, time <= .zero { faults.append(ResourceFault("time", "the time limit must be longer than nothing")) }
    for case (let name, let text?) in texts where text.isEmpty || text.contains(where: \.isWhitespace) {
      faults.append(ResourceFault(name, text.isEmpty ? "it is empty: leave it out" : "'\(text)' has a blank in it"))
    }
    return faults + options.compactMap(Self.fault(ofOption:))
  }

  /// Options that this program sets itself, or under which the job could not be found or would not be a batch job.
  private static let own: [(names: [String], why: String)] = [
    (["--array", "-a"], "similar jobs are submitted as an array by themselves: write a matrix"),
    (["--comment"], "jobs are found by their comment"),
    (["--output", "-o", "--error", "-e", "--open-mode"], "the output goes to the job's log"),
    (["--input", "-i"], "the standard input of a job is empty"),
    (["--requeue"], "write retry: an attempt that Slurm repeats could not be told apart"),
    (["--no-requeue"], "it is set for each job"),
    (["--job-name", "-J"], "it is the job's name"),
    (["--chdir", "-D"], "write dir"),
    (["--wrap"], "write run"),
    (
      ["--wait", "-W", "--parsable", "--test-only", "--help", "-h", "--usage", "--version", "-V"], "it changes the call"
    ),
    (["--clusters", "-M"], "jobs are looked for in one cluster"),
    (["--export", "--export-file", "--get-user-env"], "write env"),
  ]

  private static func fault(ofOption option: String) -> ResourceFault? {
    guard option.hasPrefix("-"), option != "-", option != "--" else {
      return ResourceFault(
        "options", "'\(option)' is not an option: write a name and a value as one word, --name=value")
    }
    if option.contains(where: \.isNewline) { return ResourceFault("options", "an option has a line feed in it") }
    let name = option.hasPrefix("--") ? String(option.prefix { $0 != "=" }) : String(option.prefix(2))
    if let (_, why) = own.first(where: { $0.names.contains(name) }) {
      return ResourceFault("options", "\(name) can't be given: \(why)")
    }
    return keys[name].map { ResourceFault("options", "\(name) can't be given here: write slurm.\($0)") }
  }

  private static let keys = [
    "--cpus-per-task": "cpus", "-c": "cpus", "--mem": "memory", "--gpus": "gpus", "-G": "gpus", "--nodes": "nodes",
    "-N": "nodes", "--time": "time", "-t": "time", "--partition": "partition", "-p": "partition",
    "--account": "account", "-A": "account", "--qos": "qos", "-q": "qos", "--constraint": "constraint",
    "-C": "constraint",
  ]
}
