import JobModel

/// Counts the jobs that must end before the jobs of `finally`, and before services that no job needs by name.
struct FinalJobs {
  private enum Kind: UInt8 {
    case ordinary
    case service
    /// A service that a job of `finally` needs, directly or through other services.
    case keptService
    case final
  }

  private var kinds: [Kind]
  /// The jobs that `finally` waits for and that have not ended.
  private(set) var open: Int
  /// The part of `open` that is not a service.
  private(set) var openOrdinary: Int
  /// Whether the graph has jobs that are neither services nor of `finally`, and that no person has to start.
  private(set) var hasOrdinary: Bool
  private(set) var services: [JobID]
  private(set) var jobs: [JobID]
  /// Whether the jobs of `finally` may start.
  var haveBegun = false

  init(_ graph: JobGraph) {
    var kinds = graph.jobs.map { job -> Kind in
      job.finally != nil ? .final : job.service != nil ? .service : .ordinary
    }
    var kept = kinds.indices.filter { kinds[$0] == .final }
    jobs = kept.map { JobID($0) }
    while let job = kept.popLast() {
      for need in graph.jobs[job].needs where kinds[need.job.index] == .service {
        kinds[need.job.index] = .keptService
        kept.append(need.job.index)
      }
    }
    services = kinds.indices.filter { kinds[$0] == .service || kinds[$0] == .keptService }.map { JobID($0) }
    openOrdinary = kinds.count { $0 == .ordinary }
    open = openOrdinary + kinds.count { $0 == .service }
    hasOrdinary = kinds.indices.contains { kinds[$0] == .ordinary && !graph.jobs[$0].isManual }
    self.kinds = kinds
  }

  mutating func append(_ job: Job) {
    let id = JobID(kinds.count)
    guard job.finally == nil else {
      kinds.append(.final)
      return jobs.append(id)
    }
    open += 1
    guard job.service == nil else {
      kinds.append(.service)
      return services.append(id)
    }
    kinds.append(.ordinary)
    openOrdinary += 1
    if !job.isManual { hasOrdinary = true }
  }

  /// Lets `finally` wait no longer for a service that one of its jobs needs; false if it did not.
  mutating func keep(_ id: JobID, isOpen: Bool) -> Bool {
    guard kinds[id.index] == .service else { return false }
    kinds[id.index] = .keptService
    if isOpen { open -= 1 }
    return true
  }

  /// Whether `finally` waits for the job.
  func precedes(_ id: JobID) -> Bool { kinds[id.index] == .ordinary || kinds[id.index] == .service }

  mutating func moved(_ id: JobID, from old: JobState, to new: JobState) {
    guard old.isTerminal != new.isTerminal else { return }
    let change = new.isTerminal ? -1 : 1
    switch kinds[id.index] {
    case .ordinary:
      open += change
      openOrdinary += change
    case .service: open += change
    case .keptService, .final: break
    }
  }
}
