import JobCluster
import JobEngine
import JobModel
import RunStore

/// The options of a run that is recorded.
struct RunOptions {
  var origin: RunOrigin
  var stateFolder: String
  var retention: Retention
  /// The declared jobs; empty for a program's own queue.
  var jobs: [Job] = []
  /// Reads the jobs that are added during the run; nil for a program's own queue.
  var added: AddedJobReader?
  /// The options of the engine, for a graph.
  var queue: JobQueueOptions
}

/// A run that is created, and starts once its recording has begun.
struct StartableRun {
  var feed: any JobFeed
  var start: () -> Void
  /// Why neither logs nor events are kept, if they are not.
  var unrecorded: String?
}

extension StartableRun {
  /// The run of a graph in the engine, which knows the recorded attempts and usual times of its jobs.
  init(_ graph: JobGraph, _ options: RunOptions) throws {
    let earlier = EarlierAttempts.known(ofFile: options.origin.file, stateFolder: options.stateFolder)
    let graph = earlier?.withUsualTimes(graph) ?? graph
    var queueOptions = options.queue
    let added = options.added
    added?.begin(graph, earlier)
    let job: @Sendable (JobID) -> Job? = { graph.jobs.indices.contains($0.index) ? graph[$0] : added?.job($0) }
    queueOptions.earlier = { id in job(id).flatMap { earlier?.newest(of: $0) { job($0)?.name } } }
    queueOptions.earlierValues = { id in job(id).flatMap { earlier?.values(of: $0) } }
    queueOptions.addedTexts = added
    queueOptions.cluster = options.queue.cluster ?? RunCluster()
    let queue: JobQueue
    do throws(RunFolderError) {
      queue = try JobQueue(graph, options: queueOptions)
    } catch {
      queueOptions.stateFolder = nil
      queue = try JobQueue(graph, options: queueOptions)
      unrecorded = error.description
    }
    feed = queue
    start = { queue.start() }
  }
}
