import JobEngine
import JobFiles
import JobModel
import RunStore
import Session

/// The jobs that were added to a run, read again for the run that resumes it.
struct ResumedAdditions {
  /// The jobs of the run's own file, followed by the added ones.
  private(set) var graph: JobGraph
  private(set) var plan: ResumePlan
  /// The texts whose jobs the graph has.
  private(set) var kept: [KeptText]
  /// A sentence for each text whose jobs can't be read again.
  private(set) var faults: [String]

  /// A job that is executed again adds its jobs itself; `plan` makes the plan of a graph.
  init(
    _ texts: [KeptText], to own: JobGraph, in environment: Environment, _ engine: Engine?,
    plan: (JobGraph) -> ResumePlan
  ) {
    var texts = texts
    while true {
      (graph, kept, faults) = Self.read(texts, own, environment, engine)
      self.plan = plan(graph)
      let done = Set(self.plan.restored.keys.map { [plan = self.plan] in plan.graph[$0].name })
      let lasting = texts.filter { $0.text.writer.map(done.contains) ?? true }
      if lasting.count == texts.count { return }
      texts = lasting
    }
  }

  private static func read(
    _ texts: [KeptText], _ own: JobGraph, _ environment: Environment, _ engine: Engine?
  ) -> (graph: JobGraph, kept: [KeptText], faults: [String]) {
    var (graph, kept, faults): (JobGraph, [KeptText], [String]) = (own, [], [])
    var known = KnownJobs(own)
    for text in texts {
      do throws(JobFileFaults) {
        let added = try AddedJobReader.graph(of: text.text, in: environment, engine, addingTo: known) { _ in }
        graph.jobs += added.jobs
        graph.pools.merge(added.pools) { size, _ in size }
        graph.secrets.formUnion(added.secrets)
        known.append(added.jobs)
        (known.pools, known.secrets) = (graph.pools, graph.secrets)
        kept.append(text)
      } catch {
        let names = text.names.joined(most: 8)
        let fault = error.faults.first.map { ": \($0)" } ?? ""
        faults.append("\(Format.count(text.names.count, "added job")) can't be resumed (\(names))\(fault)")
      }
    }
    return (graph, kept, faults)
  }
}
