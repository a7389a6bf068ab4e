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
}
