import JobModel
import Session
import Slurm
import Testing

@testable import opdash

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
    _ terms: ClusterTerms..., allocation: ClusterTerms? = nil, surrounding: SlurmJobID? = nil,
    answer: SlurmAnswer? = nil, absence: String? = nil
  ) -> [String] {
    let jobs = terms.enumerated().map { index, terms in
      Job(name: "job\(index)", work: .shell(ShellWork(.script("true"), cluster: terms)))
    }
    do {
      try ClusterCheck.check(
        JobGraph(name: "g", jobs: jobs, allocation: allocation), Answering(answer: answer), in: surrounding
      ) { absence }
      return []
    } catch let error as UsageError {
      return [error.message]
    } catch {
      return (error as? Faults)?.lines ?? ["\(error)"]
    }
  }

  @Test func whatSbatchTakesIsNoFault() {
    #expect(faults(ClusterTerms(cpus: 8, memory: 16_000, nodes: 3, time: .seconds(7200), partition: "short")) == [])
  }

  @Test func eachKindOfDemandThatIsNotMetIsNamedOnce() {
    let tooMany = ClusterTerms(cpus: 64)
    let found = faults(tooMany, tooMany, ClusterTerms(partition: "long"), ClusterTerms(options: ["--array=1-3"]))
    #expect(found.count == 3)
    let end = "no such thing: change what 'slurm' asks for"
    #expect(found.first == "opdash: job job0: sbatch refuses --cpus-per-task=64: \(end)")
    #expect(found.dropFirst().first == "opdash: job job2: sbatch refuses --partition=long: \(end)")
    #expect(found.last?.hasPrefix("opdash: job job3: slurm.options: ") == true)
  }

  @Test func aControllerThatDoesNotAnswerIsNoFault() {
    let down = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller")
    #expect(faults(ClusterTerms(cpus: 64), answer: down) == [])
    #expect(faults(ClusterTerms(cpus: 0), answer: down).count == 1)
  }

  @Test func theAbsenceOfSlurmIsOneSentence() {
    #expect(faults(ClusterTerms(), absence: "Slurm is not here") == ["Slurm is not here"])
    #expect(faults(absence: "Slurm is not here") == [])
  }

  @Test func whatSbatchRefusesForAnAllocationIsNamed() {
    #expect(faults(ClusterTerms(), allocation: ClusterTerms(cpus: 8, nodes: 3)) == [])
    let found = faults(ClusterTerms(), allocation: ClusterTerms(nodes: 4))
    #expect(
      found == [
        "opdash: sbatch refuses --nodes=4: no such thing: change what 'slurm.allocation' asks for"
      ])
    #expect(
      faults(ClusterTerms(), allocation: ClusterTerms(qos: "a b")) == [
        "opdash: slurm.allocation.qos: 'a b' has a blank in it"
      ])
  }

  @Test func aStepThatNoNodeOfTheAllocationHasIsNamedOnce() {
    let found = faults(
      ClusterTerms(cpus: 6), ClusterTerms(cpus: 6), ClusterTerms(gpus: 1), allocation: ClusterTerms(cpus: 4, nodes: 2))
    #expect(
      found == [
        "opdash: job job0: slurm.cpus: 6 is too much: a node of the allocation has at most 4 CPUs: " + larger,
        "opdash: job job2: slurm.gpus: 1 is too much: a node of the allocation has at most 0 GPUs: " + larger,
      ])
    // How many CPUs a whole node has is Slurm's to say.
    #expect(faults(ClusterTerms(cpus: 6, gpus: 1), allocation: ClusterTerms(options: ["--exclusive"])) == [])
    #expect(faults(ClusterTerms(memory: 600), allocation: ClusterTerms(memory: 0)) == [])
  }

  private let larger = "ask for less, or for a larger allocation"

  @Test func theGPUsOfAnAllocationAreThoseOfAllItsNodes() {
    let group = ClusterTerms(cpus: 1, gpus: 3, nodes: 2, options: ["--exclusive"])
    let down = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller")
    #expect(faults(ClusterTerms(gpus: 2), allocation: group, answer: down) == [])
    #expect(faults(ClusterTerms(gpus: 3), allocation: group, answer: down).count == 1)
    // Of one node, unless it says another number.
    #expect(faults(ClusterTerms(gpus: 3), allocation: ClusterTerms(gpus: 3), answer: down) == [])
    #expect(faults(ClusterTerms(gpus: 4), allocation: ClusterTerms(gpus: 3), answer: down).count == 1)
    #expect(faults(ClusterTerms(nodes: 1), allocation: ClusterTerms(), answer: down) == [])
  }

  @Test func anAllocationThatHasEndedIsNamed() {
    let gone = SlurmAnswer(.exited(1), error: "slurm_load_jobs error: Invalid job id specified")
    #expect(
      faults(ClusterTerms(), surrounding: SlurmJobID(7), answer: gone) == [
        "allocation 7, which this shell was started in, has ended: unset SLURM_JOB_ID, or use another shell"
      ])
  }

  @Test func inAnAllocationItsOwnNodesCount() {
    let nodes = SlurmAnswer(.exited(0), output: "JobId=7\n     Nodes=n[1-2] CPU_IDs=0-3 Mem=500 GRES=\n")
    let known = faults(
      ClusterTerms(cpus: 4), ClusterTerms(memory: 600), ClusterTerms(nodes: 2), surrounding: SlurmJobID(7),
      answer: nodes)
    #expect(
      known == [
        "opdash: job job1: slurm.memory: 600 is too much: a node of the allocation has at most 500 MiB: "
          + larger,
        "opdash: job job2: slurm.nodes: a step of an allocation is executed on one node: delete it, or start opdash "
          + "outside of the allocation",
      ])
    // What a step can't have does not keep it from being executed there.
    #expect(
      faults(ClusterTerms(time: .seconds(60), partition: "other"), surrounding: SlurmJobID(7), answer: nodes) == [])
    let down = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller")
    #expect(faults(ClusterTerms(cpus: 64), surrounding: SlurmJobID(7), answer: down) == [])
  }
}
