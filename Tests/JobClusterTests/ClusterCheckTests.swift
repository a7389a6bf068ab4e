import JobModel
import Slurm
import Testing

@testable import JobCluster

/// What is checked of cluster jobs before a run starts.
@Suite struct ClusterCheckTests {
  /// Answers each call with the same text, or else as an sbatch that refuses calls with some words.
  private struct Answering: SlurmRunner {
    var answer: SlurmAnswer?

    func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void) {
      let refused = ["--cpus-per-task=64", "--partition=long", "--nodes=4"]
      let isRefused = command.arguments[0] == "sbatch" && command.arguments.contains(where: refused.contains)
      let refusal = SlurmAnswer(.exited(1), error: "sbatch: error: no such thing\n")
      done(answer ?? (isRefused ? refusal : SlurmAnswer(.exited(0))))
    }
  }

  private func faults(
    _ clusterRequest: ClusterRequest..., allocation: ClusterRequest? = nil, surrounding: SlurmJobID? = nil,
    answer: SlurmAnswer? = nil, absence: String? = nil
  ) -> [String] {
    let jobs = clusterRequest.enumerated().map { index, clusterRequest in
      Job(name: "job\(index)", work: .shell(ShellWork(.script("true"), cluster: clusterRequest)))
    }
    do {
      try ClusterCheck.check(
        JobGraph(name: "g", jobs: jobs, allocation: allocation), Answering(answer: answer), in: surrounding
      ) { absence }
      return []
    } catch {
      return (error as? ClusterRefusal)?.messages ?? ["\(error)"]
    }
  }

  @Test func whatSbatchTakesIsNoFault() {
    #expect(faults(ClusterRequest(cpus: 8, memory: 16_000, nodes: 3, time: .seconds(7200), partition: "short")) == [])
  }

  @Test func eachKindOfDemandThatIsNotMetIsNamedOnce() {
    let tooMany = ClusterRequest(cpus: 64)
    let found = faults(tooMany, tooMany, ClusterRequest(partition: "long"), ClusterRequest(options: ["--array=1-3"]))
    #expect(found.count == 3)
    let end = "no such thing: change what 'slurm' asks for"
    #expect(found.first == "job job0: sbatch refuses --cpus-per-task=64: \(end)")
    #expect(found.dropFirst().first == "job job2: sbatch refuses --partition=long: \(end)")
    #expect(found.last?.hasPrefix("job job3: slurm.options: ") == true)
  }

  @Test func aControllerThatDoesNotAnswerIsNoFault() {
    let down = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller")
    #expect(faults(ClusterRequest(cpus: 64), answer: down) == [])
    #expect(faults(ClusterRequest(cpus: 0), answer: down).count == 1)
  }

  @Test func theAbsenceOfSlurmIsOneSentence() {
    #expect(faults(ClusterRequest(), absence: "Slurm is not here") == ["Slurm is not here"])
    #expect(faults(absence: "Slurm is not here") == [])
  }

  @Test func whatSbatchRefusesForAnAllocationIsNamed() {
    #expect(faults(ClusterRequest(), allocation: ClusterRequest(cpus: 8, nodes: 3)) == [])
    let found = faults(ClusterRequest(), allocation: ClusterRequest(nodes: 4))
    #expect(
      found == [
        "sbatch refuses --nodes=4: no such thing: change what 'slurm.allocation' asks for"
      ])
    #expect(
      faults(ClusterRequest(), allocation: ClusterRequest(qos: "a b")) == [
        "slurm.allocation.qos: 'a b' has a blank in it"
      ])
  }

  @Test func aStepThatNoNodeOfTheAllocationHasIsNamedOnce() {
    let found = faults(
      ClusterRequest(cpus: 6), ClusterRequest(cpus: 6), ClusterRequest(gpus: 1),
      allocation: ClusterRequest(cpus: 4, nodes: 2))
    #expect(
      found == [
        "job job0: slurm.cpus: 6 is too much: a node of the allocation has at most 4 CPUs: " + larger,
        "job job2: slurm.gpus: 1 is too much: a node of the allocation has at most 0 GPUs: " + larger,
      ])
    // How many CPUs a whole node has is Slurm's to say.
    #expect(faults(ClusterRequest(cpus: 6, gpus: 1), allocation: ClusterRequest(options: ["--exclusive"])) == [])
    #expect(faults(ClusterRequest(memory: 600), allocation: ClusterRequest(memory: 0)) == [])
  }

  private let larger = "ask for less, or for a larger allocation"

  @Test func theGPUsOfAnAllocationAreThoseOfAllItsNodes() {
    let group = ClusterRequest(cpus: 1, gpus: 3, nodes: 2, options: ["--exclusive"])
    let down = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller")
    #expect(faults(ClusterRequest(gpus: 2), allocation: group, answer: down) == [])
    #expect(faults(ClusterRequest(gpus: 3), allocation: group, answer: down).count == 1)
    // Of one node, unless it says another number.
    #expect(faults(ClusterRequest(gpus: 3), allocation: ClusterRequest(gpus: 3), answer: down) == [])
    #expect(faults(ClusterRequest(gpus: 4), allocation: ClusterRequest(gpus: 3), answer: down).count == 1)
    #expect(faults(ClusterRequest(nodes: 1), allocation: ClusterRequest(), answer: down) == [])
  }

  @Test func anAllocationThatHasEndedIsNamed() {
    let gone = SlurmAnswer(.exited(1), error: "slurm_load_jobs error: Invalid job id specified")
    #expect(
      faults(ClusterRequest(), surrounding: SlurmJobID(7), answer: gone) == [
        "allocation 7, which this shell was started in, has ended: unset SLURM_JOB_ID, or use another shell"
      ])
  }

  @Test func inAnAllocationItsOwnNodesCount() {
    let nodes = SlurmAnswer(.exited(0), output: "JobId=7\n     Nodes=n[1-2] CPU_IDs=0-3 Mem=500 GRES=\n")
    let known = faults(
      ClusterRequest(cpus: 4), ClusterRequest(memory: 600), ClusterRequest(nodes: 2), surrounding: SlurmJobID(7),
      answer: nodes)
    #expect(
      known == [
        "job job1: slurm.memory: 600 is too much: a node of the allocation has at most 500 MiB: "
          + larger,
        "job job2: slurm.nodes: a step of an allocation is executed on one node: delete it, or start opdash "
          + "outside of the allocation",
      ])
    // What a step can't have does not keep it from being executed there.
    #expect(
      faults(ClusterRequest(time: .seconds(60), partition: "other"), surrounding: SlurmJobID(7), answer: nodes) == [])
    let down = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller")
    #expect(faults(ClusterRequest(cpus: 64), surrounding: SlurmJobID(7), answer: down) == [])
  }
}
