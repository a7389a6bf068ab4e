import Foundation
import Operations
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

  // MARK: Small parts of answers

  @Test(arguments: [
    ("PENDING", SlurmState.pending), ("REQUEUED", .pending), ("REQUEUE_HOLD", .pending), ("SPECIAL_EXIT", .pending),
    ("RUNNING", .running), ("COMPLETING", .running), ("CONFIGURING", .running), ("SUSPENDED", .running),
    ("STOPPED", .running), ("COMPLETED", .completed), ("FAILED", .failed), ("CANCELLED+", .cancelled),
    ("CANCELLED by 1000", .cancelled), ("REVOKED", .cancelled), ("TIMEOUT", .timedOut), ("DEADLINE", .timedOut),
    ("NODE_FAIL", .nodeFailed), ("BOOT_FAIL", .nodeFailed), ("OUT_OF_MEMORY", .outOfMemory),
    ("PREEMPTED", .preempted),
  ])
  func eachWordOfSlurmIsAState(word: String, state: SlurmState) {
    #expect(SlurmState(word) == state)
    #expect(state.isEnded == ![.pending, .running].contains(state))
  }

  @Test(arguments: ["", "pending", "NEW", " RUNNING"])
  func aWordThatIsNoStateIsNone(word: String) {
    #expect(SlurmState(word) == nil)
  }

  @Test(arguments: ["", "  ", "(null)", "None", "N/A", " None "])
  func whatSaysNothingIsNoReasonAndNoComment(text: String) throws {
    let record = try #require(SlurmRecord(queueLine: line("3", "PENDING", text, "", text)))
    #expect(record.reason == nil)
    #expect(record.comment == nil)
  }

  @Test func onlyAStoppedJobIsSuspended() throws {
    let stopped = line("3", "STOPPED", "None", "node1", "")
    let running = line("3", "RUNNING", "None", "node1", "")
    #expect(try #require(SlurmRecord(queueLine: stopped)).isSuspended)
    #expect(try #require(SlurmRecord(queueLine: running)).isSuspended == false)
    #expect(try #require(SlurmRecord(controlLine: "JobId=3 JobName=a JobState=STOPPED")).isSuspended)
    #expect(try #require(SlurmRecord(controlLine: "JobId=3 JobName=a JobState=RUNNING")).isSuspended == false)
    let accounted = line("3", "COMPLETED", "0:0", "node1", "", "a")
    #expect(try #require(SlurmRecord(accountingLine: accounted)).isSuspended == false)
  }

  @Test func aDetailedLineTellsItsFieldsAndTheFirstOfAKey() throws {
    let text =
      "JobId=12 JobName=a JobState=FAILED Reason=None ExitCode=2:0 NodeList=(null) Comment=opdash/r/a/1 "
      + "JobState=RUNNING Comment=other"
    let record = try #require(SlurmRecord(controlLine: text))
    #expect(record.id == SlurmJobID(12))
    #expect(record.name == "a")
    #expect(record.state == .failed)
    #expect(record.reason == nil)
    #expect(record.nodes.isEmpty)
    #expect(record.comment == "opdash/r/a/1")
    #expect(record.status == 2 << 8)
    #expect(SlurmRecord(controlLine: "JobName=a JobState=RUNNING") == nil)
    #expect(SlurmRecord(controlLine: "JobId=12 JobName=a") == nil)
  }

  @Test func aLineOfTheAccountingTellsItsNodesAndItsComment() throws {
    let text = line("12", "COMPLETED", "0:0", "node[1-2]", "opdash/r/a/1", "b")
    let record = try #require(SlurmRecord(accountingLine: text))
    #expect(record.end == .exited(0))
    #expect(record.nodes == "node[1-2]")
    #expect(record.comment == "opdash/r/a/1")
    #expect(record.name == "b")
    #expect(SlurmRecord(accountingLine: line("12", "COMPLETED", "0:0", "node1", "")) == nil)
    #expect(
      SlurmRecord.accountingQuery([SlurmJobID(12), SlurmJobID(7, index: 3)]).arguments.suffix(2) == ["-j", "12,7_3"])
  }

  @Test(
    arguments: [
      (0, .exited(0)), (1 << 8, .exited(1)), (128 << 8, .exited(128)), (129 << 8, .signalled(1)),
      (192 << 8, .signalled(64)), (193 << 8, .exited(193)), (255 << 8, .exited(255)), (1, .signalled(1)),
      (15, .signalled(15)),
    ] as [(Int32, SlurmEnd)])
  func aStatusIsAnExitOrASignal(status: Int32, end: SlurmEnd) {
    #expect(SlurmEnd(status: status) == end)
  }

  @Test(arguments: [
    ("(null)", 0), ("gpu", 1), ("gpu:2", 2), ("gpu:a100", 1), ("gpu:a100:4", 4), ("license:3", 0),
    ("gpu:a100:4(S:0-1),gpu:t4:2(S:0,1),gpu:1", 7), ("mps:100,gpu:3(S:0)", 3), ("gpus:5", 0),
  ])
  func theGraphicsCardsOfANodeAreCounted(resources: String, count: Int) throws {
    let info = ClusterInfo(line("main", "main", "up", "infinite", "1", "2", "1000", resources, "(null)"))
    #expect(try #require(info.groups.first).gpus == count)
  }

  @Test(
    arguments: [
      ("infinite", nil), ("n/a", nil), ("45", .seconds(2700)), ("30:00", .seconds(1800)), ("1:02:03", .seconds(3723)),
      ("2-00:00:01", .seconds(172_801)), ("x-01:00", nil), ("1:2:3:4", nil), ("1:x", nil),
    ] as [(String, Duration?)])
  func theTimeLimitOfAPartitionIsRead(text: String, limit: Duration?) throws {
    let info = ClusterInfo(line("main", "main", "up", text, "1", "2", "1000", "(null)", "(null)"))
    #expect(try #require(info.groups.first).timeLimit == limit)
  }

  @Test func aNumberOfUnlikeNodesIsTheLeast() throws {
    let info = ClusterInfo(line("main", "main", "up", "infinite", "3", "16+", "x", "(null)", "a,(null),b"))
    let group = try #require(info.groups.first)
    #expect(group.cpus == 16)
    #expect(group.memory == 0)
    #expect(group.features == ["a", "b"])
    #expect(info.defaultPartition == nil)
    #expect(info.partitionList == "there is only main")
  }

  @Test(arguments: [true, false])
  func aClusterThatDoesNotAnswerIsNotKnown(answers: Bool) {
    let slurm = FakeSlurm()
    let output = line("main", "main*", "up", "infinite", "3", "2", "1000", "(null)", "(null)")
    slurm.change { $0.canned["sinfo"] = [answers ? SlurmAnswer(.exited(0), output: output) : FakeSlurm.down] }
    let infos = Lock<[ClusterInfo?]>([])
    ClusterInfo.ask(slurm) { info in infos.withLock { $0.append(info) } }
    #expect(infos.withLock { $0.map { $0?.defaultPartition } } == [answers ? "main" : nil])
    #expect(slurm.calls(of: "sinfo") == [ClusterInfo.query.arguments])
  }

  @Test(arguments: [
    ("QOSMaxJobsPerUserLimit", "QOSMaxJobsPerUserLimit (a limit of the quality of service)"),
    ("AssocGrpCpuLimit", "AssocGrpCpuLimit (a limit of the account)"),
    ("AccountNotAllowed", "AccountNotAllowed (a limit of the account)"),
    (
      "ReqNodeNotAvail,_UnavailableNodes:n1",
      "ReqNodeNotAvail,_UnavailableNodes:n1 (a node that it needs is down or reserved)"
    ),
    ("XQOS", "XQOS"),
  ])
  func reasonsThatBeginAlikeHaveOneMeaning(code: String, text: String) {
    #expect("\(SlurmReason(code))" == text)
  }

  @Test(
    arguments: [
      (SlurmAnswer(.exited(0), error: "Socket timed out"), false), (SlurmAnswer(.exited(1), error: "no"), false),
      (SlurmAnswer(.exited(1), error: "Munge: it failed"), true), (SlurmAnswer(.notStarted("no")), true),
      (SlurmAnswer(.absent("no")), false), (SlurmAnswer(.timedOut), true),
    ] as [(SlurmAnswer, Bool)])
  func onlyAFailureOfTheContactIsNoAnswer(answer: SlurmAnswer, isWithoutController: Bool) {
    #expect(answer.isWithoutController == isWithoutController)
    #expect(answer.isSuccess == (answer.end == .exited(0)))
  }

  @Test(
    arguments: [
      (SlurmAnswer(.exited(7)), "it exited with status 7"),
      (SlurmAnswer(.exited(7), error: "\n\n"), "it exited with status 7"),
      (SlurmAnswer(.exited(1), error: "scancel: error: one\n"), "one"),
      (SlurmAnswer(.exited(1), error: "plain"), "plain"),
      (SlurmAnswer(.exited(1), error: "a: error: one\na: error: two\nb: error: three\n"), "two (three)"),
      (SlurmAnswer(.notStarted("no process"), error: "x"), "no process"),
      (SlurmAnswer(.absent("no program")), "no program"),
      (SlurmAnswer(.timedOut, error: "x"), "the Slurm controller does not answer"),
    ] as [(SlurmAnswer, String)])
  func aFaultIsTheLastThatIsNamed(answer: SlurmAnswer, fault: String) {
    #expect(answer.fault == fault)
  }

  @Test(
    arguments: [
      (.nodeFailure(nodes: "node1"), "the job lost its node node1; its processes may still be executing there"),
      (.nodeFailure(nodes: ""), "the job lost its node; its processes may still be executing there"),
      (.outOfMemory, "the job used more memory than it asked for: raise slurm.memory"),
      (.preempted, "the job was preempted by a more urgent job"), (.cancelled, "the job was cancelled in Slurm"),
      (.refused("no."), "Slurm refused the job: no."), (.notStarted("Odd"), "Slurm did not start the job: Odd"),
      (.lost(hasBegun: true), "the job had begun, and neither Slurm nor its exit file says how it ended"),
      (.lost(hasBegun: false), "the job is lost: Slurm does not know it, and nothing shows that it has begun"),
    ] as [(SlurmEnd, String)])
  func theEndOfAJobWithoutANumberIsASentence(end: SlurmEnd, text: String) {
    let failure = SlurmFailure(end, id: nil)
    #expect(failure.description == text)
    #expect(failure.errorDescription == text)
  }

  @Test func theControllersStateIsASentence() {
    #expect("\(SlurmController.answers)" == "the Slurm controller answers")
    let down = SlurmController.down(since: .seconds(3), fault: "no")
    #expect("\(down)" == "the Slurm controller is down, and is waited for: no")
  }
}
