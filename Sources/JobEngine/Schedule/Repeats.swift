import Basics
import JobModel

// Jobs that are executed again: a person asks for it, or a file that they read has changed.
extension Scheduler {
  mutating func retry(_ jobs: [JobID], withDependents: Bool) {
    guard run.stopping == nil else { return }
    for id in jobs {
      if case .backingOff = state(id) { reconsider(id) }
    }
    var again = Set<JobID>()
    var open = jobs.filter { canRetry($0) || canRestart($0) }
    while let id = open.popLast() {
      guard again.insert(id).inserted else { continue }
      guard withDependents else { continue }
      let isService = canRestart(id)
      open += run.jobs[id.index].dependents.filter { dependent in
        switch state(dependent) {
        case .skipped, .cancelled: !isLeftOut(dependent)
        case .failed: isService
        case .executing, .serving, .paused(started: true): isService
        default: false
        }
      }
    }
    for id in again {
      nodes[id.index].earlier = nil
      if case .succeeded = state(id) { nodes[id.index].isRepeated = true }
    }
    // A person who restarts a paused service lets it go on; what uses it stays paused.
    for id in jobs where canRestart(id) { nodes[id.index].mustPause = false }
    stateCauses(of: again, asked: Set(jobs))
    execute(again: again)
  }

  /// States why jobs that a person has executed again, and that have not failed, make another attempt.
  private mutating func stateCauses(of again: Set<JobID>, asked: Set<JobID>) {
    for id in again.sorted() where attempts(id) > 0 {
      let isActive = state(id).isActive
      if case .failed = state(id) { continue }
      if isActive, nodes[id.index].canceller != nil { continue }
      if asked.contains(id) {
        stateCause(id, isActive ? "a person has restarted it" : "a person has started it again")
      } else {
        stateNeed(of: id, among: again)
      }
    }
  }

  /// Executes jobs again because files that they read have changed, and all that needs them.
  ///
  /// A job that has not begun reads the changed files anyway.
  mutating func inputsChanged(_ changes: [JobID: InputChange]) {
    guard run.isWatching, run.stopping == nil else { return }
    var again = Set<JobID>()
    var open: [JobID] = []
    for (id, change) in changes.sorted(by: { $0.key < $1.key }) where nodes.indices.contains(id.index) {
      guard attempts(id) > 0 || state(id).isTerminal, !isLeftOut(id), !isEcho(id, change) else { continue }
      open.append(id)
      stateCause(id, "\(change.path) has changed")
      guard let gone = change.gone.map({ BytePath($0) }) else { continue }
      for maker in graph[id].needs.map(\.job) where graph[maker].creates(gone) {
        guard case .succeeded = state(maker) else { continue }
        open.append(maker)
        stateCause(maker, "\(change.path) does not exist")
      }
    }
    while let id = open.popLast() {
      guard graph[id].finally == nil, !isLeftOut(id), again.insert(id).inserted else { continue }
      open += run.jobs[id.index].dependents
    }
    for id in again.sorted() {
      if case .succeeded = state(id) {
        nodes[id.index].earlier = .succeeded(inputs: run.jobs[id.index].inputsHash, read: nodes[id.index].read)
      } else if attempts(id) > 0, nodes[id.index].earlier == nil {
        // With the start of an attempt, the one before it is forgotten.
        nodes[id.index].earlier = .unfinished
      }
      // The approval was for the work with the earlier files.
      nodes[id.index].approved = nil
      if changes[id] == nil { stateNeed(of: id, among: again) }
    }
    execute(again: again)
  }

  /// States that a need of the job is executed again, where the job has begun before.
  private mutating func stateNeed(of id: JobID, among again: Set<JobID>) {
    guard attempts(id) > 0, let need = graph[id].needs.first(where: { again.contains($0.job) }) else { return }
    let event = graph[need.job].service == nil ? "executed again" : "restarted"
    stateCause(id, "\(graph[need.job].name) is \(event)")
  }

  /// States why the next attempt is made; of an attempt that is on its way, the first reason stands.
  private mutating func stateCause(_ id: JobID, _ text: String) {
    let attempt = attempts(id) + 1
    guard state(id).isTerminal || run.jobs[id.index].cause?.attempt != attempt else { return }
    journal.state(.jobCaused(id, attempt: attempt, text))
  }

  /// Whether neither changes nor other jobs start it: it waits for a person.
  private func isLeftOut(_ id: JobID) -> Bool { state(id) == .skipped(because: .manual) }

  /// Ends attempts in progress, and makes ended jobs wait again.
  private mutating func execute(again jobs: Set<JobID>) {
    guard !jobs.isEmpty else { return }
    reopen()
    var all = withCompanions(jobs)
    if all.contains(where: ending.precedes) {
      resetFinalJobs()
      all = withCompanions(all.union(retiredServices(neededBy: ending.jobs)))
    }
    let order = all.sorted()
    for id in order where nodes[id.index].ticket == nil && state(id) != .paused(started: false) {
      // The pool may have been reduced since the job ended.
      for (pool, amount) in graph[id].uses where amount > run.pools[pool] ?? amount {
        changePool(pool, by: amount - (run.pools[pool] ?? amount))
      }
      nodes[id.index].forgetAttempts()
      set(id, .waiting)
    }
    for id in order { restart(id) }
    for id in order where state(id) == .waiting { reconsider(id) }
    for id in order { holdDependents(of: id) }
  }

  /// Opens a run again that the failure policy has closed.
  private mutating func reopen() {
    guard hasGivenUp else { return }
    hasGivenUp = false
    gate.open()
    // They were to end after the jobs that need them.
    for id in ending.services where nodes[id.index].isHeld {
      nodes[id.index].isHeld = false
      nodes[id.index].canceller = nil
    }
  }

  /// The jobs with the services that they need, and with the jobs that were skipped because of one of them.
  private func withCompanions(_ jobs: Set<JobID>) -> Set<JobID> {
    var all = jobs
    var count = 0
    while count < all.count {
      count = all.count
      addServices(to: &all)
      addSkipped(to: &all)
    }
    return all
  }

  /// Starts the services again that these jobs, which were added, need and that have ended as unneeded.
  mutating func startServices(neededBy ids: [JobID]) {
    execute(again: retiredServices(neededBy: ids).filter { !isClosed(to: $0) })
  }

  /// The services that have ended as unneeded, or are being ended, and that these jobs need if they start.
  private func retiredServices(neededBy ids: [JobID]) -> Set<JobID> {
    let open = ids.lazy.filter { !state($0).isTerminal }
    return Set(open.flatMap { graph[$0].needs.map(\.job) }.filter(isRetired))
  }

  /// Adds the services that `jobs` need and that have ended, or are being ended by no person.
  private func addServices(to jobs: inout Set<JobID>) {
    var open = Array(jobs)
    while let id = open.popLast() {
      for need in graph[id].needs.lazy.map(\.job) where graph[need].service != nil && !isLeftOut(need) {
        guard state(need).isTerminal || isRetired(need) else { continue }
        if jobs.insert(need).inserted { open.append(need) }
      }
    }
  }

  /// Adds the jobs that were skipped only because one of `jobs` had ended as it did: they wait for its new end.
  private func addSkipped(to jobs: inout Set<JobID>) {
    let causes = jobs
    var open = Array(jobs)
    while let id = open.popLast() {
      for dependent in run.jobs[id.index].dependents {
        guard case .skipped(because: .job(let cause)) = state(dependent), causes.contains(cause) else { continue }
        if jobs.insert(dependent).inserted { open.append(dependent) }
      }
    }
  }

  /// Ends an attempt in progress, so that another one begins.
  private mutating func restart(_ id: JobID) {
    let canceller = nodes[id.index].canceller
    guard let ticket = nodes[id.index].ticket, canceller == nil || canceller?.isOfSchedule == true else { return }
    // One that is being withdrawn waits again.
    guard state(id).isActive else { return nodes[id.index].canceller = nil }
    nodes[id.index].canceller = .restart
    nodes[id.index].deadline = nil
    nodes[id.index].silenceEnd = nil
    stateEnding(id, by: .restart)
    // Its end was requested before.
    if canceller == nil { actions.append(.cancel(ticket: ticket)) }
  }

  /// Makes a job wait whose attempt was ended so that another one begins.
  ///
  /// With `isPaused`, it waits for the person too who has paused that attempt.
  mutating func begin(again id: JobID, isPaused: Bool) {
    nodes[id.index].forgetAttempts()
    if isClosed(to: id) { return end(id, .cancelled(by: run.stopping?.by ?? .policy)) }
    if isUnneeded(id) { return end(id, .succeeded(upToDate: false)) }
    reconsider(id, isPaused: isPaused)
    holdDependents(of: id)
  }

  /// Makes ready dependents wait for a job that has been reopened.
  mutating func holdDependents(of id: JobID) {
    for dependent in run.jobs[id.index].dependents where !isMet(dependent) {
      guard case .ready = state(dependent) else { continue }
      if let ticket = nodes[dependent.index].ticket { withdraw(dependent, ticket) } else { reconsider(dependent) }
    }
  }

  private func canRetry(_ id: JobID) -> Bool {
    switch state(id) {
    case .failed, .cancelled, .skipped, .succeeded(upToDate: true): true
    case .succeeded(upToDate: false): graph[id].isManual
    default: false
    }
  }

  /// Whether the job is a service with an attempt in progress.
  private func canRestart(_ id: JobID) -> Bool { graph[id].service != nil && state(id).isActive }

  // MARK: Watched inputs

  mutating func setWatching(_ isOn: Bool, fault: String? = nil) {
    guard isOn != run.isWatching || fault != nil else { return }
    journal.state(.watchChanged(isOn, fault: fault))
    for index in nodes.indices { nodes[index].echo = nil }
    if !isOn { for id in ending.services { retire(id) } }
  }

  /// Notes a change of an input; whether the job is left alone because its own attempts make the change, or lead to it.
  private mutating func isEcho(_ id: JobID, _ change: InputChange) -> Bool {
    guard let attempt = run.jobs[id.index].attempt else { return false }
    var echo = nodes[id.index].echo ?? InputEcho()
    defer { nodes[id.index].echo = echo }
    if echo.isOver { return true }
    echo.note(change, at: journal.now - attempt.startedAt)
    guard echo.isOver else { return false }
    let isOwn = echo.writer == .own || graph[id].service != nil
    let (count, place) = echo.writer == .own ? ("three", "creates, or in watch.ignore") : ("five", "watch.ignore")
    let text =
      "\(change.path) has changed in \(count) attempts in a row, each time as long after the start: this job reads it, "
      + "and \(isOwn ? "seems" : "a job that follows seems") to write it. Its inputs are watched no longer; name the "
      + "file in \(place)"
    journal.state(.jobLog(id, attempt: attempt.number, LogLine(.note, text)))
    return true
  }

  /// Whether services stay up while no job needs them.
  var keepsServices: Bool { (graph.staysUp || run.isWatching) && run.stopping == nil && !hasGivenUp }

  /// Ends the services that only wait for a person to end the run, which cancels no work.
  mutating func endKeptServices(by canceller: JobState.Canceller) {
    guard canceller == .person, graph.staysUp || run.isWatching, ending.openOrdinary == 0 else { return }
    for id in ending.services where !state(id).isTerminal {
      if nodes[id.index].ticket != nil {
        cancel(id, by: .unneeded, kill: false, inOrder: true)
      } else {
        end(id, attempts(id) > 0 ? .succeeded(upToDate: false) : .skipped(because: .unneeded))
      }
    }
  }
}

extension JobState.Canceller {
  /// Whether the schedule has requested the end, which a later need of the job revokes.
  var isOfSchedule: Bool { self == .unneeded || self == .policy }
}

extension Job {
  /// Whether it creates a path, or a folder above it.
  func creates(_ path: BytePath) -> Bool {
    creates.lazy.map { BytePath($0) }.contains { path == $0 || path.relative(to: $0) != nil }
  }
}

/// Changes of one input that come again and again at the same time after the start of an attempt of the job that reads
/// it.
struct InputEcho: Equatable {
  private var path = ""
  private var offset: Duration = .zero
  private var count = 0
  /// Of the newest change.
  private(set) var writer = InputChange.Writer.own

  /// Whether there were so many attempts in a row that they are taken for the cause of the changes.
  ///
  /// The limit is higher where a person may save files while the writer executes.
  var isOver: Bool { count >= (writer == .own ? 3 : 5) }

  /// Notes a change seen at `offset` from the start of the newest attempt.
  mutating func note(_ change: InputChange, at offset: Duration) {
    guard change.writer != .unclear else { return }
    let difference = max(offset, self.offset) - min(offset, self.offset)
    let tolerance = change.writer == .service ? .milliseconds(200) : max(.milliseconds(200), offset / 10)
    let isSame = count > 0 && change.path == path && difference <= tolerance
    count = change.writer == .none ? 0 : isSame ? count + 1 : 1
    (path, self.offset, writer) = (change.path, offset, change.writer)
  }
}
