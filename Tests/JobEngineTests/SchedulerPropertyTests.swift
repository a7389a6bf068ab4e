import Basics
import Foundation
import JobModel
import Testing

@testable import JobEngine

/// Random graphs under random commands, with the rules of the schedule checked after every step.
///
/// The rules are computed from the graph, the states of the jobs and what the operation queue holds, each time anew, with
/// none of the scheduler's own bookkeeping.
struct SchedulerPropertyTests {
  /// For each of twenty blocks; `OPDASH_TRIALS` sets another number.
  private static let trials = ProcessInfo.processInfo.environment["OPDASH_TRIALS"].flatMap(UInt64.init) ?? 100

  @Test(arguments: 0..<20) func everyRuleHoldsAfterEveryStep(block: UInt64) {
    for seed in block * Self.trials..<(block + 1) * Self.trials {
      var trial = Trial(seed: seed, isRecorded: false)
      trial.execute()
      guard let fault = trial.fault else { continue }
      trial = Trial(seed: seed, isRecorded: true)
      trial.execute()
      Issue.record("seed \(seed): \(fault)\n\(trial.steps.suffix(12).joined(separator: "\n"))")
      return
    }
  }
}

/// One run of a random graph: an operation queue without operations, a person, and the rules.
private struct Trial {
  /// An attempt in the operation queue.
  private struct Attempt {
    let admission: Admission
    /// Whether it holds a slot; the scheduler may not have been told yet.
    var hasBegun = false
    var isKnownToHaveBegun = false
    var isAsked = false
    var isPaused = false
    /// How long it has executed without a pause.
    var executed: Duration = .zero
  }

  private let graph: JobGraph
  private let journal = RunJournal()
  private var scheduler: Scheduler
  private var random: SplitMix
  private var queue: [Attempt] = []
  private var isSuspended = false
  /// Retries without a person, since the person last asked for one.
  private var retries: [Int]
  /// Jobs that a person has paused and not resumed, cancelled or retried since.
  private var paused = Set<JobID>()
  /// Whether a failure has closed the run, as its policy says.
  private var isClosed = false
  private let isRecorded: Bool
  private(set) var steps: [String] = []
  private(set) var fault: String?

  /// `isRecorded` keeps the steps as text, which takes longer than all the rest.
  init(seed: UInt64, isRecorded: Bool) {
    self.isRecorded = isRecorded
    var random = SplitMix(seed: seed)
    graph = JobGraph.random(&random)
    scheduler = Scheduler(graph, journal: journal, options: .init(seed: seed))
    retries = Array(repeating: 0, count: graph.jobs.count)
    self.random = random
  }

  private var run: Run { journal.run }

  mutating func execute() {
    scheduler.start(
      RunStart(
        id: "1", name: "random", slots: graph.slots ?? 2, at: Date(timeIntervalSince1970: 0), jobs: graph.jobs.count,
        pools: graph.pools))
    carryOut()
    for _ in 0..<60 where fault == nil {
      step()
      carryOut()
      check()
    }
    finish()
  }

  private mutating func note(_ step: @autoclosure () -> String) { if isRecorded { steps.append(step()) } }

  // MARK: Steps

  private mutating func step() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<7: endSomeAttempt()
    case 7..<10: begin()
    case 10..<12: tellOfBeginnings()
    case 12..<14: advance(by: .seconds(Int.random(in: 1...4, using: &random)))
    case 14: send(.pause(someJobs()))
    case 15: send(.resume(someJobs()))
    case 16: send(Bool.random(using: &random) ? .cancel(someJobs(), by: .person) : .kill(someJobs()))
    case 17: send(.retry(someJobs(), withDependents: Bool.random(using: &random)))
    case 18:
      switch Int.random(in: 0..<3, using: &random) {
      case 0: send(.setSlots(Int.random(in: 1...4, using: &random)))
      case 1: send(.setDraining(!run.isDraining))
      default: send(.setPriority(someJobs(), JobPriority.allCases.randomElement(using: &random) ?? .normal))
      }
    default:
      // Seldom, because nothing begins after it.
      guard Int.random(in: 0..<12, using: &random) == 0 else { return endSomeAttempt() }
      send(.stop(Bool.random(using: &random) ? .terminate : .kill, by: .signal))
    }
  }

  private mutating func someJobs() -> [JobID] {
    let jobs = run.ids.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    return jobs.isEmpty ? [JobID(Int.random(in: graph.jobs.indices, using: &random))] : jobs
  }

  private mutating func send(_ command: JobCommand) {
    note("\(command)")
    switch command {
    case .pause(let jobs):
      for id in jobs where !run[id].state.isTerminal && run[id].cancelling == nil { paused.insert(id) }
    case .resume(let jobs), .cancel(let jobs, _), .kill(let jobs): paused.subtract(jobs)
    case .stop: paused = []
    case .retry(let jobs, let withDependents):
      let isRetried = jobs.contains { run[$0].state.isTerminal && !run[$0].state.isSuccess }
      if run.stopping == nil, isRetried { isClosed = false }
      guard run.stopping == nil else { break }
      for id in jobs where run[id].state.isTerminal && !run[id].state.isSuccess { retries[id.index] = 0 }
      for id in run.ids where run[id].state.isTerminal && !run[id].state.isSuccess {
        if withDependents { retries[id.index] = 0 }
        if case .skipped = run[id].state { retries[id.index] = 0 }
      }
    default: break
    }
    scheduler.handle(command)
  }

  private mutating func advance(by time: Duration) {
    note("advance \(time)")
    for index in queue.indices where queue[index].isKnownToHaveBegun && !queue[index].isPaused {
      queue[index].executed += time
    }
    journal.advance(to: journal.now + time)
    scheduler.wake()
  }

  /// Gives free slots to attempts without telling the scheduler.
  private mutating func begin() {
    guard !isSuspended else { return }
    for index in queue.indices where !queue[index].hasBegun {
      guard queue.count(where: \.hasBegun) < run.slots else { return }
      let id = queue[index].admission.job
      note("begins \(id.index)")
      checkStart(id)
      queue[index].hasBegun = true
    }
  }

  private mutating func tellOfBeginnings() {
    for index in queue.indices where queue[index].hasBegun && !queue[index].isKnownToHaveBegun { tell(index) }
  }

  private mutating func tell(_ index: Int) {
    let admission = queue[index].admission
    guard !queue[index].isKnownToHaveBegun else { return }
    queue[index].isKnownToHaveBegun = true
    note("started \(admission.job.index)")
    scheduler.attemptStarted(ticket: admission.ticket, pid: nil)
    carryOut()
    if run[admission.job].attempts.last?.number != admission.attempt { fault = "attempt numbers differ" }
  }

  private mutating func endSomeAttempt() {
    guard let index = queue.indices.filter({ queue[$0].hasBegun }).randomElement(using: &random) else { return begin() }
    end(index, Self.outcomes.randomElement(using: &random) ?? .succeeded)
  }

  private static let outcomes: [AttemptOutcome] = [.succeeded, .succeeded, .failed(JobFailure(.exit(1), "exit 1"))]

  private mutating func end(_ index: Int, _ outcome: AttemptOutcome) {
    let ticket = queue[index].admission.ticket
    tell(index)
    guard let index = queue.firstIndex(where: { $0.admission.ticket == ticket }) else { return }
    // An attempt that was asked to end mostly does, but may come to its own end before.
    let outcome = queue[index].isAsked && Int.random(in: 0..<3, using: &random) > 0 ? .cancelled : outcome
    let id = queue[index].admission.job
    // An attempt at its time limit fails; one that is cancelled then too fails if it would not have been retried.
    let isAtLimit = scheduler.nodes[id.index].excess != nil
    let cancelling = run[id].cancelling.flatMap { $0.by == .timeout ? nil : $0 }
    queue.remove(at: index)
    note("ended \(id.index) \(outcome)")
    paused.remove(id)
    scheduler.attemptEnded(ticket: ticket, outcome)
    checkEnd(of: id, outcome, cancelling, isAtLimit: isAtLimit)
    if case .backingOff = run[id].state { retries[id.index] += 1 }
    if case .failed(_, allowed: false) = run[id].state, graph.onFailure != .keepGoing { isClosed = true }
  }

  /// Does what the scheduler has decided.
  private mutating func carryOut() {
    while true {
      let actions = scheduler.takeActions()
      if actions.isEmpty { break }
      for action in actions { carryOut(action) }
    }
    for event in journal.takeEvents() {
      // The root of a chain may be skipped because nothing failed.
      guard case .jobState(let id, .skipped(.job(let root)), _, _) = event.fact,
        case .skipped(let cause) = run[root].state, cause != .outcome
      else { continue }
      fault = "\(id.index) is skipped because of \(root.index), which is skipped itself"
    }
    paused = paused.filter { !run[$0].state.isTerminal }
  }

  private mutating func carryOut(_ action: Scheduler.Action) {
    func index(_ ticket: Int) -> Int? { queue.firstIndex { $0.admission.ticket == ticket } }
    switch action {
    case .admit(let admission):
      queue.append(Attempt(admission: admission))
      checkStart(admission.job)
    case .withdraw(let ticket):
      guard let index = index(ticket), !queue[index].hasBegun else { return }
      queue.remove(at: index)
      scheduler.attemptWithdrawn(ticket: ticket)
    case .cancel(let ticket), .kill(let ticket):
      guard let index = index(ticket) else { return fault = "cancels an attempt that is not in the queue" }
      let id = queue[index].admission.job
      if run[id].cancelling == nil { fault = "\(id.index) is cancelled for no reason" }
      queue[index].isAsked = true
    case .pause(let ticket):
      guard let index = index(ticket), queue[index].hasBegun else { return fault = "pauses what has not begun" }
      queue[index].isPaused = true
    case .resume(let ticket):
      guard let index = index(ticket), queue[index].isPaused else { return fault = "resumes what is not paused" }
      queue[index].isPaused = false
    case .prioritize, .setWidth: break
    case .requestAllocation, .releaseAllocation: fault = "asks for an allocation without cluster jobs"
    case .setSuspended(let suspended): isSuspended = suspended
    }
  }

  // MARK: Rules

  private mutating func checkEnd(
    of id: JobID, _ outcome: AttemptOutcome, _ cancelling: JobRecord.Cancelling?, isAtLimit: Bool
  ) {
    switch (run[id].state, outcome, cancelling) {
    case (.succeeded, .succeeded, _), (.cancelled, .failed, .some): break
    // Another one may have killed what the first had cancelled.
    case (.cancelled(let by), .cancelled, let cancelling?) where by == cancelling.by || cancelling.isKill: break
    case (.failed(let failure, _), .cancelled, .some) where isAtLimit,
      (.failed(let failure, _), .failed, .some) where isAtLimit:
      if failure.cause != .timedOut { fault = "\(id.index) was at its limit, but says \(failure.reason)" }
      if retries[id.index] < graph[id].retry.max, !isClosed { fault = "\(id.index) failed, but was cancelled" }
    case (.failed(let failure, _), .cancelled, nil), (.backingOff(_, _, _, let failure), .cancelled, nil):
      if failure.cause != .timedOut { fault = "\(id.index) has timed out, but says \(failure.reason)" }
    case (.failed, .failed, nil), (.backingOff, .failed, nil): break
    default: fault = "\(id.index) ended with \(outcome) and is \(run[id].state)"
    }
  }

  private func isMet(_ id: JobID) -> Bool {
    graph[id].needs.allSatisfy { $0.when.isMet(by: run[$0.job].state) }
  }

  private func free(_ pool: String) -> Int {
    (graph.pools[pool] ?? 0) - queue.reduce(0) { $0 + (graph[$1.admission.job].uses[pool] ?? 0) }
  }

  /// The rules for an attempt that is admitted or begins.
  private mutating func checkStart(_ id: JobID) {
    if !isMet(id) { fault = "\(id.index) begins before its needs are met" }
    if run.stopping != nil { fault = "\(id.index) begins after the stop" }
    if isClosed { fault = "\(id.index) begins after a failure has closed the run" }
    if paused.contains(id) { fault = "\(id.index) begins although it is paused" }
    for pool in graph.pools.keys where free(pool) < 0 { fault = "pool \(pool) gives more than it has" }
    if queue.count(where: { $0.admission.job == id }) > 1 { fault = "\(id.index) has two attempts at once" }
  }

  private mutating func check() {
    guard fault == nil else { return }
    for id in run.ids { check(id) }
    checkThatNothingIdles()
  }

  private mutating func check(_ id: JobID) {
    let state = run[id].state
    let attempt = queue.first { $0.admission.job == id }
    if state.isActive != (attempt?.isKnownToHaveBegun ?? false) { fault = "\(id.index) is \(state)" }
    if state == .paused(started: true), attempt?.isPaused != true { fault = "\(id.index) is paused and executes" }
    if state == .executing, attempt?.isPaused == true { fault = "\(id.index) executes and is paused" }
    if state.isTerminal, attempt != nil { fault = "\(id.index) has ended with an attempt in the queue" }
    if !state.isTerminal, run.stopping != nil || isClosed, attempt == nil {
      fault = "\(id.index) is \(state) after the end"
    }
    if run[id].cancelling != nil, state.isActive, attempt?.isAsked != true { fault = "\(id.index) was not cancelled" }
    if retries[id.index] > graph[id].retry.max { fault = "\(id.index) is retried too often" }
    if let limit = graph[id].timeout, let attempt, state == .executing, attempt.executed >= limit, !attempt.isAsked {
      fault = "\(id.index) executes beyond its time limit"
    }
    if !state.isTerminal, attempt == nil, graph[id].needs.contains(where: { $0.when.isRuledOut(by: run[$0.job].state) })
    {
      fault = "\(id.index) waits for what can't come"
    }
    let unmet = graph[id].needs.count { !$0.when.isMet(by: run[$0.job].state) }
    if run[id].unmetNeeds != unmet { fault = "\(id.index) counts \(run[id].unmetNeeds) unmet needs, not \(unmet)" }
    // An attempt that has begun can't be withdrawn.
    if case .ready = state, unmet > 0, attempt?.hasBegun != true { fault = "\(id.index) is ready with unmet needs" }
    if state == .waiting, unmet == 0, run.stopping == nil, !isClosed { fault = "\(id.index) waits for nothing" }
  }

  /// With fewer attempts in the queue than slots no job may wait that could begin.
  private mutating func checkThatNothingIdles() {
    guard run.stopping == nil, !isClosed, !run.isDraining, queue.count < run.slots else { return }
    for id in run.ids where !queue.contains(where: { $0.admission.job == id }) {
      let state = run[id].state
      if state.isTerminal || paused.contains(id) || !isMet(id) { continue }
      if case .backingOff = state { continue }
      if graph[id].uses.contains(where: { free($0.key) < $0.value }) { continue }
      fault = "\(id.index) could begin and does not: \(state)"
    }
  }

  // MARK: The end

  /// Lets all that is left come to its end.
  private mutating func finish() {
    if run.isDraining { send(.setDraining(false)) }
    send(.resume(Array(run.ids)))
    carryOut()
    var rounds = 0
    while fault == nil, !run.isComplete {
      rounds += 1
      if rounds > 2000 { return fault = "the run does not end" }
      begin()
      if let index = queue.indices.first(where: { queue[$0].hasBegun }) {
        end(index, .succeeded)
      } else if let next = scheduler.nextWake {
        advance(by: max(.zero, next - journal.now))
      } else if queue.isEmpty {
        return fault = "jobs wait for ever: \(run.ids.filter { !run[$0].state.isTerminal }.map { (run[$0].state) })"
      }
      carryOut()
      check()
    }
    for pool in graph.pools.keys where fault == nil && free(pool) != graph.pools[pool] {
      fault = "pool \(pool) is not whole"
    }
    if fault == nil, run.counts.open != 0 || run.counts.all != graph.jobs.count { fault = "the counts don't add up" }
  }
}

extension JobState {
  fileprivate var isSuccess: Bool { if case .succeeded = self { true } else { false } }
}

extension JobGraph {
  fileprivate static func random(_ random: inout SplitMix) -> JobGraph {
    let pools = ["a": Int.random(in: 1...3, using: &random), "b": Int.random(in: 1...3, using: &random)]
    let jobs = (0..<Int.random(in: 2...9, using: &random)).map { index in
      let needs = (0..<index).filter { _ in Int.random(in: 0..<4, using: &random) == 0 }.map { need in
        let conditions: [JobNeed.Condition] = [.ok, .finished, .failed, .notOK, .anyFailed]
        return JobNeed(JobID(need), when: conditions.randomElement(using: &random) ?? .ok)
      }
      var uses: [String: Int] = [:]
      for (pool, size) in pools.sorted(by: { $0.key < $1.key }) where Int.random(in: 0..<3, using: &random) == 0 {
        uses[pool] = Int.random(in: 1...size, using: &random)
      }
      return Job(
        name: "j\(index)", work: .simulate(SimulatedWork()), needs: needs,
        priority: JobPriority.allCases.randomElement(using: &random) ?? .normal, uses: uses,
        timeout: Int.random(in: 0..<4, using: &random) == 0 ? .seconds(3) : nil,
        retry: RetryPolicy(max: Int.random(in: 0...2, using: &random)),
        allowFailure: Int.random(in: 0..<4, using: &random) == 0)
    }
    return JobGraph(
      name: "random", jobs: jobs, slots: Int.random(in: 1...3, using: &random),
      onFailure: [.keepGoing, .keepGoing, .finishRunning, .stopNow].randomElement(using: &random) ?? .keepGoing,
      schedule: [.criticalPath, .priority, .fifo].randomElement(using: &random) ?? .fifo, pools: pools)
  }
}
