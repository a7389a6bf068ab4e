import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// Submissions in doubt, refusals, and jobs that another process has submitted.
@Suite struct SubmissionTests {
  @Test func aSubmissionWithoutAnAnswerIsFoundByItsComment() throws {
    let bench = try Bench()
    let comment = bench.identity("a").comment
    bench.slurm.change {
      $0.canned["sbatch"] = [FakeSlurm.slow]
      $0.jobs = [FakeSlurm.Job(id: SlurmJobID(7), comment: comment)]
    }
    bench.follow("a")
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.statuses("a") == [.pending(SlurmJobID(7), SlurmReason("Resources"))])
  }

  @Test func aSubmissionThatDidNotReachTheControllerIsMadeAgain() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [FakeSlurm.slow] }
    for number in 0..<3 { bench.follow("a\(number)") }
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    #expect(bench.slurm.state.withLock(\.jobs).count == 3)
  }

  @Test func ofTwoJobsOfOneAttemptTheOneThatExecutesItCounts() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let comment = bench.identity("a").comment
    bench.slurm.change {
      $0.jobs[0].state = "FAILED"
      $0.jobs[0].reason = "NonZeroExitCode"
      $0.jobs[0].status = BatchScript.duplicateStatus << 8
      $0.jobs.append(
        FakeSlurm.Job(id: SlurmJobID(8), comment: comment, state: "RUNNING", reason: "None", node: "node3"))
    }
    try bench.write("8 node3\n", to: "a", ".claim")
    bench.advance(.seconds(2))
    #expect(bench.statuses("a").last == .running(SlurmJobID(8), nodes: "node3"))
    bench.slurm.change { $0.jobs[1].state = "COMPLETED" }
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .exited(0))
  }

  @Test func aSecondJobOfAnAttemptThatHasNotBegunIsCancelledWhileItWaits() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let comment = bench.identity("a").comment
    bench.slurm.change { $0.jobs.append(FakeSlurm.Job(id: SlurmJobID(8), comment: comment)) }
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scancel").first == ["scancel", "--state=PENDING", "8"])
  }

  @Test func aRefusalEndsTheJobWithSlurmsSentence() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["sbatch"] = [SlurmAnswer(.exited(1), error: "sbatch: error: invalid partition specified: nope\n")]
    }
    bench.follow("a")
    bench.advance(.seconds(1))
    #expect(bench.end("a") == .refused("invalid partition specified: nope"))
  }

  @Test func anArrayThatIsTooLargeIsDivided() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["sbatch"] = [
        SlurmAnswer(.exited(1), error: "sbatch: error: Batch job submission failed: Invalid job array specification\n")
      ]
    }
    for number in 0..<10 { bench.follow("a\(number)") }
    bench.advance(.seconds(1))
    #expect(
      bench.slurm.calls(of: "sbatch").dropFirst().map { $0.filter { $0.hasPrefix("--array") } } == [
        ["--array=0-4"], ["--array=0-4"],
      ])
  }

  @Test func aClusterThatTakesNoMoreJobsIsAskedAgainLater() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["sbatch"] = [
        SlurmAnswer(
          .exited(1),
          error: "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: "
            + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n")
      ]
    }
    bench.follow("a")
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.end("a") == nil)
    bench.advance(.seconds(7))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  private static func refusal(_ reason: String) -> SlurmAnswer {
    SlurmAnswer(
      .exited(1),
      error: "sbatch: error: \(reason)\nsbatch: error: Batch job submission failed: "
        + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n")
  }

  @Test func aJobBeyondALimitOfItsOwnIsRefused() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [Self.refusal("QOSMaxWallDurationPerJobLimit")] }
    bench.follow("a")
    bench.advance(.seconds(1))
    guard case .refused(let sentence) = bench.end("a") else { return #expect(Bool(false), "\(bench.statuses("a"))") }
    #expect(sentence.contains("QOSMaxWallDurationPerJobLimit"))
  }

  /// Slurm counts all jobs of an array before it takes one.
  @Test func anArrayThatTheClusterDoesNotTakeBecomesSmaller() throws {
    let bench = try Bench()
    let full = Self.refusal("QOSMaxSubmitJobPerUserLimit")
    bench.slurm.change { $0.canned["sbatch"] = [full, full] }
    for number in 0..<12 { bench.follow("a\(number)") }
    bench.advance(.seconds(2))
    let arrays = bench.slurm.calls(of: "sbatch").map { $0.first { $0.hasPrefix("--array") } }
    #expect(arrays == ["--array=0-11", "--array=0-5", "--array=0-2", "--array=0-5", "--array=0-2"])
    #expect(bench.slurm.state.withLock(\.jobs).count == 12)
  }

  @Test func aFullQueueIsNoControllerThatIsDown() throws {
    let bench = try Bench()
    // sbatch tries for minutes, and is killed by the limit of a call.
    let full = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\n"
    bench.slurm.change { $0.canned["sbatch"] = [SlurmAnswer](repeating: SlurmAnswer(.timedOut, error: full), count: 5) }
    bench.follow("a")
    bench.advance(.seconds(55))
    #expect(bench.controller.withLock(\.self) == [.answers])
    #expect((4...6).contains(bench.slurm.calls(of: "sbatch").count))
    bench.advance(.seconds(20))
    #expect(bench.statuses("a").last == .pending(SlurmJobID(1), SlurmReason("Resources")))
  }

  @Test func aFaultInTheResourcesIsToldWithoutACall() throws {
    let bench = try Bench()
    bench.follow("a", SlurmResources(cpus: 0))
    bench.advance(.seconds(1))
    #expect(bench.end("a") == .refused("slurm.cpus: 0 is too little: 1 is the least; leave it out to ask for nothing"))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
  }

  @Test func anAttemptIsNotFollowedTwice() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let refused = Lock<SlurmStatus?>(nil)
    bench.observer.follow(bench.job("a"), mayExist: false, isPaused: false) { status in
      refused.withLock { $0 = status }
    }
    bench.settle()
    #expect(refused.withLock(\.self) == .ended(SlurmOutcome(.refused("this attempt was submitted before in this run"))))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func jobsOfAnotherProcessAreFollowedAndNoneIsSubmittedTwice() throws {
    let first = try Bench()
    for number in 0..<4 { first.follow("a\(number)") }
    first.follow("b", SlurmResources(cpus: 2))
    first.advance(.seconds(1))
    #expect(first.slurm.calls(of: "sbatch").count == 2)
    let second = Bench(after: first)
    for name in ["a0", "a1", "a2", "a3", "b", "c"] { second.follow(name, mayExist: true) }
    second.advance(.seconds(2))
    #expect(second.slurm.calls(of: "sbatch").count == 3, "the one that was not submitted is")
    #expect(second.statuses("a2") == [.pending(SlurmJobID(1, index: 2), SlurmReason("Resources"))])
    second.slurm.setAll("COMPLETED")
    second.advance(.seconds(2))
    for name in ["a0", "a1", "a2", "a3", "b", "c"] { #expect(second.end(name) == .exited(0)) }
  }

  @Test func aJobThatEndedWhileNobodyFollowedItIsCounted() throws {
    let bench = try Bench()
    try bench.write("5 node1\n", to: "a", ".claim")
    try bench.write("0 5\n", to: "a", ".exit")
    try bench.write("6 node1\n", to: "b", ".claim")
    bench.follow("a", mayExist: true)
    bench.follow("b", mayExist: true)
    bench.advance(.seconds(40))
    #expect(bench.end("a") == .exited(0))
    #expect(bench.end("b") == .lost(hasBegun: true))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
  }

  @Test func theJobsOfARunAreListed() throws {
    let bench = try Bench()
    for number in 0..<3 { bench.follow("a\(number)") }
    bench.advance(.seconds(1))
    bench.slurm.change {
      $0.jobs[0].state = "COMPLETED"
      $0.jobs.append(FakeSlurm.Job(id: SlurmJobID(9), comment: "opdash/other/a0/1"))
    }
    let found = Lock<[FoundSlurmJob]>([])
    bench.observer.find { result in found.withLock { $0 = (try? result.get()) ?? [] } }
    bench.settle()
    #expect(found.withLock { $0.map(\.identity) } == ["a0", "a1", "a2"].map(bench.identity))
  }
}
