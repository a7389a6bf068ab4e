import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// What sbatch says before jobs are submitted.
@Suite struct SubmissionCheckTests {
  private let slurm = FakeSlurm()

  private func refusal(_ answer: SlurmAnswer, nodesDown: String = "") -> String?? {
    slurm.change {
      $0.canned["sbatch"] = [answer]
      $0.canned["sinfo"] = [SlurmAnswer(.exited(0), output: nodesDown)]
    }
    let told = Lock<[String?]>([])
    SubmissionCheck.refusal(of: SlurmResources(cpus: 64), slurm) { words in told.withLock { $0.append(words) } }
    return told.withLock(\.first)
  }

  private static let noSuchNode = "allocation failure: Requested node configuration is not available"

  @Test func aRefusalIsSaidInTheWordsOfSbatch() {
    let words =
      "sbatch: error: invalid partition specified: nope\nallocation failure: Invalid partition name specified\n"
    #expect(
      refusal(SlurmAnswer(.exited(1), error: words))
        == "invalid partition specified: nope (allocation failure: Invalid partition name specified)")
    #expect(refusal(SlurmAnswer(.exited(1), error: Self.noSuchNode)) == Self.noSuchNode)
    #expect(
      slurm.calls(of: "sbatch").first == [
        "sbatch", "--parsable", "--no-requeue", "--output=/dev/null", "--chdir=/", "--comment=opdash",
        "--job-name=opdash", "--test-only", "--cpus-per-task=64", "/dev/stdin", "opdash",
      ])
  }

  @Test(
    arguments: [
      SlurmAnswer(.exited(0)), FakeSlurm.down, SlurmAnswer(.timedOut), SlurmAnswer(.exited(1)),
      SlurmAnswer(.exited(1), error: "sbatch: Job 5 to start at 2026-11-26T06:48:42 using 1 processors on nodes n1\n"),
      SlurmAnswer(.exited(128 + SIGKILL)), SlurmAnswer(.exited(1), error: "sbatch-wrapper: Disk quota exceeded\n"),
      SlurmAnswer(.exited(1), error: "sbatch: error: Batch job submission failed: Interrupted system call\n"),
      SlurmAnswer(.exited(1), error: "allocation failure: Required partition not available (inactive or drain)"),
      SlurmAnswer(.exited(1), error: "allocation failure: Job violates accounting/QOS policy (job submit limit)"),
      SlurmAnswer(.exited(1), error: "allocation failure: Resource temporarily unavailable"),
    ])
  func aJobThatIsTakenOrWouldWaitIsNotRefused(answer: SlurmAnswer) {
    #expect(refusal(answer) == .some(nil))
  }

  @Test func aNodeThatIsDownMayHaveWhatIsAskedFor() {
    #expect(refusal(SlurmAnswer(.exited(1), error: Self.noSuchNode), nodesDown: "node7\n") == .some(nil))
  }
}

extension SlurmClusterTests {
  /// The check beside the submission itself.
  @Suite struct RealCheckTests {
    private func refusal(_ resources: SlurmResources, on cluster: SlurmCluster) -> String?? {
      let told = Lock<String??>(nil)
      SubmissionCheck.refusal(of: resources, cluster.runner) { words in told.withLock { $0 = .some(words) } }
      #expect(eventually { told.withLock { $0 != nil } })
      return told.withLock(\.self)
    }

    @Test func whatSbatchTakesIsNotRefusedAndTheRestIs() throws {
      let cluster = try SlurmCluster.shared.get()
      for resources in [
        SlurmResources(), SlurmResources(name: "a b", cpus: 2, memory: 0, nodes: 3, time: .seconds(3600)),
        SlurmResources(options: ["--exclusive", "--be=now+1"]),
      ] { #expect(refusal(resources, on: cluster) == .some(nil), "\(resources)") }
      for resources in [
        SlurmResources(cpus: 3), SlurmResources(nodes: 4), SlurmResources(memory: 2000),
        SlurmResources(partition: "nope"), SlurmResources(constraint: "fast"), SlurmResources(options: ["--no-such"]),
      ] { #expect((refusal(resources, on: cluster) ?? nil) != nil, "\(resources)") }
    }

    @Test func aJobThatASiteRoutesBySizeIsNotRefused() throws {
      let cluster = try SlurmCluster(
        nodes: 2,
        partitions: [
          "PartitionName=short Nodes=ALL Default=YES MaxTime=10 State=UP",
          "PartitionName=long Nodes=ALL MaxTime=600 State=UP",
        ], lines: ["JobSubmitPlugins=all_partitions"])
      #expect(refusal(SlurmResources(time: .seconds(3600)), on: cluster) == .some(nil))
    }

    @Test func aJobForNodesThatAreDownIsNotRefused() throws {
      let cluster = try SlurmCluster(nodes: 1)
      try cluster.call("scontrol", "update", "NodeName=node1", "State=DRAIN", "Reason=test")
      #expect(refusal(SlurmResources(), on: cluster) == .some(nil))
    }
  }
}
