import Foundation
import JobModel
import Testing

@testable import JobEngine

/// Plays the part of the operation queue: starts what is admitted as far as the width goes.
struct Bench {
  let journal = RunJournal()
  var scheduler: Scheduler
  var queued: [Admission] = []
  var executing: [Admission] = []
  var executingServices: [Admission] = []
  /// Cluster jobs that were submitted and have not started.
  var submitted: [Admission] = []
  /// The nodes of steps, by the names of their jobs.
  var placed: [String: String] = [:]
  var facts: [JobFact] = []
  var asked: [Scheduler.Action] = []
  /// The job of each ticket.
  private var tickets: [Int: JobID] = [:]

  let slots: Int

  init(
    _ graph: JobGraph, slots: Int = 2, canAsk: Bool = true, clusterJobs: Int = 1000, hasAllocation: Bool = false,
    isWatching: Bool = false
  ) {
    self.slots = slots
    scheduler = Scheduler(
      graph, journal: journal,
      options: .init(
        seed: 1, canAsk: canAsk, clusterJobs: clusterJobs, hasAllocation: hasAllocation, isWatching: isWatching))
  }

  mutating func start(
    restored: [JobID: EarlierSuccess] = [:], inputs: [JobID: String] = [:], timeout: Duration? = nil,
    isOpen: Bool = false
  ) {
    var start = runStart(scheduler.graph, slots: slots)
    start.timeout = timeout
    start.isOpen = isOpen
    scheduler.start(start, restored: restored, inputs: inputs)
    settle()
  }

  mutating func add(_ jobs: [Job]) {
    scheduler.add(jobs)
    settle()
  }

  mutating func extend(by jobs: [Job], pools: [String: Int] = [:]) {
    scheduler.extend(by: jobs, pools: pools)
    settle()
  }

  mutating func endArrivals() {
    scheduler.endArrivals()
    settle()
  }

  mutating func send(_ command: JobCommand) {
    scheduler.handle(command)
    settle()
  }

  mutating func end(_ name: String, _ outcome: AttemptOutcome = .succeeded) throws {
    let index = try #require(executing.firstIndex { graph[$0.job].name == name }, "\(name) does not execute")
    let admission = executing.remove(at: index)
    scheduler.attemptEnded(ticket: admission.ticket, outcome)
    settle()
  }

  /// The program of a service can be used.
  mutating func serve(_ name: String) throws {
    let service = try #require(
      executingServices.first { graph[$0.job].name == name }, "\(name) does not execute")
    scheduler.serviceIsReady(ticket: service.ticket)
    settle()
  }

  mutating func endService(_ name: String, _ outcome: AttemptOutcome) throws {
    let index = try #require(
      executingServices.firstIndex { graph[$0.job].name == name }, "\(name) does not execute")
    let admission = executingServices.remove(at: index)
    scheduler.attemptEnded(ticket: admission.ticket, outcome)
    settle()
  }

  /// The cluster gives its reason for the wait of a submitted job.
  mutating func wait(_ name: String, for reason: String) throws {
    let index = try submittedIndex(name)
    scheduler.attemptWaits(ticket: submitted[index].ticket, reason: reason)
    settle()
  }

  /// The cluster starts a submitted job.
  mutating func startOnCluster(_ name: String, executedFor time: Duration = .zero) throws {
    let admission = submitted.remove(at: try submittedIndex(name))
    executing.append(admission)
    scheduler.attemptStarted(ticket: admission.ticket, pid: nil, executedFor: time)
    settle()
  }

  /// The cluster suspends a job that executes, or continues it.
  mutating func setSuspended(_ isSuspended: Bool, _ name: String) throws {
    let admission = try #require(executing.first { graph[$0.job].name == name }, "\(name) does not execute")
    scheduler.attemptSuspended(ticket: admission.ticket, isSuspended: isSuspended)
    settle()
  }

  /// The cluster takes a job that executes off its nodes, to execute it once more.
  mutating func requeue(_ name: String) throws {
    let index = try #require(executing.firstIndex { graph[$0.job].name == name }, "\(name) does not execute")
    if scheduler.attemptRequeued(ticket: executing[index].ticket) { submitted.append(executing.remove(at: index)) }
    settle()
  }

  /// The cluster has cancelled a submitted job before its start.
  mutating func takeBack(_ name: String) throws {
    let admission = submitted.remove(at: try submittedIndex(name))
    scheduler.attemptWithdrawn(ticket: admission.ticket)
    settle()
  }

  /// Changes what the scheduler knows of the allocation.
  mutating func allocation(_ change: (inout Scheduler) -> Void) {
    change(&scheduler)
    settle()
  }

  /// How often an allocation was asked for and released.
  var requests: Int { asked.count { $0 == .requestAllocation } }
  var releases: Int { asked.count { $0 == .releaseAllocation } }

  private func submittedIndex(_ name: String) throws -> Int {
    try #require(submitted.firstIndex { graph[$0.job].name == name }, "\(name) is not submitted")
  }

  mutating func advance(to time: Duration) {
    journal.advance(to: time)
    scheduler.wake()
    settle()
  }

  mutating func settle() {
    var moved = true
    while moved {
      moved = false
      for event in journal.takeEvents() { facts.append(event.fact) }
      for action in scheduler.takeActions() {
        moved = true
        if case .admit(let admission) = action { tickets[admission.ticket] = admission.job }
        switch action {
        case .admit(let admission) where graph[admission.job].service != nil:
          executingServices.append(admission)
          scheduler.attemptStarted(ticket: admission.ticket, pid: nil)
        case .admit(let admission) where admission.node != nil:
          placed[graph[admission.job].name] = admission.node
          executing.append(admission)
          scheduler.attemptStarted(ticket: admission.ticket, pid: nil)
        case .admit(let admission) where graph[admission.job].cluster != nil:
          submitted.append(admission)
          scheduler.attemptWaits(ticket: admission.ticket, reason: nil)
        case .admit(let admission): queued.append(admission)
        case .withdraw(let ticket):
          if queued.contains(where: { $0.ticket == ticket }) {
            queued.removeAll { $0.ticket == ticket }
            scheduler.attemptWithdrawn(ticket: ticket)
          } else if submitted.contains(where: { $0.ticket == ticket }) {
            asked.append(action)
          }
        case .prioritize(let ticket, let priority):
          if let index = queued.firstIndex(where: { $0.ticket == ticket }) { queued[index].priority = priority }
        default: asked.append(action)
        }
      }
      while executing.count(where: { graph[$0.job].cluster == nil }) < journal.run.slots, !queued.isEmpty,
        !journal.run.isDraining
      {
        let best = queued.indices.max { left, right in
          (queued[left].priority.level, -queued[left].ticket) < (queued[right].priority.level, -queued[right].ticket)
        }
        let admission = queued.remove(at: best ?? 0)
        executing.append(admission)
        scheduler.attemptStarted(ticket: admission.ticket, pid: nil)
        moved = true
      }
    }
  }

  var graph: JobGraph { scheduler.graph }
  var names: [String] { executing.map { graph[$0.job].name } }
  var submittedNames: [String] { submitted.map { graph[$0.job].name } }
  var services: [String] { executingServices.map { graph[$0.job].name } }

  /// The jobs whose attempts were to be cancelled, in order.
  var cancelled: [String] {
    asked.compactMap { action in
      guard case .cancel(let ticket) = action else { return nil }
      return tickets[ticket].map { graph[$0].name }
    }
  }

  var killed: [String] {
    asked.compactMap { action in
      guard case .kill(let ticket) = action else { return nil }
      return tickets[ticket].map { graph[$0].name }
    }
  }

  func state(_ name: String) throws -> JobState {
    journal.run[try #require(graph.id(named: name))].state
  }

  func id(_ name: String) throws -> JobID { try #require(graph.id(named: name)) }
}

func runStart(_ graph: JobGraph, slots: Int) -> RunStart {
  RunStart(
    id: "1", name: graph.name, slots: slots, at: Date(timeIntervalSince1970: 0), jobs: graph.jobs.count,
    pools: graph.pools)
}

/// Jobs written as `name: [needs]`, in order.
func graph(
  _ jobs: KeyValuePairs<String, [String]>, onFailure: JobGraph.Failure = .keepGoing, pools: [String: Int] = [:],
  change: (inout Job) -> Void = { _ in }
) -> JobGraph {
  let names = jobs.map(\.key)
  let list = jobs.map { name, needs in
    var job = Job(
      name: name, work: .simulate(SimulatedWork()),
      needs: needs.compactMap { need in names.firstIndex(of: need).map { JobNeed(JobID($0)) } })
    change(&job)
    return job
  }
  return JobGraph(name: "test", jobs: list, onFailure: onFailure, schedule: .priority, pools: pools)
}
