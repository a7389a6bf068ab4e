import Foundation
import Operations
import Testing

@testable import Slurm

@Suite struct AnswerTests {
  private func line(_ fields: String...) -> String { fields.joined(separator: "\u{1F}") }

  @Test func aLineOfTheQueueTellsStateReasonNodesAndComment() throws {
    let text = line("2_1", "PENDING", "Resources", "", "T", "opdash/r/a/1", "/dev/stdin opdash/r/a/1", "b", "0:00")
    let pending = try #require(SlurmRecord(queueLine: text))
    #expect(pending.id == SlurmJobID(2, index: 1))
    #expect(pending.state == .pending)
    #expect(pending.reason == "Resources")
    #expect(pending.nodes.isEmpty)
    #expect(pending.comment == "opdash/r/a/1")
    #expect(pending.submitTime == "T")
    #expect(pending.name == "b")
    let ended = line("9", "COMPLETED", "None", "node[1-3]", "T", "(null)", "(null)", "b", "1-02:03:04")
    let record = try #require(SlurmRecord(queueLine: ended))
    #expect(record.end == .exited(0))
    #expect(record.comment == nil)
    #expect(record.nodes == "node[1-3]")
    #expect(record.used == .seconds(86_400 + 2 * 3600 + 3 * 60 + 4))
  }

  @Test(
    arguments: [
      ("opdash/r/a/1", "(null)", 1), ("project42", "/dev/stdin opdash/r/a/1", 1), ("(null)", "(null)", nil),
      ("opdash/r/a/2", "/dev/stdin opdash/r/a/1", 1), ("opdash/r/a/2", "/home/me/job.sh 5", 2),
    ] as [(String, String, Int?)])
  func theCommandNamesTheAttemptAndElseTheComment(comment: String, command: String, attempt: Int?) throws {
    let text = line("2", "RUNNING", "None", "node1", "T", comment, command, "b", "")
    let mark = attempt.map { SlurmIdentity.Comment.job(SlurmIdentity(run: "r", job: "a", attempt: $0)) }
    #expect(try #require(SlurmRecord(queueLine: text)).mark == mark)
    let detailed =
      "JobId=2 JobName=b JobState=RUNNING Command=\(command) WorkDir=/ Comment=\(comment)  StdErr=/dev/null"
    #expect(try #require(SlurmRecord(controlLine: detailed)).mark == mark)
  }

  @Test func aLineThatIsNoneOfTheQueueIsIgnored() {
    for text in ["", "1", "squeue: error: x", line("10_[0-3%2]", "PENDING", "None", "", "", "", "", "", "")] {
      #expect(SlurmRecord(queueLine: text) == nil, "\(text)")
    }
    #expect(SlurmRecord(queueLine: line("1", "DREAMING", "None", "", "", "", "", "", "")) == nil)
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
    let record = try #require(SlurmRecord(accountingLine: line("12", "FAILED", "0:0", "node1", "", "", "a")))
    #expect(record.end == .exited(128))
  }

  @Test func aLineOfTheAccountingIsRead() throws {
    let text = line("12_3", "CANCELLED by 1000", "0:15", "None assigned", "T", "", "a")
    let record = try #require(SlurmRecord(accountingLine: text))
    #expect(record.id == SlurmJobID(12, index: 3))
    #expect(record.end == .cancelled)
    #expect(record.nodes.isEmpty)
    #expect(record.submitTime == "T")
    #expect(record.comment == nil)
    #expect(record.name == "a")
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
    let record = try #require(SlurmRecord(queueLine: line("3", "PENDING", text, "", "T", text, "", "a", text)))
    #expect(record.reason == nil)
    #expect(record.comment == nil)
  }

  @Test func aJobIsStoppedByASignalOrSuspendedByTheCluster() throws {
    for (state, isStopped, isSuspended) in [
      ("STOPPED", true, false), ("SUSPENDED", false, true), ("RUNNING", false, false),
    ] {
      let queued = try #require(SlurmRecord(queueLine: line("3", state, "None", "node1", "T", "", "", "a", "1:05")))
      let detailed = try #require(SlurmRecord(controlLine: "JobId=3 JobName=a JobState=\(state) RunTime=00:01:05"))
      for record in [queued, detailed] {
        #expect(record.isStopped == isStopped)
        #expect(record.isSuspended == isSuspended)
        #expect(record.used == .seconds(65))
      }
    }
    let accounted = try #require(SlurmRecord(accountingLine: line("3", "COMPLETED", "0:0", "node1", "T", "", "a")))
    #expect(!accounted.isStopped && !accounted.isSuspended)
  }

  @Test(
    arguments: [
      ("0:00", 0), ("59:59", 3599), ("1:00:00", 3600), ("365-23:59:59", 366 * 86_400 - 1), ("", nil), ("5", nil),
      ("-1:00", nil), ("1:x", nil), ("1:2:3:4", nil), ("INVALID", nil), ("1-", nil), ("999999999999999999-0:00", nil),
      ("1:99999999999", nil),
    ] as [(String, Int?)])
  func theTimeUsedIsRead(text: String, seconds: Int?) throws {
    let record = try #require(SlurmRecord(queueLine: line("3", "RUNNING", "None", "n", "T", "", "", "a", text)))
    #expect(record.used == seconds.map { .seconds($0) })
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

  @Test func aNameWithTheKeysOfSlurmIsReadWhole() throws {
    let name = "a  b JobState=COMPLETED NodeList=node9 Comment=opdash/r/z/1"
    let text = "JobId=12 JobName=\(name) UserId=root(0) JobState=FAILED Reason=None ExitCode=2:0 NodeList=node1"
    let record = try #require(SlurmRecord(controlLine: text))
    #expect(record.name == name)
    #expect(record.state == .failed)
    #expect(record.nodes == "node1")
    #expect(record.comment == nil)
  }

  @Test func aLineOfTheAccountingTellsItsNodesAndItsComment() throws {
    let text = line("12", "COMPLETED", "0:0", "node[1-2]", "T", "opdash/r/a/1", "b")
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
