import Foundation
import JobModel

/// A simulated run of a graph; every job succeeds and takes the same time.
package struct Rehearsal {
  /// The jobs that would execute, in the order of their starts.
  package private(set) var order: [JobID] = []
  /// The other jobs, each with the cause.
  package private(set) var skipped: [(job: JobID, because: JobState.SkipCause)] = []

  /// Simulates the operation queue with `slots` jobs at once; `restored` jobs are not executed.
  package init(_ graph: JobGraph, slots: Int, restored: [JobID: EarlierSuccess] = [:]) {
    // More at once would hardly change the order.
    let slots = min(slots, 256)
    var graph = graph
    graph.slots = slots
    let journal = RunJournal()
    // Unknown facts, such as an approval or a job's value, are assumed to let most jobs run.
    let options = Scheduler.Options(approved: Set(graph.jobs.indices.map { JobID($0) }), assumesValues: true)
    var scheduler = Scheduler(graph, journal: journal, options: options)
    var queued: [Admission] = []
    var executing: [Admission] = []
    scheduler.start(
      RunStart(id: "", name: graph.name, slots: slots, at: .distantPast, jobs: graph.jobs.count, pools: graph.pools),
      restored: restored)
    while true {
      var ended: [Int] = []
      for action in scheduler.takeActions() {
        switch action {
        case .admit(let admission) where graph[admission.job].service != nil:
          order.append(admission.job)
          scheduler.attemptStarted(ticket: admission.ticket, pid: nil)
          scheduler.serviceIsReady(ticket: admission.ticket)
        case .admit(let admission): queued.append(admission)
        case .cancel(let ticket): ended.append(ticket)
        default: break
        }
      }
      _ = journal.takeEvents()
      for ticket in ended { scheduler.attemptEnded(ticket: ticket, .cancelled) }
      while executing.count < slots, let next = queued.indices.max(by: { Self.precedes(queued[$1], queued[$0]) }) {
        let admission = queued.remove(at: next)
        executing.append(admission)
        order.append(admission.job)
        scheduler.attemptStarted(ticket: admission.ticket, pid: nil)
      }
      guard !executing.isEmpty else {
        // Only services are left, which run until a user ends them.
        if !scheduler.hasActions { scheduler.endKeptServices(by: .person) }
        if scheduler.hasActions { continue }
        break
      }
      scheduler.attemptEnded(ticket: executing.removeFirst().ticket, .succeeded)
    }
    skipped = journal.run.ids.compactMap { id in
      guard case .skipped(let cause) = journal.run[id].state else { return nil }
      return (id, cause)
    }
  }

  /// The order of an `OperationQueue`: by priority, then by arrival.
  private static func precedes(_ one: Admission, _ other: Admission) -> Bool {
    (one.priority.level, -one.ticket) > (other.priority.level, -other.ticket)
  }
}
