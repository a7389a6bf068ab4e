import JobModel

/// What the whole list's drawing needs of every job, kept up to date fact by fact so that no frame walks the run.
struct JobIndex {
  private(set) var classes: [StateClass] = []
  /// Those with an attempt in progress, paused ones included, and those that back off.
  private(set) var open: Set<JobID> = []
  private(set) var longestName = 0
  private(set) var kinds: [String: Kind] = [:]

  /// What jobs of one kind have taken so far, and how many are still to come.
  struct Kind {
    var pending = 0
    var ended = 0
    var time: Duration = .zero

    var mean: Duration? { ended == 0 ? nil : time / ended }
  }

  init() {}

  init(_ run: Run) {
    for id in run.ids { add(id, run) }
  }

  mutating func add(_ id: JobID, _ run: Run) {
    let state = StateClass(run.jobs[id.index].state)
    classes.append(state)
    longestName = max(longestName, run.jobs[id.index].job.name.utf8.count)
    let kind = run.jobs[id.index].job.work.kind
    if !state.isTerminal, state != .executing { kinds[kind, default: Kind()].pending += 1 }
    enter(id, run)
  }

  /// To be called after the fold has moved the job.
  mutating func move(_ id: JobID, _ run: Run) {
    let old = classes[id.index]
    let new = StateClass(run.jobs[id.index].state)
    classes[id.index] = new
    enter(id, run)
    let kind = run.jobs[id.index].job.work.kind
    let change = (Self.isPending(new) ? 1 : 0) - (Self.isPending(old) ? 1 : 0)
    if change != 0 { kinds[kind, default: Kind()].pending += change }
    if new == .succeeded, let took = run.jobs[id.index].elapsed(at: run.time) {
      kinds[kind, default: Kind()].ended += 1
      kinds[kind, default: Kind()].time += took
    }
  }

  private mutating func enter(_ id: JobID, _ run: Run) {
    if run.jobs[id.index].state.isActive || classes[id.index] == .backingOff {
      open.insert(id)
    } else {
      open.remove(id)
    }
  }

  private static func isPending(_ state: StateClass) -> Bool { !state.isTerminal && state != .executing }
}
