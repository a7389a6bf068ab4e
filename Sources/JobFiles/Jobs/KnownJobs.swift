import Basics
import JobModel

/// The jobs of a live run, which an added file may name in `needs`.
package struct KnownJobs: Sendable {
  /// The sizes of the pools of the run.
  package var pools: [String: Int] = [:]
  /// The nodes that the run holds, whose steps its cluster jobs are.
  package let allocation: ClusterRequest?
  /// The values that are never shown or kept.
  package var secrets: Set<String>

  private var jobs: [Job] = []
  private var names: [String: Int] = [:]
  private var matrices: [String: [Int]] = [:]
  /// The job that downloads each file.
  private var writers: [BytePath: Int] = [:]

  package init(_ graph: JobGraph) {
    (pools, allocation, secrets) = (graph.pools, graph.allocation, graph.secrets)
    append(graph.jobs)
  }

  package var count: Int { jobs.count }

  /// Adds jobs in the order of their identifiers.
  package mutating func append(_ new: some Sequence<Job>) {
    for job in new {
      if names[job.name] == nil { names[job.name] = jobs.count }
      if let matrix = job.matrix { matrices[matrix, default: []].append(jobs.count) }
      if case .download(let work) = job.work { writers[BytePath(work.file)] = jobs.count }
      jobs.append(job)
    }
  }

  /// Whether it has a job of this name, with a matrix or without.
  func has(_ name: String) -> Bool { names[name] != nil || matrices[name] != nil }

  /// The name of the job that downloads a file.
  func writer(of file: String) -> String? { writers[BytePath(file)].map { jobs[$0].name } }

  /// The new jobs and the jobs of the run that they may mean, the jobs of `finally` last, each with its number in the run.
  func joined(with new: [JobDraft]) -> (drafts: [JobDraft], numbers: [Int]) {
    let used = mentioned(by: new)
    let added = new.indices.map { (draft: new[$0], number: count + $0) }
    let all = used.map { (draft: JobDraft(jobs[$0]), number: $0) } + added
    let sorted = all.filter { $0.draft.job.finally == nil } + all.filter { $0.draft.job.finally != nil }
    var drafts = sorted.map(\.draft)
    let numbers = sorted.map(\.number)
    let places = Dictionary(uniqueKeysWithValues: zip(numbers, drafts.indices))
    for place in drafts.indices {
      drafts[place].job.needs = drafts[place].job.needs.compactMap { need in
        places[need.job.index].map { JobNeed(JobID($0), when: need.when) }
      }
    }
    return (drafts, numbers)
  }

  /// The jobs that names in the file mean; all of them where a name is unknown or a pattern, which any may match.
  ///
  /// Where values are used, also the jobs that these need, directly or through others.
  private func mentioned(by new: [JobDraft]) -> [Int] {
    var own: Set<String> = []
    for draft in new {
      own.insert(draft.job.name)
      if let matrix = draft.job.matrix { own.insert(matrix) }
    }
    var used: Set<Int> = []
    for draft in new {
      for name in draft.needs.map(\.job) + draft.outputs.map(\.job) {
        if let job = names[name] {
          used.insert(job)
        } else if let instances = matrices[name] {
          used.formUnion(instances)
        } else if !own.contains(name) {
          return Array(jobs.indices)
        }
      }
    }
    var open = new.allSatisfy(\.outputs.isEmpty) ? [] : Array(used)
    while let job = open.popLast() {
      for need in jobs[job].needs where used.insert(need.job.index).inserted { open.append(need.job.index) }
    }
    return used.sorted()
  }
}
