/// Whether sbatch takes jobs that ask for something, as it says itself before they are submitted.
///
/// What a job gets by default, by the site's plugins and by the environment is known to Slurm alone.
package enum SubmissionCheck {
  /// Asks sbatch; `done` is called on any thread with Slurm's words if it refuses such jobs, and with nil if it takes them or
  /// if that is not known.
  package static func refusal(
    of resources: SlurmResources, _ runner: any SlurmRunner, _ done: @escaping @Sendable (String?) -> Void
  ) {
    let call = SlurmCommand.submission(
      resources, ["--test-only"], name: resources.name ?? "opdash", comment: "opdash", script: "#!/bin/sh\n")
    runner.run(call) { answer in
      guard isRefusal(answer), !isOfNow(answer) else { return done(nil) }
      guard answer.error.contains("Requested node configuration is not available") else { return done(answer.fault) }
      // The test counts no nodes that are down, for which a job would wait.
      runner.run(SlurmCommand(["sinfo", "-h", "-a", "-N", "-t", "down,drain,fail,maint,unk", "-o", "%N"])) { nodes in
        done(nodes.isSuccess && nodes.output.isEmpty ? answer.fault : nil)
      }
    }
  }

  /// Whether sbatch itself, or Slurm, has said no; a wrapper of sbatch that fails has not.
  private static func isRefusal(_ answer: SlurmAnswer) -> Bool {
    guard case .exited(let status) = answer.end, status != 0, !answer.isWithoutController else { return false }
    if answer.error.contains("allocation failure: ") { return true }
    // What sbatch says of a job that it takes.
    if answer.error.contains(" to start at ") { return false }
    return answer.error.lines.contains { $0.hasPrefix("sbatch: ") } && !answer.error.contains("submission failed")
  }

  /// Whether a job that is submitted in spite of the answer waits.
  private static func isOfNow(_ answer: SlurmAnswer) -> Bool {
    [
      "partition not available", "Required node not available", "not available now", "nodes are busy",
      "accounting/QOS policy", "Reservation", "Licenses",
    ].contains { answer.error.contains($0) }
  }
}
