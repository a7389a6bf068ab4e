import Foundation
import Testing

@testable import Slurm

/// Which variables reach the programs of Slurm and the jobs.
@Suite struct SlurmEnvironmentTests {
  @Test(arguments: [
    "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CPU_BIND", "SLURM_STDOUTMODE", "SLURM_LABELIO", "SLURM_TIME_FORMAT",
    "SBATCH_ERROR", "SBATCH_EXPORT", "SBATCH_ARRAY_INX", "SQUEUE_FORMAT", "SQUEUE_USERS", "SACCT_FORMAT",
    "SCANCEL_STATE", "SRUN_CPUS_PER_TASK", "SLURMD_NODENAME", "SCONTROL_ALL", "SINFO_PARTITION", "SALLOC_PARTITION",
  ])
  func whatIsOfAnotherJobOrCallReachesNothing(name: String) {
    #expect(SlurmEnvironment.foreign(among: [name]) == [name])
  }

  @Test(arguments: [
    "SLURM_CONF", "SLURM_JWT", "SBATCH_PARTITION", "SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION", "PATH", "HOME",
    "OPDASH_RUN", "MY_SLURM_FILE",
  ])
  func whatNamesTheClusterOrWasChosenReachesSbatch(name: String) {
    #expect(SlurmEnvironment.foreign(among: [name]).isEmpty)
  }

  @Test(arguments: [
    ("SLURM_ARRAY_TASK_ID", false), ("SLURM_SUBMIT_DIR", false), ("SLURM_CPU_BIND", true), ("PATH", false),
  ])
  func aStepHasTheArrayAndTheSubmissionOfItsJob(name: String, isForeign: Bool) {
    #expect(SlurmEnvironment.foreignToSteps(among: [name]).contains(name) == isForeign)
  }

  @Test func whatWasChosenIsSaidUnlessTheJobSaysIt() {
    let variables = ["SBATCH_PARTITION": "big", "SBATCH_QOS": "q", "SBATCH_EXPORT": "NONE", "SBATCH_RESERVATION": "r"]
    #expect(
      SlurmEnvironment.words(for: SlurmResources(), in: variables) == [
        "SBATCH_PARTITION=big", "SBATCH_QOS=q", "SBATCH_RESERVATION=r",
      ])
    let own = SlurmResources(partition: "small", options: ["--reservation=s"])
    #expect(SlurmEnvironment.words(for: own, in: variables) == ["SBATCH_QOS=q"])
    #expect(SlurmEnvironment.words(for: SlurmResources(), in: ["PATH": "/bin"]).isEmpty)
  }
}
