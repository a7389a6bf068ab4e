import Basics
import JobEngine
import JobModel
import Operations
import Slurm

/// Cluster jobs that can't be executed, or not ended, as they should: one message for each fault.
package struct ClusterRefusal: Error, Equatable {
  package let messages: [String]
}

/// Checks the requirements of a run's cluster jobs before anything starts.
package enum ClusterCheck {
  /// The time limit of the check; a controller that does not answer in time is not a fault, because the run waits for
  /// it.
  private static let limit = Duration.seconds(10)

  /// Throws if Slurm is not on this machine, the surrounding allocation has ended, or a job's request is malformed.
  ///
  /// Also throws if sbatch refuses a request, or if the allocation that runs the jobs as steps can't meet it.
  package static func check(
    _ graph: JobGraph, _ runner: any SlurmRunner = SystemSlurmRunner(),
    in surrounding: SlurmJobID? = SlurmAllocation.surrounding, absence: () -> String? = SystemSlurmRunner.absence
  ) throws {
    let jobs = graph.jobs.filter { $0.cluster != nil }
    guard !jobs.isEmpty else { return }
    if let sentence = absence() { throw ClusterRefusal(messages: [sentence]) }
    let end = SystemOperationClock().now + limit
    var lines: [String]
    if let surrounding {
      let nodes = value(until: end) { SlurmAllocation.nodes(of: surrounding, runner, $0) } ?? nil
      if nodes == nil,
        case .ended? = value(until: end, { SlurmAllocation.standing(of: surrounding, runner, $0) })
      {
        throw ClusterRefusal(messages: [
          "allocation \(surrounding), which this shell was started in, has ended: unset SLURM_JOB_ID, or use another shell"
        ])
      }
      lines = stepFaults(jobs, in: nodes ?? [])
    } else if let allocation = graph.allocation {
      lines = faults(allocation, "slurm.allocation", runner, until: end)
      lines += stepFaults(jobs, in: [node(of: allocation)])
    } else {
      lines = faults(jobs, runner, until: end)
    }
    if !lines.isEmpty { throw ClusterRefusal(messages: lines) }
  }

  private static func faults(_ jobs: [Job], _ runner: any SlurmRunner, until end: Duration) -> [String] {
    // Thousands of jobs may have the same request.
    var known: Set<SlurmResources> = []
    var lines: [String] = []
    for job in jobs {
      guard let resources = job.cluster, known.insert(resources).inserted else { continue }
      lines += faults(resources, "slurm", runner, until: end).map { "job \(job.name): \($0)" }
    }
    return lines
  }

  private static func faults(
    _ resources: SlurmResources, _ owner: String, _ runner: any SlurmRunner, until end: Duration
  ) -> [String] {
    let faults = resources.faults
    guard faults.isEmpty else { return faults.map { "\(owner).\($0.key): \($0.message)" } }
    let refusal = value(until: end) { SubmissionCheck.refusal(of: resources, runner, $0) }
    guard let words = refusal ?? nil else { return [] }
    let asked = (resources.arguments + SlurmEnvironment.words(for: resources)).joined(separator: " ")
    return ["sbatch refuses \(asked.isEmpty ? "it" : asked): \(words): change what '\(owner)' asks for"]
  }

  private static func value<Value: Sendable>(
    until end: Duration, _ begin: (_ done: @escaping @Sendable (Value) -> Void) -> Void
  ) -> Value? {
    let left = end - SystemOperationClock().now
    guard left > .zero else { return nil }
    return BlockingCall.value(within: .milliseconds(Int(left / .milliseconds(1))), begin)
  }

  /// The requests of steps that no node of the allocation can meet; `nodes` is empty if they are not known.
  private static func stepFaults(_ jobs: [Job], in nodes: [AllocatedNode]) -> [String] {
    var known: Set<NodeAllocator.Request> = []
    var lines: [String] = []
    for job in jobs {
      guard let clusterRequest = job.cluster else { continue }
      if let count = clusterRequest.nodes, count > 1 {
        lines.append(
          "job \(job.name): slurm.nodes: a step of an allocation is executed on one node: delete it, or start opdash "
            + "outside of the allocation")
      }
      let need = NodeAllocator.Request(clusterRequest)
      guard !nodes.isEmpty, known.insert(need).inserted, let fault = NodeAllocator.fault(need, in: nodes) else {
        continue
      }
      lines.append("job \(job.name): \(fault.reason)")
    }
    return lines
  }

  /// The most resources that a node can have in an allocation that Slurm has not granted yet.
  private static func node(of allocation: ClusterRequest) -> AllocatedNode {
    let nodes = allocation.nodes ?? 1
    return AllocatedNode(
      name: "", cpus: allocation.cpus ?? .max, memory: allocation.memory == 0 ? nil : allocation.memory,
      gpus: allocation.gpus.map { ($0 + nodes - 1) / nodes } ?? (allocation.options.isEmpty ? 0 : .max))
  }
}
