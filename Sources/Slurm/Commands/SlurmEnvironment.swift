import Foundation

/// Which variables of this process reach the programs of Slurm, and by them the jobs: those that name the cluster, and those by
/// which people say where their jobs go and what they get.
///
/// The others are of the job that this process is in, or options of calls that are not the user's own. They would change which
/// jobs a call is about, take a job's output, or have it wait for what this process has.
package enum SlurmEnvironment {
  private static let prefixes = [
    "SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SALLOC_", "SQUEUE_", "SCANCEL_", "SCONTROL_", "SACCT_", "SINFO_",
  ]
  private static let ofCluster: Set = [
    "SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_SACK_JWKS", "SLURM_SACK_KEY",
  ]
  /// With the option of sbatch that counts in the place of each.
  private static let chosen = [
    ("SBATCH_ACCOUNT", "--account"), ("SBATCH_CONSTRAINT", "--constraint"), ("SBATCH_EXCLUSIVE", "--exclusive"),
    ("SBATCH_GPUS", "--gpus"), ("SBATCH_GPUS_PER_NODE", "--gpus-per-node"), ("SBATCH_GRES", "--gres"),
    ("SBATCH_MEM_PER_CPU", "--mem"), ("SBATCH_MEM_PER_GPU", "--mem"), ("SBATCH_MEM_PER_NODE", "--mem"),
    ("SBATCH_PARTITION", "--partition"), ("SBATCH_QOS", "--qos"), ("SBATCH_RESERVATION", "--reservation"),
    ("SBATCH_TIMELIMIT", "--time"), ("SBATCH_WCKEY", "--wckey"),
  ]

  /// Those of these names that reach neither a program of Slurm nor a job.
  static func foreign(among names: some Sequence<String>) -> Set<String> {
    let passed = ofCluster.union(chosen.map(\.0))
    return Set(names.filter { name in !passed.contains(name) && prefixes.contains { name.hasPrefix($0) } })
  }

  static let foreign = foreign(among: ProcessInfo.processInfo.environment.keys)

  /// Those of these that reach no step either: one of the same allocation has the array and the submission of its job.
  static func foreignToSteps(among names: some Sequence<String>) -> Set<String> {
    foreign(among: names).filter { !$0.hasPrefix("SLURM_ARRAY_") && !$0.hasPrefix("SLURM_SUBMIT_") }
  }

  static let foreignToSteps = foreignToSteps(among: ProcessInfo.processInfo.environment.keys)

  /// What people have set for their submissions and the job file does not say itself, as `SBATCH_PARTITION=big`.
  package static func words(
    for resources: SlurmResources, in variables: [String: String] = ProcessInfo.processInfo.environment
  ) -> [String] {
    let options = Set(resources.arguments.map { $0.prefix { $0 != "=" } })
    return chosen.compactMap { name, option in
      guard let value = variables[name], !options.contains(option[...]) else { return nil }
      return "\(name)=\(value)"
    }
  }
}
