import JobModel
import Testing

@testable import JobEngine

private let broken = JobFailure(.exit(1), "exit 1")

/// Rules of the scheduler that meet: pauses and needs, policies and retries, cancellations and what comes after them.
struct SchedulerCombinationTests {
  private func retried(_ jobs: KeyValuePairs<String, [String]>, onFailure: JobGraph.Failure = .keepGoing) -> JobGraph {
    graph(jobs, onFailure: onFailure) { $0.retry = RetryPolicy(max: 1) }
  }

  private func limited(_ jobs: KeyValuePairs<String, [String]>, retries: Int = 0) -> JobGraph {
    graph(jobs) { job in
      job.timeout = .seconds(10)
      job.retry = RetryPolicy(max: retries)
    }
  }

  // MARK: Any failure

  private func watching() -> JobGraph {
    graph(["a": [], "b": [], "page": ["a", "b"]]) { job in
      job.needs = job.needs.map { JobNeed($0.job, when: .anyFailed) }
    }
  }

  @Test(arguments: [("a", "b"), ("b", "a")])
  func aJobForAnyFailureStartsWhenAllHaveEnded(_ failing: String, _ other: String) throws {
    var bench = Bench(watching())
    bench.start()
    try bench.end(failing, .failed(broken))
    #expect(try bench.state("page") == .waiting)
    try bench.end(other)
    #expect(try bench.state("page") == .executing)
  }

  @Test(arguments: [false, true]) func aJobForAnyFailureIsSkippedWithoutOne(isCancelled: Bool) throws {
    var bench = Bench(watching())
    bench.start()
    try bench.end("a")
    if isCancelled { bench.send(.cancel([try bench.id("b")], by: .person)) }
    try bench.end("b", isCancelled ? .cancelled : .succeeded)
    #expect(try bench.state("page") == .skipped(because: .outcome))
    #expect(bench.scheduler.run.isComplete)
  }

  // MARK: Pauses

  @Test func aPausedJobIsNotStartedByItsResumptionBeforeItsNeedsAreMet() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]))
    bench.start()
    bench.send(.pause([try bench.id("b")]))
    bench.send(.resume([try bench.id("b")]))
    #expect(try bench.state("b") == .waiting)
    #expect(bench.names == ["a"])
    try bench.end("a")
    #expect(bench.names == ["b"])
  }

  @Test func aPauseBeforeTheStartEndsWithACancellation() throws {
    var bench = Bench(graph(["a": [], "b": []]), slots: 1)
    bench.start()
    let id = try bench.id("b")
    bench.send(.pause([id]))
    #expect(try bench.state("b") == .paused(started: false))
    bench.send(.cancel([id], by: .person))
    bench.send(.retry([id], withDependents: false))
    try bench.end("a")
    #expect(try bench.state("b") == .executing)
  }

  /// One job, whose attempt starts while the commands are on their way.
  private func benchWhoseStartIsCrossed(by commands: [JobCommand]) -> Bench {
    let graph = graph(["a": []])
    var bench = Bench(graph)
    bench.scheduler.start(runStart(graph, slots: 1))
    for command in commands { bench.scheduler.handle(command) }
    bench.scheduler.attemptStarted(ticket: 0, pid: nil)
    return bench
  }

  @Test func aPauseThatACancellationOvertookDoesNotReachTheNextAttempt() throws {
    var bench = benchWhoseStartIsCrossed(by: [.pause([JobID(0)]), .cancel([JobID(0)], by: .person)])
    #expect(bench.scheduler.takeActions().contains(.cancel(ticket: 0)))
    bench.scheduler.attemptEnded(ticket: 0, .cancelled)
    bench.send(.retry([JobID(0)], withDependents: false))
    #expect(try bench.state("a") == .executing)
  }

  @Test func aPauseThatCrossesTheStartReachesTheAttempt() throws {
    var bench = benchWhoseStartIsCrossed(by: [.pause([JobID(0)])])
    #expect(bench.scheduler.takeActions().last == .pause(ticket: 0))
    #expect(try bench.state("a") == .paused(started: true))
  }

  @Test func whatIsBeingCancelledIsNotPaused() throws {
    var bench = Bench(graph(["a": []]))
    bench.start()
    bench.send(.cancel([JobID(0)], by: .person))
    bench.send(.pause([JobID(0)]))
    #expect(bench.asked == [.cancel(ticket: 0)])
    bench.scheduler.attemptStopped(ticket: 0, isStopped: true)
    #expect(try bench.state("a") == .executing)
  }

  @Test func resumingEndsTheWaitForARetry() throws {
    var bench = Bench(retried(["a": []]))
    bench.start()
    try bench.end("a", .failed(broken))
    bench.send(.resume([JobID(0)]))
    #expect(bench.names == ["a"])
    #expect(bench.scheduler.nextWake == nil)
  }

  // MARK: Time limits

  @Test func theLimitOfAnAttemptDoesNotReachTheNextOne() throws {
    var bench = Bench(limited(["a": [], "b": []], retries: 1), slots: 1)
    bench.start()
    bench.journal.advance(to: .seconds(1))
    try bench.end("a", .failed(broken))
    #expect(bench.names == ["b"])
    // The second attempt of `a` is in the queue and has not begun.
    bench.advance(to: .seconds(2))
    bench.advance(to: .seconds(10))
    #expect(bench.asked.isEmpty)
    bench.advance(to: .seconds(11))
    #expect(bench.asked == [.cancel(ticket: 1)])
  }

  @Test func theTimeLeftOfAPausedAttemptDoesNotReachTheNextOne() throws {
    var bench = Bench(limited(["a": []], retries: 1))
    bench.start()
    bench.journal.advance(to: .seconds(2))
    bench.send(.pause([JobID(0)]))
    try bench.end("a", .failed(broken))
    bench.advance(to: .seconds(3))
    #expect(bench.scheduler.nextWake == .seconds(13))
    bench.journal.advance(to: .seconds(4))
    bench.scheduler.attemptStopped(ticket: 1, isStopped: true)
    bench.send(.resume([JobID(0)]))
    #expect(bench.scheduler.nextWake == .seconds(13))
  }

  @Test func aCancelledAttemptHasNoLimitAnyMore() throws {
    var bench = Bench(limited(["a": []]))
    bench.start()
    bench.send(.cancel([JobID(0)], by: .person))
    #expect(bench.scheduler.nextWake == nil)
    bench.advance(to: .seconds(20))
    #expect(bench.asked == [.cancel(ticket: 0)])
  }

  @Test func aTimeoutIsForgottenWithItsAttempt() throws {
    for byHand in [false, true] {
      var bench = Bench(limited(["a": []], retries: byHand ? 0 : 1))
      bench.start()
      bench.advance(to: .seconds(10))
      try bench.end("a", .cancelled)
      if byHand { bench.send(.retry([JobID(0)], withDependents: false)) } else { bench.advance(to: .seconds(11)) }
      #expect(bench.names == ["a"])
      // It cancels itself.
      try bench.end("a", .cancelled)
      #expect(try bench.state("a") == .cancelled(by: .policy))
    }
  }

  // MARK: Policies and retries

  @Test func aRetryByHandOpensARunThatAFailureHasClosed() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": ["b"]], onFailure: .finishRunning), slots: 1)
    bench.start()
    try bench.end("a", .failed(broken))
    #expect(try bench.state("b") == .cancelled(by: .policy))
    bench.send(.retry([try bench.id("a"), try bench.id("b"), try bench.id("c")], withDependents: false))
    #expect(bench.names == ["a"])
    try bench.end("a")
    try bench.end("b")
    #expect(bench.names == ["c"])
    // The next failure closes it again.
    bench.send(.retry([try bench.id("a")], withDependents: false))
    try bench.end("c", .failed(broken))
    #expect(bench.names.isEmpty || bench.names == ["a"])
    #expect(bench.queued.isEmpty)
  }

  @Test func aRetryOfNothingOpensNoRunThatAFailureHasClosed() throws {
    var bench = Bench(retried(["done": [], "a": [], "b": []], onFailure: .finishRunning), slots: 3)
    bench.start()
    try bench.end("done")
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.resume([try bench.id("a")]))
    try bench.end("a", .failed(broken))
    #expect(try bench.state("a") == .failed(broken, allowed: false))
    bench.send(.retry([try bench.id("done")], withDependents: false))
    try bench.end("b", .failed(broken))
    #expect(try bench.state("b") == .failed(broken, allowed: false))
  }

  @Test func aRetryByHandBeginsWithAllRetriesAndWithoutTheOldCancellation() throws {
    var bench = Bench(retried(["a": []]))
    bench.start()
    bench.send(.cancel([JobID(0)], by: .person))
    try bench.end("a", .cancelled)
    for round in 0..<2 {
      bench.send(.retry([JobID(0)], withDependents: false))
      try bench.end("a", .failed(broken))
      guard case .backingOff(_, 1, 1, broken) = try bench.state("a") else {
        Issue.record("round \(round): \(try bench.state("a"))")
        return
      }
      bench.send(.resume([JobID(0)]))
      try bench.end("a", .failed(broken))
      #expect(try bench.state("a") == .failed(broken, allowed: false))
    }
  }

  @Test func aJobThatWasKilledAndRetriedCanBeKilledAgain() throws {
    var bench = Bench(graph(["a": []]))
    bench.start()
    bench.send(.kill([JobID(0)]))
    bench.send(.kill([JobID(0)]))
    try bench.end("a", .cancelled)
    bench.send(.retry([JobID(0)], withDependents: false))
    bench.send(.kill([JobID(0)]))
    #expect(bench.asked == [.kill(ticket: 0), .kill(ticket: 1)])
  }

  @Test func aKillThatCrossesTheStartIsAKillAndSaysSo() throws {
    let graph = graph(["a": []])
    var bench = Bench(graph)
    bench.scheduler.start(runStart(graph, slots: 1))
    bench.scheduler.handle(.kill([JobID(0)]))
    bench.scheduler.attemptStarted(ticket: 0, pid: nil)
    #expect(bench.scheduler.takeActions().contains(.kill(ticket: 0)))
    #expect(bench.journal.takeEvents().contains { $0.fact == .cancelRequested(JobID(0), by: .person, kill: true) })
  }

  @Test func aRetryWithDependentsBringsBackTheCancelledOnesToo() throws {
    var bench = Bench(graph(["a": [], "b": ["a"], "c": ["b"]]))
    bench.start()
    bench.send(.cancel([try bench.id("c")], by: .person))
    bench.send(.cancel([try bench.id("b")], by: .person))
    try bench.end("a", .failed(broken))
    bench.send(.retry([try bench.id("a")], withDependents: true))
    #expect(try bench.state("b") == .waiting && bench.state("c") == .waiting)
  }

  @Test func aRunThatIsBeingStoppedRetriesNothing() throws {
    var bench = Bench(graph(["a": [], "b": []]))
    bench.start()
    try bench.end("a", .failed(broken))
    bench.send(.stop(.terminate, by: .person))
    bench.send(.retry([try bench.id("a")], withDependents: false))
    #expect(try bench.state("a") == .failed(broken, allowed: false))
    #expect(bench.facts.count { if case .stopRequested = $0 { true } else { false } } == 1)
    bench.send(.stop(.terminate, by: .person))
    #expect(bench.facts.count { if case .stopRequested = $0 { true } else { false } } == 1)
  }

  @Test func aStopWhileDrainingLetsTheQueueGiveUpWhatWaitsInIt() throws {
    var bench = Bench(graph(["a": [], "b": []]), slots: 1)
    bench.start()
    bench.send(.setDraining(true))
    bench.send(.stop(.terminate, by: .person))
    #expect(bench.asked == [.setSuspended(true), .cancel(ticket: 0), .setSuspended(false)])
  }

  @Test func whileDrainingNothingEntersTheQueue() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]))
    bench.start()
    bench.send(.setDraining(true))
    try bench.end("a")
    #expect(bench.queued.isEmpty)
    bench.send(.setDraining(false))
    #expect(bench.names == ["b"])
  }

  @Test func aStopMakesNothingReadyThatWaitedForAnEnd() throws {
    var graph = graph(["a": [], "b": ["a"], "c": ["b"]])
    graph.jobs[2].needs[0].when = .finished
    var bench = Bench(graph)
    bench.start()
    bench.send(.stop(.terminate, by: .person))
    #expect(try bench.state("c") == .cancelled(by: .person))
    #expect(!bench.facts.contains { if case .jobState(JobID(2), .ready, _, _) = $0 { true } else { false } })
  }

  @Test func anAttemptThatFailsAfterItsNeedIsLostIsNotRetried() throws {
    var bench = Bench(
      graph(["a": [], "b": ["a"]]) { job in
        job.allowFailure = job.name == "a"
        job.retry = RetryPolicy(max: job.name == "b" ? 1 : 0)
      })
    bench.start()
    try bench.end("a", .failed(broken))
    #expect(bench.names == ["b"])
    bench.send(.retry([try bench.id("a")], withDependents: false))
    bench.send(.cancel([try bench.id("a")], by: .person))
    try bench.end("a", .cancelled)
    try bench.end("b", .failed(broken))
    #expect(try bench.state("b") == .failed(broken, allowed: false))
  }

  @Test func anAttemptInTheQueueIsNotSkippedBeforeItIsTakenBack() throws {
    let graph = graph(["a": [], "b": ["a"]]) { $0.allowFailure = $0.name == "a" }
    var bench = Bench(graph)
    bench.scheduler.start(runStart(graph, slots: 1))
    bench.scheduler.attemptStarted(ticket: 0, pid: nil)
    bench.scheduler.attemptEnded(ticket: 0, .failed(broken))
    #expect(try bench.state("b") == .ready(for: .slot))
    _ = bench.scheduler.takeActions()
    // The need begins again and is cancelled; meanwhile the attempt may have begun.
    bench.scheduler.handle(.retry([JobID(0)], withDependents: false))
    bench.scheduler.attemptStarted(ticket: 2, pid: nil)
    bench.scheduler.handle(.cancel([JobID(0)], by: .person))
    bench.scheduler.attemptEnded(ticket: 2, .cancelled)
    #expect(bench.scheduler.takeActions().contains(.withdraw(ticket: 1)))
    #expect(try bench.state("b") == .ready(for: .slot))
    bench.scheduler.attemptWithdrawn(ticket: 1)
    #expect(try bench.state("b") == .skipped(because: .job(JobID(0))))
  }

  @Test func theQueueHoldsSixteenAttemptsBeyondItsWidth() {
    var bench = Bench(
      JobGraph(name: "test", jobs: (0..<50).map { Job(name: "\($0)", work: .simulate(SimulatedWork())) }), slots: 2)
    bench.start()
    #expect(bench.names.count == 2 && bench.queued.count == 16)
  }

  @Test func thereIsAlwaysOneSlot() throws {
    var bench = Bench(graph(["a": [], "b": []]))
    bench.start()
    bench.send(.setSlots(0))
    #expect(bench.journal.run.slots == 1)
    #expect(bench.asked == [.setWidth(1)])
  }

  // MARK: Order and pools

  @Test func aReadyJobWhosePriorityRisesGoesBeforeTheOthers() throws {
    var bench = Bench(graph(["holder": [], "a": [], "b": []], pools: ["p": 1]) { $0.uses = ["p": 1] })
    bench.start()
    bench.send(.setPriority([try bench.id("b")], .high))
    try bench.end("holder")
    #expect(bench.names == ["b"])
    // One that has ended keeps its priority.
    bench.send(.setPriority([try bench.id("holder")], .high))
    #expect(bench.journal.run[try bench.id("holder")].job.priority == .normal)
  }

  @Test func aReleaseOfSeveralUnitsWakesAllThatFitAndNoMore() throws {
    let units = ["big": 3, "one": 1, "two": 2, "three": 3]
    var bench = Bench(
      graph(["big": [], "one": [], "two": [], "three": []], pools: ["p": 3]) { $0.uses = ["p": units[$0.name] ?? 0] },
      slots: 4)
    bench.start()
    #expect(bench.names == ["big"])
    try bench.end("big")
    #expect(bench.names == ["one", "two"])
    try bench.end("one")
    #expect(bench.names == ["two"])
    try bench.end("two")
    #expect(bench.names == ["three"])
  }

  @Test func aJobThatHasItsPoolWaitsForASlot() throws {
    var bench = Bench(
      graph(["a": [], "b": [], "c": []], pools: ["p": 1]) { if $0.name != "c" { $0.uses = ["p": 1] } }, slots: 1)
    bench.start()
    #expect(try bench.state("b") == .ready(for: .pool("p")))
    try bench.end("a")
    #expect(bench.names == ["c"])
    #expect(try bench.state("b") == .ready(for: .slot))
  }
}
