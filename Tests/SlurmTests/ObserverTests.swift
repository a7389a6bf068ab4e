import Foundation
import Operations
import Support
import Testing

@testable import Slurm

@Suite struct ObserverTests {
  @Test func similarJobsThatComeTogetherAreOneArray() throws {
    let bench = try Bench()
    for number in 0..<5 { bench.follow("a[\(number)]") }
    bench.follow("b", SlurmResources(cpus: 2))
    bench.advance(.milliseconds(200))
    let calls = bench.slurm.calls(of: "sbatch")
    try #require(calls.count == 2)
    #expect(calls[0].contains("--array=0-4"))
    #expect(calls[0].contains("--job-name=a"))
    #expect(!calls[1].contains { $0.hasPrefix("--array") })
    #expect(calls[1].contains("--cpus-per-task=2"))
    #expect(calls[1].contains("--comment=opdash/run%201/b/1"))
    for call in calls { #expect(call.contains("--no-requeue")) }
    #expect(bench.statuses("a[3]").first == .submitted(SlurmJobID(1, index: 3)))
    #expect(bench.statuses("b").first == .submitted(SlurmJobID(2)))
  }

  @Test func submissionsArePaced() throws {
    let bench = try Bench()
    for number in 0..<5 { bench.follow("a\(number)", SlurmResources(cpus: number + 1)) }
    bench.advance(.milliseconds(60))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
  }

  @Test func slurmHasABoundedNumberOfJobsAtOnce() throws {
    var settings = SlurmObserver.Settings()
    settings.inFlight = 3
    let bench = try Bench(settings)
    for number in 0..<8 { bench.follow("a\(number)") }
    bench.advance(.seconds(3))
    #expect(bench.slurm.state.withLock(\.jobs).count == 3)
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    #expect(bench.slurm.state.withLock(\.jobs).count == 6)
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    for number in 0..<8 { #expect(bench.end("a\(number)") == .exited(0)) }
  }

  @Test func oneQueryAsksForAllJobsAndIsMadeOnceASecond() throws {
    let bench = try Bench()
    for number in 0..<50 { bench.follow("a\(number)") }
    bench.advance(.milliseconds(10_500))
    #expect((10...11).contains(bench.slurm.queries))
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    let queries = bench.slurm.queries
    bench.advance(.seconds(20))
    #expect(bench.slurm.queries == queries, "nothing is asked where no job is followed")
  }

  @Test func aSlowQueryIsFollowedByAPauseOfFiveTimesItsDuration() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.slurm.change { $0.held = ["squeue"] }
    bench.advance(.milliseconds(100))
    #expect(bench.slurm.queries == 1)
    bench.advance(.seconds(2))
    #expect(bench.slurm.queries == 1)
    bench.slurm.release()
    bench.settle()
    bench.advance(.milliseconds(9900))
    #expect(bench.slurm.queries == 1)
    bench.advance(.milliseconds(700))
    #expect(bench.slurm.queries == 2)
  }

  @Test func theWaitAndTheNodeAreTold() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(2))
    bench.slurm.setAll("RUNNING", node: "node2")
    bench.advance(.seconds(1))
    bench.slurm.setAll("COMPLETED", node: "node2")
    bench.advance(.seconds(1))
    let id = SlurmJobID(1)
    #expect(
      bench.statuses("a").dropLast() == [
        .submitted(id), .pending(id, SlurmReason("Resources")), .running(id, nodes: "node2"),
      ])
    #expect(bench.end("a") == .exited(0))
  }

  @Test func whatHasEndedHasTakenTheTimeThatItsNodeNoted() throws {
    let bench = try Bench()
    for name in ["short", "silent"] { bench.follow(name, SlurmResources(cpus: name.count)) }
    bench.advance(.seconds(1))
    try bench.write("0 1 100.25 100.75 \n", to: "short", ".exit")
    bench.slurm.setAll("COMPLETED", node: "node2")
    bench.advance(.seconds(1))
    let took = ["short", "silent"].map { name -> Duration? in
      guard case .ended(let outcome) = bench.statuses(name).last else { return .seconds(-1) }
      return outcome.took
    }
    #expect(took == [.milliseconds(500), nil])
  }

  @Test func theStatusesOfFailedJobsAreAskedForInOneCall() throws {
    let bench = try Bench()
    for number in 0..<20 { bench.follow("a\(number)") }
    bench.advance(.seconds(1))
    bench.slurm.setAll("FAILED", reason: "NonZeroExitCode", status: 3 << 8)
    bench.advance(.seconds(2))
    for number in 0..<20 { #expect(bench.end("a\(number)") == .exited(3)) }
    #expect(bench.slurm.calls(of: "squeue").count { $0 == SlurmRecord.statusQuery.arguments } == 1)
    #expect(bench.slurm.calls(of: "scontrol").isEmpty)
  }

  @Test func aControllerThatIsDownIsWaitedForAndToldOf() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    bench.slurm.change { $0.isDown = true }
    bench.advance(.seconds(5))
    bench.follow("b")
    bench.advance(.seconds(25))
    guard case .down(let since, let fault)? = bench.controller.withLock(\.last) else {
      Issue.record("the controller is not told to be down")
      return
    }
    #expect((.seconds(1) ... .seconds(2)).contains(since))
    #expect(fault == "Unable to contact slurm controller (connect failure)")
    #expect(bench.slurm.calls(of: "sbatch").count == 1, "nothing is submitted meanwhile")
    #expect(bench.slurm.queries < 20)
    bench.slurm.change { $0.isDown = false }
    bench.advance(.seconds(4))
    #expect(bench.controller.withLock(\.last) == .answers)
    bench.slurm.setAll("COMPLETED")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .exited(0))
    #expect(bench.end("b") == .exited(0))
  }

  // MARK: Instants

  @Test func theFirstSubmissionWaitsTwentyMillisecondsForOthers() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(19))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
    bench.advance(exactly: .milliseconds(1))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aQueryIsMadeAtOnceAndThenEachSecond() throws {
    let bench = try Bench()
    bench.follow("a")
    #expect(bench.queryTimes(for: .milliseconds(3200)) == [20, 1020, 2020, 3020])
  }

  @Test func afterACancellationQueriesAreMoreFrequentForTwoSeconds() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(1500))
    bench.observer.cancel(bench.identity("a"))
    #expect(
      bench.queryTimes(for: .milliseconds(3200)) == [
        1505, 1705, 1905, 2105, 2305, 2505, 2705, 2905, 3105, 3305, 3505, 4505,
      ])
  }

  @Test func afterAStopSignalQueriesAreMoreFrequentToo() throws {
    let bench = try Bench()
    bench.follow("a", stop: SlurmJob.Stop(signal: SIGINT, grace: .seconds(20)))
    bench.advance(exactly: .milliseconds(500))
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    bench.observer.cancel(bench.identity("a"))
    #expect(bench.queryTimes(for: .milliseconds(300)) == [1505, 1705])
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=INT", "1"]])
  }

  @Test func aSlowQueryAfterACancellationIsFollowedByALongerPause() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(1500))
    bench.slurm.change { $0.held = ["squeue"] }
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(100))
    bench.slurm.release()
    // It took 95 ms.
    #expect(bench.queryTimes(for: .milliseconds(600)) == [2075])
  }

  @Test func aControllerThatIsDownIsAskedEachTwoSeconds() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(500))
    bench.slurm.change { $0.isDown = true }
    #expect(bench.queryTimes(for: .seconds(1)) == [1020])
    // Another process may have submitted it: that is asked for in the next query.
    bench.follow("b", mayExist: true)
    #expect(bench.queryTimes(for: .seconds(4)) == [3020, 5020])
    #expect(
      bench.controller.withLock(\.self) == [
        .answers,
        .down(since: .milliseconds(1020), fault: "Unable to contact slurm controller (connect failure)"),
      ])
  }

  @Test func aControllerThatIsDownIsNotAskedSoonerAfterACancellation() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(500))
    bench.observer.cancel(bench.identity("a"))
    #expect(bench.queryTimes(for: .milliseconds(100)) == [505])
    bench.slurm.change { $0.isDown = true }
    #expect(bench.queryTimes(for: .milliseconds(200)) == [705])
    bench.follow("b", mayExist: true)
    #expect(bench.queryTimes(for: .milliseconds(2000)) == [2705])
  }

  @Test func oneQueryIsMadeAtATime() throws {
    let bench = try Bench()
    bench.slurm.change { $0.held = ["squeue"] }
    bench.follow("a")
    bench.advance(exactly: .milliseconds(100))
    bench.follow("b", SlurmResources(cpus: 2))
    bench.advance(exactly: .seconds(3))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    #expect(bench.slurm.queries == 1)
  }

  @Test func oneSubmissionIsMadeAtATime() throws {
    let bench = try Bench()
    bench.slurm.change { $0.held = ["sbatch"] }
    bench.follow("a")
    bench.advance(exactly: .milliseconds(100))
    bench.follow("b", SlurmResources(cpus: 2))
    bench.advance(exactly: .milliseconds(300))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    bench.slurm.release()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  /// An answer of the instant at which the search began may be older than it.
  @Test func aJobThatMayExistIsSubmittedWhenTheSecondQueryDoesNotNameIt() throws {
    let bench = try Bench()
    bench.follow("a", mayExist: true)
    bench.advance(exactly: .milliseconds(999))
    #expect(bench.slurm.queries == 1)
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
    bench.advance(exactly: .milliseconds(1))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.statuses("a") == [.submitted(SlurmJobID(1))])
  }

  @Test func theJobsOfARunCannotBeListedWithoutTheController() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["squeue"] = [FakeSlurm.down, SlurmAnswer(.exited(2), error: "squeue: error: no\n")]
    }
    let faults = Lock<[SlurmFault]>([])
    for _ in 0..<2 {
      bench.observer.find { result in
        if case .failure(let fault) = result { faults.withLock { $0.append(fault) } }
      }
      bench.settle()
    }
    let fault = "Unable to contact slurm controller (connect failure)"
    #expect(faults.withLock(\.self) == [SlurmFault(fault), SlurmFault("no")])
    #expect(bench.controller.withLock(\.self) == [.answers, .down(since: .zero, fault: fault)])
  }
}
