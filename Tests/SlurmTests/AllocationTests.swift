import Foundation
import Operations
import Processes
import Support
import Testing

@testable import Slurm

extension SlurmClusterTests {
  @Suite struct AllocationTests {
    private let run: ClusterRun
    private let queue = OperationQueue()

    init() throws { run = try ClusterRun(SlurmCluster.shared.get()) }

    private func held(nodes: Int = 1) -> SlurmAllocation {
      let allocation = SlurmAllocation(SlurmResources(cpus: 2, nodes: nodes), on: run.observer)
      queue.addOperation(allocation.operation)
      #expect(eventually { allocation.id != nil })
      return allocation
    }

    private func step(_ allocation: SlurmAllocation, _ script: String) throws -> ShellOperation {
      let launch = ProcessLaunch(
        script: script, directory: run.folder.url.path(), environment: .inherited(adding: run.cluster.environment))
      let terms = SlurmStep(name: "step-\(UUID())", node: try #require(try node(of: allocation)))
      let step = ShellOperation(
        try #require(allocation.step(launch, terms)), output: .string(limit: 1000), error: .string(limit: 1000))
      queue.addOperation(step)
      return step
    }

    private func node(of allocation: SlurmAllocation) throws -> String? {
      let names = Lock<[String]?>(nil)
      SlurmAllocation.nodes(of: try #require(allocation.id), run.cluster.runner) { nodes in
        names.withLock { $0 = nodes?.map(\.name) ?? [] }
      }
      #expect(eventually { names.withLock { $0 != nil } })
      return names.withLock { $0?.last }
    }

    private func standing(of id: SlurmJobID) -> SlurmAllocation.Standing? {
      let standing = Lock<SlurmAllocation.Standing?>(nil)
      SlurmAllocation.standing(of: id, run.cluster.runner) { given in standing.withLock { $0 = given } }
      #expect(eventually { standing.withLock { $0 != nil } })
      return standing.withLock(\.self)
    }

    /// How often the lease was renewed.
    private var renewals: Int {
      let name = run.folder.names(in: "jobs").first { $0.hasSuffix(".lease") }
      let text = try? String(contentsOf: run.folder.file("jobs/\(name ?? "")"), encoding: .utf8)
      return text.flatMap { Int($0.trimmingCharacters(in: .newlines)) } ?? 0
    }

    @Test func stepsRunInTheAllocationAndEndWithTheirStatus() throws {
      let allocation = held(nodes: 2)
      let id = try #require(allocation.id)
      let good = try step(allocation, "echo \"$SLURM_JOB_ID $OPDASH_RUN\"; pwd")
      let bad = try step(allocation, "echo no >&2; exit 3")
      #expect(eventually { good.isFinished && bad.isFinished })
      let place = run.folder.url.path()
      #expect(
        try good.outcome?.get().output == "\(id) r\n\(place.hasSuffix("/") ? String(place.dropLast()) : place)\n")
      #expect(bad.exit == .exited(3))
      #expect((bad.failure as? ShellFailure)?.result.standardError.lines.contains("no") == true)
      let launch = ProcessLaunch(
        ["printenv", "SLURM_JOB_ID"], environment: .inherited(adding: run.cluster.environment))
      let terms = SlurmStep(name: "other", node: try #require(try node(of: allocation)), cpus: 2, memory: 100)
      let other = ShellOperation(
        SlurmAllocation.step(launch, terms, of: id, run: "r"), output: .string(limit: 100))
      queue.addOperation(other)
      #expect(eventually { other.isFinished })
      #expect(try other.outcome?.get().output == "\(id)\n")
      #expect(standing(of: id) == .held)
      let isReleased = Lock(false)
      allocation.release { isReleased.withLock { $0 = true } }
      #expect(eventually { isReleased.withLock(\.self) })
      #expect(eventually { ["CANCELLED", "COMPLETING"].contains(run.states().first) })
      #expect(allocation.operation.isOver())
      #expect(run.states() == ["CANCELLED"])
      #expect(allocation.step(ProcessLaunch(["true"]), terms) == nil)
      #expect(standing(of: id) == .ended(.cancelled))
      #expect(standing(of: SlurmJobID(99_999)) == .ended(.lost(hasBegun: true)))
    }

    @Test func aCancelledStepEndsOnItsNode() throws {
      let allocation = held()
      let step = try step(allocation, "echo $$ >pid; sleep 604")
      #expect(eventually { run.marks("pid") == 1 })
      let pid = try #require(
        pid_t(try String(contentsOf: run.folder.file("pid"), encoding: .utf8).trimmingCharacters(in: .newlines)))
      step.cancel()
      #expect(eventually { step.isFinished })
      #expect(eventually { kill(pid, 0) != 0 })
      allocation.release()
      #expect(allocation.operation.isOver())
    }

    @Test func aStepWhoseAllocationEndsIsNoSuccess() throws {
      let allocation = held()
      let step = try step(allocation, "echo x >up; sleep 605")
      #expect(eventually { run.marks("up") == 1 })
      allocation.release()
      #expect(eventually { step.isFinished })
      #expect(step.exit != .exited(0))
      #expect(allocation.operation.isOver())
    }

    @Test func nodesAreReleasedWhenTheLeaseIsNotRenewed() throws {
      let patience = 10
      let orphan = SlurmAllocation(SlurmResources(), on: run.observer, patience: patience, interval: 1)
      let operation = orphan.operation
      queue.addOperation(operation)
      #expect(eventually { orphan.id != nil })
      // It is renewed for longer than it is waited for.
      #expect(eventually { renewals > patience + 1 })
      #expect(!operation.isFinished)
      orphan.endRenewal()
      #expect(operation.isOver())
      #expect(run.states() == ["COMPLETED"])
    }

    @Test func aStepThatIsKilledIsGoneFromItsNode() throws {
      let allocation = held()
      let step = try step(allocation, "trap '' TERM; echo $$ >pid; sleep 606 & wait; sleep 606")
      #expect(eventually { run.marks("pid") == 1 })
      let pid = try #require(
        pid_t(try String(contentsOf: run.folder.file("pid"), encoding: .utf8).trimmingCharacters(in: .newlines)))
      step.kill()
      #expect(eventually { step.isFinished })
      #expect(eventually { kill(pid, 0) != 0 })
      #expect(allocation.id != nil)
      #expect(
        eventually { (try? run.cluster.call("squeue", "-s", "-h", "-o", "%j").contains("step-")) == false })
      allocation.release()
      #expect(allocation.operation.isOver())
    }
  }
}
