import Basics
import Dispatch
import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

struct AttemptGateTests {
  /// Tickets 0 and 1 are of ordinary jobs, 2 is of a job of `finally`, 3 is one that the cluster starts.
  private func gate() -> AttemptGate {
    let gate = AttemptGate()
    gate.add(0, isFinal: false)
    gate.add(1, isFinal: false)
    gate.add(2, isFinal: true)
    gate.add(3, isFinal: false, startsAtOnce: false)
    return gate
  }

  @Test func afterACloseOnlyTheJobsOfFinallyPass() {
    let gate = gate()
    #expect(gate.pass(0))
    gate.close(to: .final)
    #expect(!gate.pass(1) && gate.pass(2))
    #expect(!gate.hasRefused(0) && gate.hasRefused(1) && !gate.hasRefused(2))
  }

  @Test func aKillLetsNothingPassAndNothingLowersIt() {
    let gate = gate()
    gate.close(to: .none)
    gate.close(to: .final)
    #expect(!gate.pass(0) && !gate.pass(2))
  }

  @Test func aCloseFindsThePassedWhoseStartIsNotStated() {
    let gate = gate()
    for ticket in [1, 0, 3] { #expect(gate.pass(ticket)) }
    gate.tell(1)
    gate.close(to: .final)
    // The cluster says itself when it starts a job.
    #expect(gate.takePassed() == [0])
    #expect(gate.takePassed().isEmpty)
  }

  @Test func aCloseLeavesOutTheJobsOfFinallyThatCouldStillPass() {
    let gate = gate()
    for ticket in 0...2 { #expect(gate.pass(ticket)) }
    gate.close(to: .final)
    #expect(gate.takePassed() == [0, 1])
    gate.close(to: .none)
    #expect(gate.takePassed() == [2])
  }

  @Test func anEndHoldsTheGateUntilTheEngineHasDecided() {
    let gate = gate()
    #expect(gate.pass(0))
    gate.hold(0)
    #expect(gate.isHeld && !gate.pass(1) && gate.pass(2))
    gate.leave(0)
    #expect(!gate.isHeld)
    gate.add(4, isFinal: false)
    #expect(gate.pass(4))
  }

  @Test func anAttemptThatHasLeftHoldsNothingAndPassesNever() {
    let gate = gate()
    gate.leave(0)
    gate.hold(0)
    #expect(!gate.isHeld && !gate.pass(0) && !gate.hasRefused(0))
  }

  @Test func aGateThatIsOpenedAgainLetsPass() {
    let gate = gate()
    gate.close(to: .final)
    gate.open()
    #expect(gate.pass(0))
  }

  // MARK: Which ends close the run

  private static let broken = JobFailure(.exit(1), "exit 1")
  private static let late = JobFailure(.timedOut, "timed out")

  private func closes(
    _ outcome: AttemptOutcome, retries: RetryPolicy = .never, isLast: Bool = true, successCloses: Bool = false,
    excess: JobFailure? = nil, matches: Bool = false
  ) -> Bool {
    EndRule(policy: retries, isLast: isLast, successCloses: successCloses)
      .closesRun(outcome, excess: excess, outputMatches: matches)
  }

  @Test func aFailureClosesTheRunUnlessARetryFollows() {
    #expect(closes(.failed(Self.broken)))
    #expect(!closes(.failed(Self.broken), retries: RetryPolicy(max: 1), isLast: false))
    let onlyNetwork = RetryPolicy(max: 1, only: [.network])
    #expect(closes(.failed(Self.broken), retries: onlyNetwork, isLast: false))
    let onlyOutput = RetryPolicy(max: 1, patterns: ["x"])
    #expect(closes(.failed(Self.broken), retries: onlyOutput, isLast: false))
    #expect(!closes(.failed(Self.broken), retries: onlyOutput, isLast: false, matches: true))
  }

  @Test func aTimeLimitIsAFailureAndACancellationIsNot() {
    #expect(closes(.cancelled, excess: Self.late))
    #expect(!closes(.cancelled, retries: RetryPolicy(max: 1), isLast: false, excess: Self.late))
    #expect(!closes(.cancelled))
  }

  @Test func aSuccessClosesTheRunOnlyOfANeededService() {
    #expect(!closes(.succeeded) && !closes(.upToDate))
    #expect(closes(.succeeded, successCloses: true))
  }

  @Test func onlyJobsWhoseFailureEndsTheRunHaveARule() throws {
    var graph = graph(["a": [], "allowed": [], "page": []], onFailure: .finishRunning)
    graph.jobs[1].allowFailure = true
    graph.jobs[2].finally = .always
    func rules(_ graph: JobGraph) -> [Bool] {
      var scheduler = Scheduler(graph, journal: RunJournal())
      scheduler.start(runStart(graph, slots: 4))
      return scheduler.takeActions().compactMap { action in
        if case .admit(let admission) = action { admission.endRule != nil } else { nil }
      }
    }
    graph.slots = 4
    #expect(rules(graph) == [true, false])
    graph.onFailure = .keepGoing
    #expect(rules(graph) == [false, false])
  }

  @Test func whatHasPassedIsExecutingBeforeTheEndIsStated() throws {
    var graph = graph(["a": [], "b": []], onFailure: .stopNow)
    graph.slots = 2
    let journal = RunJournal()
    var scheduler = Scheduler(graph, journal: journal)
    scheduler.start(runStart(graph, slots: 2))
    for ticket in [0, 1] {
      scheduler.gate.add(ticket, isFinal: false)
      #expect(scheduler.gate.pass(ticket))
    }
    scheduler.attemptStarted(ticket: 0, pid: 10)
    scheduler.attemptEnded(ticket: 0, .failed(Self.broken))
    let states = journal.takeEvents().compactMap { event -> String? in
      guard case .jobState(let id, let state, _, _) = event.fact, state.isActive || state.isTerminal else { return nil }
      return "\(graph[id].name) \(state.isActive ? "executes" : "ends")"
    }
    #expect(states == ["a executes", "b executes", "a ends"])
    #expect(scheduler.takeActions().contains(.cancel(ticket: 1)))
    // The news of the start comes later and brings the process.
    scheduler.attemptStarted(ticket: 1, pid: 11)
    #expect(journal.run.jobs[1].attempt?.pid == 11)
  }

  // MARK: Rounds

  /// `OPDASH_GATE_ROUNDS` sets another number.
  private static let rounds = ProcessInfo.processInfo.environment["OPDASH_GATE_ROUNDS"].flatMap(Int.init) ?? 20

  enum Ending: CaseIterable {
    case finishRunning
    case stopNow
    case stop
  }

  /// Jobs that end as soon as they start, so that the next one is started before the engine hears of the end.
  private static func shortJobs(_ random: inout SplitMix, _ ending: Ending) -> JobGraph {
    let count = Int.random(in: 4...40, using: &random)
    let jobs = (0..<count).map { index in
      let fails = Int.random(in: 0..<8, using: &random) == 0
      let duration: Duration = Int.random(in: 0..<6, using: &random) == 0 ? .milliseconds(1) : .zero
      let work = SimulatedWork(duration: duration, steps: 1, failRate: fails ? 1 : 0, seed: 1)
      var job = Job(name: "j\(index)", work: .simulate(work))
      if index >= count - 2 { job.finally = .always }
      job.allowFailure = Int.random(in: 0..<6, using: &random) == 0
      if Int.random(in: 0..<4, using: &random) == 0 { job.retry = RetryPolicy(max: 1, initial: .milliseconds(1)) }
      return job
    }
    let policy: JobGraph.Failure =
      switch ending {
      case .finishRunning: .finishRunning
      case .stopNow: .stopNow
      case .stop: .keepGoing
      }
    return JobGraph(name: "test", jobs: jobs, onFailure: policy)
  }

  /// What is wrong with the starts in these events.
  private static func fault(in events: [JobEvent], of graph: JobGraph, slots: Int) -> String? {
    var run = Run()
    var isClosed = false
    var begun: [JobID: Int] = [:]
    for event in events {
      run.apply(event)
      if run.counts.active > slots { return "\(run.counts.active) are executing in \(slots) slots" }
      switch event.fact {
      case .stopRequested: isClosed = true
      case .jobState(let id, .failed(_, allowed: false), _, _) where graph[id].finally == nil:
        isClosed = isClosed || graph.onFailure != .keepGoing
      case .jobState(let id, .executing, let attempt, _) where attempt > begun[id] ?? 0:
        begun[id] = attempt
        if isClosed, graph[id].finally == nil { return "\(graph[id].name) starts after the end of the run" }
      default: break
      }
    }
    return nil
  }

  @Test(arguments: Ending.allCases) func noAttemptStartsAfterTheEndOfTheRun(_ ending: Ending) throws {
    for seed in 0..<Self.rounds {
      var random = SplitMix(seed: UInt64(seed))
      let graph = Self.shortJobs(&random, ending)
      let slots = Int.random(in: 1...3, using: &random)
      let queue = try JobQueue(graph, options: .init(slots: slots, seed: UInt64(seed)))
      let (events, isOver) = (Lock<[JobEvent]>([]), Lock(false))
      let stopsAfter = Int.random(in: 0..<graph.jobs.count * 4, using: &random)
      let subscription = queue.subscribe(on: DispatchQueue(label: "test")) { batch in
        events.withLock { $0 += batch }
        if case .runFinished = batch.last?.fact { isOver.withLock { $0 = true } }
      }
      queue.start()
      if ending == .stop {
        #expect(eventually { queue.run.nextSeq > stopsAfter || queue.run.isComplete })
        queue.send(.stop(.terminate, by: .signal))
      }
      #expect(eventually { queue.run.isComplete })
      queue.send(.finish(signal: nil))
      #expect(eventually { isOver.withLock(\.self) })
      subscription.cancel()
      if let fault = Self.fault(in: events.withLock(\.self), of: graph, slots: slots) {
        Issue.record("seed \(seed): \(fault)")
        return
      }
    }
  }
}
