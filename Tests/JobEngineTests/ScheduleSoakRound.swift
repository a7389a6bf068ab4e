import Basics
import Foundation
import JobModel

@testable import JobEngine

/// One run of a random graph in simulated time: the operation queue, the programs, a person, and what ends the run.
struct ScheduleSoakRound {
  enum Ending: CaseIterable {
    case stop
    case stopAndKill
    case kill
    case cancellation
    case cancellations
    case timeLimit
    /// The run goes on until all is done.
    case none
  }

  private enum Step {
    case told(ticket: Int)
    /// The gate has turned the attempt back.
    case refused(ticket: Int)
    case wrote(ticket: Int)
    case usable(ticket: Int)
    case ended(ticket: Int, stamp: Int)
    case answer(JobID)
    case command(JobCommand)
    /// A person lets go on all that is paused.
    case release
  }

  private struct Event: Comparable {
    var time: Duration
    var order: Int
    var step: Step

    static func < (left: Event, right: Event) -> Bool { (left.time, left.order) < (right.time, right.order) }
    static func == (left: Event, right: Event) -> Bool { left.order == right.order }
  }

  /// An attempt in the operation queue.
  private struct Attempt {
    let admission: Admission
    var hasBegun = false
    var isTold = false
    var isAsked = false
    var isPaused = false
    var outcome = AttemptOutcome.succeeded
    /// The limit because of which it is cancelled.
    var excess: JobFailure?
    var endsAt: Duration = .zero
    var left: Duration = .zero
    /// Voids earlier plans for its end.
    var stamp = 0
  }

  let ending: Ending
  private let graph: JobGraph
  private let journal = RunJournal()
  private var scheduler: Scheduler
  private var random: SplitMix
  private var agenda = Heap<Event>()
  private var nextOrder = 0
  private var attempts: [Int: Attempt] = [:]
  /// The tickets that wait for a slot, in the order of their admission.
  private var queued: [Int] = []
  private var usedSlots = 0
  private var isSuspended = false
  /// The attempts that the scheduler takes back.
  private var leaving = Set<Int>()
  /// Whether a failure has closed the run, as its policy says.
  private var isClosed = false
  /// The stop that was stated last.
  private var stopped: StopLevel?
  /// The last attempt of each job whose start was stated.
  private var begun: [Int]
  /// The jobs of `finally` that a person has retried, whatever the outcome.
  private var forced = Set<JobID>()
  /// The ends of the others, as they were when the jobs of `finally` were let go.
  private var outcomes: Set<FinalCondition>?
  /// How often each job has ended, less how often it was opened again.
  private var finalStates: [Int]
  private(set) var ends: [StateClass: Int] = [:]
  private(set) var (served, retried, approved) = (0, 0, 0)
  private(set) var steps: [String] = []
  private(set) var fault: String?

  init(seed: UInt64, jobs: Int) {
    var random = SplitMix(seed: seed)
    graph = JobGraph.soak(jobs, &random)
    ending = Ending.allCases.randomElement(using: &random) ?? .stop
    scheduler = Scheduler(graph, journal: journal, options: .init(seed: seed))
    finalStates = Array(repeating: 0, count: jobs)
    begun = finalStates
    self.random = random
  }

  private var run: Run { _read { yield journal.run } }

  private func state(_ id: JobID) -> JobState { run.jobs[id.index].state }

  private func name(_ id: JobID) -> String { graph.jobs[id.index].name }

  mutating func execute() {
    let span = plan()
    var start = runStart(graph, slots: graph.slots ?? 8)
    if ending == .timeLimit { start.timeout = (span * random.unit()).wholeMicroseconds }
    let restored = Int.random(in: 0..<4, using: &random) == 0 ? restored() : [:]
    scheduler.start(start, restored: restored)
    settle()
    drain()
    checkEnd()
    guard fault == nil, run.stopping == nil, Bool.random(using: &random) else { return }
    apply(.retry(someJobs(200), withDependents: true))
    drain()
    checkEnd()
  }

  /// Puts the commands of a person and the end into the agenda; returns about how long the run takes.
  private mutating func plan() -> Duration {
    let work = graph.jobs.reduce(Duration.zero) { $0 + ($1.usual?.median ?? .seconds(2)) }
    let span = work / (graph.slots ?? 8)
    for _ in 0..<Int.random(in: 0..<12, using: &random) { post(.command(someCommand()), at: span * random.unit()) }
    let moment = span * (1.2 * random.unit())
    switch ending {
    case .stop: post(.command(.stop(.terminate, by: .signal)), at: moment)
    case .stopAndKill:
      post(.command(.stop(.terminate, by: .person)), at: moment)
      post(.command(.stop(.kill, by: .person)), at: moment + .seconds(4 * random.unit()))
    case .kill: post(.command(.stop(.kill, by: .signal)), at: moment)
    case .cancellation: post(.command(.cancel(graph.jobs.indices.map { JobID($0) }, by: .person)), at: moment)
    case .cancellations:
      for index in graph.jobs.indices.shuffled(using: &random) {
        post(.command(.cancel([JobID(index)], by: .person)), at: moment + .seconds(6 * random.unit()))
      }
    case .timeLimit, .none: break
    }
    // After a stop nothing may need a person.
    if ending == .none || ending == .cancellation || ending == .cancellations { post(.release, at: span * 1.3) }
    return span
  }

  private mutating func restored() -> [JobID: EarlierSuccess] {
    let jobs = graph.jobs.indices.filter { graph.jobs[$0].service == nil && graph.jobs[$0].finally == nil }
    return Dictionary(
      uniqueKeysWithValues: jobs.prefix(Int.random(in: 0..<jobs.count, using: &random)).map {
        (JobID($0), EarlierSuccess(run: "0", at: .distantPast, took: .seconds(1)))
      })
  }

  private mutating func someJobs(_ count: Int) -> [JobID] {
    (0..<Int.random(in: 1...count, using: &random)).map { _ in
      JobID(Int.random(in: graph.jobs.indices, using: &random))
    }
  }

  private mutating func someCommand() -> JobCommand {
    switch Int.random(in: 0..<11, using: &random) {
    case 0: .pause(someJobs(300))
    case 1: .resume(someJobs(300))
    case 2: .cancel(someJobs(20), by: .person)
    case 3: .kill(someJobs(20))
    case 4, 5: .retry(someJobs(300), withDependents: Bool.random(using: &random))
    case 6: .setSlots(Int.random(in: 1...20, using: &random))
    case 7, 8:
      .changePool(
        graph.pools.keys.sorted().randomElement(using: &random) ?? "", by: Int.random(in: -8...8, using: &random))
    case 9: .setPriority(someJobs(100), JobPriority.allCases.randomElement(using: &random) ?? .normal)
    default: .setDraining(Bool.random(using: &random))
    }
  }

  private mutating func post(_ step: Step, at time: Duration) {
    agenda.push(Event(time: time, order: nextOrder, step: step))
    nextOrder += 1
  }

  private mutating func post(_ step: Step, after seconds: Double) { post(step, at: journal.now + .seconds(seconds)) }

  private mutating func note(_ step: @autoclosure () -> String) {
    if steps.count > 100 { steps.removeFirst(50) }
    steps.append("\(journal.now) \(step())")
  }

  // MARK: Time

  private mutating func drain() {
    var count = 0
    while fault == nil, !run.isComplete || agenda.first != nil {
      count += 1
      if count % 500 == 0 { check() }
      if count > 200 * graph.jobs.count { return fault = "the run does not end" }
      let wake = scheduler.nextWake
      if let event = agenda.first, wake.map({ event.time <= $0 }) ?? true {
        _ = agenda.pop()
        journal.advance(to: event.time)
        carryOut(event.step)
      } else if let wake {
        journal.advance(to: wake)
        scheduler.wake()
      } else {
        let open = run.ids.filter { !state($0).isTerminal }.prefix(8)
        return fault = "wait for ever: \(open.map { "\(name($0)) \(state($0))" })"
      }
      settle()
    }
  }

  private mutating func carryOut(_ step: Step) {
    switch step {
    case .told(let ticket):
      tell(ticket)
      // Once more, as the engine does if the end of the run has stated the start.
      if attempts[ticket] != nil { scheduler.attemptStarted(ticket: ticket, pid: 1) }
    case .refused(let ticket):
      attempts[ticket] = nil
      scheduler.attemptWithdrawn(ticket: ticket)
    case .wrote(let ticket): if attempts[ticket] != nil { scheduler.attemptSpoke(ticket: ticket) }
    case .usable(let ticket): if attempts[ticket] != nil { scheduler.serviceIsReady(ticket: ticket) }
    case .ended(let ticket, let stamp): if attempts[ticket]?.stamp == stamp { end(ticket) }
    case .answer(let id):
      if state(id) == .ready(for: .person) { approved += 1 }
      apply(Int.random(in: 0..<3, using: &random) > 0 ? .approve([id]) : .cancel([id], by: .person))
    case .command(let command): apply(command)
    case .release:
      apply(.setDraining(false))
      apply(.resume(Array(run.ids)))
    }
  }

  private mutating func apply(_ command: JobCommand) {
    // It would hold the jobs of `finally` until the person takes it back.
    if run.stopping != nil {
      switch command {
      case .pause, .setDraining(true): return
      default: break
      }
    }
    note("\(command)".prefix(120).description)
    if case .retry(let jobs, _) = command, run.stopping == nil {
      forced.formUnion(jobs)
      let again = jobs.contains { id in
        switch state(id) {
        case .failed, .cancelled, .skipped, .succeeded(upToDate: true): true
        default: false
        }
      }
      if again { isClosed = false }
    }
    scheduler.handle(command)
    settle()
  }

  // MARK: The operation queue

  /// Does what the scheduler has decided, and gives free slots to attempts.
  private mutating func settle() {
    while fault == nil {
      let actions = scheduler.takeActions()
      for event in journal.takeEvents() { look(at: event.fact) }
      for case .withdraw(let ticket) in actions { leaving.insert(ticket) }
      for action in actions { carryOut(action) }
      fillSlots()
      if actions.isEmpty, !scheduler.hasActions { break }
    }
  }

  private mutating func fillSlots(unheard: Bool = false) {
    guard !isSuspended else { return }
    while usedSlots < run.slots, !queued.isEmpty { begin(queued.remove(at: firstQueued), unheard: unheard) }
  }

  private var firstQueued: Int {
    var best = 0
    for index in queued.indices where level(queued[index]) > level(queued[best]) { best = index }
    return best
  }

  private func level(_ ticket: Int) -> Int { attempts[ticket]?.admission.priority.level ?? 0 }

  private mutating func look(at fact: JobFact) {
    if case .stopRequested(let level, _) = fact { stopped = level }
    if !scheduler.ending.haveBegun { outcomes = nil } else if outcomes == nil { outcomes = currentOutcomes }
    guard case .jobState(let id, let state, let attempt, _) = fact else { return }
    if state.isActive, attempt > begun[id.index] {
      begun[id.index] = attempt
      for (ticket, other) in attempts where other.admission.job == id { attempts[ticket]?.isTold = true }
      checkStart(of: id)
    }
    if state.isTerminal {
      finalStates[id.index] += 1
      if finalStates[id.index] > 1 { fault = "\(name(id)) ended twice, at last as \(state)" }
    } else if finalStates[id.index] == 1 {
      finalStates[id.index] = 0
    }
    switch state {
    case .ready(for: .person): post(.answer(id), after: 20 * random.unit())
    case .serving: served += 1
    case .backingOff: retried += 1
    case .failed(_, allowed: false):
      if graph.onFailure != .keepGoing, graph.jobs[id.index].finally == nil { isClosed = true }
    case .skipped(.job(let root)):
      if case .skipped(.job) = self.state(root) { fault = "\(id.index) is skipped because of a skipped job" }
    default: break
    }
  }

  private mutating func carryOut(_ action: Scheduler.Action) {
    switch action {
    case .admit(let admission):
      checkAdmission(admission)
      attempts[admission.ticket] = Attempt(admission: admission)
      scheduler.gate.add(admission.ticket, isFinal: graph[admission.job].finally != nil)
      if graph.jobs[admission.job.index].service == nil {
        queued.append(admission.ticket)
      } else {
        begin(admission.ticket)
      }
    case .withdraw(let ticket):
      guard let index = queued.firstIndex(of: ticket) else { return }
      queued.remove(at: index)
      attempts[ticket] = nil
      scheduler.attemptWithdrawn(ticket: ticket)
    case .cancel(let ticket):
      attempts[ticket]?.excess = scheduler.excess(of: ticket)
      ask(ticket, kill: false)
    case .kill(let ticket): ask(ticket, kill: true)
    case .pause(let ticket):
      guard var attempt = attempts[ticket], !attempt.isAsked else { return }
      attempt.isPaused = true
      attempt.left = max(.zero, attempt.endsAt - journal.now)
      attempt.stamp += 1
      attempts[ticket] = attempt
    case .resume(let ticket):
      guard let attempt = attempts[ticket], attempt.isPaused, !attempt.isAsked else { return }
      attempts[ticket]?.isPaused = false
      planEnd(ticket, attempt.outcome, after: attempt.left)
    case .prioritize(let ticket, let priority):
      guard let attempt = attempts[ticket] else { return }
      attempts[ticket] = Attempt(
        admission: .init(
          ticket: ticket, job: attempt.admission.job, attempt: attempt.admission.attempt, priority: priority,
          endRule: attempt.admission.endRule),
        hasBegun: attempt.hasBegun, isTold: attempt.isTold, isAsked: attempt.isAsked, isPaused: attempt.isPaused,
        outcome: attempt.outcome, excess: attempt.excess, endsAt: attempt.endsAt, left: attempt.left,
        stamp: attempt.stamp)
    case .setWidth, .requestAllocation, .releaseAllocation: break
    case .setSuspended(let suspended): isSuspended = suspended
    }
  }

  private mutating func planEnd(_ ticket: Int, _ outcome: AttemptOutcome, after time: Duration) {
    guard let stamp = attempts[ticket].map({ $0.stamp + 1 }) else { return }
    attempts[ticket]?.stamp = stamp
    attempts[ticket]?.outcome = outcome
    attempts[ticket]?.endsAt = journal.now + time
    post(.ended(ticket: ticket, stamp: stamp), at: journal.now + time)
  }

  /// A program that is asked to end mostly does so soon, and some only at the end of their grace.
  private mutating func ask(_ ticket: Int, kill: Bool) {
    guard let attempt = attempts[ticket], attempt.isTold else { return fault = "cancels what has not begun" }
    let id = attempt.admission.job
    if graph[id].service != nil, !kill, attempt.excess == nil { checkOrder(of: id) }
    // Its time limit was over before.
    if attempt.isAsked, !kill { return }
    attempts[ticket]?.isAsked = true
    let time: Duration = kill ? .zero : [.zero, .milliseconds(200), .seconds(5)].randomElement(using: &random) ?? .zero
    let outcome: [AttemptOutcome] = [
      .cancelled, .cancelled, .cancelled, .failed(JobFailure(.exit(1), "exit 1")), .succeeded,
    ]
    planEnd(ticket, outcome.randomElement(using: &random) ?? .cancelled, after: time)
  }

  /// Of an attempt that is `unheard` the engine hears after the end that has made room for it.
  private mutating func begin(_ ticket: Int, unheard: Bool = false) {
    guard let id = attempts[ticket]?.admission.job else { return }
    guard scheduler.gate.pass(ticket) else { return post(.refused(ticket: ticket), at: journal.now) }
    attempts[ticket]?.hasBegun = true
    let job = graph[id]
    if !leaving.contains(ticket) { checkServices(of: id) }
    if job.service == nil { usedSlots += 1 }
    if unheard {
      post(.told(ticket: ticket), at: journal.now)
    } else if job.service != nil || Int.random(in: 0..<8, using: &random) > 0 {
      tell(ticket)
    } else {
      post(.told(ticket: ticket), after: random.unit())
    }
    guard attempts[ticket]?.isAsked == false else { return }
    let chance = Int.random(in: 0..<100, using: &random)
    if job.service != nil {
      // One in ten can never be used, two die, one of them after it could be used.
      if chance >= 10 { post(.usable(ticket: ticket), after: 1 + random.unit()) }
      if chance >= 80 {
        let outcome: AttemptOutcome = chance >= 90 ? .succeeded : .failed(JobFailure(.signal(11), "SIGSEGV (139)"))
        planEnd(ticket, outcome, after: .seconds(20 * random.unit()))
      }
      return
    }
    if job.silence != nil, Bool.random(using: &random) { post(.wrote(ticket: ticket), after: 2) }
    let time = (job.usual?.median ?? .seconds(2)) * (0.5 + random.unit())
    planEnd(
      ticket, chance < 20 ? .failed(JobFailure(chance < 10 ? .network : .exit(1), "broken")) : .succeeded, after: time)
  }

  private mutating func tell(_ ticket: Int) {
    guard attempts[ticket]?.isTold == false else { return }
    attempts[ticket]?.isTold = true
    scheduler.attemptStarted(ticket: ticket, pid: nil)
    settle()
  }

  private mutating func end(_ ticket: Int) {
    tell(ticket)
    // Asked for at its start, in which it was still taken for one that had not begun.
    guard let attempt = attempts.removeValue(forKey: ticket) else { return }
    let id = attempt.admission.job
    let isAllowed = graph.jobs[id.index].allowFailure
    let closesRun = attempt.admission.endRule?.closesRun(
      attempt.outcome, excess: attempt.excess, outputMatches: isAllowed)
    if closesRun == true { scheduler.gate.hold(ticket) }
    if graph.jobs[id.index].service == nil { usedSlots -= 1 }
    // The operation queue does not wait for the engine.
    if Bool.random(using: &random) { fillSlots(unheard: true) }
    if attempt.outcome == .succeeded {
      journal.state(.jobOutputs(id, ["v": Bool.random(using: &random) ? "yes" : "no"]))
    }
    scheduler.attemptEnded(ticket: ticket, attempt.outcome, outputMatches: isAllowed)
  }

  // MARK: Rules

  private func free(_ pool: String) -> Int {
    attempts.values.reduce(run.pools[pool] ?? 0) { $0 - (graph.jobs[$1.admission.job.index].uses[pool] ?? 0) }
  }

  /// How the jobs that are not of `finally` have ended.
  private var currentOutcomes: Set<FinalCondition> {
    let states = run.ids.lazy.filter { graph.jobs[$0.index].finally == nil }.map { state($0) }
    let hasFailed = states.contains { if case .failed(_, allowed: false) = $0 { true } else { false } }
    let isCancelled = states.contains { if case .cancelled = $0 { true } else { false } }
    return hasFailed ? [.failed, .always] : isCancelled ? [.always] : [.ok, .always]
  }

  private mutating func checkAdmission(_ admission: Admission) {
    let (id, job) = (admission.job, graph[admission.job])
    if !job.needs.allSatisfy({ $0.when.isMet(by: state($0.job)) }) { fault = "\(job.name) starts before its needs" }
    let failing = job.needs.filter { $0.when == .anyFailed }
    if !failing.isEmpty, !failing.contains(where: { JobNeed.Condition.failed.isMet(by: state($0.job)) }) {
      fault = "\(job.name) starts without a failure"
    }
    if attempts.values.contains(where: { $0.admission.job == id }) { fault = "\(job.name) has two attempts at once" }
    for (pool, amount) in job.uses where free(pool) < amount {
      fault = "\(job.name) takes \(amount) of \(pool), which has \(free(pool)) left"
    }
    guard let when = job.finally else {
      if run.stopping != nil { fault = "\(job.name) starts after the stop" }
      if isClosed { fault = "\(job.name) starts after a failure has closed the run" }
      return
    }
    if run.stopping?.level == .kill { fault = "\(job.name) starts after the kill" }
    if !forced.contains(id), outcomes?.contains(when) != true {
      fault = "\(job.name) is for \(when), and starts after \(outcomes.map { "\($0)" } ?? "-"), now \(currentOutcomes)"
    }
    let early = run.ids.first {
      graph.jobs[$0.index].finally == nil && graph.jobs[$0.index].service == nil && !state($0).isTerminal
    }
    if let early { fault = "\(job.name) starts before the end of \(graph.jobs[early.index].name)" }
  }

  /// No start is stated after the end of the run.
  private mutating func checkStart(of id: JobID) {
    let isOver = graph[id].finally != nil ? stopped == .kill : stopped != nil || isClosed
    if isOver { fault = "\(name(id)) is executing after the end of the run" }
  }

  /// What begins can use the services that it needs.
  private mutating func checkServices(of id: JobID) {
    for need in graph[id].needs where need.when == .ready {
      let service = run.jobs[need.job.index]
      if service.state == .serving, service.cancelling == nil { continue }
      fault = "\(name(id)) begins while \(name(need.job)) is \(StateClass(service).word)"
    }
  }

  /// A service that no person has cancelled or restarted ends after the jobs that need it.
  private mutating func checkOrder(of id: JobID) {
    guard ![.person, .restart].contains(run.jobs[id.index].cancelling?.by) else { return }
    let user = run.jobs[id.index].edges.first { !state($0.job).isTerminal && state($0.job).isActive }
    if let user, run.jobs[id.index].cancelling != nil {
      fault =
        "\(name(id)) is ended (\(run.jobs[id.index].cancelling.map { "\($0.by)" } ?? "")) before \(name(user.job))"
    }
  }

  private mutating func check() {
    guard fault == nil else { return }
    let inQueue = Dictionary(uniqueKeysWithValues: attempts.values.map { ($0.admission.job, $0) })
    for id in run.ids {
      let (name, state, attempt) = (self.name(id), self.state(id), inQueue[id])
      if state.isActive != (attempt?.isTold ?? false) { fault = "\(name) is \(state)" }
      if state.isTerminal, attempt != nil { fault = "\(name) has ended with an attempt in the queue" }
      let unmet = graph.jobs[id.index].needs.count { !$0.when.isMet(by: self.state($0.job)) }
      if run.jobs[id.index].unmetNeeds != unmet {
        fault = "\(name) counts \(run.jobs[id.index].unmetNeeds) unmet needs, not \(unmet)"
      }
      let isOpen = graph.jobs[id.index].finally != nil ? scheduler.ending.haveBegun : run.stopping == nil && !isClosed
      if state == .waiting, unmet == 0, isOpen { fault = "\(name) waits for nothing" }
      if !state.isTerminal, attempt == nil, graph.jobs[id.index].finally == nil, run.stopping != nil || isClosed {
        fault = "\(name) is \(state) after the end"
      }
    }
    checkThatNothingIdles(inQueue)
  }

  /// With fewer attempts in the queue than slots no job may wait for a slot, or for a pool that no other job waits for.
  private mutating func checkThatNothingIdles(_ inQueue: [JobID: Attempt]) {
    guard !run.isDraining,
      attempts.values.count(where: { graph.jobs[$0.admission.job.index].service == nil }) < run.slots
    else {
      return
    }
    let left = Dictionary(uniqueKeysWithValues: graph.pools.keys.map { ($0, free($0)) })
    let waiting = run.ids.filter { id in
      if case .ready(let room) = state(id) { inQueue[id] == nil && room != .person } else { false }
    }
    for id in waiting {
      let isKept = waiting.contains {
        $0 != id && !Set(graph.jobs[$0.index].uses.keys).isDisjoint(with: graph.jobs[id.index].uses.keys)
      }
      if isKept || graph.jobs[id.index].uses.contains(where: { (left[$0.key] ?? 0) < $0.value }) { continue }
      fault = "\(name(id)) could begin and does not: \(state(id))"
    }
  }

  private mutating func checkEnd() {
    guard fault == nil else { return }
    check()
    for id in run.ids where finalStates[id.index] != 1 || !state(id).isTerminal {
      return fault = "\(name(id)) has \(finalStates[id.index]) final states: \(state(id))"
    }
    let ends = run.jobs.reduce(into: [:]) { $0[StateClass($1.state), default: 0] += 1 }
    self.ends.merge(ends) { $0 + $1 }
    let summary = RunSummary(of: run)
    func count(_ kinds: StateClass...) -> Int { kinds.reduce(0) { $0 + ends[$1, default: 0] } }
    let isSummed =
      summary.succeeded == count(.succeeded, .upToDate) && summary.failed == count(.failed, .timedOut)
      && summary.allowed == count(.allowedFailure) && summary.cancelled == count(.cancelled)
      && summary.skipped == count(.skipped) && summary.left == 0 && run.counts.open == 0
      && run.counts.active == 0 && run.counts.openFinal == 0
    if !isSummed { fault = "the counts don't add up: \(summary), \(ends)" }
    if !attempts.isEmpty || usedSlots != 0 || scheduler.inQueue != 0 || scheduler.admittedToSlots != 0 {
      fault = "attempts are left: \(attempts.count), \(scheduler.inQueue)"
    }
    if let wake = scheduler.nextWake, ending != .timeLimit || run.stopping != nil {
      fault = "an alarm is left for \(wake)"
    }
    if run.stopping != nil, !run.isStopped { fault = "the run is over and not stopped" }
  }
}
