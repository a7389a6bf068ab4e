/// The jobs of a run and their dependencies, as declared.
package struct JobGraph: Sendable, Equatable {
  package enum Failure: String, Sendable, CaseIterable {
    /// Jobs that don't depend on the failed job still start.
    case keepGoing = "keep-going"
    /// Nothing new starts; executing jobs may finish.
    case finishRunning = "finish-running"
    /// Nothing new starts; executing jobs are cancelled.
    case stopNow = "stop-now"
  }

  package enum Schedule: String, Sendable, CaseIterable {
    case criticalPath = "critical-path"
    case priority
    case fifo
  }

  package var name: String
  package var jobs: [Job]
  package var slots: Int?
  package var onFailure: Failure
  /// How many jobs must have failed before `onFailure` takes effect.
  package var failureLimit = 1
  package var schedule: Schedule
  package var pools: [String: Int]
  /// The limit of the whole run.
  package var timeout: Duration?
  /// The values that are never shown or kept.
  package var secrets: Set<String>
  /// The nodes held for the whole run, whose cluster jobs are its steps; nil where each is a cluster job of its own.
  package var allocation: ClusterRequest?
  /// Whether services stay up when no job needs them any more, until a person ends the run.
  package var keepsServices: Bool
  /// How changes of inputs are noticed.
  package var watch = WatchRules()
  /// The absolute paths of the files that the job file includes, and of those with its variables.
  package var includedFiles: [String] = []

  package init(
    name: String, jobs: [Job] = [], slots: Int? = nil, onFailure: Failure = .keepGoing,
    schedule: Schedule = .criticalPath, pools: [String: Int] = [:], timeout: Duration? = nil, secrets: Set<String> = [],
    allocation: ClusterRequest? = nil, keepsServices: Bool = false
  ) {
    self.name = name
    self.jobs = jobs
    self.slots = slots
    self.onFailure = onFailure
    self.schedule = schedule
    self.pools = pools
    self.timeout = timeout
    self.secrets = secrets
    self.allocation = allocation
    self.keepsServices = keepsServices
  }

  /// Whether its services stay up until a person ends the run: it says so, or has services and nothing else that ends.
  package var staysUp: Bool {
    let ending = jobs.lazy.filter { $0.finally == nil && !$0.isManual }
    return keepsServices || (!ending.isEmpty && ending.allSatisfy { $0.service != nil })
  }

  package subscript(id: JobID) -> Job { jobs[id.index] }

  package func id(named name: String) -> JobID? {
    jobs.firstIndex { $0.name == name }.map(JobID.init)
  }

  /// A job that needs another, and on which condition.
  package struct Dependent: Sendable, Equatable {
    package var job: JobID
    package var when: JobNeed.Condition
  }

  /// The dependents of each job, in the order of identifiers.
  package var dependents: [[Dependent]] {
    var dependents = [[Dependent]](repeating: [], count: jobs.count)
    for (index, job) in jobs.enumerated() {
      for need in job.needs { dependents[need.job.index].append(Dependent(job: JobID(index), when: need.when)) }
    }
    return dependents
  }

  /// The jobs whose values other jobs read.
  package var readJobs: Set<JobID> { Set(jobs.lazy.flatMap { $0.outputs.lazy.map(\.job) }) }

  /// The jobs whose values other jobs read, with the names of the values without which one of these fails.
  package var readValues: [JobID: Set<String>] { Self.readValues(by: jobs) }

  /// As `readValues`, of the values that these jobs read.
  package static func readValues(by jobs: [Job]) -> [JobID: Set<String>] {
    var read: [JobID: Set<String>] = [:]
    for job in jobs {
      // A condition may read a value that was not written.
      for reference in job.outputs where read[reference.job] == nil { read[reference.job] = [] }
      for reference in job.outputsToApprove { read[reference.job, default: []].insert(reference.name) }
    }
    return read
  }

  /// The named jobs and all that they need, directly or not, also for a value.
  package func needed(by wanted: [JobID]) -> Set<JobID> {
    var keep = Set<JobID>()
    var open = wanted
    while let id = open.popLast() {
      if keep.insert(id).inserted { open += self[id].needs.map(\.job) + self[id].outputs.map(\.job) }
    }
    return keep
  }

  /// The `finally` jobs that follow the wanted jobs: all except jobs that read a value of a job outside the selection.
  ///
  /// Empty if every wanted job is a `finally` job.
  package func finalJobs(after wanted: [JobID]) -> [JobID] {
    let kept = needed(by: wanted)
    guard kept.contains(where: { self[$0].finally == nil }) else { return [] }
    return jobs.indices.map(JobID.init).filter { id in
      self[id].finally != nil && needed(by: [id]).allSatisfy { self[$0].finally != nil || kept.contains($0) }
    }
  }

  /// The named jobs and all that they need, renumbered in their old order.
  package func restricted(to wanted: [JobID]) -> JobGraph {
    let order = needed(by: wanted).sorted()
    let renumbered = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, JobID($0)) })
    var graph = self
    graph.jobs = order.map { id in
      var job = self[id]
      job.needs = job.needs.compactMap { need in renumbered[need.job].map { JobNeed($0, when: need.when) } }
      job.outputs = job.outputs.compactMap { output in
        renumbered[output.job].map { OutputReference(output.text, job: $0, name: output.name) }
      }
      return job
    }
    return graph
  }
}

extension JobGraph {
  /// The graph with all its programs executed by one engine, except the ones that can't leave this machine.
  package func executed(by engine: Engine) -> JobGraph {
    var graph = self
    for index in jobs.indices {
      guard case .shell(var work) = jobs[index].work else { continue }
      work.engine = work.canLeaveMachine ? engine : .local
      graph.jobs[index].work = .shell(work)
    }
    return graph
  }
}

/// How changes of the files that jobs read are noticed while inputs are watched.
package struct WatchRules: Sendable, Equatable {
  /// How long the files must be at rest before the jobs are executed again: changes in quick succession are one.
  package var debounce: Duration = .milliseconds(300)
  /// Names and absolute patterns of files and folders whose changes count for nothing.
  package var ignored: [String] = []

  package init() {}
}
