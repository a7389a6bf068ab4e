import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// Jobs that are missing from an answer, or that a controller has forgotten.
@Suite struct MissingJobTests {
  @Test func aJobThatSqueueDoesNotNameIsAskedForByScontrol() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: 4 << 8)
    bench.slurm.change { $0.jobs[0].isPurged = true }
    bench.advance(.seconds(4))
    #expect(bench.end("a") == .exited(4))
  }

  @Test func aJobThatNothingInSlurmKnowsEndsByItsExitFile() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    try bench.write("1\n", to: "a", ".claim")
    try bench.write("7 1\n", to: "a", ".exit")
    bench.slurm.change { $0.jobs = [] }
    bench.advance(.seconds(4))
    #expect(bench.end("a") == .exited(7))
    #expect(bench.slurm.calls(of: "sacct").count == 1)
  }

  @Test func aJobThatHadBegunAndIsNowhereIsLostAndNotWaitedFor() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    try bench.write("1 node1\n", to: "a", ".claim")
    bench.slurm.change { $0.jobs = [] }
    bench.advance(.seconds(20))
    #expect(bench.end("a") == nil, "it may be executing without its controller")
    bench.advance(.seconds(20))
    #expect(bench.end("a") == .lost(hasBegun: true))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aJobThatWasLostBeforeItBeganIsSubmittedAgainAndNotForEver() throws {
    let bench = try Bench()
    bench.follow("a")
    for _ in 0..<3 {
      bench.advance(.seconds(1))
      bench.slurm.change { $0.jobs = [] }
      bench.advance(.seconds(4))
    }
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
    #expect(bench.end("a") == .lost(hasBegun: false))
  }

  @Test func lostJobsAreSubmittedAgainInTheirOrder() throws {
    var settings = SlurmObserver.Settings()
    settings.arraySize = 1
    let bench = try Bench(settings)
    let names = (0..<12).map { "a\($0)" }
    for name in names { bench.follow(name) }
    bench.advance(.seconds(2))
    bench.slurm.change { $0.jobs = [] }
    bench.advance(.seconds(5))
    let jobs = bench.slurm.calls(of: "sbatch").compactMap { call in call.first { $0.hasPrefix("--job-name=") } }
    #expect(jobs == (names + names).map { "--job-name=\($0)" })
  }

  /// Two jobs that are executed by themselves, the first with a claim of its node.
  private func benchWithClaim() throws -> Bench {
    let bench = try Bench()
    bench.follow("claims")
    bench.advance(.seconds(1))
    try bench.write("1 node1\n", to: "claims", ".claim")
    bench.follow("a")
    bench.advance(.seconds(1))
    return bench
  }

  private func fail(_ name: String, in bench: Bench, on node: String = "node1", status: Int32 = 2) {
    bench.slurm.change { slurm in
      for index in slurm.jobs.indices where slurm.jobs[index].comment.contains("/\(name)/") {
        slurm.jobs[index].state = "FAILED"
        slurm.jobs[index].reason = "NonZeroExitCode"
        slurm.jobs[index].node = node
        slurm.jobs[index].status = status << 8
      }
    }
    bench.advance(.seconds(2))
  }

  @Test func aJobWhoseScriptWasNotExecutedIsSubmittedAgainAndNotForEver() throws {
    let bench = try benchWithClaim()
    fail("a", in: bench)
    #expect(bench.end("a") == nil)
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
    for _ in 0..<2 { fail("a", in: bench) }
    #expect(bench.slurm.calls(of: "sbatch").count == 4)
    #expect(bench.end("a") == .notStarted("its script could not be executed (exit 2)"))
  }

  @Test func aJobThatFailsOnANodeThatMakesNoClaimsHasFailed() throws {
    let bench = try benchWithClaim()
    fail("a", in: bench, on: "node2")
    #expect(bench.end("a") == .exited(2))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  /// A node that can't write the folder any more executes programs without claims.
  @Test func aJobWithoutAClaimThatFailsAsAProgramDoesHasFailed() throws {
    let bench = try benchWithClaim()
    fail("a", in: bench, status: 1)
    #expect(bench.end("a") == .exited(1))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  @Test func aJobThatHadBegunAndFailsHasFailed() throws {
    let bench = try benchWithClaim()
    try bench.write("2 node1\n", to: "a", ".claim")
    fail("a", in: bench)
    #expect(bench.end("a") == .exited(2))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  @Test func aNumberThatWasGivenToAnotherJobIsNotOurs() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    // The controller has forgotten the job and given its number to one of another run.
    bench.slurm.change {
      $0.jobs[0].comment = "opdash/other/a/1"
      $0.jobs[0].command = "(null)"
      $0.jobs[0].state = "COMPLETED"
    }
    bench.advance(.seconds(4))
    #expect(bench.end("a") == nil)
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    #expect(bench.statuses("a").contains(.pending(SlurmJobID(2), SlurmReason("Resources"))))
  }

  @Test func theAccountingIsAskedWhereThereIsOne() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let fields = ["1", "FAILED", "9:0", "node1", "", "", "a"]
    bench.slurm.change {
      $0.jobs = []
      $0.canned["sacct"] = [SlurmAnswer(.exited(0), output: fields.joined(separator: "\u{1F}") + "\n")]
    }
    bench.advance(.seconds(4))
    #expect(bench.end("a") == .exited(9))
  }

  /// It is told of no end of a job that a killed controller has forgotten.
  @Test(arguments: ["RUNNING", "PENDING"])
  func whatTheAccountingKnowsOfAJobThatHasNotEndedDecidesNothing(state: String) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let fields = ["1", state, "0:0", "node1", "", "", "a"]
    let answer = SlurmAnswer(.exited(0), output: fields.joined(separator: "\u{1F}") + "\n")
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write("7 1\n", to: "a", ".exit")
    bench.slurm.change {
      $0.jobs = []
      $0.canned["sacct"] = [SlurmAnswer](repeating: answer, count: 100)
    }
    bench.advance(.seconds(10))
    #expect(bench.end("a") == .exited(7))
  }

  @Test func theExitFileKnowsAStatusBetterThanTheAccounting() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write("200 1\n", to: "a", ".exit")
    let fields = ["1", "FAILED", "72:0", "node1", "", "", "a"]
    bench.slurm.change {
      $0.jobs = []
      $0.canned["sacct"] = [SlurmAnswer(.exited(0), output: fields.joined(separator: "\u{1F}") + "\n")]
    }
    bench.advance(.seconds(4))
    #expect(bench.end("a") == .exited(200))
  }

  /// Accounts without comments know a job of an array by the array's name.
  @Test(arguments: ["a[3]", "a", "b"])
  func theAccountingIsAskedForAJobOfAnotherProcess(name: String) throws {
    let bench = try Bench()
    try bench.write("5 node1\n", to: "a[3]", ".claim")
    let fields = ["5", "FAILED", "9:0", "node1", "", "", name]
    bench.slurm.change {
      $0.canned["sacct"] = [SlurmAnswer(.exited(0), output: fields.joined(separator: "\u{1F}") + "\n")]
    }
    bench.follow("a[3]", mayExist: true)
    bench.advance(.seconds(4))
    #expect(bench.end("a[3]") == (name == "b" ? nil : .exited(9)))
  }

  @Test func aJobThatIsBackBeforeItWasAskedForIsNotSubmittedAgain() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change {
      $0.jobs[0].isPurged = true
      $0.held = ["scontrol"]
      $0.canned["scontrol"] = [SlurmAnswer(.exited(1), error: "slurm_load_jobs error: Invalid job id specified\n")]
    }
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "scontrol").count == 1)
    bench.slurm.change { $0.jobs[0].isPurged = false }
    bench.advance(.seconds(2))
    bench.slurm.release()
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.end("a") == nil)
  }

  @Test func aJobThatWasMissingOnceHasAllTheTimeForItsExitFile() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("RUNNING")
    try bench.write("1 node1\n", to: "a", ".claim")
    let jobs = bench.slurm.state.withLock(\.jobs)
    bench.advance(.seconds(2))
    bench.slurm.change { $0.jobs = [] }
    bench.advance(.seconds(5))
    bench.slurm.change { $0.jobs = jobs }
    bench.advance(.seconds(60))
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .exited(0))
  }

  /// Of an array the nodes get only the name of the script.
  @Test func aJobWhoseNodeDoesNotSeeItsScriptSaysSo() throws {
    let bench = try Bench()
    for name in ["a1", "a2"] { bench.follow(name) }
    for _ in 0..<3 {
      bench.advance(.seconds(1))
      bench.slurm.change { slurm in
        for index in slurm.jobs.indices where slurm.jobs[index].state == "PENDING" {
          slurm.jobs[index].state = "FAILED"
          slurm.jobs[index].reason = "NonZeroExitCode"
          slurm.jobs[index].node = "node1"
          slurm.jobs[index].status = BatchScript.unreadStatus << 8
        }
      }
      bench.advance(.seconds(2))
    }
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
    let sentence = "node1 can't read its script in \(bench.observer.files.folder): all nodes must see this folder"
    for name in ["a1", "a2"] { #expect(bench.end(name) == .notStarted(sentence)) }
  }

  /// Its script notes that it was told to end.
  @Test(arguments: [("0 1 stopped\n", SlurmEnd.cancelled), ("143 1 \n", .cancelled), ("0 1 \n", .exited(0))])
  func aProgramThatEndsBecauseSomeoneHasCancelledItsJobIsCancelled(exit: String, end: SlurmEnd) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("RUNNING")
    bench.advance(.seconds(1))
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write(exit, to: "a", ".exit")
    bench.slurm.setAll("CANCELLED")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == end)
  }

  /// A job that runs, and a controller that was down and has forgotten what it did last.
  private func benchAfterOutage() throws -> Bench {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("RUNNING")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.isDown = true }
    bench.advance(.seconds(5))
    bench.slurm.change { $0.isDown = false }
    return bench
  }

  @Test func aJobThatIsStartedASecondTimeEndsAsTheFirstStartDid() throws {
    let bench = try benchAfterOutage()
    try bench.write("1 node1\n", to: "a", ".claim")
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: BatchScript.duplicateStatus << 8)
    bench.advance(.seconds(10))
    #expect(bench.end("a") == nil)
    try bench.write("4 1\n", to: "a", ".exit")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .exited(4))
  }

  @Test func aFirstStartThatLeavesNoStatusIsNotWaitedForWithoutEnd() throws {
    let bench = try benchAfterOutage()
    try bench.write("1 node1\n", to: "a", ".claim")
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: BatchScript.duplicateStatus << 8)
    bench.advance(.seconds(40))
    #expect(bench.end("a") == .lost(hasBegun: true))
  }

  @Test func aProgramThatHadEndedIsNotReportedAsCancelled() throws {
    let bench = try benchAfterOutage()
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write("0 1\n", to: "a", ".exit")
    bench.slurm.setAll("CANCELLED")
    bench.advance(.seconds(4))
    #expect(bench.end("a") == .exited(0))
  }

  @Test func aJobThatTheControllerEndedBeforeItBeganIsSubmittedAgain() throws {
    let bench = try benchAfterOutage()
    bench.slurm.setAll("CANCELLED")
    bench.advance(.seconds(4))
    #expect(bench.end("a") == nil)
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  @Test func anAnswerFromBeforeASecondSubmissionDoesNotEndIt() throws {
    let bench = try benchAfterOutage()
    bench.slurm.setAll("CANCELLED")
    // The first query after the outage ends the job; the second begins before the submission is accepted.
    bench.slurm.change { $0.held = ["sbatch"] }
    bench.advance(.seconds(4))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    bench.follow("other")
    bench.slurm.release()
    bench.settle()
    bench.slurm.change { slurm in slurm.jobs.removeAll { $0.id == SlurmJobID(2) } }
    bench.advance(.milliseconds(1500))
    #expect(bench.end("a") == nil)
    #expect(bench.statuses("a").last == .submitted(SlurmJobID(2)))
  }

  @Test func aJobThatSomeoneCancelsIsNotSubmittedAgain() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("CANCELLED")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .cancelled)
  }

  @Test func aJobThatAnOutageHasCompletedWithoutAStartIsSubmittedAgain() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    try bench.write("7 node1\n", to: "other", ".claim")
    bench.slurm.change { $0.isDown = true }
    bench.advance(.seconds(3))
    bench.slurm.change { $0.isDown = false }
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(6))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    #expect(bench.end("a") == nil)
    // The exit file decides.
    try bench.write("2 node1\n", to: "a", ".claim")
    try bench.write("3 2\n", to: "a", ".exit")
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(6))
    #expect(bench.end("a") == .exited(3))
  }

  // MARK: What is asked when

  @Test func aJobIsAskedForWhenTwoAnswersInARowDoNotNameIt() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    bench.slurm.change { $0.jobs = [] }
    bench.advance(exactly: .milliseconds(1019))
    #expect(bench.slurm.queries == 2)
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
    bench.advance(exactly: .milliseconds(1))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "show", "job", "-a", "-o", "1"]])
    #expect(bench.slurm.calls(of: "sacct") == [SlurmRecord.accountingQuery([SlurmJobID(1)]).arguments])
  }

  @Test func severalMissingJobsAreAskedForByOneCall() throws {
    let bench = try Bench()
    for name in ["a1", "a2"] { bench.follow(name) }
    bench.advance(exactly: .seconds(1))
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: 6 << 8)
    bench.slurm.change { slurm in for index in slurm.jobs.indices { slurm.jobs[index].isPurged = true } }
    bench.advance(exactly: .seconds(2))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "show", "job", "-a", "-o"]])
    for name in ["a1", "a2"] { #expect(bench.end(name) == .exited(6)) }
    #expect(bench.slurm.calls(of: "sacct").isEmpty)
  }

  @Test func aJobThatWasMissingOnceIsAsAnyOther() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    let jobs = bench.slurm.state.withLock(\.jobs)
    bench.slurm.change { $0.jobs = [] }
    bench.advance(exactly: .milliseconds(30))
    bench.slurm.change { $0.jobs = jobs }
    bench.advance(exactly: .seconds(1))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(10))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
  }

  /// Its number may be someone else's by now.
  @Test func aMissingJobIsNotCancelledByItsNumber() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    bench.slurm.change { $0.jobs = [] }
    bench.advance(exactly: .milliseconds(30))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(500))
    #expect(bench.end("a") == nil)
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .cancelled)
    #expect(bench.slurm.calls(of: "scancel").isEmpty)
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aMissingJobIsAskedForAgainAfterACallWithoutAnAnswer() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write("7 1\n", to: "a", ".exit")
    bench.slurm.change {
      $0.jobs = []
      $0.canned["scontrol"] = [FakeSlurm.down]
    }
    bench.advance(exactly: .milliseconds(1500))
    #expect(bench.slurm.calls(of: "scontrol").count == 1)
    #expect(bench.end("a") == nil)
    bench.advance(exactly: .seconds(5))
    #expect(bench.end("a") == .exited(7))
    #expect(bench.slurm.calls(of: "scontrol").count == 2)
  }

  /// Has two jobs go missing one after the other; the exit file of the first says 7, the second has none.
  private func loseTwo(_ bench: Bench) throws {
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write("7 1\n", to: "a", ".exit")
    bench.slurm.change { $0.jobs = [] }
    bench.advance(exactly: .seconds(4))
    bench.follow("b")
    bench.advance(exactly: .seconds(1))
    bench.slurm.change { $0.jobs = [] }
    bench.advance(exactly: .seconds(4))
  }

  @Test func anAccountingThatIsNotThereIsAskedOnce() throws {
    let bench = try Bench()
    try loseTwo(bench)
    #expect(bench.end("a") == .exited(7))
    #expect(bench.slurm.calls(of: "sacct").count == 1)
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
  }

  @Test(arguments: [FakeSlurm.down, SlurmAnswer(.exited(0))])
  func anAccountingThatIsThereIsAskedEachTime(first: SlurmAnswer) throws {
    let bench = try Bench()
    let fields = ["2", "FAILED", "9:0", "node1", "", "", "b"]
    bench.slurm.change {
      $0.canned["sacct"] = [first, SlurmAnswer(.exited(0), output: fields.joined(separator: "\u{1F}") + "\n")]
    }
    try loseTwo(bench)
    #expect(bench.end("a") == .exited(7))
    #expect(bench.end("b") == .exited(9))
    #expect(bench.slurm.calls(of: "sacct").count == 2)
  }

  /// A number may have been given out again.
  @Test(
    arguments: [
      ("z", "", false), ("a", "opdash/other/a/1", false), ("a", "opdash/run%201/b/1", false),
      ("z", "opdash/run%201/a/1", true),
    ] as [(String, String, Bool)])
  func anAccountCountsForTheJobThatItIsOf(name: String, comment: String, isTaken: Bool) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    let fields = ["1", "FAILED", "9:0", "node1", "", comment, name]
    bench.slurm.change {
      $0.jobs = []
      $0.canned["sacct"] = [SlurmAnswer(.exited(0), output: fields.joined(separator: "\u{1F}") + "\n")]
    }
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == (isTaken ? .exited(9) : nil))
    #expect(bench.slurm.calls(of: "sbatch").count == (isTaken ? 1 : 2))
  }

  @Test(
    arguments: [
      ("TIMEOUT", "0:15", "143 1 stopped\n", .timeLimit), ("OUT_OF_MEMORY", "0:125", "137 1\n", .outOfMemory),
      ("PREEMPTED", "0:15", "0 1 stopped\n", .preempted), ("COMPLETED", "0:0", "3 1\n", .exited(3)),
    ] as [(String, String, String, SlurmEnd)])
  func theExitFileKnowsOnlyAnExitBetterThanTheAccounting(
    state: String, code: String, exit: String, end: SlurmEnd
  ) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    try bench.write("1 node1\n", to: "a", ".claim")
    try bench.write(exit, to: "a", ".exit")
    let fields = ["1", state, code, "node1", "", "", "a"]
    bench.slurm.change {
      $0.jobs = []
      $0.canned["sacct"] = [SlurmAnswer(.exited(0), output: fields.joined(separator: "\u{1F}") + "\n")]
    }
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == end)
  }

  /// Its node perhaps can't write the folder.
  @Test func aJobThatWasSeenToRunIsNotSubmittedAgain() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(500))
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    bench.slurm.change { $0.jobs = [] }
    bench.advance(exactly: .seconds(20))
    #expect(bench.end("a") == nil)
    bench.advance(exactly: .seconds(20))
    #expect(bench.end("a") == .lost(hasBegun: true))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func anExitFileIsWaitedForThirtySeconds() throws {
    let bench = try Bench()
    bench.clock.advance(by: .seconds(100))
    let followed = FollowedJob(bench.job("a"), isPaused: false) { _ in }
    let hasWaited = { bench.observer.queue.sync { bench.observer.hasWaitedEnough(forExitOf: followed) } }
    #expect(!hasWaited())
    #expect(followed.orphanSince == .seconds(100))
    bench.clock.advance(by: .milliseconds(29_999))
    #expect(!hasWaited())
    bench.clock.advance(by: .milliseconds(1))
    #expect(hasWaited())
    #expect(followed.orphanSince == .seconds(100))
  }
}
