import JobModel
import Testing

@testable import JobEngine

private func step(_ job: inout Job, cpus: Int? = nil) {
  job.work = .shell(ShellWork(.script("true"), cluster: ClusterRequest(cpus: cpus)))
}

private func steps(
  _ jobs: KeyValuePairs<String, [String]>, cpus: [String: Int] = [:], onFailure: JobGraph.Failure = .keepGoing,
  pools: [String: Int] = [:], change: (inout Job) -> Void = { _ in }
) -> Bench {
  let graph = graph(jobs, onFailure: onFailure, pools: pools) { job in
    step(&job, cpus: cpus[job.name])
    change(&job)
  }
  return Bench(graph, slots: 1, hasAllocation: true)
}

private let oneNode = [NodeAllocator.Node(name: "n1", cpus: 2)]
private let twoNodes = [NodeAllocator.Node(name: "n1", cpus: 2), NodeAllocator.Node(name: "n2", cpus: 2)]
private let lost = JobFailure(.nodeFailure, "lost its node n1")

/// Cluster jobs that are steps of one allocation.
@Suite struct StepScheduleTests {
  @Test func theAllocationIsAskedForWhenTheFirstStepIsReady() throws {
    var bench = steps(["local": [], "a": ["local"], "b": ["local"]]) { job in
      if job.name == "local" { job.work = .simulate(SimulatedWork()) }
    }
    bench.start()
    #expect(bench.requests == 0)
    try bench.end("local")
    #expect(bench.requests == 1)
    #expect(try bench.state("a") == .ready(for: .cluster(reason: nil)))
    bench.allocation { $0.allocationWaits(reason: "Resources") }
    #expect(try bench.state("b") == .ready(for: .cluster(reason: "Resources")))
    bench.allocation { $0.allocationHeld(oneNode) }
    #expect(bench.names == ["a", "b"])
    #expect(bench.requests == 1)
  }

  @Test func stepsExecuteAsFarAsTheCPUsOfTheNodesGo() throws {
    var bench = steps(["a": [], "wide": [], "b": [], "c": []], cpus: ["wide": 2])
    bench.start()
    bench.allocation { $0.allocationHeld(twoNodes) }
    // A job with two CPUs is not divided among nodes.
    #expect(bench.names == ["a", "wide", "b"])
    #expect(bench.placed == ["a": "n1", "wide": "n2", "b": "n1"])
    #expect(bench.journal.run.counts.usedSlots == 0)
    #expect(try bench.state("c") == .ready(for: .cluster(reason: nil)))
    try bench.end("a")
    #expect(bench.placed["c"] == "n1")
  }

  @Test func aStepThatNeedsMuchIsNotOvertakenForEver() throws {
    var bench = steps(["a": [], "b": [], "wide": [], "c": []], cpus: ["wide": 2])
    bench.start()
    bench.allocation { $0.allocationHeld(oneNode) }
    try bench.end("a")
    #expect(bench.names == ["b"])
    try bench.end("b")
    #expect(bench.names == ["wide"])
    try bench.end("wide")
    #expect(bench.names == ["c"])
  }

  @Test func memoryAndGPUsOfANodeCount() {
    var room = NodeAllocator()
    room.request()
    room.hold([NodeAllocator.Node(name: "n1", cpus: 8, memory: 1000, gpus: 1), NodeAllocator.Node(name: "n2", cpus: 8)])
    let need = NodeAllocator.Request(ClusterRequest(cpus: 1, memory: 600, gpus: 1))
    #expect(room.take(need, for: JobID(0)) == "n1")
    #expect(!room.fits(need))
    // Where memory is not shared out it does not count.
    #expect(room.take(NodeAllocator.Request(ClusterRequest(memory: 9000)), for: JobID(1)) == "n2")
    room.release(JobID(0))
    #expect(room.take(need, for: JobID(2)) == "n1")
  }

  @Test func aStepThatCanNeverFitFailsWithItsNumbers() throws {
    var bench = steps(["a": [], "b": []], cpus: ["a": 3])
    bench.start()
    bench.allocation { $0.allocationHeld(oneNode) }
    let reason =
      "slurm.cpus: 3 is too much: a node of the allocation has at most 2 CPUs: ask for less, "
      + "or for a larger allocation"
    #expect(try bench.state("a") == .failed(JobFailure(.launch, reason), allowed: false))
    #expect(bench.names == ["b"])
  }

  @Test func theAllocationIsReleasedWhenNoStepIsLeft() throws {
    var bench = steps(["a": [], "local": ["a"], "b": ["local"], "c": []], cpus: ["c": 2]) { job in
      if job.name == "local" { job.work = .simulate(SimulatedWork()) }
    }
    bench.start()
    bench.allocation { $0.allocationHeld(oneNode) }
    try bench.end("a")
    try bench.end("c")
    #expect(bench.releases == 0)
    try bench.end("local")
    try bench.end("b")
    #expect(bench.releases == 1)
    // A person's retry needs another one.
    bench.send(.cancel([JobID(2)], by: .person))
    #expect(bench.requests == 1)
  }

  @Test func aRunThatIsStoppedReleasesWhatItWaitsFor() throws {
    var bench = steps(["a": [], "b": []])
    bench.start()
    bench.send(.stop(.terminate, by: .signal))
    #expect(bench.requests == 1)
    #expect(bench.releases == 1)
    #expect(try bench.state("b") == .cancelled(by: .signal))
  }

  @Test func aStepThatWasRetriedAfterTheReleaseGetsAnotherAllocation() throws {
    var bench = steps(["a": []])
    bench.start()
    bench.allocation { $0.allocationHeld(oneNode) }
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.releases == 1)
    bench.send(.retry([JobID(0)], withDependents: false))
    #expect(bench.requests == 2)
    bench.allocation { $0.allocationHeld(twoNodes) }
    #expect(bench.names == ["a"])
  }

  @Test func whatHasNotStartedWhenTheAllocationEndsGetsAnotherOne() throws {
    var bench = steps(["a": [], "b": [], "c": []])
    bench.start()
    bench.allocation { $0.allocationHeld(oneNode) }
    bench.allocation { $0.allocationEnded(lost) }
    #expect(bench.requests == 2)
    #expect(bench.names == ["a", "b"])
    bench.allocation { $0.allocationHeld(oneNode) }
    // The steps of the first one take nothing of the second.
    #expect(bench.names == ["a", "b", "c"])
    try bench.end("a", .failed(lost))
    #expect(try bench.state("a") == .failed(lost, allowed: false))
    try bench.end("b")
    try bench.end("c")
    #expect(bench.releases == 1)
  }

  @Test func anAllocationThatNoStepCouldUseFailsTheJobsThatWait() throws {
    var bench = steps(["a": [], "b": ["a"], "c": []])
    bench.start()
    let refused = JobFailure(.launch, "Slurm refused the allocation: no")
    bench.allocation { $0.allocationEnded(refused) }
    #expect(try bench.state("a") == .failed(refused, allowed: false))
    #expect(try bench.state("b") == .skipped(because: .job(JobID(0))))
    #expect(try bench.state("c") == .failed(refused, allowed: false))
    #expect(bench.requests == 1)
    #expect(bench.journal.run.isComplete)
  }

  @Test func theFailurePolicyEndsWhatWaitsForARefusedAllocation() throws {
    var bench = steps(["a": [], "b": []], onFailure: .stopNow)
    bench.start()
    bench.allocation { $0.allocationEnded(lost) }
    #expect(try bench.state("a") == .failed(lost, allowed: false))
    #expect(try bench.state("b") == .cancelled(by: .policy))
  }

  @Test func noStepBeginsWhileItIsNotKnownWhetherTheAllocationHasEnded() throws {
    var bench = steps(["a": [], "b": [], "c": []])
    bench.start()
    bench.allocation { $0.allocationHeld(oneNode) }
    bench.allocation { $0.allocationInDoubt(true) }
    try bench.end("a")
    #expect(bench.names == ["b"])
    bench.allocation { $0.allocationInDoubt(false) }
    #expect(bench.names == ["b", "c"])
  }

  @Test func aStepThatHasWaitedForAPoolNeedsRoomToo() throws {
    var bench = steps(["a": [], "b": [], "wide": []], cpus: ["wide": 2], pools: ["p": 1]) { job in
      if job.name != "wide" { job.uses = ["p": 1] }
    }
    bench.start()
    bench.allocation { $0.allocationHeld(oneNode) }
    #expect(bench.names == ["a"])
    #expect(try bench.state("b") == .ready(for: .pool("p")))
    try bench.end("a")
    // Either may be first; both together are too much.
    #expect(bench.names.count == 1)
    try bench.end(bench.names[0])
    #expect(bench.names.count == 1)
    try bench.end(bench.names[0])
    #expect(bench.journal.run.counts.succeeded == 3)
  }

  @Test func aStepIsPausedBeforeItsStartWithoutTheCluster() throws {
    var bench = steps(["a": []])
    bench.start()
    bench.send(.pause([JobID(0)]))
    bench.allocation { $0.allocationHeld(oneNode) }
    #expect(try bench.state("a") == .paused(started: false))
    #expect(bench.releases == 0)
    bench.send(.resume([JobID(0)]))
    #expect(bench.names == ["a"])
  }
}
