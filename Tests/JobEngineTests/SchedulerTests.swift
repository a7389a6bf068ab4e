import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

private let broken = JobFailure(.exit(1), "exit 1")

@Suite struct SchedulerTests {
  @Test func aJobStartsWhenAllItsNeedsHaveSucceeded() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": ["a", "b"]]))
    bench.start()
    #expect(bench.names == ["a", "b"])
    try bench.end("a")
    #expect(try bench.state("c") == .waiting)
    try bench.end("b")
    #expect(bench.names == ["c"])
  }

  @Test func aSkippedJobNamesTheFailureThatCausedIt() throws {
    var bench = Bench(graph(["a": [], "b": ["a"], "c": ["b"], "d": []]))
    bench.start()
    try bench.end("a", .failed(broken))
    #expect(try bench.state("b") == .skipped(because: .job(bench.id("a"))))
    #expect(try bench.state("c") == .skipped(because: .job(bench.id("a"))))
    #expect(bench.names == ["d"])
  }

  @Test func aFailureThatIsAllowedSkipsNothing() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]) { $0.allowFailure = true })
    bench.start()
    try bench.end("a", .failed(broken))
    #expect(try bench.state("a") == .failed(broken, allowed: true))
    #expect(bench.names == ["b"])
  }

  @Test func aPoolGoesToTheNextJobIfTheFirstLacksAnotherPool() throws {
    var jobs = graph(["a": [], "b": [], "both": [], "only-x": []], pools: ["x": 1, "y": 1])
    jobs.jobs[0].uses = ["x": 1]
    jobs.jobs[1].uses = ["y": 1]
    jobs.jobs[2].uses = ["x": 1, "y": 1]
    jobs.jobs[3].uses = ["x": 1]
    var bench = Bench(jobs)
    bench.start()
    #expect(bench.names == ["a", "b"])
    try bench.end("a")
    #expect(bench.names == ["b", "only-x"])
    #expect(try bench.state("both") == .ready(for: .pool("y")))
  }

  @Test func aDependentWaitsForARetriedFailureThatWasAllowed() throws {
    var jobs = graph(["a": [], "other": [], "b": ["a"]])
    jobs.jobs[0].allowFailure = true
    var bench = Bench(jobs, slots: 1)
    bench.start()
    bench.send(.pause([try bench.id("other"), try bench.id("b")]))
    try bench.end("a", .failed(broken))
    bench.send(.setDraining(true))
    bench.send(.resume([try bench.id("b")]))
    #expect(try bench.state("b") == .ready(for: .slot))
    bench.send(.retry([try bench.id("a")], withDependents: false))
    #expect(try bench.state("b") == .waiting)
    bench.send(.setDraining(false))
    #expect(bench.names == ["a"])
    try bench.end("a")
    #expect(bench.names == ["b"])
  }

  @Test func aNeedForAFailureRunsOnlyAfterOne() throws {
    var jobs = graph(["a": [], "page": ["a"], "tidy": ["a"]])
    jobs.jobs[1].needs[0].when = .failed
    jobs.jobs[2].needs[0].when = .finished
    var failing = Bench(jobs)
    failing.start()
    try failing.end("a", .failed(broken))
    #expect(failing.names == ["page", "tidy"])
    var succeeding = Bench(jobs)
    succeeding.start()
    try succeeding.end("a")
    #expect(succeeding.names == ["tidy"])
    #expect(try succeeding.state("page") == .skipped(because: .job(succeeding.id("a"))))
  }

  @Test func nothingNewStartsAfterAFailureUnderFinishRunning() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": [], "d": ["b"]], onFailure: .finishRunning))
    bench.start()
    try bench.end("a", .failed(broken))
    #expect(bench.names == ["b"])
    #expect(try bench.state("c") == .cancelled(by: .policy))
    #expect(bench.asked.isEmpty)
    try bench.end("b")
    #expect(try bench.state("b") == .succeeded(upToDate: false))
    #expect(try bench.state("d") == .cancelled(by: .policy))
  }

  @Test func whatExecutesIsCancelledAfterAFailureUnderStopNow() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": []], onFailure: .stopNow))
    bench.start()
    try bench.end("a", .failed(broken))
    #expect(bench.asked.count == 1)
    try bench.end("b", .cancelled)
    #expect(try bench.state("b") == .cancelled(by: .policy))
    #expect(try bench.state("c") == .cancelled(by: .policy))
  }

  @Test func aRetryWaitsItsBackoffAndThenStartsANewAttempt() throws {
    var bench = Bench(graph(["a": []]) { $0.retry = RetryPolicy(max: 2, initial: .seconds(1)) })
    bench.start()
    bench.journal.advance(to: .seconds(10))
    try bench.end("a", .failed(broken))
    #expect(try bench.state("a") == .backingOff(until: .seconds(11), number: 1, limit: 2, after: broken))
    #expect(bench.scheduler.nextWake == .seconds(11))
    bench.advance(to: .seconds(11))
    #expect(bench.executing.map(\.attempt) == [2])
    try bench.end("a", .failed(broken))
    #expect(try bench.state("a") == .backingOff(until: .seconds(13), number: 2, limit: 2, after: broken))
    bench.advance(to: .seconds(13))
    try bench.end("a", .failed(broken))
    #expect(try bench.state("a") == .failed(broken, allowed: false))
    #expect(bench.scheduler.nextWake == nil)
  }

  /// The longer of the two waits counts.
  @Test(arguments: [(1, 5), (5, 5), (9, 9), (3600, 3600)])
  func aRetryDoesNotComeBeforeTheServerAllowsIt(asked: Int, waited: Int) throws {
    let refused = JobFailure(.http(429), "HTTP 429", retryAfter: .seconds(asked))
    var bench = Bench(graph(["a": []]) { $0.retry = RetryPolicy(max: 2, backoff: .constant, initial: .seconds(5)) })
    bench.start()
    bench.journal.advance(to: .seconds(10))
    try bench.end("a", .failed(refused))
    let until = Duration.seconds(10 + waited)
    #expect(try bench.state("a") == .backingOff(until: until, number: 1, limit: 2, after: refused))
    #expect(bench.scheduler.nextWake == until)
    bench.advance(to: until - .milliseconds(1))
    #expect(bench.executing.isEmpty)
    bench.advance(to: until)
    #expect(bench.executing.map(\.attempt) == [2])
  }

  @Test func aFailureThatThePolicyLeavesOutIsNotRetried() throws {
    var bench = Bench(graph(["a": []]) { $0.retry = RetryPolicy(max: 2, only: [.network]) })
    bench.start()
    try bench.end("a", .failed(broken))
    #expect(try bench.state("a") == .failed(broken, allowed: false))
  }

  @Test func anAttemptThatTakesTooLongIsCancelledAndCountsAsTimedOut() throws {
    var bench = Bench(graph(["a": []]) { $0.timeout = .seconds(5) })
    bench.start()
    bench.advance(to: .seconds(5))
    #expect(bench.asked == [.cancel(ticket: 0)])
    try bench.end("a", .cancelled)
    #expect(bench.scheduler.nextWake == nil)
    #expect(try bench.state("a") == .failed(JobFailure(.timedOut, "timed out after 5s"), allowed: false))
  }

  @Test func anAttemptAtItsTimeLimitIsStoppingAndCannotBePaused() throws {
    var bench = Bench(
      graph(["a": []]) { job in
        job.work = .shell(ShellWork(.script("work"), stop: .init(signal: 15, grace: .seconds(8))))
        job.timeout = .seconds(5)
        job.retry = RetryPolicy(max: 1)
      })
    bench.start()
    bench.advance(to: .seconds(5))
    #expect(bench.facts.contains(.cancelRequested(JobID(0), by: .timeout, kill: false)))
    var run: Run { bench.journal.run }
    #expect(StatusText(JobID(0), run, now: .seconds(6)).whole == "stopping, killed in 0:07")
    #expect(StateClass(run[JobID(0)]) == .stopping)
    bench.send(.pause([JobID(0)]))
    bench.scheduler.attemptStopped(ticket: 0, isStopped: true)
    #expect(try bench.state("a") == .executing)
    // A person who asks for the end too does not put the kill off.
    bench.advance(to: .seconds(7))
    bench.send(.cancel([JobID(0)], by: .person))
    #expect(run[JobID(0)].killTime == .seconds(13))
    #expect(bench.asked == [.cancel(ticket: 0)])
    try bench.end("a", .cancelled)
    #expect(try bench.state("a") == .cancelled(by: .person))
    #expect(run[JobID(0)].cancelling == nil)
  }

  @Test(arguments: [false, true]) func aResumeRevokesTwoPausesOfAnAttemptThatHasNotBegun(begins: Bool) throws {
    let graph = graph(["a": []])
    var scheduler = Scheduler(graph, journal: RunJournal())
    scheduler.start(runStart(graph, slots: 1))
    _ = scheduler.takeActions()
    for command in [JobCommand.pause([JobID(0)]), .pause([JobID(0)]), .resume([JobID(0)])] { scheduler.handle(command) }
    #expect(scheduler.takeActions() == [.withdraw(ticket: 0)])
    #expect(scheduler.state(JobID(0)) == .ready(for: .slot))
    if begins {
      scheduler.attemptStarted(ticket: 0, pid: nil)
      #expect(scheduler.state(JobID(0)) == .executing && scheduler.takeActions().isEmpty)
    } else {
      scheduler.attemptWithdrawn(ticket: 0)
      #expect(scheduler.state(JobID(0)) == .ready(for: .slot) && scheduler.inQueue == 1)
    }
  }

  /// The command after the limit, the retries that are left, whether the run is closed by its policy, and the last state.
  @Test(arguments: [
    (JobCommand.cancel([JobID(0)], by: .person), 1, false, true), (.cancel([JobID(0)], by: .person), 0, false, false),
    (.kill([JobID(0)]), 1, false, true), (.kill([JobID(0)]), 0, false, false),
    (.cancel([JobID(0)], by: .person), 1, true, false), (.stop(.terminate, by: .person), 1, false, true),
    (.stop(.terminate, by: .person), 0, false, false), (.stop(.kill, by: .person), 0, false, false),
  ])
  func aCancellationAtTheLimitPreventsOnlyARetry(
    _ command: JobCommand, retries: Int, closes: Bool, isCancelled: Bool
  ) throws {
    var jobs = graph(["a": [], "b": []]) { job in
      job.timeout = .seconds(5)
      job.retry = RetryPolicy(max: job.name == "a" ? retries : 0)
    }
    jobs.onFailure = .finishRunning
    var bench = Bench(jobs)
    bench.start()
    if closes { try bench.end("b", .failed(JobFailure(.exit(1), "exit 1"))) }
    bench.advance(to: .seconds(5))
    bench.send(command)
    try bench.end("a", .cancelled)
    let timedOut = JobState.failed(JobFailure(.timedOut, "timed out after 5s"), allowed: false)
    #expect(try bench.state("a") == (isCancelled ? .cancelled(by: .person) : timedOut))
  }

  @Test(arguments: [true, false]) func theLimitOfACancelledAttemptChangesNothing(cancelsFirst: Bool) throws {
    var bench = Bench(
      graph(["a": []]) { job in
        job.work = .shell(ShellWork(.script("work"), silence: .seconds(3)))
        job.timeout = .seconds(3)
      })
    bench.start()
    if cancelsFirst { bench.send(.cancel([JobID(0)], by: .person)) }
    bench.advance(to: .seconds(10))
    #expect(bench.asked == [.cancel(ticket: 0)])
    #expect(bench.journal.run[JobID(0)].cancelling?.by == (cancelsFirst ? .person : .timeout))
    try bench.end("a", .cancelled)
    #expect(bench.scheduler.nextWake == nil)
  }

  @Test(arguments: [(3.0, 3.25), (16, 17), (3600, 3604)])
  func theOutputOfAClusterJobIsSeenLaterThanItIsWritten(_ silence: Double, _ end: Double) {
    var graph = graph(["a": []])
    graph.jobs[0].work = .shell(ShellWork(.script("work"), silence: .seconds(silence), cluster: ClusterRequest()))
    #expect(Bench(graph).scheduler.silenceLimit(of: JobID(0)) == .seconds(end))
    graph.allocation = ClusterRequest()
    #expect(Bench(graph).scheduler.silenceLimit(of: JobID(0)) == .seconds(silence))
  }

  @Test func aProgramThatIsStoppedIsPausedUntilItContinuesOrIsResumed() throws {
    var bench = Bench(graph(["a": []]))
    bench.start()
    let ticket = bench.executing[0].ticket
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: true)
    #expect(try bench.state("a") == .paused(started: true))
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: false)
    #expect(try bench.state("a") == .executing)
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: true)
    try bench.send(.resume([bench.id("a")]))
    #expect(bench.asked == [.resume(ticket: ticket)])
    #expect(try bench.state("a") == .executing)
    // Late news of an attempt that has ended.
    try bench.end("a")
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: true)
    #expect(try bench.state("a") == .succeeded(upToDate: false))
  }

  @Test func aProgramThatIsStoppedDoesNotEscapeItsTimeout() throws {
    var bench = Bench(graph(["a": []]) { $0.timeout = .seconds(5) })
    bench.start()
    let ticket = bench.executing[0].ticket
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: true)
    bench.advance(to: .seconds(5))
    #expect(bench.asked == [.cancel(ticket: ticket)])
  }

  @Test func pausedTimeDoesNotCountAgainstTheTimeout() throws {
    var bench = Bench(graph(["a": []]) { $0.timeout = .seconds(5) })
    bench.start()
    bench.advance(to: .seconds(3))
    bench.send(.pause([try bench.id("a")]))
    bench.advance(to: .seconds(60))
    bench.send(.resume([try bench.id("a")]))
    bench.advance(to: .seconds(61))
    #expect(bench.asked == [.pause(ticket: 0), .resume(ticket: 0)])
    bench.advance(to: .seconds(62))
    #expect(bench.asked.last == .cancel(ticket: 0))
  }

  @Test func aWaitingJobThatIsPausedDoesNotStartUntilItIsResumed() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]))
    bench.start()
    bench.send(.pause([try bench.id("b")]))
    try bench.end("a")
    #expect(try bench.state("b") == .paused(started: false))
    #expect(bench.names.isEmpty)
    bench.send(.resume([try bench.id("b")]))
    #expect(bench.names == ["b"])
  }

  @Test func anAdmittedJobThatHasNotBegunIsTakenBackWhenItIsPaused() throws {
    var bench = Bench(graph(["a": [], "b": []]), slots: 1)
    bench.start()
    #expect(bench.queued.count == 1)
    bench.send(.pause([try bench.id("b")]))
    #expect(bench.queued.isEmpty)
    #expect(try bench.state("b") == .paused(started: false))
    try bench.end("a")
    #expect(bench.names.isEmpty)
    bench.send(.resume([try bench.id("b")]))
    #expect(bench.names == ["b"])
    #expect(bench.executing.map(\.attempt) == [1])
  }

  @Test func aCancelThatCrossesTheStartReachesTheAttempt() throws {
    let (graph, journal) = (graph(["a": []]), RunJournal())
    var scheduler = Scheduler(graph, journal: journal, options: .init(seed: 1))
    scheduler.start(runStart(graph, slots: 1))
    _ = scheduler.takeActions()
    scheduler.handle(.cancel([JobID(0)], by: .person))
    #expect(scheduler.takeActions() == [.withdraw(ticket: 0)])
    // It had begun already: instead of a withdrawal comes the news of the start.
    scheduler.attemptStarted(ticket: 0, pid: nil)
    #expect(scheduler.takeActions().last == .cancel(ticket: 0))
    scheduler.attemptEnded(ticket: 0, .cancelled)
    #expect(journal.run.jobs[0].state == .cancelled(by: .person))
  }

  @Test func aCancelledJobSkipsWhatNeedsIt() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]))
    bench.start()
    bench.send(.cancel([try bench.id("a")], by: .person))
    #expect(bench.asked == [.cancel(ticket: 0)])
    try bench.end("a", .cancelled)
    #expect(try bench.state("a") == .cancelled(by: .person))
    #expect(try bench.state("b") == .skipped(because: .job(bench.id("a"))))
  }

  @Test func aJobThatSucceedsInSpiteOfACancelHasSucceeded() throws {
    var bench = Bench(graph(["a": []]))
    bench.start()
    bench.send(.cancel([try bench.id("a")], by: .person))
    try bench.end("a", .succeeded)
    #expect(try bench.state("a") == .succeeded(upToDate: false))
  }

  @Test func aRetryByHandPutsBackTheDependentsThatTheFailureSkipped() throws {
    var bench = Bench(
      graph(["a": [], "b": ["a"], "c": ["b"]]) { $0.retry = RetryPolicy(max: 1, initial: .seconds(1)) })
    bench.start()
    try bench.end("a", .failed(broken))
    bench.advance(to: .seconds(1))
    try bench.end("a", .failed(broken))
    bench.send(.retry([try bench.id("a")], withDependents: false))
    #expect(bench.names == ["a"])
    #expect(bench.executing.map(\.attempt) == [3])
    #expect(try bench.state("b") == .waiting && bench.state("c") == .waiting)
    try bench.end("a", .failed(JobFailure(.exit(2), "exit 2")))
    // The count of retries began again.
    bench.advance(to: .seconds(60))
    try bench.end("a", .failed(broken))
    #expect(try bench.state("b") == .skipped(because: .job(bench.id("a"))))
    bench.send(.retry([try bench.id("a")], withDependents: true))
    #expect(try bench.state("b") == .waiting)
    try bench.end("a")
    try bench.end("b")
    try bench.end("c")
    #expect(bench.facts.filter { if case .jobState(_, .succeeded, _, _) = $0 { true } else { false } }.count == 3)
  }

  @Test func aRetryPutsBackNoCancelledJobsNorThoseOfAnotherFailure() throws {
    var bench = Bench(graph(["a": [], "other": [], "both": ["a", "other"], "b": ["a"], "c": ["b"], "d": ["a"]]))
    bench.start()
    bench.send(.cancel([try bench.id("b")], by: .person))
    try bench.end("other", .failed(broken))
    try bench.end("a", .failed(broken))
    bench.send(.retry([try bench.id("a")], withDependents: false))
    #expect(try bench.state("b") == .cancelled(by: .person))
    #expect(try bench.state("c") == .skipped(because: .job(bench.id("b"))))
    #expect(try bench.state("both") == .skipped(because: .job(bench.id("other"))))
    try bench.end("a")
    #expect(bench.names == ["d"])
    bench.send(.retry([try bench.id("other")], withDependents: false))
    try bench.end("other")
    #expect(bench.names == ["d", "both"])
  }

  @Test func aRetryOfASkippedJobWhoseCauseStandsSkipsItAgain() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]))
    bench.start()
    try bench.end("a", .failed(broken))
    bench.send(.retry([try bench.id("b")], withDependents: false))
    #expect(try bench.state("b") == .skipped(because: .job(bench.id("a"))))
    #expect(bench.names.isEmpty)
  }

  @Test func aPoolIsNeverOverdrawnAndItsWaitIsNamed() throws {
    var bench = Bench(
      graph(["a": [], "b": [], "c": [], "d": []], pools: ["heavy": 1]) { job in
        if job.name != "d" { job.uses = ["heavy": 1] }
      }, slots: 4)
    bench.start()
    #expect(bench.names == ["a", "d"])
    #expect(try bench.state("b") == .ready(for: .pool("heavy")))
    try bench.end("a")
    #expect(bench.names == ["d", "b"])
    try bench.end("b", .failed(broken))
    #expect(bench.names == ["d", "c"])
  }

  @Test func theMoreUrgentOfTheReadyGoesFirst() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": [], "d": [], "e": [], "f": []]) { $0.priority = .low }, slots: 1)
    bench.start()
    bench.send(.setPriority([try bench.id("f")], .veryHigh))
    try bench.end("a")
    // b and c had been admitted by then; f passes them in the queue.
    #expect(bench.names == ["f"])
  }

  /// The order in which `first` and 25 jobs execute in one slot after the changes to the job at `place`.
  private func order(_ schedule: JobGraph.Schedule, _ place: Int, _ changes: [JobPriority]) throws -> [Int] {
    let jobs = (0...25).map { Job(name: $0 == 0 ? "first" : "n\($0 - 1)", work: .simulate(SimulatedWork())) }
    var bench = Bench(JobGraph(name: "test", jobs: jobs, schedule: schedule), slots: 1)
    bench.start()
    for priority in changes { bench.send(.setPriority([JobID(place + 1)], priority)) }
    #expect(bench.journal.run[JobID(place + 1)].job.priority == changes.last)
    var order: [Int] = []
    while let name = bench.names.first {
      order.append(try bench.id(name).index - 1)
      try bench.end(name)
    }
    return Array(order.dropFirst())
  }

  /// The first ones are in the operation queue, the last ones wait in the scheduler.
  @Test(arguments: [3, 20]) func inTheOrderOfTheFileAChangeOfPriorityMovesNothing(place: Int) throws {
    #expect(try order(.fifo, place, [.high]) == Array(0..<25))
    #expect(try order(.fifo, place, [.low, .veryHigh]) == Array(0..<25))
  }

  @Test(arguments: [JobGraph.Schedule.priority, .criticalPath], [3, 20])
  func aPriorityThatIsTakenBackLeavesTheJobInItsPlace(schedule: JobGraph.Schedule, place: Int) throws {
    #expect(try order(schedule, place, [.high, .normal]) == Array(0..<25))
    #expect(try order(schedule, place, [.low]).last == place)
  }

  @Test func amongEqualsTheLongestChainGoesFirst() throws {
    var jobs = graph(["leaf": [], "leaf2": [], "leaf3": [], "root": [], "mid": ["root"], "end": ["mid"]])
    jobs.schedule = .criticalPath
    for index in jobs.jobs.indices { jobs.jobs[index].work = .simulate(SimulatedWork(duration: .seconds(1))) }
    var bench = Bench(jobs, slots: 1)
    bench.start()
    #expect(bench.names == ["root"])
  }

  @Test func whileDrainingNothingNewStarts() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": [], "d": []]), slots: 1)
    bench.start()
    bench.send(.setDraining(true))
    try bench.end("a")
    #expect(bench.names.isEmpty)
    bench.send(.setDraining(false))
    #expect(bench.names == ["b"])
  }

  @Test func moreSlotsStartMoreAtOnce() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": [], "d": []]), slots: 1)
    bench.start()
    bench.send(.setSlots(3))
    #expect(bench.names.count == 3)
    #expect(bench.facts.contains(.slotsChanged(3)))
  }

  @Test func changesOfTheSlotsAddUpAndLeaveOne() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": [], "d": []]), slots: 1)
    bench.start()
    for _ in 0..<3 { bench.send(.changeSlots(by: 1)) }
    #expect(bench.names.count == 4)
    #expect(bench.facts.contains(.slotsChanged(4)))
    for _ in 0..<9 { bench.send(.changeSlots(by: -1)) }
    #expect(bench.facts.contains(.slotsChanged(1)) && !bench.facts.contains(.slotsChanged(0)))
  }

  @Test func aStopCancelsWhatWaitsAndEndsWhatExecutes() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": ["a"]]), slots: 1)
    bench.start()
    bench.send(.stop(.terminate, by: .signal))
    #expect(try bench.state("b") == .cancelled(by: .signal))
    #expect(bench.asked == [.cancel(ticket: 0)])
    bench.send(.stop(.terminate, by: .signal))
    #expect(bench.asked.count == 1)
    bench.send(.stop(.kill, by: .signal))
    #expect(bench.asked.last == .kill(ticket: 0))
    try bench.end("a", .cancelled)
    #expect(!bench.journal.run.jobs.contains { !$0.state.isTerminal })
  }

  @Test func lateNewsOfAnOldAttemptIsNotTakenForTheNewOne() throws {
    var bench = Bench(graph(["a": []]), slots: 1)
    bench.start()
    try bench.end("a", .failed(broken))
    bench.send(.retry([try bench.id("a")], withDependents: false))
    bench.scheduler.attemptEnded(ticket: 0, .succeeded)
    #expect(try bench.state("a") == .executing)
  }

  @Test(arguments: [1: 10_000, 2: 10_000, 7: 100_000])
  func aHundredThousandJobsOfAnyShapeRunToTheEnd(slots: Int, most: Int) throws {
    // Under a sanitizer so many would take ten minutes.
    let count = FaultHandling.isSanitized ? 10_000 : most
    let shapes: [(String, (Int) -> [Int])] = [
      ("chain", { $0 == 0 ? [] : [$0 - 1] }), ("fan-out", { $0 == 0 ? [] : [0] }),
      ("fan-in", { $0 == count - 1 ? Array(0..<count - 1) : [] }),
      ("layers", { $0 < 100 ? [] : [$0 - 100, $0 / 100] }),
    ]
    for (name, needs) in shapes {
      let jobs = (0..<count).map { index in
        Job(name: "\(index)", work: .simulate(SimulatedWork()), needs: needs(index).map { JobNeed(JobID($0)) })
      }
      let graph = JobGraph(name: name, jobs: jobs)
      var scheduler = Scheduler(graph, journal: RunJournal(), options: .init(seed: 1))
      scheduler.start(runStart(graph, slots: slots))
      var open: [Int] = []
      var done = 0
      while true {
        for case .admit(let admission) in scheduler.takeActions() { open.append(admission.ticket) }
        guard let ticket = open.popLast() else { break }
        scheduler.attemptStarted(ticket: ticket, pid: nil)
        scheduler.attemptEnded(ticket: ticket, .succeeded)
        done += 1
      }
      #expect(done == count, "\(name)")
    }
  }
}
