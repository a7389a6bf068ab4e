import Foundation
import Testing

@testable import Slurm

@Suite struct ResourceTests {
  private static func group(
    _ partition: String, isUp: Bool = true, time: Duration? = nil, nodes: Int = 2, cpus: Int = 8, memory: Int = 16_000,
    gpus: Int = 0, features: Set<String> = []
  ) -> ClusterInfo.Group {
    ClusterInfo.Group(
      partition: partition, isUp: isUp, timeLimit: time, nodes: nodes, cpus: cpus, memory: memory, gpus: gpus,
      features: features)
  }

  private static let cluster: ClusterInfo = {
    var cluster = ClusterInfo("")
    cluster.defaultPartition = "main"
    cluster.groups = [
      group("main", time: .seconds(3600)), group("gpu", cpus: 4, memory: 8000, gpus: 4, features: ["fast"]),
      group("gpu", nodes: 1, cpus: 64), group("old", isUp: false),
    ]
    return cluster
  }()

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
      ("800", 800), ("500M", 500), ("16G", 16_384), ("2T", 2_097_152), ("16GB", 16_384), ("4096K", 4), ("1K", 1),
    ] as [(String, Int)])
  func memoryIsReadAsSlurmWritesIt(text: String, megabytes: Int) {
    #expect(SlurmResources.megabytes(text) == megabytes)
  }

  @Test(arguments: ["", "G", "0", "-1G", "1.5G", "16 G", "16X", "99999999999999999999G", "9999999999999999T"])
  func anAmountThatIsNoneIsRefused(text: String) {
    #expect(SlurmResources.megabytes(text) == nil)
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
      (SlurmResources(partition: "nope"), "slurm.partition: there is no partition 'nope': there are gpu, main, old"),
      (
        SlurmResources(partition: "old"),
        "slurm.partition: partition 'old' is down: name another one: there are gpu, main, old"
      ),
      (
        SlurmResources(cpus: 9),
        "slurm.cpus: 9 is too much: there are at most 8 CPUs on a node of partition 'main': ask for less"
      ),
      (
        SlurmResources(memory: 20_000),
        "slurm.memory: 20000 is too much: there are at most 16000 MiB on a node of partition 'main': ask for less"
      ),
      (
        SlurmResources(nodes: 3),
        "slurm.nodes: 3 is too much: there are at most 2 nodes in partition 'main': ask for less"
      ),
      (
        SlurmResources(gpus: 1), "slurm.gpus: 1 is too much: there are at most 0 GPUs in partition 'main': ask for less"
      ),
      (
        SlurmResources(gpus: 5, nodes: 1, partition: "gpu"),
        "slurm.gpus: 5 is too much: there are at most 4 GPUs on a node of partition 'gpu': ask for less"
      ),
      (
        SlurmResources(time: .seconds(3601)),
        "slurm.time: longer than the limit of partition 'main', which is 60 min: ask for less"
      ),
      (
        SlurmResources(partition: "gpu", constraint: "slow"),
        "slurm.constraint: no node of partition 'gpu' has the feature 'slow': there are fast"
      ),
      (
        SlurmResources(cpus: 64, gpus: 1, nodes: 1, partition: "gpu"),
        "slurm.cpus: no node of partition 'gpu' has the CPUs, the memory and the GPUs together"
      ),
    ] as [(SlurmResources, String)])
  func whatAClusterCantGiveIsSaidBeforeTheStart(resources: SlurmResources, text: String) {
    #expect(resources.faults(on: Self.cluster).map(\.description) == [text])
  }

  @Test(arguments: [
    SlurmResources(), SlurmResources(cpus: 8, memory: 16_000, nodes: 2, time: .seconds(3600)),
    SlurmResources(gpus: 8, partition: "gpu"), SlurmResources(cpus: 64, partition: "main,gpu"),
    SlurmResources(partition: "gpu", constraint: "fast&intel"),
  ])
  func whatAClusterCanGiveIsLetPass(resources: SlurmResources) {
    #expect(resources.faults(on: Self.cluster).isEmpty)
  }

  @Test func nothingIsRefusedWhereTheClusterIsNotKnown() {
    #expect(SlurmResources(cpus: 1000, partition: "nope").faults(on: ClusterInfo("")).isEmpty)
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
    arguments: [("1", 1), ("1023K", 1), ("2048K", 2), ("3MB", 3), ("1g", 1024), ("1TB", 1_048_576)] as [(String, Int)])
  func anAmountOfMemoryHasAUnitOrNone(text: String, megabytes: Int) {
    #expect(SlurmResources.megabytes(text) == megabytes)
  }

  @Test func theLeastThatCanBeAskedForIsOneOfEach() {
    #expect(SlurmResources(cpus: 1, memory: 1, gpus: 1, nodes: 1, time: .milliseconds(1)).faults.isEmpty)
    let none = SlurmResources(cpus: 0, memory: 0, gpus: -1, nodes: 0, time: .milliseconds(-1))
    #expect(
      none.faults.map(\.key) == ["slurm.cpus", "slurm.memory", "slurm.gpus", "slurm.nodes", "slurm.time"])
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
    ] as [(String, String?)])
  func anOptionThatThisProgramSetsIsRefused(option: String, message: String?) {
    #expect(SlurmResources(options: [option]).faults.map(\.message) == (message.map { [$0] } ?? []))
  }

  @Test(arguments: [
    SlurmResources(cpus: 4, memory: 8000, gpus: 4, nodes: 1, partition: "gpu"),
    SlurmResources(cpus: 64, memory: 16_000, gpus: 8, partition: "gpu"),
    SlurmResources(nodes: 3, partition: "gpu"),
    SlurmResources(time: .seconds(7200), partition: "main,gpu"),
    SlurmResources(partition: "main,old"),
  ])
  func whatIsJustEnoughIsLetPass(resources: SlurmResources) {
    #expect(resources.faults(on: Self.cluster).isEmpty)
  }

  @Test(
    arguments: [
      (SlurmResources(cpus: 5, gpus: 1, nodes: 1, partition: "gpu"), ["slurm.cpus"]),
      (SlurmResources(memory: 8001, gpus: 1, nodes: 1, partition: "gpu"), ["slurm.cpus"]),
      (SlurmResources(gpus: 9, partition: "gpu"), ["slurm.gpus"]),
      (SlurmResources(nodes: 4, partition: "gpu"), ["slurm.nodes"]),
      (SlurmResources(cpus: 65, memory: 16_001, partition: "gpu"), ["slurm.cpus", "slurm.memory"]),
      (SlurmResources(partition: "main,nope"), ["slurm.partition"]),
    ] as [(SlurmResources, [String])])
  func whatIsALittleTooMuchIsAFault(resources: SlurmResources, keys: [String]) {
    #expect(resources.faults(on: Self.cluster).map(\.key) == keys)
  }

  @Test func withoutADefaultPartitionTheClusterIsMeant() {
    var cluster = ClusterInfo("")
    cluster.groups = [Self.group("main", time: .seconds(60)), Self.group("long", time: .seconds(120))]
    #expect(SlurmResources(time: .seconds(120)).faults(on: cluster).isEmpty)
    #expect(
      SlurmResources(time: .seconds(121), constraint: "fast").faults(on: cluster).map(\.message) == [
        "longer than the limit of the cluster, which is 2 min: ask for less",
        "no node of the cluster has the feature 'fast': its nodes have none",
      ])
    cluster.groups = [Self.group("main", isUp: false)]
    #expect(
      SlurmResources().faults(on: cluster).map(\.message) == [
        "the cluster is down: name another one: there is only main"
      ])
  }
}
