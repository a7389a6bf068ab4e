import Dispatch
import JobModel
import Operations
import Support
import Testing

@testable import JobEngine

private func simulated(
  _ name: String, _ duration: Duration = .zero, steps: Int = 1, failRate: Double = 0, needs: [Int] = []
) -> Job {
  Job(
    name: name, work: .simulate(SimulatedWork(duration: duration, steps: steps, failRate: failRate, seed: 7)),
    needs: needs.map { JobNeed(JobID($0)) })
}

/// Runs the graph to its end on a clock that the test moves, and returns all events.
private func events(of graph: JobGraph, slots: Int = 2) throws -> [JobEvent] {
  let clock = ManualOperationClock()
  let queue = try JobQueue(graph, options: .init(slots: slots, seed: 3), clock: clock)
  let events = Lock<[JobEvent]>([])
  let subscription = queue.subscribe(on: DispatchQueue(label: "test")) { batch in
    events.withLock { $0 += batch }
  }
  queue.start()
  var rounds = 0
  while !queue.run.isComplete, rounds < 10_000 {
    rounds += 1
    // Everything that can happen now has happened once what executes waits for the clock.
    try #require(
      eventually {
        queue.run.isComplete || (clock.due.count > 0 && clock.due.count >= queue.run.counts.executing)
      })
    queue.settled()
    clock.advance(by: .milliseconds(50))
    queue.settled()
  }
  queue.send(.finish(signal: nil))
  #expect(
    eventually { events.withLock { $0.last.map { if case .runFinished = $0.fact { true } else { false } } ?? false } })
  subscription.cancel()
  return events.withLock { $0 }
}

@Suite struct JobQueueTests {
  @Test func eventsAreNumberedWithoutAGapAndFoldToTheRun() throws {
    let graph = JobGraph(
      name: "test", jobs: [simulated("a", .seconds(1), steps: 4), simulated("b", needs: [0]), simulated("c")])
    let events = try events(of: graph)
    #expect(events.map(\.seq) == Array(0..<events.count))
    #expect(events.map(\.time) == events.map(\.time).sorted())
    var run = Run()
    for event in events { run.apply(event) }
    #expect(run.counts.succeeded == 3)
    #expect(run.summary?.exit == 0)
  }

  @Test func moreSlotsExecuteMoreJobsAtOnce() throws {
    let graph = JobGraph(name: "test", jobs: (0..<3).map { simulated("\($0)", .seconds(3600)) })
    let queue = try JobQueue(graph, options: .init(slots: 1), clock: ManualOperationClock())
    queue.start()
    #expect(eventually { queue.run.counts.executing == 1 })
    queue.send(.setSlots(3))
    #expect(eventually { queue.run.counts.executing == 3 })
    queue.send(.stop(.kill, by: .person))
    #expect(eventually { queue.run.isComplete })
  }

  @Test func aFactBearsTheInstantAtWhichItCame() throws {
    let clock = ManualOperationClock()
    let jobs = [simulated("a", .seconds(1)), simulated("b", .seconds(2))]
    let queue = try JobQueue(JobGraph(name: "test", jobs: jobs), options: .init(slots: 2), clock: clock)
    queue.start()
    #expect(eventually { queue.run.counts.executing == 2 && clock.due.count == 2 })
    clock.advance(by: .seconds(60))
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.jobs.map { $0.attempt?.endedAt } == [.seconds(1), .seconds(2)])
  }

  @Test func aTimeLaterThanDispatchCanCountIsWaitedFor() {
    let timer = SystemOperationClock().schedule(after: .seconds(Int64.max / 2), on: .global()) {
      Issue.record("it has not come")
    }
    timer.cancel()
  }

  @Test func aLateSubscriberGetsEveryEventAfterItsSnapshot() throws {
    let clock = ManualOperationClock()
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [simulated("a", .seconds(1), steps: 10)]), options: .init(slots: 1), clock: clock)
    queue.start()
    // The attempt may be at work before its facts are told.
    #expect(eventually { clock.due.count > 0 && queue.run.nextSeq > 0 })
    clock.advance(by: .milliseconds(450))
    let later = Lock<[JobEvent]>([])
    let subscription = queue.subscribe(on: DispatchQueue(label: "test")) { batch in later.withLock { $0 += batch } }
    #expect(subscription.snapshot.nextSeq > 0)
    while !queue.run.isComplete {
      clock.advance(by: .milliseconds(50))
      queue.settled()
    }
    #expect(eventually { later.withLock { ($0.last?.seq ?? 0) + 1 == queue.run.nextSeq } })
    var run = subscription.snapshot
    for event in later.withLock({ $0 }) { run.apply(event) }
    #expect(run == queue.run)
  }

  @Test func theSameSeedGivesTheSameEventsForEachJob() throws {
    let jobs = (0..<8).map { simulated("job\($0)", .seconds(1), steps: 10, failRate: 0.5) }
    func story() throws -> [String: [JobFact]] {
      var story: [String: [JobFact]] = [:]
      for event in try events(of: JobGraph(name: "test", jobs: jobs), slots: 1) {
        switch event.fact {
        case .jobState(let id, _, _, _), .jobProgress(let id, _):
          story[jobs[id.index].name, default: []].append(event.fact)
        default: break
        }
      }
      return story
    }
    let first = try story()
    #expect(try story() == first)
    #expect(first.count == 8)
  }

  @Test func theSlotsTakenNeverExceedTheWidth() throws {
    let jobs = (0..<500).map { simulated("job\($0)") }
    let queue = try JobQueue(JobGraph(name: "test", jobs: jobs), options: .init(slots: 3))
    let most = Lock((run: Run(), active: 0))
    let subscription = queue.subscribe(on: DispatchQueue(label: "test")) { batch in
      most.withLock { most in
        for event in batch {
          most.run.apply(event)
          most.active = max(most.active, most.run.counts.active)
        }
      }
    }
    queue.start()
    #expect(eventually { most.withLock { $0.run.isComplete } })
    #expect((1...3).contains(most.withLock { $0.active }))
    subscription.cancel()
  }

  @Test func progressIsAtMostTenASecondAndItsLastWordIsHeard() throws {
    let events = try events(of: JobGraph(name: "test", jobs: [simulated("a", .seconds(2), steps: 200)]))
    var times: [Duration] = []
    var last: JobProgress?
    for event in events {
      if case .jobProgress(_, let progress) = event.fact {
        times.append(event.time)
        last = progress
      }
    }
    #expect(last?.done == 200)
    for (earlier, later) in zip(times.dropLast(2), times.dropFirst().dropLast()) {
      #expect(later - earlier >= .milliseconds(100))
    }
  }

  /// A simulated job of ten steps in a second.
  private func queueOfOnePaused(after time: Duration) throws -> (JobQueue, ManualOperationClock) {
    let clock = ManualOperationClock()
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [simulated("a", .seconds(1), steps: 10)]), options: .init(slots: 1), clock: clock)
    queue.start()
    #expect(eventually { clock.due.count > 0 })
    clock.advance(by: time)
    queue.send(.pause([JobID(0)]))
    #expect(eventually { queue.run.jobs.first?.state == .paused(started: true) })
    return (queue, clock)
  }

  @Test func aPausedSimulationStandsStillAndGoesOn() throws {
    let (queue, clock) = try queueOfOnePaused(after: .milliseconds(250))
    #expect(eventually { clock.due.count <= 1 })
    clock.advance(by: .seconds(60))
    #expect(queue.run.jobs.first?.progress?.done == 2)
    queue.send(.resume([JobID(0)]))
    #expect(eventually { queue.run.jobs.first?.state == .executing })
    while !queue.run.isComplete {
      clock.advance(by: .milliseconds(50))
      queue.settled()
    }
    #expect(queue.run.jobs.first?.elapsed(at: clock.now) ?? .zero < .seconds(2))
  }

  @Test func nothingIsArmedWhenNothingMoves() throws {
    let (queue, clock) = try queueOfOnePaused(after: .milliseconds(450))
    clock.advance(by: .seconds(1))
    #expect(eventually { clock.due.count == 0 })
    withExtendedLifetime(queue) {}
  }

  @Test func anAttemptInASuspendedQueueIsCancelledAtOnce() throws {
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [simulated("a", .seconds(3600)), simulated("b", .seconds(3600))]),
      options: .init(slots: 1))
    queue.start()
    #expect(eventually { queue.run.counts.executing == 1 })
    queue.send(.setDraining(true))
    queue.send(.cancel([JobID(1)], by: .person))
    #expect(eventually { queue.run.jobs[1].state == .cancelled(by: .person) })
    queue.send(.stop(.terminate, by: .signal))
    queue.send(.finish(signal: 2))
    #expect(eventually { queue.run.summary?.exit == 130 })
  }

  @Test func theEndWaitsForWhatExecutes() throws {
    let clock = ManualOperationClock()
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [simulated("a", .seconds(1))]), options: .init(slots: 1), clock: clock)
    queue.start()
    queue.send(.finish(signal: nil))
    #expect(eventually { queue.run.counts.executing == 1 })
    #expect(queue.run.summary == nil)
    #expect(eventually { clock.due.count > 0 })
    clock.advance(by: .seconds(1))
    #expect(eventually { queue.run.summary?.succeeded == 1 })
  }

  @Test func aSuccessIsToldWhenItsOperationFinishes() throws {
    let clock = ManualOperationClock()
    let jobs = [
      simulated("a", .seconds(1)), simulated("failing", .seconds(1), failRate: 1), simulated("cancelled", .seconds(9)),
    ]
    let queue = try JobQueue(JobGraph(name: "test", jobs: jobs), options: .init(slots: 3), clock: clock)
    let told = Lock<[AttemptSuccess]>([])
    queue.whenAttemptSucceeds { success in told.withLock { $0.append(success) } }
    queue.start()
    #expect(eventually { queue.run.counts.executing == 3 && clock.due.count == 3 })
    clock.advance(by: .seconds(1))
    #expect(eventually { told.withLock { !$0.isEmpty } })
    #expect(told.withLock(\.self) == [AttemptSuccess(job: JobID(0), attempt: 1, took: .seconds(1), inputsHash: nil)])
    queue.send(.cancel([JobID(2)], by: .person))
    #expect(eventually { queue.run.isComplete })
    #expect(told.withLock(\.count) == 1)
  }

  @Test func aSuccessWithValuesIsToldAgainWithThemBeforeTheyAreGiven() throws {
    let folder = try TemporaryFolder()
    let work = ShellWork(.script("echo A=1 >> $OPDASH_OUTPUT"))
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [Job(name: "a", work: .shell(work))]),
      options: .init(slots: 1, stateFolder: folder.url.path))
    let told = Lock<[[String: String]?]>([])
    queue.whenAttemptSucceeds { [weak queue] success in
      let isLate = success.outputs != nil && queue?.run.jobs[0].outputs.isEmpty == false
      told.withLock { $0.append(isLate ? ["too": "late"] : success.outputs) }
    }
    queue.start()
    #expect(eventually { queue.run.isComplete && told.withLock(\.count) == 2 })
    // On two queues, so in either order.
    #expect(Set(told.withLock(\.self)) == [nil, ["A": "1"]])
  }

  @Test func aHeldQueueExecutesNothingBeforeItsReleaseOrLimit() throws {
    for passesLimit in [false, true] {
      let clock = ManualOperationClock()
      let queue = try JobQueue(
        JobGraph(name: "test", jobs: [simulated("a", .seconds(1))]), options: .init(slots: 1), clock: clock)
      let release = Lock<(@Sendable () -> Void)?>(nil)
      queue.hold(atMost: .seconds(2)) { body in release.withLock { $0 = body } }
      queue.start()
      // Neither the end of draining nor its start releases it.
      queue.send(.setDraining(true))
      queue.send(.setDraining(false))
      #expect(queue.settled().counts.ready == 1)
      clock.advance(by: .seconds(1))
      #expect(queue.settled().counts.ready == 1)
      if passesLimit { clock.advance(by: .seconds(1)) } else { release.withLock { $0 }?() }
      #expect(eventually { queue.run.counts.executing == 1 && clock.due.count == 1 })
      release.withLock { $0 }?()
      clock.advance(by: .seconds(1))
      #expect(eventually { queue.run.isComplete })
    }
  }

  @Test func aHeldQueueThatIsToldToDrainExecutesNothingAfterItsRelease() throws {
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [simulated("a")]), options: .init(slots: 1), clock: ManualOperationClock())
    let release = Lock<(@Sendable () -> Void)?>(nil)
    queue.hold(atMost: .seconds(2)) { body in release.withLock { $0 = body } }
    queue.start()
    queue.send(.setDraining(true))
    queue.settled()
    release.withLock { $0 }?()
    #expect(queue.settled().counts.ready == 1)
    queue.send(.stop(.terminate, by: .person))
    #expect(eventually { queue.run.isComplete })
  }
}
