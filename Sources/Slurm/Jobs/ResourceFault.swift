import Foundation
import Processes

/// An error in the resources that a job requests from the cluster.
package struct ResourceFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The key of `slurm` in the job file, such as `memory`.
  package let key: String
  /// The error and the advice.
  package let message: String

  package init(_ key: String, _ message: String) {
    self.key = key
    self.message = message
  }

  package var description: String { "slurm.\(key): \(message)" }
}

extension SlurmResources {
  /// The errors that don't depend on the cluster.
  package var faults: [ResourceFault] {
    var faults: [ResourceFault] = []
    let numbers = [("cpus", cpus, 1), ("memory", memory, 0), ("gpus", gpus, 1), ("nodes", nodes, 1)]
    for case (let key, let number?, let least) in numbers where number < least {
      faults.append(
        ResourceFault(key, "\(number) is too little: \(least) is the least; leave it out to ask for nothing"))
    }
    if let name, name.isEmpty || name.contains(where: \.isNewline) {
      faults.append(ResourceFault("name", name.isEmpty ? "it is empty: leave it out" : "it has a line feed in it"))
    }
    if let time, time <= .zero { faults.append(ResourceFault("time", "the time limit must be longer than nothing")) }
    for case (let name, let text?) in texts where text.isEmpty || text.contains(where: \.isWhitespace) {
      faults.append(ResourceFault(name, text.isEmpty ? "it is empty: leave it out" : "'\(text)' has a blank in it"))
    }
    return faults + options.compactMap(Self.fault(ofOption:)) + [signalFault()].compactMap(\.self)
  }

  /// The fault of a signal that the script could not pass on: one that ends the job, or its stop signal.
  func signalFault(stop: Int32 = SIGTERM) -> ResourceFault? {
    let stop = SignalName.short(stop)
    guard let signal = scriptSignal, ["TERM", "KILL", "STOP", stop].contains(signal) else { return nil }
    return ResourceFault(
      "options",
      "--signal can't be given with B:\(signal), which ends the job: write another signal, such as "
        + "B:\(stop == "USR1" ? "USR2" : "USR1")@60")
  }

  /// Options that this program sets itself, that would hide the job from it, or that would make it something other than
  /// a batch job.
  private static let own: [(names: [String], why: String)] = [
    (["--array", "-a"], "similar jobs are submitted as an array by themselves: write a matrix"),
    (["--comment"], "jobs are found by their comment"),
    (["--output", "-o", "--error", "-e", "--open-mode"], "the output goes to the job's log"),
    (["--input", "-i"], "the standard input of a job is empty"),
    (["--requeue"], "write retry: an attempt that Slurm repeats could not be told apart"),
    (["--no-requeue"], "it is set for each job"),
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
    return names(in: option).lazy.compactMap(fault(ofName:)).first.map { ResourceFault("options", $0) }
  }

  /// The options that sbatch finds in a word: `-HW` is two options.
  private static func names(in option: String) -> [String] {
    if option.hasPrefix("--") { return [String(option.unicodeScalars.prefix { $0 != "=" })] }
    let letters = option.dropFirst()
    let flags = letters.prefix { "HOQsv".contains($0) }
    return (flags + letters.dropFirst(flags.count).prefix(1)).map { "-\($0)" }
  }

  /// The reason that an option can't be given; a long option may be shortened to any unambiguous prefix.
  private static func fault(ofName name: String) -> String? {
    func isMeant(_ known: String) -> Bool { known == name || name.hasPrefix("--") && known.hasPrefix(name) }
    for (names, why) in own {
      guard let known = names.first(where: isMeant) else { continue }
      return "\(name) can't be given\(known == name ? "" : ", sbatch may read it as \(known)"): \(why)"
    }
    guard let (known, key) = keys.first(where: { isMeant($0.key) }) else { return nil }
    return "\(name) can't be given here\(known == name ? "" : ", sbatch may read it as \(known)"): write slurm.\(key)"
  }

  private static let keys: KeyValuePairs = [
    "--cpus-per-task": "cpus", "-c": "cpus", "--mem": "memory", "--gpus": "gpus", "-G": "gpus", "--nodes": "nodes",
    "-N": "nodes", "--time": "time", "-t": "time", "--partition": "partition", "-p": "partition",
    "--account": "account", "-A": "account", "--qos": "qos", "-q": "qos", "--constraint": "constraint",
    "-C": "constraint", "--job-name": "name", "-J": "name",
  ]
}
