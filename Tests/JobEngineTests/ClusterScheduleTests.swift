import JobModel
import Testing

@testable import JobEngine

private func onCluster(_ job: inout Job) {
  job.work = .shell(ShellWork(.script("true"), cluster: ClusterRequest()))
}

/// Jobs of a cluster in the schedule, beside those of this machine.
@Suite struct ClusterScheduleTests {
  @Test func clusterJobsTakeNoSlot() throws {
    let jobs = graph(["c": [], "d": [], "e": [], "x": [], "y": []]) { job in
      if "cde".contains(job.name) { onCluster(&job) }
    }
    var bench = Bench(jobs, slots: 1)
    bench.start()
    #expect(bench.submittedNames == ["c", "d", "e"])
    #expect(bench.names == ["x"])
    for name in ["c", "d", "e"] { try bench.startOnCluster(name) }
    #expect(bench.journal.run.counts.executing == 4)
    #expect(bench.journal.run.counts.usedSlots == 1)
    try bench.end("c")
    #expect(bench.names == ["x", "d", "e"])
    try bench.end("x")
    #expect(bench.names.contains("y"))
  }

  @Test func noMoreAreSubmittedThanTheClusterTakes() throws {
    var bench = Bench(graph(["a": [], "b": [], "c": []], change: onCluster), slots: 1, clusterJobs: 2)
    bench.start()
    #expect(bench.submittedNames == ["a", "b"])
    try bench.startOnCluster("a")
    #expect(bench.submittedNames == ["b"])
    try bench.end("a")
    #expect(bench.submittedNames == ["b", "c"])
  }

  @Test func aSubmittedJobWaitsForTheClusterWithItsReason() throws {
    var bench = Bench(graph(["a": []], change: onCluster))
    bench.start()
    #expect(try bench.state("a") == .ready(for: .cluster(reason: nil)))
    bench.journal.advance(to: .seconds(3))
    try bench.wait("a", for: "Resources")
    #expect(try bench.state("a") == .ready(for: .cluster(reason: "Resources")))
    #expect(StatusText(JobID(0), bench.journal.run, now: .seconds(3)).whole == "waits for the cluster: Resources")
    bench.journal.advance(to: .seconds(5))
    try bench.startOnCluster("a")
    let record = bench.journal.run.jobs[0]
    #expect(record.attempts.map(\.number) == [1])
    #expect(record.spent(.forCluster, until: .seconds(5)) == .seconds(5))
    try bench.end("a")
    #expect(try bench.state("a") == .succeeded(upToDate: false))
  }

  @Test func aRequeuedJobWaitsAndExecutesInTheSameAttempt() throws {
    let jobs = graph(["a": []]) { job in
      onCluster(&job)
      job.timeout = .seconds(10)
    }
    var bench = Bench(jobs)
    bench.start()
    try bench.startOnCluster("a")
    bench.journal.advance(to: .seconds(8))
    try bench.requeue("a")
    #expect(try bench.state("a") == .ready(for: .cluster(reason: nil)))
    try bench.wait("a", for: "BeginTime")
    // Its time limit begins again with it.
    bench.advance(to: .seconds(100))
    try bench.startOnCluster("a")
    bench.advance(to: .seconds(109))
    #expect(try bench.state("a") == .executing)
    let record = bench.journal.run.jobs[0]
    #expect(record.attempts.map(\.number) == [1])
    #expect(record.elapsed(at: .seconds(109)) == .seconds(9))
    try bench.end("a")
    #expect(try bench.state("a") == .succeeded(upToDate: false))
  }

  // MARK: Time limits

  private func limited(silence: Duration? = nil) -> Bench {
    Bench(
      graph(["a": []]) { job in
        job.work = .shell(ShellWork(.script("true"), silence: silence, cluster: ClusterRequest()))
        job.timeout = .seconds(100)
      })
  }

  @Test(arguments: [(0, 99, 100), (70, 29, 30), (100, -1, 0), (200, -1, 0)])
  func theTimeThatAJobHasExecutedBeforeCountsForItsLimit(before: Int, last: Int, end: Int) throws {
    var bench = limited()
    bench.start()
    try bench.startOnCluster("a", executedFor: .seconds(before))
    if last >= 0 {
      bench.advance(to: .seconds(last))
      #expect(bench.cancelled.isEmpty)
    }
    bench.advance(to: .seconds(end))
    #expect(bench.cancelled == ["a"])
    try bench.end("a", .cancelled)
    guard case .failed(let failure, _) = try bench.state("a") else { return #expect(Bool(false), "it has not failed") }
    #expect(failure.cause == .timedOut)
  }

  @Test func theLimitsOfASuspendedJobAreSuspended() throws {
    var bench = limited(silence: .seconds(50))
    bench.start()
    try bench.startOnCluster("a")
    bench.advance(to: .seconds(40))
    try bench.setSuspended(true, "a")
    #expect(try bench.state("a") == .paused(started: true))
    #expect(bench.asked.isEmpty)
    bench.advance(to: .seconds(1000))
    #expect(bench.cancelled.isEmpty)
    try bench.setSuspended(false, "a")
    #expect(try bench.state("a") == .executing)
    bench.advance(to: .seconds(1030))
    bench.scheduler.attemptSpoke(ticket: 0)
    bench.advance(to: .seconds(1059))
    #expect(bench.cancelled.isEmpty)
    bench.advance(to: .seconds(1060))
    #expect(bench.cancelled == ["a"])
    #expect(bench.journal.run.jobs[0].elapsed(at: .seconds(1060)) == .seconds(100))
  }

  @Test func aPersonCannotContinueASuspendedJob() throws {
    var bench = limited()
    bench.start()
    try bench.startOnCluster("a")
    try bench.setSuspended(true, "a")
    bench.send(.resume([JobID(0)]))
    #expect(try bench.state("a") == .paused(started: true))
    bench.advance(to: .seconds(1000))
    #expect(bench.cancelled.isEmpty)
  }

  @Test func aPersonsPauseOutlastsASuspension() throws {
    var bench = limited()
    bench.start()
    try bench.startOnCluster("a")
    bench.advance(to: .seconds(60))
    try bench.setSuspended(true, "a")
    bench.send(.pause([JobID(0)]))
    #expect(bench.asked == [.pause(ticket: 0)])
    try bench.setSuspended(false, "a")
    #expect(try bench.state("a") == .paused(started: true))
    bench.advance(to: .seconds(1000))
    bench.send(.resume([JobID(0)]))
    #expect(try bench.state("a") == .executing)
    bench.advance(to: .seconds(1039))
    #expect(bench.cancelled.isEmpty)
    bench.advance(to: .seconds(1040))
    #expect(bench.cancelled == ["a"])
  }

  @Test func aSuspendedJobIsCancelledOrRequeued() throws {
    var bench = limited()
    bench.start()
    try bench.startOnCluster("a")
    try bench.setSuspended(true, "a")
    try bench.requeue("a")
    #expect(try bench.state("a") == .ready(for: .cluster(reason: nil)))
    try bench.startOnCluster("a")
    #expect(try bench.state("a") == .executing)
    try bench.setSuspended(true, "a")
    bench.send(.cancel([JobID(0)], by: .person))
    #expect(bench.cancelled == ["a"])
    try bench.setSuspended(false, "a")
    try bench.end("a", .cancelled)
    #expect(try bench.state("a") == .cancelled(by: .person))
  }

  @Test func aRequeuedJobThatIsCancelledIsCancelled() throws {
    var bench = Bench(graph(["a": []], change: onCluster))
    bench.start()
    try bench.startOnCluster("a")
    try bench.requeue("a")
    bench.send(.cancel([JobID(0)], by: .person))
    try bench.takeBack("a")
    #expect(try bench.state("a") == .cancelled(by: .person))
  }

  @Test func aPausedJobKeepsItsPlaceInTheQueueOfTheCluster() throws {
    var bench = Bench(graph(["a": []], change: onCluster))
    bench.start()
    bench.send(.pause([JobID(0)]))
    #expect(try bench.state("a") == .paused(started: false))
    #expect(bench.asked == [.pause(ticket: 0)])
    // What the cluster says meanwhile is not what a person sees.
    try bench.wait("a", for: "JobHeldUser")
    #expect(try bench.state("a") == .paused(started: false))
    bench.send(.resume([JobID(0)]))
    #expect(try bench.state("a") == .ready(for: .cluster(reason: nil)))
    #expect(bench.asked == [.pause(ticket: 0), .resume(ticket: 0)])
    try bench.startOnCluster("a")
    #expect(try bench.state("a") == .executing)
  }

  @Test func aJobThatStartsAlthoughItWasHeldIsPaused() throws {
    var bench = Bench(graph(["a": []], change: onCluster))
    bench.start()
    bench.send(.pause([JobID(0)]))
    try bench.startOnCluster("a")
    #expect(try bench.state("a") == .paused(started: true))
    bench.send(.resume([JobID(0)]))
    #expect(try bench.state("a") == .executing)
  }

  @Test(arguments: [false, true])
  func aJobThatIsCancelledBeforeItsStartHasNoAttempt(isPaused: Bool) throws {
    var bench = Bench(graph(["a": [], "b": ["a"]], change: onCluster))
    bench.start()
    if isPaused { bench.send(.pause([JobID(0)])) }
    bench.send(.cancel([JobID(0)], by: .person))
    #expect(bench.asked.last == .withdraw(ticket: 0))
    #expect(try !bench.state("a").isTerminal)
    try bench.takeBack("a")
    #expect(try bench.state("a") == .cancelled(by: .person))
    #expect(bench.journal.run.jobs[0].attempts.isEmpty)
    #expect(try bench.state("b") == .skipped(because: .job(JobID(0))))
    bench.send(.retry([JobID(0)], withDependents: true))
    #expect(bench.submittedNames == ["a"])
  }

  @Test func aJobThatStartsBeforeItsCancellationComesIsCancelledThere() throws {
    var bench = Bench(graph(["a": []], change: onCluster))
    bench.start()
    bench.send(.cancel([JobID(0)], by: .person))
    try bench.startOnCluster("a")
    #expect(bench.cancelled == ["a"])
    try bench.end("a", .cancelled)
    #expect(try bench.state("a") == .cancelled(by: .person))
  }

  @Test func aRunThatIsStoppedTakesBackWhatWaits() throws {
    var bench = Bench(graph(["a": [], "b": []], change: onCluster))
    bench.start()
    try bench.startOnCluster("a")
    bench.send(.stop(.terminate, by: .signal))
    #expect(bench.cancelled == ["a"])
    #expect(bench.asked.contains(.withdraw(ticket: 1)))
    try bench.takeBack("b")
    try bench.end("a", .cancelled)
    #expect(bench.journal.run.counts.cancelled == 2)
  }

  // MARK: Pools

  @Test func aJobThatHasWaitedForAPoolNeedsNoFreeSlot() throws {
    var jobs = graph(["c": [], "d": [], "x": [], "y": ["x"]], pools: ["p": 1]) { job in
      if !"cd".contains(job.name) { return }
      onCluster(&job)
      job.uses = ["p": 1]
    }
    // Where ranks differ, nothing is admitted ahead of the slots as long as attempts end slowly.
    jobs.schedule = .criticalPath
    var bench = Bench(jobs, slots: 1)
    bench.start()
    #expect(bench.submittedNames == ["c"])
    #expect(bench.names == ["x"])
    #expect(try bench.state("d") == .ready(for: .pool("p")))
    try bench.startOnCluster("c")
    try bench.end("c")
    #expect(bench.submittedNames == ["d"])
    #expect(bench.names == ["x"])
  }

  @Test func aJobThatHasWaitedForAPoolKeepsTheLimitOfTheCluster() throws {
    let jobs = graph(["l": [], "k": [], "b": ["k"], "c": [], "d": ["k"]], pools: ["p": 1]) { job in
      if "lb".contains(job.name) { job.uses = ["p": 1] }
      if "bcd".contains(job.name) { onCluster(&job) }
    }
    var bench = Bench(jobs, slots: 2, clusterJobs: 2)
    bench.start()
    #expect(bench.names == ["l", "k"])
    try bench.end("k")
    #expect(try bench.state("b") == .ready(for: .pool("p")))
    #expect(bench.submittedNames == ["c", "d"])
    try bench.end("l")
    #expect(bench.submittedNames == ["c", "d"])
    try bench.startOnCluster("c")
    try bench.end("c")
    #expect(bench.submittedNames == ["d", "b"])
  }

  @Test func aStepThatHasWaitedForAPoolKeepsItsPlaceAmongTheSteps() throws {
    let jobs = graph(["a": [], "wide": [], "b": [], "c": [], "d": [], "e": [], "f": []], pools: ["p": 1]) { job in
      job.work = .shell(ShellWork(.script("true"), cluster: ClusterRequest(cpus: job.name == "wide" ? 2 : 1)))
      if ["a", "wide"].contains(job.name) { job.uses = ["p": 1] }
    }
    var bench = Bench(jobs, slots: 1, hasAllocation: true)
    bench.start()
    bench.allocation {
      $0.allocationHeld([NodeAllocator.Node(name: "n1", cpus: 2), NodeAllocator.Node(name: "n2", cpus: 2)])
    }
    #expect(bench.names == ["a", "b", "c", "d"])
    #expect(try bench.state("wide") == .ready(for: .pool("p")))
    try bench.end("a")
    #expect(bench.names == ["b", "c", "d", "e"])
    #expect(try bench.state("wide") == .ready(for: .cluster(reason: nil)))
    // `f` comes after it, and waits until it has both CPUs of a node.
    try bench.end("b")
    #expect(bench.names == ["c", "d", "e"])
    try bench.end("e")
    #expect(bench.names == ["c", "d", "wide"])
    #expect(bench.placed["wide"] == "n1")
  }

  // MARK: Jobs that are taken back

  /// `b`, which follows any end of `a`, is being taken back because `a` is retried.
  private func leaving(onFailure: JobGraph.Failure = .keepGoing) throws -> Bench {
    var jobs = graph(["a": [], "x": [], "b": ["a"], "c": ["b"]], onFailure: onFailure) { job in
      if "bc".contains(job.name) { onCluster(&job) }
      job.allowFailure = job.name == "a"
    }
    jobs.jobs[2].needs[0].when = .finished
    var bench = Bench(jobs)
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.submittedNames == ["b"])
    bench.send(.retry([try bench.id("a")], withDependents: false))
    #expect(bench.asked == [.withdraw(ticket: 2)])
    return bench
  }

  /// The same, where the cluster has started `b` meanwhile.
  private func takenBack(onFailure: JobGraph.Failure = .keepGoing) throws -> Bench {
    var bench = try leaving(onFailure: onFailure)
    try bench.startOnCluster("b")
    #expect(try bench.state("b") == .executing)
    return bench
  }

  @Test func aJobThatIsPausedWhileItIsTakenBackStaysPaused() throws {
    var bench = try leaving()
    bench.send(.pause([try bench.id("b")]))
    #expect(try bench.state("b") == .paused(started: false))
    try bench.takeBack("b")
    try bench.end("a")
    #expect(try bench.state("b") == .paused(started: false))
    #expect(bench.submittedNames.isEmpty && bench.asked == [.withdraw(ticket: 2)])
    bench.send(.resume([try bench.id("b")]))
    #expect(bench.submittedNames == ["b"])
  }

  @Test func aJobThatIsResumedWhileItIsTakenBackWaitsAgain() throws {
    var bench = try leaving()
    for command in [JobCommand.pause([try bench.id("b")]), .resume([try bench.id("b")])] { bench.send(command) }
    try bench.takeBack("b")
    #expect(try bench.state("b") == .waiting)
  }

  @Test(arguments: [true, false])
  func aPauseHoldsAlthoughTheClusterStartsAJobThatIsTakenBack(isEarlier: Bool) throws {
    var bench = try leaving()
    if isEarlier { bench.send(.pause([try bench.id("b")])) }
    try bench.startOnCluster("b")
    if !isEarlier { bench.send(.pause([try bench.id("b")])) }
    // It is being cancelled there.
    #expect(try bench.state("b") == .executing)
    try bench.end("b", .cancelled)
    #expect(try bench.state("b") == .paused(started: false))
  }

  @Test func aJobThatStartsWhileItIsTakenBackWaitsAgain() throws {
    var bench = try takenBack()
    try bench.end("b", .cancelled)
    #expect(try bench.state("b") == .waiting)
    #expect(try bench.state("c") == .waiting)
    try bench.end("a")
    #expect(bench.submittedNames == ["b"])
    try bench.startOnCluster("b")
    #expect(bench.journal.run.jobs[2].attempts.map(\.number) == [1, 2])
    // The next attempt has nothing of the first: it was cancelled by the cluster.
    try bench.end("b", .cancelled)
    #expect(try bench.state("b") == .cancelled(by: .policy))
  }

  @Test func aJobThatIsTakenBackWaitsBeforeItIsSubmittedAgain() throws {
    var bench = try takenBack()
    try bench.end("a")
    let (id, count) = (try bench.id("b"), bench.facts.count)
    try bench.end("b", .cancelled)
    let states = bench.facts[count...].compactMap { fact in
      if case .jobState(id, let state, _, _) = fact { state } else { nil as JobState? }
    }
    #expect(states.first == .waiting)
    #expect(bench.submittedNames == ["b"])
  }

  @Test func aJobThatIsTakenBackAndCancelledHasEnded() throws {
    var bench = try takenBack()
    bench.send(.cancel([try bench.id("b")], by: .person))
    try bench.end("b", .cancelled)
    #expect(try bench.state("b") == .cancelled(by: .person))
  }

  @Test func aJobThatIsTakenBackDoesNotWaitInARunThatAFailureHasClosed() throws {
    var bench = try takenBack(onFailure: .finishRunning)
    try bench.end("x", .failed(JobFailure(.exit(1), "exit 1")))
    try bench.end("b", .cancelled)
    #expect(try bench.state("b") == .cancelled(by: .policy))
  }
}
