import Foundation
import Testing

@testable import Slurm

@Suite struct AnswerTests {
  private func line(_ fields: String...) -> String { fields.joined(separator: "\u{1F}") }

  @Test func aLineOfTheQueueTellsStateReasonNodesAndComment() throws {
    let text = line("2_1", "PENDING", "Resources", "", "opdash/r/a/1")
    let pending = try #require(SlurmRecord(queueLine: text))
    #expect(pending.id == SlurmJobID(2, index: 1))
    #expect(pending.state == .pending)
    #expect(pending.reason == "Resources")
    #expect(pending.nodes.isEmpty)
    #expect(pending.comment == "opdash/r/a/1")
    let ended = line("9", "COMPLETED", "None", "node[1-3]", "(null)")
    let record = try #require(SlurmRecord(queueLine: ended))
    #expect(record.end == .exited(0))
    #expect(record.comment == nil)
    #expect(record.nodes == "node[1-3]")
  }

  @Test func aLineThatIsNoneOfTheQueueIsIgnored() {
    for text in ["", "1", "squeue: error: x", line("10_[0-3%2]", "PENDING", "None", "", "")] {
      #expect(SlurmRecord(queueLine: text) == nil, "\(text)")
    }
    #expect(SlurmRecord(queueLine: line("1", "DREAMING", "None", "", "")) == nil)
  }

  @Test(arguments: [
    ("COMPLETED", "0:0", SlurmEnd.exited(0)), ("FAILED", "3:0", .exited(3)), ("FAILED", "0:9", .signalled(9)),
    ("FAILED", "137:0", .signalled(9)), ("TIMEOUT", "0:15", .timeLimit), ("OUT_OF_MEMORY", "0:125", .outOfMemory),
    ("NODE_FAIL", "1:0", .nodeFailure(nodes: "node1")), ("PREEMPTED", "0:0", .preempted),
    ("CANCELLED", "0:15", .cancelled), ("DEADLINE", "0:0", .timeLimit),
    ("BOOT_FAIL", "0:0", .nodeFailure(nodes: "node1")),
  ])
  func aDetailedLineTellsHowAJobEnded(state: String, code: String, end: SlurmEnd) throws {
    let text =
      "JobId=12 JobName=a b UserId=root(0) JobState=\(state) Reason=NonZeroExitCode Dependency=(null) ExitCode=\(code) "
      + "SubmitTime=2026-11-23T15:10:43 StartTime=2026-11-23T15:10:44 EndTime=2026-11-23T15:10:46 NodeList=node1 "
      + "Comment=opdash/r/a/1  StdErr=/dev/null Power= "
    let record = try #require(SlurmRecord(controlLine: text))
    #expect(record.end == end)
    #expect(record.comment == "opdash/r/a/1")
  }

  @Test func aDetailedLineOfAnArrayHasTheNumberThatSqueueShows() throws {
    let text = "JobId=11 ArrayJobId=2 ArrayTaskId=0 JobName=a JobState=RUNNING Reason=None ExitCode=0:0 NodeList=node1"
    let record = try #require(SlurmRecord(controlLine: text))
    #expect(record.id == SlurmJobID(2, index: 0))
    #expect(record.end == nil)
  }

  @Test func aJobThatNeverStartedTellsTheReason() throws {
    let text = "JobId=4 JobName=a JobState=FAILED Reason=BadConstraints ExitCode=0:1 NodeList= "
    #expect(try #require(SlurmRecord(controlLine: text)).end == .notStarted("BadConstraints"))
  }

  @Test func theStatusesOfFailedJobsAreReadAsWaitGivesThem() {
    let status = SlurmRecord.status(line: "2_0                                     \u{1F}768         ")
    #expect(status?.id == SlurmJobID(2, index: 0))
    #expect(SlurmEnd(status: status?.status ?? 0) == .exited(3))
    #expect(SlurmRecord.status(line: "slurm_load_jobs error") == nil)
    // As of 23.02.
    let newer = SlurmRecord.status(line: "12   \u{1F}0:9         ")
    #expect(SlurmEnd(status: newer?.status ?? 0) == .signalled(9))
  }

  /// Up to 24.11 it subtracts 128.
  @Test func whatHasFailedInTheAccountingIsNoSuccess() throws {
    let record = try #require(SlurmRecord(accountingLine: line("12", "FAILED", "0:0", "node1", "", "a")))
    #expect(record.end == .exited(128))
  }

  @Test func aLineOfTheAccountingIsRead() throws {
    let text = line("12_3", "CANCELLED by 1000", "0:15", "None assigned", "", "a")
    let record = try #require(SlurmRecord(accountingLine: text))
    #expect(record.id == SlurmJobID(12, index: 3))
    #expect(record.end == .cancelled)
    #expect(record.nodes.isEmpty)
    #expect(record.comment == nil)
    #expect(record.name == "a")
  }

  @Test func theClusterIsReadWithItsPartitionsLimitsAndGraphicsCards() throws {
    let output = """
      \(line("main", "main*", "up", "infinite", "3", "2", "1000", "(null)", "(null)"))
      \(line("gpu", "gpu", "up", "1-12:00:00", "2", "64", "256000+", "gpu:a100:4(S:0-1),license:1", "amd,fast"))
      \(line("old", "old", "down", "30:00", "1", "4", "2000", "gpu", "(null)"))
      sinfo: error: something else
      """
    let cluster = ClusterInfo(output)
    #expect(cluster.defaultPartition == "main")
    try #require(cluster.groups.count == 3)
    #expect(cluster.groups[0].timeLimit == nil)
    #expect(cluster.groups[0].features.isEmpty)
    #expect(
      cluster.groups[1]
        == ClusterInfo.Group(
          partition: "gpu", isUp: true, timeLimit: .seconds(129_600), nodes: 2, cpus: 64, memory: 256_000, gpus: 4,
          features: ["amd", "fast"]))
    #expect(!cluster.groups[2].isUp)
    #expect(cluster.groups[2].timeLimit == .seconds(1800))
    #expect(cluster.groups[2].gpus == 1)
  }

  @Test func numbersThatAreTooLargeAreTheLargest() throws {
    let most = "9223372036854775807"
    let cluster = ClusterInfo(
      """
      \(line("p", "p*", "up", "\(most)-00:00:00", most, most, most + "0", "gpu:\(most),gpu:a:5", "(null)"))
      \(line("p", "p", "up", most, most, "4", "1000", "gpu:\(most)", "(null)"))
      \(line("p", "p", "up", "1-\(most):00:00", "2", "-4", "x", "gpu:x", "(null)"))
      """)
    try #require(cluster.groups.count == 3)
    #expect(cluster.groups[0].nodes == 1_000_000_000 && cluster.groups[0].memory == 1_000_000_000)
    #expect(cluster.groups[0].gpus == 1_000_000_005)
    #expect(cluster.groups.allSatisfy { $0.timeLimit ?? .zero > .seconds(1_000_000_000) })
    #expect(cluster.groups[2].cpus == 0 && cluster.groups[2].memory == 0 && cluster.groups[2].gpus == 1)
    #expect(SlurmResources(gpus: 8, nodes: 2, time: .seconds(60)).faults(on: cluster).isEmpty)
    let faults = SlurmResources(cpus: .max).faults(on: cluster)
    #expect(faults.map(\.key) == ["slurm.cpus"])
  }

  @Test func aWaitNamesTheSchedulersReason() {
    #expect("\(SlurmReason("Resources"))" == "Resources (other jobs have the nodes)")
    #expect("\(SlurmReason("QOSMaxCpuPerUserLimit"))" == "QOSMaxCpuPerUserLimit (a limit of the quality of service)")
    #expect("\(SlurmReason("SomethingNew"))" == "SomethingNew")
  }

  @Test func aCallWithoutAnAnswerIsToldFromARefusal() {
    #expect(FakeSlurm.down.isWithoutController)
    #expect(FakeSlurm.slow.isWithoutController)
    #expect(SlurmAnswer(.timedOut).isWithoutController)
    let refusal = SlurmAnswer(
      .exited(1),
      error: """
        sbatch: error: invalid partition specified: nope
        sbatch: error: Batch job submission failed: Invalid partition name specified

        """)
    #expect(!refusal.isWithoutController)
    #expect(
      refusal.fault
        == "invalid partition specified: nope (Batch job submission failed: Invalid partition name specified)")
  }

  @Test func everyEndHasASentenceOfItsOwn() {
    let ends: [SlurmEnd] = [
      .exited(3), .signalled(9), .outOfMemory, .timeLimit, .nodeFailure(nodes: "node1"), .preempted, .cancelled,
      .refused("no"), .notStarted("BadConstraints"), .lost(hasBegun: true), .lost(hasBegun: false),
    ]
    let texts = ends.map { SlurmFailure($0, id: SlurmJobID(12)).description }
    #expect(Set(texts).count == ends.count)
    #expect(texts[0] == "job 12 exited with status 3")
    #expect(texts[1] == "job 12 was killed by SIGKILL")
    #expect(texts[3] == "job 12 ran into its time limit: raise slurm.time")
    #expect(texts[8] == "Slurm did not start job 12: BadConstraints (no node can give what it asks for)")
  }
}
