import Basics
import Foundation

/// The variables of this process that reach the Slurm programs, and through them the jobs.
///
/// They name the cluster, or are set by users to choose where their jobs go and which resources they get. The other
/// variables belong to the job that this process is in, or are options of calls that are not the user's own. They would
/// change which jobs a call concerns, redirect a job's output, or make it wait for resources that this process has.
package enum SlurmEnvironment {
  private static let prefixes = [
    "SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SALLOC_", "SQUEUE_", "SCANCEL_", "SCONTROL_", "SACCT_", "SINFO_",
  ]
  private static let ofCluster: Set = [
    "SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_SACK_JWKS", "SLURM_SACK_KEY",
  ]
  /// Variables that users set, each with the sbatch option that overrides it.
  private static let chosen = [
    ("SBATCH_ACCOUNT", "--account"), ("SBATCH_CONSTRAINT", "--constraint"), ("SBATCH_EXCLUSIVE", "--exclusive"),
    ("SBATCH_GPUS", "--gpus"), ("SBATCH_GPUS_PER_NODE", "--gpus-per-node"), ("SBATCH_GRES", "--gres"),
    ("SBATCH_MEM_PER_CPU", "--mem"), ("SBATCH_MEM_PER_GPU", "--mem"), ("SBATCH_MEM_PER_NODE", "--mem"),
    ("SBATCH_PARTITION", "--partition"), ("SBATCH_QOS", "--qos"), ("SBATCH_RESERVATION", "--reservation"),
    ("SBATCH_TIMELIMIT", "--time"), ("SBATCH_WCKEY", "--wckey"),
  ]

  /// The given names that reach neither a Slurm program nor a job.
  static func foreign(among names: some Sequence<String>) -> Set<String> {
    let passed = ofCluster.union(chosen.map(\.0))
    return Set(names.filter { name in !passed.contains(name) && prefixes.contains { name.hasPrefix($0) } })
  }

  static let foreign = foreign(among: ProcessVariables.current.keys)

  /// The given names that don't reach a step either; a step has the array and submission variables of the job around
  /// it.
  static func foreignToSteps(among names: some Sequence<String>) -> Set<String> {
    foreign(among: names).filter { !$0.hasPrefix("SLURM_ARRAY_") && !$0.hasPrefix("SLURM_SUBMIT_") }
  }

  static let foreignToSteps = foreignToSteps(among: ProcessVariables.current.keys)

  /// The variables that the user has set for submissions and the job file leaves open, such as `SBATCH_PARTITION=big`.
  package static func words(
    for resources: SlurmResources, in variables: [String: String] = ProcessVariables.current
  ) -> [String] {
    let options = Set(resources.arguments.map { $0.prefix { $0 != "=" } })
    return chosen.compactMap { name, option in
      guard let value = variables[name], !options.contains(option[...]) else { return nil }
      return "\(name)=\(value)"
    }
  }
}
