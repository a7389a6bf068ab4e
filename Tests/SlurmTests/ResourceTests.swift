import Foundation
import Testing

@testable import Slurm

@Suite struct ResourceTests {
  @Test func resourcesBecomeOptionsOfSbatch() {
    let resources = SlurmResources(
      cpus: 8, memory: 16_384, gpus: 1, nodes: 2, time: .milliseconds(60_001), partition: "gpu", account: "a", qos: "q",
      constraint: "fast", options: ["--exclusive"])
    #expect(
      resources.arguments == [
        "--cpus-per-task=8", "--mem=16384M", "--gpus=1", "--nodes=2", "--time=2", "--partition=gpu", "--account=a",
        "--qos=q", "--constraint=fast", "--exclusive",
      ])
    #expect(resources.faults.isEmpty)
    #expect(SlurmResources().arguments.isEmpty)
  }

  @Test(
    arguments: [
      (SlurmResources(cpus: 0), "slurm.cpus: 0 is too little: 1 is the least; leave it out to ask for nothing"),
      (SlurmResources(time: .zero), "slurm.time: the time limit must be longer than nothing"),
      (SlurmResources(partition: "a b"), "slurm.partition: 'a b' has a blank in it"),
      (SlurmResources(qos: ""), "slurm.qos: it is empty: leave it out"),
      (
        SlurmResources(options: ["gpu"]),
        "slurm.options: 'gpu' is not an option: write a name and a value as one word, --name=value"
      ),
      (
        SlurmResources(options: ["--array=1-3"]),
        "slurm.options: --array can't be given: similar jobs are submitted as an array by themselves: write a matrix"
      ),
      (SlurmResources(options: ["-o", "-x"]), "slurm.options: -o can't be given: the output goes to the job's log"),
      (SlurmResources(options: ["-pgpu"]), "slurm.options: -p can't be given here: write slurm.partition"),
      (SlurmResources(options: ["--mem=4G"]), "slurm.options: --mem can't be given here: write slurm.memory"),
    ] as [(SlurmResources, String)])
  func aFaultSaysWhereItIsAndItsMend(resources: SlurmResources, text: String) {
    #expect(resources.faults.first?.description == text)
  }

  @Test(
    arguments: [
      (.milliseconds(1), 1), (.seconds(1), 1), (.seconds(60), 1), (.milliseconds(60_001), 2), (.seconds(61), 2),
      (.seconds(120), 2), (.seconds(3600), 60), (.seconds(3601), 61),
    ] as [(Duration, Int)])
  func aTimeIsRoundedUpToWholeMinutes(time: Duration, minutes: Int) {
    #expect(SlurmResources.minutes(time) == minutes)
    #expect(SlurmResources(time: time).arguments == ["--time=\(minutes)"])
  }

  @Test(
    arguments: [
      (["--signal=B:TERM@60"], SIGTERM, "TERM"), (["--signal=B:15"], SIGTERM, "TERM"),
      (["--signal=B:KILL@60"], SIGTERM, "KILL"), (["--signal=B:STOP"], SIGTERM, "STOP"),
      (["--signal=B:INT@60"], SIGINT, "INT"), (["--signal=B:INT@60"], SIGTERM, nil),
      (["--signal=TERM@60"], SIGTERM, nil),
      (["--signal=R:TERM@60"], SIGTERM, nil), (["--signal=B:TERM", "--signal=B:USR1@9"], SIGTERM, nil),
    ] as [([String], Int32, String?)])
  func aWarningThatEndsTheScriptIsRefused(options: [String], stop: Int32, name: String?) {
    let job = SlurmJob(
      SlurmIdentity(run: "r", job: "a", attempt: 1), name: "a", arguments: ["true"], directory: "/",
      resources: SlurmResources(options: options), stop: SlurmJob.Stop(signal: stop))
    let message = name.map {
      "slurm.options: --signal can't be given with B:\($0), which ends the job: write another signal, such as B:USR1@60"
    }
    #expect(job.problem == message)
  }

  @Test func theLeastThatCanBeAskedForIsOneOfEach() {
    #expect(SlurmResources(cpus: 1, memory: 0, gpus: 1, nodes: 1, time: .milliseconds(1)).faults.isEmpty)
    let none = SlurmResources(cpus: 0, memory: -1, gpus: -1, nodes: 0, time: .milliseconds(-1))
    #expect(none.faults.map(\.key) == ["cpus", "memory", "gpus", "nodes", "time"])
  }

  @Test func everyFaultIsTold() {
    let resources = SlurmResources(
      partition: "", account: "a\tb", qos: "q", constraint: " ", options: ["x", "--wrap=y"])
    #expect(
      resources.faults.map(\.description) == [
        "slurm.partition: it is empty: leave it out", "slurm.account: 'a\tb' has a blank in it",
        "slurm.constraint: ' ' has a blank in it",
        "slurm.options: 'x' is not an option: write a name and a value as one word, --name=value",
        "slurm.options: --wrap can't be given: write run",
      ])
  }

  @Test(
    arguments: [
      ("-", "'-' is not an option: write a name and a value as one word, --name=value"),
      ("--", "'--' is not an option: write a name and a value as one word, --name=value"),
      ("--exclusive\nx", "an option has a line feed in it"), ("--export=ALL", "--export can't be given: write env"),
      ("-Ccpu", "-C can't be given here: write slurm.constraint"),
      ("-M", "-M can't be given: jobs are looked for in one cluster"),
      ("--exclusive", nil), ("--export-x", nil), ("-x", nil), ("--gres=gpu:2", nil),
      ("--wra=id", "--wra can't be given, sbatch may read it as --wrap: write run"),
      ("--par=big", "--par can't be given, sbatch may read it as --parsable: it changes the call"),
      ("--acc=a", "--acc can't be given here, sbatch may read it as --account: write slurm.account"),
      ("--job-name=a", "--job-name can't be given here: write slurm.name"),
      ("-HW", "-W can't be given: it changes the call"),
      ("-QHo/tmp/x", "-o can't be given: the output goes to the job's log"),
      ("-xo", nil), ("-HO", nil), ("--excl", nil), ("--wait-all", nil), ("--mem-bind=local", nil),
    ] as [(String, String?)])
  func anOptionThatThisProgramSetsIsRefused(option: String, message: String?) {
    #expect(SlurmResources(options: [option]).faults.map(\.message) == (message.map { [$0] } ?? []))
  }
}
