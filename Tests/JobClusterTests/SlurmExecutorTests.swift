import Foundation
import JobModel
import Operations
import Processes
import Slurm
import Support
import Testing

@testable import JobCluster
@testable import JobEngine

/// A run without jobs.
private final class NoRun: ClusterRun {
  let id = "r"
  let folder: RunFolder? = nil
  let stream = FactStream(label: "test.cluster", clock: ManualOperationClock())
  let programs = ProcessExecutor(run: "r", folder: "/run", secrets: [])
  let graph = JobGraph(name: "g", jobs: [])
  func withScheduler(_ change: (inout Scheduler) -> Void) {}
}

@Suite struct SlurmExecutorTests {
  private func report(
    _ status: SlurmStatus, at place: ClusterPlace? = nil, isCancelled: Bool = false
  ) -> ClusterReport? {
    let run = NoRun()
    let attempt = Attempt(
      Admission(ticket: 1, job: JobID(0), attempt: 1, priority: .normal), .failure(JobFailure(.error, "none")),
      by: run.programs, named: "a", log: AttemptLog(path: nil, limit: 0, keepsShort: false), check: nil)
    attempt.place = place
    if isCancelled { attempt.operation.cancel() }
    return RunCluster(surrounding: nil).executor(for: run, allocation: nil).report(status, of: attempt)
  }

  @Test func aStatusOfSlurmIsAStandingAndAPlace() {
    let id = SlurmJobID(7)
    #expect(report(.waiting) == ClusterReport(.waits(reason: nil)))
    #expect(report(.submitted(id)) == ClusterReport(.waits(reason: nil), at: ClusterPlace(id: "7")))
    #expect(
      report(.pending(id, SlurmReason("Resources")))
        == ClusterReport(.waits(reason: "Resources (other jobs have the nodes)"), at: ClusterPlace(id: "7")))
    #expect(
      report(.running(id, nodes: "n1")) == ClusterReport(.executes, at: ClusterPlace(id: "7", nodes: "n1")))
    #expect(report(.requeued(id)) == ClusterReport(.requeued, at: ClusterPlace(id: "7")))
    #expect(report(.full("no room")) == ClusterReport(.waits(reason: "no room")))
    #expect(
      report(.suspended(id, nodes: "n1"))
        == ClusterReport(.suspended, at: ClusterPlace(id: "7", nodes: "n1", isSuspended: true)))
    #expect(
      report(.found(id, after: .seconds(5))) == ClusterReport(nil, at: ClusterPlace(id: "7", before: .seconds(5))))
  }

  @Test func theTimeBeforeARunStaysWithTheAttempt() {
    let (id, place) = (SlurmJobID(7), ClusterPlace(id: "7", before: .seconds(5)))
    func before(_ status: SlurmStatus) -> Duration? { report(status, at: place)?.place?.before }
    #expect(before(.running(id, nodes: "n1")) == .seconds(5))
    #expect(before(.ended(SlurmOutcome(.exited(0), id: id, nodes: "n1"))) == .seconds(5))
    #expect(before(.requeued(id)) == nil)
  }

  @Test func aJobWhoseStartNoQuerySawHasExecutedIfItHadANode() {
    let ended = SlurmOutcome(.exited(0), id: SlurmJobID(7), nodes: "n1")
    #expect(report(.ended(ended)) == ClusterReport(.executes, at: ClusterPlace(id: "7", nodes: "n1")))
    #expect(report(.ended(ended), isCancelled: true) == ClusterReport(nil, at: ClusterPlace(id: "7", nodes: "n1")))
    let waiting = SlurmOutcome(.cancelled, id: SlurmJobID(7))
    #expect(report(.ended(waiting)) == ClusterReport(nil, at: ClusterPlace(id: "7")))
    #expect(report(.ended(SlurmOutcome(.refused("no")))) == nil)
  }

  /// The controller does not answer the cancellations of a run that is stopped.
  @Test func theLogOfAJobThatMayStayInTheClusterSaysSo() throws {
    let run = NoRun()
    let executor = RunCluster(surrounding: nil).executor(for: run, allocation: nil)
    let job = Job(name: "a", work: .shell(ShellWork(.script("x"), cluster: ClusterRequest())))
    let start = RunStart(id: "r", name: "g", slots: 1, at: .distantPast, jobs: 2)
    func notes(_ id: Int) -> [String] {
      let log = run.stream.journal.run[JobID(id)].log
      return (0..<log.count).map { log[$0].line.text }
    }
    run.stream.queue.sync {
      for fact in [
        JobFact.runStarted(start), .jobAdded(JobID(0), job), .jobAdded(JobID(1), job),
        .jobPlaced(JobID(0), ClusterPlace(id: "7")), .clusterChanged(fault: "no answer"),
        .jobState(JobID(0), .ready(for: .cluster(reason: nil)), attempt: 0, pid: nil),
      ] { run.stream.state(fact) }
      executor.update()
      #expect(notes(0).isEmpty)
      run.stream.state(.stopRequested(.terminate, by: .signal))
      for _ in 1...2 { executor.update() }
      #expect(
        notes(0) == ["job 7 may stay in the cluster, whose controller does not answer; to end it: scancel 7"])
      #expect(notes(1).isEmpty)
    }
  }

  @Test func aProgramForTheClusterWritesItsValuesIntoTheSharedFolder() {
    let programs = ProcessExecutor(run: "r", folder: "/run", secrets: ["s3cret"])
    let admission = Admission(ticket: 1, job: JobID(4), attempt: 2, priority: .normal)
    let identity = SlurmIdentity(run: "r", job: "build", attempt: 2)
    let valuesPath = SlurmFiles(folder: "/shared").valuesPath(of: identity)
    func job(_ work: ShellWork, _ clusterRequest: ClusterRequest) -> SlurmJob {
      SlurmJob(
        identity, name: "build", work, clusterRequest, secrets: programs.secrets,
        environment: programs.variables(work, of: admission, named: "build", valuesPath: valuesPath))
    }
    #expect(valuesPath == "/shared/build.2.values")
    let launched = job(
      ShellWork(.script("make"), directory: "/src", environment: ["A": "1"]),
      ClusterRequest(
        name: "n", cpus: 1, memory: 2, gpus: 3, nodes: 4, time: .seconds(5), partition: "p", account: "a", qos: "q",
        constraint: "c", options: ["--exclusive"]))
    #expect(launched.identity == identity)
    #expect(launched.name == "build")
    #expect(launched.arguments == ["/bin/sh", "-e", "-c", "make"])
    #expect(launched.directory == "/src")
    #expect(
      launched.environment == [
        "A": "1", "OPDASH_RUN": "r", "OPDASH_JOB": "build", "OPDASH_ATTEMPT": "2",
        "OPDASH_OUTPUT": "/shared/build.2.values",
      ])
    #expect(
      launched.resources
        == SlurmResources(
          name: "n", cpus: 1, memory: 2, gpus: 3, nodes: 4, time: .seconds(5), partition: "p", account: "a",
          qos: "q", constraint: "c", options: ["--exclusive"]))
    #expect(launched.stop == SlurmJob.Stop())
    #expect(launched.secrets?.masked("s3cret") == "***")
    let plain = job(ShellWork(.argv(["make", "x"])), ClusterRequest())
    #expect(plain.arguments == ["make", "x"])
    #expect(plain.directory == FileManager.default.currentDirectoryPath)
  }

  @Test(
    arguments: [
      (.exited(3), .exit(3), "exit 3"), (.exited(137), .exit(137), "SIGKILL (137)"),
      (.signalled(9), .signal(9), "SIGKILL (137)"), (.outOfMemory, .outOfMemory, "out of memory"),
      (.timeLimit, .timeLimit, "time limit of the cluster"), (.nodeFailure(nodes: ""), .nodeFailure, "lost its node"),
      (.nodeFailure(nodes: "n1"), .nodeFailure, "lost its node n1"), (.preempted, .preempted, "preempted"),
      (.cancelled, .error, "cancelled in Slurm"), (.refused("no"), .launch, "Slurm refused the job: no"),
      (.notStarted("Odd"), .launch, "Slurm did not start job 12: Odd"),
      (
        .lost(hasBegun: false), .lost,
        "job 12 is lost: Slurm does not know it, and nothing shows that it has begun"
      ),
    ] as [(SlurmEnd, JobFailure.Cause, String)])
  func theEndOfAClusterJobIsAFailure(end: SlurmEnd, cause: JobFailure.Cause, reason: String) {
    #expect(JobFailure(of: SlurmFailure(end, id: SlurmJobID(12))) == JobFailure(cause, reason))
  }

  @Test func eachEndOnAClusterIsACauseThatCanBeRetried() {
    #expect(JobFailure(of: SlurmFailure(.timeLimit, id: nil)).cause == .timeLimit)
    #expect(JobFailure(of: SlurmFailure(.outOfMemory, id: nil)).retryCauses == [.outOfMemory])
    #expect(JobFailure(of: SlurmFailure(.nodeFailure(nodes: "node1"), id: nil)).reason == "lost its node node1")
    #expect(JobFailure(of: SlurmFailure(.preempted, id: nil)).retryCauses == [.preempted])
    #expect(JobFailure(of: SlurmFailure(.lost(hasBegun: true), id: nil)).retryCauses == [.lost])
    #expect(JobFailure(of: SlurmFailure(.exited(3), id: nil)) == JobFailure(.exit(3), "exit 3"))
  }
}
