import Slurm

/// A job that an earlier run has given to the cluster, and whose end it may not have seen.
package struct EarlierClusterJob: Sendable, Equatable {
  package var run: String
  /// Where the run had the files of its cluster jobs.
  package var folder: String
  /// How often the run had given the job to the cluster.
  package var number: Int

  package init(run: String, folder: String, number: Int) {
    self.run = run
    self.folder = folder
    self.number = number
  }

  /// Where a run that has a folder keeps the files of its cluster jobs.
  package static func folder(inRun folder: String) -> String { folder + "/cluster" }

  /// Has Slurm end what it has of the attempts of a run; `done` is called on any thread with whether the controller has
  /// answered in the time that the runner gives a call.
  static func end(
    _ attempts: Set<SlurmIdentity>, of observer: SlurmObserver, _ runner: any SlurmRunner,
    _ done: @escaping @Sendable (Bool) -> Void
  ) {
    // Asked for now: a number that was known before may be someone else's by now.
    observer.find { found in
      guard let jobs = try? found.get().filter({ !$0.state.isEnded && attempts.contains($0.identity) }) else {
        return done(false)
      }
      guard !jobs.isEmpty else { return done(true) }
      runner.run(SlurmCommand(["scancel"] + jobs.map(\.id).words)) { done(!$0.isWithoutController) }
    }
  }
}
