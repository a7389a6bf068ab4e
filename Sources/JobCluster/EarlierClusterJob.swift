import Slurm

/// A job that an earlier run has submitted to the cluster, and whose end that run may not have seen.
package struct EarlierClusterJob: Sendable, Equatable {
  package var run: String
  /// The folder of the run's cluster job files.
  package var folder: String
  /// How often the run had submitted the job to the cluster.
  package var number: Int

  package init(run: String, folder: String, number: Int) {
    self.run = run
    self.folder = folder
    self.number = number
  }

  /// The folder of the cluster job files of a run with the given folder.
  package static func folder(inRun folder: String) -> String { folder + "/cluster" }

  /// Ends the jobs of a run's attempts in Slurm.
  ///
  /// `done` is called on any thread with whether the controller has answered within the time limit of the runner's
  /// calls.
  static func end(
    _ attempts: Set<SlurmIdentity>, of observer: SlurmObserver, _ runner: any SlurmRunner,
    _ done: @escaping @Sendable (Bool) -> Void
  ) {
    // Queries now: a number that was known earlier may be someone else's by now.
    observer.find { found in
      guard let jobs = try? found.get().filter({ !$0.state.isEnded && attempts.contains($0.identity) }) else {
        return done(false)
      }
      guard !jobs.isEmpty else { return done(true) }
      runner.run(SlurmCommand(["scancel"] + jobs.map(\.id).words)) { done(!$0.isWithoutController) }
    }
  }
}
