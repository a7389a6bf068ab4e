import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import JobEngine

/// Rules of the engine's queue, its journal and its attempts.
struct QueueRuleTests {
  private func simulated(_ name: String, priority: JobPriority = .normal) -> Job {
    var job = Job(name: name, work: .simulate(SimulatedWork(duration: .seconds(1))))
    job.priority = priority
    return job
  }

  /// The names of the jobs in the order of their starts, one at a time; a job has changes while the first one executes.
  private func order(
    of jobs: [Job], _ schedule: JobGraph.Schedule, changing job: Int = 0, _ changes: [JobPriority] = []
  ) throws -> [String] {
    let clock = ManualOperationClock()
    let graph = JobGraph(name: "test", jobs: jobs, schedule: schedule)
    let queue = try JobQueue(graph, options: .init(slots: 1, seed: 3), clock: clock)
    queue.start()
    for _ in jobs {
      #expect(eventually { queue.settled().counts.executing == 1 && clock.due.count == 1 })
      if queue.run.counts.done == 0 { for priority in changes { queue.send(.setPriority([JobID(job)], priority)) } }
      let done = queue.run.counts.done
      clock.advance(by: .seconds(1))
      #expect(eventually { queue.settled().counts.done == done + 1 })
    }
    let run = queue.run
    queue.send(.finish(signal: nil))
    return run.ids.sorted { run[$0].attempt?.startedAt ?? .zero < run[$1].attempt?.startedAt ?? .zero }
      .map { run[$0].job.name }
  }

  @Test func inTheOrderOfTheFileAPriorityCountsNothing() throws {
    let jobs = [
      simulated("a"), simulated("b", priority: .low), simulated("c", priority: .veryHigh), simulated("d"),
    ]
    #expect(try order(of: jobs, .fifo) == ["a", "b", "c", "d"])
    #expect(try order(of: jobs, .priority) == ["c", "a", "d", "b"])
  }

  @Test func aChangeOfPriorityKeepsTheOrderAmongEquals() throws {
    let jobs = (0...3).map { simulated("n\($0)") }
    #expect(try order(of: jobs, .fifo, changing: 3, [.high]) == ["n0", "n1", "n2", "n3"])
    #expect(try order(of: jobs, .priority, changing: 3, [.high]) == ["n0", "n3", "n1", "n2"])
    #expect(try order(of: jobs, .priority, changing: 1, [.high, .normal]) == ["n0", "n1", "n2", "n3"])
  }

  @Test func theFirstSignalIsTheOneOfTheExitStatus() throws {
    let clock = ManualOperationClock()
    let queue = try JobQueue(JobGraph(name: "test", jobs: [simulated("a")]), options: .init(slots: 1), clock: clock)
    queue.start()
    #expect(eventually { queue.settled().counts.executing == 1 && clock.due.count == 1 })
    // The end waits for the attempt.
    queue.send(.finish(signal: 2))
    queue.send(.finish(signal: nil))
    #expect(queue.settled().summary == nil)
    clock.advance(by: .seconds(1))
    #expect(eventually { queue.run.summary != nil })
    #expect(queue.run.summary?.exit == ExitStatus.signal(2))
  }

  @Test func theTimeOfFactsNeverGoesBack() {
    let journal = RunJournal()
    journal.advance(to: .seconds(5))
    journal.advance(to: .seconds(3))
    #expect(journal.now == .seconds(5))
  }

  @Test func aKilledProgramHasNoGrace() throws {
    let folder = try TemporaryFolder()
    let stop = ShellWork.Stop(signal: SIGTERM, grace: .seconds(600))
    // It ignores the stop signal.
    let script = "trap '' TERM; echo ready; while :; do sleep 1; done"
    let job = Job(name: "a", work: .shell(ShellWork(.script(script), stop: stop)))
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [job]), options: .init(slots: 1, stateFolder: folder.url.path))
    queue.start()
    #expect(eventually { queue.run.jobs.first?.log.isEmpty == false })
    queue.send(.kill([JobID(0)]))
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.jobs.first?.state == .cancelled(by: .person))
    queue.send(.finish(signal: nil))
  }

  @Test func aPauseKeepsTheRestOfItsStep() {
    let clock = ManualOperationClock()
    let operation = SimulatedOperation(SimulatedWork(duration: .seconds(10)), attempt: 1, clock: clock)
    operation.start()
    clock.advance(by: .seconds(6))
    operation.pause()
    clock.advance(by: .seconds(100))
    #expect(clock.due.isEmpty)
    operation.resume()
    #expect(clock.due == [.seconds(110)])
    clock.advance(by: .seconds(4))
    #expect(operation.isFinished)
  }
}
