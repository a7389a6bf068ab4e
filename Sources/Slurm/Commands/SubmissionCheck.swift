/// Asks sbatch, before the submission, whether it accepts jobs with certain resources.
///
/// Only Slurm knows the resources that a job gets by default, from the site's plugins and from the environment.
package enum SubmissionCheck {
  /// Asks sbatch; `done` is called on any thread with Slurm's message if it refuses such jobs, and with nil if it
  /// accepts them or its answer is not known.
  package static func refusal(
    of resources: SlurmResources, _ runner: any SlurmRunner, _ done: @escaping @Sendable (String?) -> Void
  ) {
    let call = SlurmCommand.submission(
      resources, ["--test-only"], name: resources.name ?? "opdash", comment: "opdash", script: "#!/bin/sh\n")
    runner.run(call) { answer in
      guard isRefusal(answer), !isOfNow(answer) else { return done(nil) }
      guard answer.error.contains("Requested node configuration is not available") else { return done(answer.fault) }
      // The test ignores nodes that are down, which a job would wait for.
      runner.run(SlurmCommand(["sinfo", "-h", "-a", "-N", "-t", "down,drain,fail,maint,unk", "-o", "%N"])) { nodes in
        done(nodes.isSuccess && nodes.output.isEmpty ? answer.fault : nil)
      }
    }
  }

  /// Whether sbatch itself, or Slurm, has refused; the failure of an sbatch wrapper is not a refusal.
  private static func isRefusal(_ answer: SlurmAnswer) -> Bool {
    guard case .exited(let status) = answer.end, status != 0, !answer.isWithoutController else { return false }
    if answer.error.contains("allocation failure: ") { return true }
    // sbatch prints this for a job that it accepts.
    if answer.error.contains(" to start at ") { return false }
    return answer.error.lines.contains { $0.hasPrefix("sbatch: ") } && !answer.error.contains("submission failed")
  }

  /// Whether a job that is submitted in spite of the answer would wait.
  private static func isOfNow(_ answer: SlurmAnswer) -> Bool {
    answer.saysFull
      || [
        "partition not available", "Required node not available", "not available now", "nodes are busy",
        "accounting/QOS policy", "Reservation", "Licenses",
      ].contains { answer.error.contains($0) }
  }
}
