import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// What the answers to queries make of a job.
@Suite struct QueryTests {
  /// A job that Slurm has accepted, half a second after its submission.
  private func bench(_ names: String...) throws -> Bench {
    let bench = try Bench()
    for name in names { bench.follow(name) }
    bench.advance(exactly: .milliseconds(500))
    return bench
  }

  private func fail(_ bench: Bench, reason: String = "NonZeroExitCode", node: String = "node1", status: Int32) {
    bench.slurm.setAll("FAILED", reason: reason, node: node, status: status)
    bench.advance(exactly: .seconds(1))
  }

  private func add(_ job: FakeSlurm.Job, to bench: Bench) { bench.slurm.change { $0.jobs.append(job) } }

  /// Another job of the attempt `a`.
  private func other(_ bench: Bench, _ state: String, number: Int = 8, node: String = "") -> FakeSlurm.Job {
    FakeSlurm.Job(
      id: SlurmJobID(number), comment: bench.identity("a").comment, state: state, reason: "None", node: node)
  }

  // MARK: Which of several jobs counts

  @Test func ofTwoRunningJobsTheClaimantCounts() throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    add(other(bench, "RUNNING", node: "node3"), to: bench)
    try bench.write("8 node3\n", to: "a", ".claim")
    bench.advance(exactly: .seconds(1))
    #expect(bench.statuses("a").last == .running(SlurmJobID(8), nodes: "node3"))
  }

  @Test func withoutAClaimTheRunningJobCountsAndTheWaitingOneIsCancelled() throws {
    let bench = try bench("a")
    add(other(bench, "RUNNING", node: "node3"), to: bench)
    bench.advance(exactly: .seconds(1))
    #expect(bench.statuses("a").last == .running(SlurmJobID(8), nodes: "node3"))
    #expect(bench.slurm.calls(of: "scancel").first == ["scancel", "--state=PENDING", "1"])
  }

  @Test func aSurplusJobIsCancelledOnce() throws {
    let bench = try bench("a")
    add(other(bench, "PENDING"), to: bench)
    bench.advance(exactly: .milliseconds(540))
    let calls = [["scancel", "--state=PENDING", "8"]]
    #expect(bench.slurm.calls(of: "scancel") == calls)
    bench.slurm.change { $0.jobs[1].state = "CANCELLED" }
    bench.advance(exactly: .seconds(3))
    #expect(bench.slurm.calls(of: "scancel") == calls)
    #expect(bench.end("a") == nil)
  }

  /// Its number may be someone else's by now.
  @Test func aSurplusJobOfBeforeAnOutageIsLeftAlone() throws {
    let bench = try bench("a")
    add(other(bench, "PENDING"), to: bench)
    bench.slurm.change { $0.canned["scancel"] = [FakeSlurm.down] }
    bench.advance(exactly: .milliseconds(540))
    bench.slurm.change { $0.jobs.removeLast() }
    bench.advance(exactly: .seconds(5))
    #expect(bench.controller.withLock(\.last) == .answers)
    #expect(bench.slurm.calls(of: "scancel").count == 1)
  }

  @Test func anEndedJobOfAnotherNumberWithoutAClaimDoesNotCount() throws {
    let bench = try bench("a")
    bench.slurm.change { $0.jobs = [] }
    add(other(bench, "COMPLETED", node: "node1"), to: bench)
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == nil)
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  @Test func aClaimantThatIsNotListedYetIsWaitedFor() throws {
    let bench = try bench("a")
    try bench.write("8 node3\n", to: "a", ".claim")
    fail(bench, status: BatchScript.duplicateStatus << 8)
    #expect(bench.end("a") == nil)
    add(other(bench, "RUNNING", node: "node3"), to: bench)
    bench.advance(exactly: .seconds(1))
    #expect(bench.statuses("a").last == .running(SlurmJobID(8), nodes: "node3"))
    bench.slurm.change { $0.jobs[1].state = "COMPLETED" }
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(0))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aListOfAnArrayThatCouldNotBeReadIsReadInTheNextQuery() throws {
    let first = try bench("a1", "a2")
    first.abandon()
    let comment = try #require(first.slurm.state.withLock { $0.jobs.first?.comment })
    guard case .batch(_, let name)? = SlurmIdentity.Comment(comment) else { return #expect(Bool(false), "\(comment)") }
    let path = first.observer.files.path(ofBatch: name)
    #expect(rename(path, path + ".away") == 0)
    let next = Bench(after: first)
    next.follow("a2", mayExist: true)
    next.advance(exactly: .milliseconds(100))
    #expect(next.statuses("a2").isEmpty)
    #expect(rename(path + ".away", path) == 0)
    next.advance(exactly: .seconds(1))
    #expect(next.statuses("a2") == [.pending(SlurmJobID(1, index: 1), SlurmReason("Resources"))])
    #expect(next.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aJobForgottenWithItsCancellationEndsInTheFirstQuery() throws {
    let bench = try bench("a1", "a2")
    bench.slurm.change { $0.held = ["scancel"] }
    bench.observer.cancel(bench.identity("a2"))
    bench.advance(exactly: .milliseconds(5))
    bench.slurm.change { slurm in slurm.jobs.removeAll { $0.id.index == 1 } }
    bench.slurm.release()
    bench.advance(exactly: .zero)
    #expect(bench.end("a2") == .cancelled)
    #expect(bench.end("a1") == nil)
  }

  @Test func aForgottenJobWithAClaimHasNotEndedByItsCancellation() throws {
    let bench = try bench("a1", "a2")
    bench.observer.cancel(bench.identity("a2"))
    bench.advance(exactly: .milliseconds(100))
    try bench.write("1_1 node1\n", to: "a2", ".claim")
    try bench.write("5 1_1\n", to: "a2", ".exit")
    bench.slurm.change { slurm in slurm.jobs.removeAll { $0.id.index == 1 } }
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a2") == .exited(5))
  }

  // MARK: Jobs that somebody changes

  /// A site replaces the comments of all jobs; some versions don't show their commands.
  @Test(arguments: [(true, "project42"), (false, "project42"), (false, "(null)")])
  func aJobWhoseCommentTheSiteReplacesIsFollowed(showsCommands: Bool, comment: String) throws {
    let bench = try Bench()
    bench.slurm.change { ($0.siteComment, $0.showsCommands) = (comment, showsCommands) }
    for name in ["a1", "a2"] { bench.follow(name) }
    bench.advance(exactly: .milliseconds(500))
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(60))
    #expect(bench.statuses("a1").last == .running(SlurmJobID(1, index: 0), nodes: "node1"))
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: 3 << 8)
    bench.advance(exactly: .seconds(1))
    for name in ["a1", "a2"] { #expect(bench.end(name) == .exited(3)) }
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
  }

  @Test func aJobWhoseCommentAndNameAreChangedIsFollowed() throws {
    let bench = try bench("a")
    bench.slurm.change { slurm in
      for index in slurm.jobs.indices {
        slurm.jobs[index].comment = "p"
        slurm.jobs[index].command = "(null)"
        slurm.jobs[index].name = "other"
      }
    }
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(60))
    #expect(bench.end("a") == nil)
    bench.slurm.setAll("COMPLETED")
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(0))
  }

  /// A controller that was killed gives it out again.
  @Test func aNumberOfAnotherSubmissionTimeIsOfAnotherJob() throws {
    let bench = try bench("a")
    bench.slurm.change { slurm in
      slurm.jobs[0].comment = "p"
      slurm.jobs[0].command = "(null)"
      slurm.jobs[0].submitTime = "2026-11-26T11:00:00"
      slurm.jobs[0].state = "COMPLETED"
    }
    bench.advance(exactly: .seconds(3))
    #expect(bench.end("a") == nil)
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  @Test func aJobThatIsRequeuedWaitsAndIsExecutedAgain() throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    try bench.write("1 node1\n", to: "a", ".claim")
    bench.advance(exactly: .seconds(1))
    try bench.write("143 1 1 2 stopped\n", to: "a", ".exit")
    bench.slurm.setAll("PENDING", reason: "BeginTime", node: "")
    bench.slurm.change { $0.jobs[0].submitTime = "2026-11-26T10:05:00" }
    bench.advance(exactly: .seconds(1))
    let waits = SlurmStatus.pending(SlurmJobID(1), SlurmReason("BeginTime"))
    #expect(bench.statuses("a").suffix(2) == [.requeued(SlurmJobID(1)), waits])
    #expect(bench.observer.files.exit(of: bench.identity("a")) == nil)
    bench.slurm.setAll("RUNNING", node: "node2")
    bench.advance(exactly: .seconds(1))
    #expect(bench.statuses("a").last == .running(SlurmJobID(1), nodes: "node2"))
    bench.slurm.setAll("COMPLETED", node: "node2")
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(0))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aJobWhoseStartTheControllerHasForgottenIsNotRequeued() throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    try bench.write("0 1 1 2 \n", to: "a", ".exit")
    bench.slurm.setAll("PENDING", reason: "None", node: "")
    bench.advance(exactly: .seconds(1))
    #expect(!bench.statuses("a").contains(.requeued(SlurmJobID(1))))
    #expect(bench.observer.files.exit(of: bench.identity("a")) != nil)
  }

  // MARK: Ends that the controller has missed

  @Test(arguments: [("3 1 1 2 \n", true), ("143 1 1 2 stopped\n", false)])
  func anExitThatSlurmDoesNotTellOfEndsTheJob(exit: String, isEnd: Bool) throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write(exit, to: "a", ".exit")
    bench.advance(exactly: .seconds(20))
    #expect(bench.end("a") == nil, "Slurm may tell of it in a moment")
    bench.advance(exactly: .seconds(60))
    #expect(bench.end("a") == (isEnd ? .exited(3) : nil))
  }

  @Test func aJobThatExecutesWithoutAnEndIsLookedAtSeldom() throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(300))
    #expect(bench.end("a") == nil)
    #expect(bench.statuses("a").last == .running(SlurmJobID(1), nodes: "node1"))
  }

  // MARK: What an end means

  @Test(arguments: [BatchScript.duplicateStatus, BatchScript.unreadStatus, 1])
  func aProgramMayExitWithTheStatusesOfTheScript(status: Int32) throws {
    let bench = try bench("a")
    fail(bench, status: status << 8)
    #expect(bench.end("a") == .exited(status))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aProgramWithAClaimMayExitWithTheStatusesOfTheScript() throws {
    let bench = try bench("a1", "a2")
    for (index, name) in ["a1", "a2"].enumerated() { try bench.write("1_\(index) node1\n", to: name, ".claim") }
    try bench.write("75 1_0\n", to: "a1", ".exit")
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: BatchScript.unreadStatus << 8)
    bench.slurm.change { $0.jobs[0].status = BatchScript.duplicateStatus << 8 }
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a1") == .exited(75))
    #expect(bench.end("a2") == .exited(76))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test(arguments: [true, false])
  func aLaunchThatFailedIsNoExitUnlessTheScriptHadBegun(hasBegun: Bool) throws {
    let bench = try bench("a")
    if hasBegun { try bench.write("1 node1\n", to: "a", ".claim") }
    fail(bench, reason: "JobLaunchFailure", status: 1 << 8)
    #expect(bench.end("a") == (hasBegun ? .exited(1) : .notStarted("JobLaunchFailure")))
  }

  @Test func aJobThatNeverHadANodeWasNotStarted() throws {
    let bench = try bench("a")
    fail(bench, reason: "BadConstraints", node: "", status: 1 << 8)
    #expect(bench.end("a") == .notStarted("BadConstraints"))
    #expect(!bench.slurm.calls(of: "squeue").contains(SlurmRecord.statusQuery.arguments))
  }

  @Test(arguments: [126, 127] as [Int32])
  func aScriptThatCannotBeExecutedIsSubmittedThreeTimes(status: Int32) throws {
    let bench = try bench("a")
    try bench.write("9 node1\n", to: "claims", ".claim")
    for _ in 0..<3 { fail(bench, status: status << 8) }
    #expect(bench.end("a") == .notStarted("its script could not be executed (exit \(status))"))
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
  }

  /// Has the next query name the job as one that failed with the status 3, and the one after it say something else.
  private func failOnce(_ bench: Bench, statuses: SlurmAnswer) {
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: 3 << 8)
    bench.slurm.change { slurm in
      let lines = slurm.jobs.map { $0.queueLine + "\n" }.joined()
      slurm.canned["squeue"] = [SlurmAnswer(.exited(0), output: lines), statuses]
    }
  }

  @Test func aStatusThatTheListDoesNotNameIsAskedForByScontrol() throws {
    let bench = try bench("a")
    failOnce(bench, statuses: SlurmAnswer(.exited(0)))
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(3))
    #expect(bench.slurm.calls(of: "scontrol").count == 1)
    #expect(bench.queryTimes(for: .seconds(3)).isEmpty)
  }

  @Test func aStatusThatTheListDoesNotNameIsThatOfTheExitFile() throws {
    let bench = try bench("a")
    try bench.write("5 1\n", to: "a", ".exit")
    failOnce(bench, statuses: SlurmAnswer(.exited(0)))
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(5))
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
  }

  @Test func statusesThatCouldNotBeAskedForAreAskedForAfterTheNextQuery() throws {
    let bench = try bench("a")
    failOnce(bench, statuses: FakeSlurm.down)
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == nil)
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(3))
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
    #expect(bench.controller.withLock(\.self) == [.answers])
  }

  // MARK: After a controller that has forgotten something

  /// The job runs, and the controller answers again after it has been down.
  private func benchAfterOutage(files: [String] = [], hasPaused: Bool = false) throws -> Bench {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    for name in files { try bench.write("7 node1\n", to: name, ".claim") }
    if hasPaused { try bench.write("over 3\n", to: "a", ".halt") }
    bench.slurm.change { $0.isDown = true }
    bench.advance(exactly: .seconds(1))
    bench.slurm.change { $0.isDown = false }
    bench.advance(exactly: .seconds(3))
    #expect(bench.controller.withLock(\.last) == .answers)
    return bench
  }

  @Test(arguments: [false, true])
  func whereNodesDoNotSeeTheFolderTheControllersWordCounts(hasPaused: Bool) throws {
    let bench = try benchAfterOutage(hasPaused: hasPaused)
    bench.slurm.setAll("COMPLETED")
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == .exited(0))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aJobThatHadBegunWaitsForItsExitFileAfterAnOutage() throws {
    let bench = try benchAfterOutage(files: ["a"])
    bench.slurm.setAll("COMPLETED")
    bench.advance(exactly: .seconds(20))
    #expect(bench.end("a") == nil)
    bench.advance(exactly: .seconds(20))
    #expect(bench.end("a") == .lost(hasBegun: true))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aJobThatOutagesCompleteAgainAndAgainIsLost() throws {
    let bench = try benchAfterOutage(files: ["other"])
    for count in 1...3 {
      #expect(bench.end("a") == nil)
      #expect(bench.slurm.calls(of: "sbatch").count == count)
      bench.slurm.setAll("COMPLETED")
      bench.advance(exactly: .seconds(2))
    }
    #expect(bench.end("a") == .lost(hasBegun: false))
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
  }

  @Test func aMinuteAfterAnOutageTheControllersWordCounts() throws {
    let bench = try benchAfterOutage(files: ["other"])
    bench.advance(exactly: .seconds(60))
    bench.slurm.setAll("CANCELLED")
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == .cancelled)
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  /// It was lost for a while, and may be executing yet.
  @Test func theExitFileDecidesOfAJobThatIsBackWithAnEnd() throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    try bench.write("1 node1\n", to: "a", ".claim")
    bench.advance(exactly: .seconds(1))
    let jobs = bench.slurm.state.withLock(\.jobs)
    bench.slurm.change { $0.jobs = [] }
    bench.advance(exactly: .seconds(4))
    bench.slurm.change { $0.jobs = jobs }
    bench.slurm.setAll("COMPLETED")
    try bench.write("4 1\n", to: "a", ".exit")
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(4))
  }

  // MARK: Jobs of another process

  /// Another observer that follows `a`, which the first one has left as `state`.
  private func left(_ state: String, used: String = "0:00", halt: String? = nil) throws -> Bench {
    let first = try bench("a")
    first.abandon()
    first.slurm.setAll(state)
    first.slurm.change { $0.jobs[0].used = used }
    if let halt { try first.write(halt, to: "a", ".halt") }
    return Bench(after: first)
  }

  /// Slurm counts whole seconds, of which the first may be a fraction, and those in which the program was stopped.
  @Test(arguments: [(nil, 3659), ("over 600\n", 3059), ("over 7200\n", 0), ("standing x\n", 3659)] as [(String?, Int)])
  func aJobOfAnotherProcessHasExecutedForATime(halt: String?, seconds: Int) throws {
    let next = try left("RUNNING", used: "1:01:00", halt: halt)
    next.follow("a", mayExist: true)
    next.advance(.seconds(3))
    let id = SlurmJobID(1)
    #expect(next.statuses("a") == [.found(id, after: .seconds(seconds)), .running(id, nodes: "node1")])
  }

  @Test func aJobOfAnotherProcessThatHasEndedHasTakenItsTime() throws {
    let next = try left("COMPLETED")
    try next.write("0 1 100.00 160.50\n", to: "a", ".exit")
    next.follow("a", mayExist: true)
    next.advance(.seconds(3))
    #expect(next.statuses("a").first == .found(SlurmJobID(1), after: .milliseconds(60_500)))
    #expect(next.end("a") == .exited(0))
  }

  @Test func aJobThatThisProcessHasSubmittedHasNoTimeBefore() throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    bench.slurm.change { $0.jobs[0].used = "0:30" }
    bench.advance(exactly: .seconds(2))
    #expect(bench.statuses("a").last == .running(SlurmJobID(1), nodes: "node1"))
    #expect(!bench.statuses("a").contains(.found(SlurmJobID(1), after: .seconds(29))))
  }

  // MARK: Suspended jobs

  /// By the cluster, or by a signal of someone else.
  @Test(arguments: ["SUSPENDED", "STOPPED"]) func aJobThatIsSuspendedContinues(state: String) throws {
    let bench = try bench("a")
    let id = SlurmJobID(1)
    for state in [state, "RUNNING", state] {
      bench.slurm.setAll(state)
      bench.advance(exactly: .seconds(2))
    }
    let (running, suspended) = (SlurmStatus.running(id, nodes: "node1"), SlurmStatus.suspended(id, nodes: "node1"))
    #expect(bench.statuses("a").suffix(4) == [running, suspended, running, suspended])
    bench.slurm.setAll("COMPLETED")
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == .exited(0))
  }

  @Test func aJobThatThisRunHasStoppedIsNotSuspendedByOthers() throws {
    let bench = try bench("a")
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(2))
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(exactly: .milliseconds(100))
    bench.slurm.setAll("STOPPED")
    bench.advance(exactly: .seconds(2))
    #expect(bench.statuses("a").last == .running(SlurmJobID(1), nodes: "node1"))
  }
}
