import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// Cancelling, killing and pausing.
@Suite struct ControlTests {
  @Test func manyJobsAreCancelledByOneCall() throws {
    let bench = try Bench()
    for number in 0..<500 { bench.follow("a\(number)") }
    bench.advance(.seconds(1))
    for number in 0..<500 { bench.observer.cancel(bench.identity("a\(number)")) }
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    bench.slurm.setAll("CANCELLED")
    bench.advance(.seconds(2))
    for number in [0, 250, 499] { #expect(bench.end("a\(number)") == .cancelled) }
    #expect(bench.slurm.calls(of: "scancel").count == 1)
  }

  @Test func ofAnArrayOnlyTheJobsThatAreMeantAreCancelled() throws {
    let bench = try Bench()
    for number in 0..<5 { bench.follow("a\(number)") }
    bench.advance(.seconds(1))
    for number in [0, 1, 3] { bench.observer.cancel(bench.identity("a\(number)")) }
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1_[0-1,3]"]])
  }

  @Test func aJobThatWasNotSubmittedIsCancelledWithoutACall() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(1))
    #expect(bench.end("a") == .cancelled)
    #expect(bench.slurm.state.withLock(\.calls).isEmpty)
  }

  @Test func aJobThatIsCancelledWhileItIsSubmittedIsCancelledAfterwards() throws {
    let bench = try Bench()
    bench.slurm.change { $0.held = ["sbatch"] }
    bench.follow("a")
    bench.advance(.milliseconds(100))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel").isEmpty)
    bench.slurm.release()
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
  }

  @Test func aCancellationWaitsForAControllerThatIsDown() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.isDown = true }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(9))
    bench.slurm.change { $0.isDown = false }
    let calls = bench.slurm.calls(of: "scancel").count
    bench.advance(.seconds(4))
    #expect(bench.slurm.calls(of: "scancel").count == calls + 1)
    #expect(calls == 1)
  }

  /// Its last job has ended, so that no query would be made for a job.
  @Test func aControllerThatWasDownIsFoundAgainWithoutJobs() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change {
      $0.held = ["scontrol"]
      $0.canned["scontrol"] = [FakeSlurm.slow]
    }
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.milliseconds(100))
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .exited(0))
    bench.slurm.release()
    bench.follow("b")
    bench.advance(.seconds(5))
    #expect(bench.statuses("b").first == .submitted(SlurmJobID(2)))
  }

  @Test func aCallThatCouldNotBeStartedIsMadeAgain() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.canned["scancel"] = [SlurmAnswer(.notStarted("no process"))] }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "scancel").count == 2)
  }

  @Test(arguments: ["JobHeldUser", "JobHeldAdmin"])
  func aJobThatSomeoneElseHoldsIsNotReleased(reason: String) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("PENDING", reason: reason, node: "")
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
  }

  @Test func aHoldWhoseAnswerWasLostIsReleased() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.isDown = true }
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "uhold", "1"]])
    bench.observer.setPaused(false, bench.identity("a"))
    bench.slurm.setAll("PENDING", reason: "JobHeldUser", node: "")
    bench.slurm.change { $0.isDown = false }
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "scontrol").dropFirst() == [["scontrol", "release", "1"]])
  }

  /// The user may have held the job for a reason of his own, before the run and after a pause.
  @Test func aHoldAfterAPauseIsSomeoneElses() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    for isPaused in [true, false] {
      bench.observer.setPaused(isPaused, bench.identity("a"))
      bench.advance(.seconds(3))
    }
    let calls = [["scontrol", "uhold", "1"], ["scontrol", "release", "1"]]
    #expect(bench.slurm.calls(of: "scontrol") == calls)
    bench.slurm.setAll("PENDING", reason: "JobHeldUser", node: "")
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "scontrol") == calls)
    #expect(bench.statuses("a").last == .pending(SlurmJobID(1), SlurmReason("JobHeldUser")))
    // A pause changes nothing, nor does its end.
    for isPaused in [true, false] {
      bench.observer.setPaused(isPaused, bench.identity("a"))
      bench.advance(.seconds(3))
    }
    #expect(bench.slurm.calls(of: "scontrol") == calls)
  }

  @Test func aPauseRightAfterAPauseHoldsAgain() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.milliseconds(100))
    bench.slurm.setAll("PENDING", reason: "JobHeldUser", node: "")
    bench.advance(.seconds(2))
    for isPaused in [false, true] {
      bench.observer.setPaused(isPaused, bench.identity("a"))
      bench.advance(exactly: .milliseconds(50))
    }
    #expect(bench.slurm.calls(of: "scontrol").map { $0[1] } == ["uhold", "release", "uhold"])
  }

  /// It began at the moment of the hold, and is stopped: its reason in Slurm stays.
  @Test func aJobThatBeganWhenItWasHeldIsNotHeldAfterItsPause() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.milliseconds(100))
    bench.slurm.setAll("RUNNING", reason: "JobHeldUser")
    bench.advance(.seconds(2))
    bench.observer.setPaused(false, bench.identity("a"))
    bench.advance(.seconds(2))
    let halt = bench.observer.files.halt(of: bench.identity("a"))
    #expect(!halt.isStanding)
  }

  @Test func whatSomeoneElseHoldsIsHeldByAPauseOnceItIsReleased() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("PENDING", reason: "JobHeldUser", node: "")
    bench.advance(.seconds(2))
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
    bench.slurm.setAll("PENDING", reason: "Priority", node: "")
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "uhold", "1"]])
  }

  @Test(arguments: [("STOPPED", "None"), ("PENDING", "JobHeldUser")])
  func aJobThatAnotherProcessHadPausedGoesOn(state: String, reason: String) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    if state == "STOPPED" { bench.slurm.setAll("RUNNING") }
    bench.advance(.seconds(2))
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.seconds(1))
    bench.abandon()
    bench.slurm.setAll(state, reason: reason, node: state == "PENDING" ? "" : "node1")
    let (stops, holds) = (bench.slurm.calls(of: "scancel").count, bench.slurm.calls(of: "scontrol").count)
    let next = Bench(after: bench)
    next.follow("a", mayExist: true)
    next.advance(.seconds(2))
    let calls = next.slurm.calls(of: "scancel").dropFirst(stops) + next.slurm.calls(of: "scontrol").dropFirst(holds)
    #expect(
      calls.first == (state == "PENDING" ? ["scontrol", "release", "1"] : ["scancel", "--full", "--signal=CONT", "1"]))
  }

  @Test(arguments: [("STOPPED", "None"), ("PENDING", "JobHeldUser")])
  func whatAnotherProcessHasNotPausedStaysAsItIs(state: String, reason: String) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    // It has paused the job, and resumed it.
    for isPaused in [true, false] {
      bench.observer.setPaused(isPaused, bench.identity("a"))
      bench.advance(.seconds(2))
    }
    bench.abandon()
    bench.slurm.setAll(state, reason: reason, node: state == "PENDING" ? "" : "node1")
    let next = Bench(after: bench)
    next.follow("a", mayExist: true)
    next.advance(.seconds(3))
    #expect(next.slurm.calls(of: "scancel").isEmpty)
    #expect(next.slurm.calls(of: "scontrol").count == 2)
  }

  // MARK: Refusals

  private static func denied(_ jobs: String...) -> SlurmAnswer {
    let lines = jobs.map { "scancel: error: Kill job error on job id \($0): Access/permission denied\n" }
    return SlurmAnswer(.exited(1), error: lines.joined())
  }

  @Test(arguments: [denied("1"), SlurmAnswer(.exited(127), error: "scancel: not found\n"), SlurmAnswer(.exited(1))])
  func aCancellationThatFailsIsRepeatedAfterTheNextQuery(answer: SlurmAnswer) throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(2100))
    bench.slurm.change { $0.canned["scancel"] = [answer, answer] }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(500))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    bench.advance(exactly: .seconds(5))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"], ["scancel", "1"], ["scancel", "1"]])
    #expect(bench.notes("a") == ["scancel has failed, and is called again: \(answer.fault)"])
  }

  @Test func ofSeveralJobsOnlyTheRefusedOneIsCancelledAgain() throws {
    let bench = try Bench()
    for number in 0..<3 { bench.follow("a\(number)", SlurmResources(cpus: number + 1)) }
    bench.advance(.seconds(2))
    bench.slurm.change { $0.canned["scancel"] = [Self.denied("2")] }
    for number in 0..<3 { bench.observer.cancel(bench.identity("a\(number)")) }
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1", "2", "3"], ["scancel", "2"]])
    #expect(bench.notes("a0").isEmpty && bench.notes("a1").count == 1)
  }

  @Test func anArrayIsRefusedAsAWhole() throws {
    let bench = try Bench()
    for number in 0..<3 { bench.follow("a\(number)") }
    bench.advance(.seconds(2))
    bench.slurm.change { $0.canned["scancel"] = [Self.denied("1_[0-1]")] }
    for number in 0..<2 { bench.observer.cancel(bench.identity("a\(number)")) }
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1_[0-1]"], ["scancel", "1_[0-1]"]])
  }

  @Test func aJobThatIsGoneIsNotCancelledAgain() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let error = "scancel: error: Kill job error on job id 1: Job/step already completing or completed\n"
    bench.slurm.change { $0.canned["scancel"] = [SlurmAnswer(.exited(1), error: error)] }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    #expect(bench.notes("a").isEmpty)
  }

  @Test func aPauseThatFailsIsRepeated() throws {
    let bench = try bench([SlurmJob.Stop()])
    bench.slurm.change { $0.canned["scancel"] = [Self.denied("1")] }
    bench.observer.setPaused(true, bench.identity("a0"))
    bench.advance(.seconds(3))
    let stop = ["scancel", "--full", "--signal=STOP", "1"]
    #expect(bench.slurm.calls(of: "scancel") == [stop, stop])
  }

  @Test func aHoldThatFailsBecauseTheJobHasBegunIsAStop() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let error = "Job is no longer pending execution for job 1\n"
    bench.slurm.change { $0.canned["scontrol"] = [SlurmAnswer(.exited(1), error: error)] }
    bench.slurm.setAll("RUNNING")
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "uhold", "1"]])
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=STOP", "1"]])
  }

  // MARK: Suspension by the cluster

  @Test func aSuspendedJobIsCancelledWithoutASignal() throws {
    let bench = try bench([interrupt])
    bench.slurm.setAll("SUSPENDED")
    bench.advance(.seconds(2))
    #expect(bench.statuses("a0").last == .suspended(SlurmJobID(1), nodes: "node1"))
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
  }

  @Test func aSuspendedJobIsPausedOnceTheClusterContinuesIt() throws {
    let bench = try bench([interrupt])
    bench.slurm.setAll("SUSPENDED")
    bench.advance(.seconds(2))
    bench.observer.setPaused(true, bench.identity("a0"))
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scancel").isEmpty)
    bench.slurm.setAll("RUNNING")
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=STOP", "1"]])
  }

  /// The other job of the array is perhaps followed later.
  @Test func ofAnArrayOfAnotherProcessOnlyTheFollowedJobIsCancelled() throws {
    let bench = try Bench()
    for name in ["a1", "a2"] { bench.follow(name) }
    bench.advance(.seconds(1))
    bench.abandon()
    let next = Bench(after: bench)
    next.follow("a1", mayExist: true)
    next.advance(.seconds(2))
    next.observer.cancel(next.identity("a1"))
    next.advance(.seconds(1))
    #expect(next.slurm.calls(of: "scancel") == [["scancel", "1_[0]"]])
  }

  @Test func killingSendsTheSignalAndCancels() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("RUNNING")
    bench.advance(.seconds(1))
    bench.observer.kill(bench.identity("a"))
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--batch", "--signal=USR2", "1"], ["scancel", "1"]])
  }

  /// Jobs with stop terms of their own, which run.
  private func bench(_ stops: [SlurmJob.Stop]) throws -> Bench {
    let bench = try Bench()
    for (number, stop) in stops.enumerated() {
      bench.follow("a\(number)", SlurmResources(cpus: number + 1), stop: stop)
      bench.advance(.milliseconds(100))
    }
    bench.slurm.setAll("RUNNING")
    bench.advance(.seconds(2))
    return bench
  }

  private let interrupt = SlurmJob.Stop(signal: SIGINT, grace: .seconds(20))

  @Test func aRunningJobGetsItsStopSignalAndIsKilledAfterItsGrace() throws {
    let bench = try bench([interrupt])
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(.seconds(19))
    let signal = ["scancel", "--full", "--signal=INT", "1"]
    #expect(bench.slurm.calls(of: "scancel") == [signal])
    bench.advance(.seconds(2))
    #expect(
      bench.slurm.calls(of: "scancel") == [
        signal, ["scancel", "--batch", "--signal=USR2", "1"], ["scancel", "1"],
      ])
    bench.slurm.setAll("FAILED", status: 9)
    bench.advance(.seconds(2))
    #expect(bench.end("a0") == .signalled(9))
  }

  @Test func aLongGraceIsNotLeftToSlurm() throws {
    let bench = try bench([SlurmJob.Stop(signal: SIGTERM, grace: .seconds(300))])
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(.seconds(299))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=TERM", "1"]])
  }

  @Test func jobsWithTheSameSignalAreStoppedByOneCall() throws {
    let user = SlurmJob.Stop(signal: SIGUSR2, grace: .seconds(20))
    let bench = try bench([interrupt, user, interrupt])
    for number in 0..<3 { bench.observer.cancel(bench.identity("a\(number)")) }
    bench.advance(.milliseconds(100))
    #expect(
      Set(bench.slurm.calls(of: "scancel")) == [
        ["scancel", "--full", "--signal=INT", "1", "3"], ["scancel", "--full", "--signal=USR2", "2"],
      ])
    // Its script has another signal for the kill.
    bench.observer.kill(bench.identity("a1"))
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel").contains(["scancel", "--batch", "--signal=USR1", "2"]))
  }

  @Test func aJobThatWaitsIsCancelledWithoutItsStopSignal() throws {
    let bench = try Bench()
    bench.follow("a", stop: interrupt)
    bench.advance(.seconds(1))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
  }

  @Test func aSuspendedJobGetsItsStopSignalAndContinues() throws {
    let bench = try bench([interrupt])
    bench.observer.setPaused(true, bench.identity("a0"))
    bench.advance(.seconds(2))
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(.seconds(2))
    #expect(
      bench.slurm.calls(of: "scancel").dropFirst() == [
        ["scancel", "--full", "--signal=INT", "1"], ["scancel", "--full", "--signal=CONT", "1"],
      ])
  }

  /// What a program makes of its stop signal is not a success of its work, but one that had ended before was done.
  @Test(arguments: [nil, "", "scancel: error: Kill job error on job id 1: Invalid job id specified\n"] as [String?])
  func aProgramThatWasStoppedHasNotSucceeded(error: String?) throws {
    let bench = try bench([interrupt])
    if let error { bench.slurm.change { $0.canned["scancel"] = [SlurmAnswer(.exited(1), error: error)] } }
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(.milliseconds(50))
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    #expect(bench.end("a0") == (error != nil ? .exited(0) : .cancelled))
    #expect(bench.notes("a0").isEmpty)
    #expect(bench.slurm.calls(of: "scancel").count == 1)
  }

  @Test func aStopSignalThatKillsIsAKill() throws {
    let bench = try bench([SlurmJob.Stop(signal: SIGKILL)])
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--batch", "--signal=USR2", "1"], ["scancel", "1"]])
  }

  @Test func aJobThatSlurmIsEndingIsKilledAfterItsGrace() throws {
    let bench = try bench([SlurmJob.Stop()])
    bench.observer.cancel(bench.identity("a0"))
    bench.slurm.setAll("COMPLETING")
    let file = bench.observer.files.path(of: bench.identity("a0")) + ".kill"
    bench.advance(.milliseconds(4900))
    #expect(!FileManager.default.fileExists(atPath: file))
    bench.advance(.milliseconds(200))
    #expect(FileManager.default.fileExists(atPath: file))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
  }

  @Test func theEndsOfCancelledJobsAreAskedForSooner() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("RUNNING")
    bench.advance(.milliseconds(1200))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.milliseconds(100))
    bench.slurm.setAll("CANCELLED")
    bench.advance(.milliseconds(300))
    #expect(bench.end("a") == .cancelled)
    // After two seconds as before.
    bench.follow("b")
    bench.advance(.seconds(3))
    let before = bench.slurm.calls(of: "squeue").count
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "squeue").count - before <= 3)
  }

  @Test func cancelledJobsThatSlurmForgetsAtOnceHaveEnded() throws {
    let bench = try Bench()
    for number in 0..<4 { bench.follow("a\(number)") }
    bench.advance(.seconds(3))
    for number in [1, 2] { bench.observer.cancel(bench.identity("a\(number)")) }
    bench.advance(.milliseconds(100))
    bench.slurm.change { slurm in slurm.jobs.removeAll { [1, 2].contains($0.id.index) } }
    bench.advance(.milliseconds(300))
    for number in [1, 2] { #expect(bench.end("a\(number)") == .cancelled) }
    for number in [0, 3] { #expect(bench.end("a\(number)") == nil) }
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
  }

  @Test func aJobThatSlurmEndsAlreadyIsKilledByAFile() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.setAll("RUNNING")
    bench.advance(.seconds(1))
    bench.observer.cancel(bench.identity("a"))
    bench.slurm.setAll("COMPLETING")
    bench.advance(.milliseconds(100))
    let file = bench.observer.files.path(of: bench.identity("a")) + ".kill"
    #expect(!FileManager.default.fileExists(atPath: file))
    bench.observer.kill(bench.identity("a"))
    bench.advance(.milliseconds(100))
    #expect(FileManager.default.fileExists(atPath: file))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
  }

  @Test func aPausedJobIsHeldWhileItWaitsAndStoppedWhileItRuns() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let identity = bench.identity("a")
    bench.observer.setPaused(true, identity)
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "uhold", "1"]])
    bench.advance(.seconds(3))
    #expect(bench.statuses("a").last == .pending(SlurmJobID(1), SlurmReason("JobHeldUser")))
    bench.observer.setPaused(false, identity)
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scontrol").last == ["scontrol", "release", "1"])
    bench.slurm.setAll("RUNNING")
    bench.advance(.seconds(1))
    bench.observer.setPaused(true, identity)
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=STOP", "1"]])
    bench.observer.setPaused(false, identity)
    bench.advance(.seconds(3))
    #expect(bench.slurm.calls(of: "scancel").dropFirst() == [["scancel", "--full", "--signal=CONT", "1"]])
  }

  @Test func aJobPausedBeforeItsSubmissionIsSubmittedWhenResumed() throws {
    let bench = try Bench()
    bench.follow("a", isPaused: true)
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
    bench.observer.setPaused(false, bench.identity("a"))
    bench.advance(.seconds(1))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  // MARK: Single steps

  @Test func aCallWaitsFiveMillisecondsForOthersOfItsKind() throws {
    let bench = try Bench()
    for (number, name) in ["a", "b"].enumerated() { bench.follow(name, SlurmResources(cpus: number + 1)) }
    bench.advance(exactly: .milliseconds(500))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(3))
    bench.observer.cancel(bench.identity("b"))
    bench.advance(exactly: .milliseconds(1))
    #expect(bench.slurm.calls(of: "scancel").isEmpty)
    bench.advance(exactly: .milliseconds(1))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1", "2"]])
  }

  @Test func oneCallIsMadeAtATime() throws {
    let bench = try Bench()
    for (number, name) in ["a", "b"].enumerated() { bench.follow(name, SlurmResources(cpus: number + 1)) }
    bench.advance(exactly: .milliseconds(500))
    bench.slurm.change { $0.held = ["scancel"] }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(100))
    bench.observer.cancel(bench.identity("b"))
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    bench.slurm.release()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"], ["scancel", "2"]])
  }

  /// The first submission was lost, and is found while the second one's cancellation is under way.
  @Test func aCancellationOfAnotherNumberIsNotTheJobs() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.held = ["scancel"] }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    let comment = bench.identity("a").comment
    try bench.write("8 node3\n", to: "a", ".claim")
    bench.slurm.change { slurm in
      let id = SlurmJobID(8)
      slurm.jobs.append(FakeSlurm.Job(id: id, comment: comment, state: "RUNNING", reason: "None", node: "node3"))
    }
    bench.advance(.seconds(2))
    bench.slurm.release()
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scancel").contains(["scancel", "8"]))
  }

  @Test func oneCallNamesTwoThousandJobs() throws {
    var settings = SlurmObserver.Settings()
    settings.inFlight = 3000
    let bench = try Bench(settings)
    for number in 0..<2001 { bench.follow("a\(number)") }
    bench.advance(exactly: .milliseconds(500))
    bench.slurm.change { $0.canned["scontrol"] = [SlurmAnswer(.exited(0)), SlurmAnswer(.exited(0))] }
    for number in 0..<2001 { bench.observer.setPaused(true, bench.identity("a\(number)")) }
    bench.advance(exactly: .milliseconds(20))
    let sizes = bench.slurm.calls(of: "scontrol").map { $0.last?.split(separator: ",").count }
    #expect(sizes == [2000, 1])
  }

  @Test func aJobThatWaitsIsKilledByItsCancellationAlone() throws {
    let bench = try Bench()
    bench.follow("a", stop: interrupt)
    bench.advance(exactly: .milliseconds(500))
    bench.observer.kill(bench.identity("a"))
    bench.advance(exactly: .seconds(1))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
  }

  @Test func aJobThatBeginsAfterItsCancellationGetsNoStopSignal() throws {
    let bench = try Bench()
    bench.follow("a", stop: interrupt)
    bench.advance(exactly: .milliseconds(500))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(100))
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(19))
    let file = bench.observer.files.path(of: bench.identity("a")) + ".kill"
    #expect(!FileManager.default.fileExists(atPath: file))
    bench.advance(exactly: .seconds(2))
    #expect(FileManager.default.fileExists(atPath: file))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
  }

  @Test func aKillIsOrderedByOneFileOnce() throws {
    let bench = try bench([SlurmJob.Stop()])
    let file = bench.observer.files.path(of: bench.identity("a0")) + ".kill"
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(exactly: .milliseconds(100))
    bench.observer.kill(bench.identity("a0"))
    bench.advance(exactly: .milliseconds(100))
    #expect(unlink(file) == 0)
    bench.advance(exactly: .seconds(3))
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func aGraceEndsWhetherOrNotSlurmAnswersQueries() throws {
    let bench = try bench([SlurmJob.Stop(grace: .seconds(2))])
    let file = bench.observer.files.path(of: bench.identity("a0")) + ".kill"
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(exactly: .milliseconds(5))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    bench.slurm.change { $0.held = ["squeue"] }
    bench.advance(exactly: .milliseconds(2004))
    #expect(!FileManager.default.fileExists(atPath: file))
    bench.advance(exactly: .milliseconds(1))
    #expect(FileManager.default.fileExists(atPath: file))
  }

  @Test func aProgramThatWasStoppedKeepsItsStatus() throws {
    let bench = try bench([interrupt])
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(exactly: .milliseconds(50))
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: 3 << 8)
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a0") == .exited(3))
  }

  @Test func aStopWhoseAnswerWasLostIsUndone() throws {
    let bench = try bench([SlurmJob.Stop()])
    bench.slurm.change { $0.isDown = true }
    bench.observer.setPaused(true, bench.identity("a0"))
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=STOP", "1"]])
    bench.observer.setPaused(false, bench.identity("a0"))
    bench.slurm.setAll("STOPPED")
    bench.slurm.change { $0.isDown = false }
    bench.advance(exactly: .seconds(5))
    #expect(bench.slurm.calls(of: "scancel").dropFirst().first == ["scancel", "--full", "--signal=CONT", "1"])
  }

  @Test func aHeldJobThatSomeoneReleasesIsStoppedWhenItRuns() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(500))
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "uhold", "1"]])
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(3))
    #expect(bench.slurm.calls(of: "scontrol").count == 1)
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=STOP", "1"]])
  }

  // MARK: What an outage changes

  /// The controller may have forgotten what it was told.
  @Test func aCancellationIsSentAgainAfterAnOutage() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    bench.slurm.change { $0.isDown = true }
    bench.advance(exactly: .seconds(4))
    bench.slurm.change { $0.isDown = false }
    bench.advance(exactly: .seconds(4))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"], ["scancel", "1"]])
  }

  @Test func aKillIsSentAgainAfterAnOutage() throws {
    let bench = try bench([SlurmJob.Stop()])
    bench.observer.kill(bench.identity("a0"))
    bench.advance(exactly: .milliseconds(100))
    let calls = [["scancel", "--batch", "--signal=USR2", "1"], ["scancel", "1"]]
    #expect(bench.slurm.calls(of: "scancel") == calls)
    bench.slurm.change { $0.isDown = true }
    bench.advance(exactly: .seconds(4))
    bench.slurm.change { $0.isDown = false }
    bench.advance(exactly: .seconds(4))
    #expect(bench.slurm.calls(of: "scancel") == calls + calls)
  }

  /// Its number may be that of another array by now.
  @Test func anArrayOfBeforeAnOutageIsCancelledByItsIndices() throws {
    let bench = try Bench()
    for name in ["a1", "a2"] { bench.follow(name) }
    bench.advance(exactly: .seconds(1))
    bench.slurm.change { $0.isDown = true }
    bench.advance(exactly: .seconds(4))
    bench.slurm.change { $0.isDown = false }
    bench.advance(exactly: .seconds(4))
    for name in ["a1", "a2"] { bench.observer.cancel(bench.identity(name)) }
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1_[0-1]"]])
  }

  // MARK: Several jobs of one attempt

  /// Adds another job of the attempt of `a0`, which runs.
  private func addSecond(to bench: Bench) {
    let comment = bench.identity("a0").comment
    bench.slurm.change { slurm in
      slurm.jobs.append(
        FakeSlurm.Job(id: SlurmJobID(8), comment: comment, state: "RUNNING", reason: "None", node: "node3"))
    }
  }

  @Test func theSecondJobOfAnAttemptIsCancelledToo() throws {
    let bench = try bench([SlurmJob.Stop()])
    addSecond(to: bench)
    bench.observer.cancel(bench.identity("a0"))
    bench.advance(.milliseconds(100))
    bench.slurm.change { $0.jobs[0].state = "CANCELLED" }
    bench.advance(.seconds(1))
    #expect(bench.statuses("a0").last == .running(SlurmJobID(8), nodes: "node3"))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"], ["scancel", "8"]])
  }

  /// A script looks for the file only once it was told to end.
  @Test func theSecondJobOfAnAttemptIsKilledBySignal() throws {
    let bench = try bench([interrupt])
    bench.observer.cancel(bench.identity("a0"))
    bench.observer.kill(bench.identity("a0"))
    bench.advance(.milliseconds(100))
    addSecond(to: bench)
    bench.slurm.change { $0.jobs[0].state = "FAILED" }
    bench.advance(.seconds(1))
    #expect(
      bench.slurm.calls(of: "scancel").suffix(2) == [
        ["scancel", "--batch", "--signal=USR2", "8"], ["scancel", "8"],
      ])
  }

  @Test func theSecondJobOfAnAttemptIsStoppedWhileTheJobIsPaused() throws {
    let bench = try bench([interrupt])
    bench.observer.setPaused(true, bench.identity("a0"))
    bench.advance(.seconds(1))
    addSecond(to: bench)
    bench.slurm.change { $0.jobs[0].state = "FAILED" }
    bench.advance(.seconds(2))
    #expect(
      bench.slurm.calls(of: "scancel") == [
        ["scancel", "--full", "--signal=STOP", "1"], ["scancel", "--full", "--signal=STOP", "8"],
      ])
  }

  /// Has Slurm lose the job `a` of a run that is paused, so that the job waits to be submitted again.
  private func benchOfLost() throws -> Bench {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.jobs = [] }
    bench.observer.setPaused(true, bench.identity("a"))
    bench.advance(.seconds(5))
    #expect(bench.statuses("a").last == .waiting)
    return bench
  }

  @Test func aLostJobThatIsBackAfterItsCancellationDoesNothing() throws {
    let bench = try benchOfLost()
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(1))
    #expect(bench.end("a") == .cancelled)
    #expect(bench.observer.files.isWithdrawn(bench.identity("a")))
  }

  @Test func aLostJobThatHasBegunIsCancelledByItsNumber() throws {
    let bench = try benchOfLost()
    try bench.write("1 node1\n", to: "a", ".claim")
    let comment = bench.identity("a").comment
    bench.slurm.change { slurm in
      slurm.jobs = [FakeSlurm.Job(id: SlurmJobID(1), comment: comment, state: "RUNNING", reason: "None", node: "node1")]
    }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    bench.slurm.setAll("CANCELLED")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .cancelled)
  }

  @Test func aJobThatAnEarlierProcessHasSubmittedDoesNothing() throws {
    let bench = try Bench()
    #expect(bench.observer.files.makeFolder() == nil)
    bench.follow("a", mayExist: true, isPaused: true)
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(1))
    #expect(bench.end("a") == .cancelled)
    #expect(bench.observer.files.isWithdrawn(bench.identity("a")))
  }

  @Test func anEarlierSubmissionOfACancelledJobDoesNothing() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.jobs = [] }
    bench.advance(.seconds(5))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(1))
    bench.slurm.setAll("CANCELLED", node: "")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .cancelled)
    #expect(bench.observer.files.isWithdrawn(bench.identity("a")))
  }
}
