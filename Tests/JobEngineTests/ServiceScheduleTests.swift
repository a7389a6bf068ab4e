import JobModel
import Testing

@testable import JobEngine

@Suite struct ServiceScheduleTests {
  private static func service(_ restart: Service.Restart = .never, probe: Service.Probe? = .url("http://127.0.0.1/"))
    -> JobWork
  {
    .shell(ShellWork(.script("serve"), service: Service(probe: probe, limit: .seconds(30), restart: restart)))
  }

  /// `db` is needed by the service `api`, which `test` needs; `other` needs neither.
  private func bench(_ restart: Service.Restart = .never, slots: Int = 1, change: (inout [Job]) -> Void = { _ in })
    -> Bench
  {
    var jobs = [
      Job(name: "db", work: Self.service(restart)),
      Job(name: "api", work: Self.service(restart), needs: [JobNeed(JobID(0), when: .ready)]),
      Job(name: "test", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(1), when: .ready)]),
      Job(name: "other", work: .simulate(SimulatedWork())),
    ]
    change(&jobs)
    return Bench(JobGraph(name: "test", jobs: jobs, schedule: .priority), slots: slots)
  }

  @Test func aJobThatNeedsAServiceStartsWhenTheServiceCanBeUsed() throws {
    var bench = bench()
    bench.start()
    #expect(bench.services == ["db"])
    #expect(try bench.state("api") == .waiting)
    try bench.serve("db")
    #expect(try bench.state("db") == .serving)
    #expect(bench.services == ["db", "api"])
    #expect(try bench.state("test") == .waiting)
    try bench.serve("api")
    try bench.end("other")
    #expect(bench.names == ["test"])
  }

  @Test(arguments: [Service.Restart.never, .onFailure, .always])
  func aNeededServiceThatEndsWithSuccessIsRestartedIfAlways(restart: Service.Restart) throws {
    var bench = bench(restart)
    bench.start()
    try bench.serve("db")
    try bench.endService("db", .succeeded)
    let state = try bench.state("db")
    if restart == .always {
      guard case .backingOff(_, _, _, let failure) = state else { return #expect(state == .waiting, "no back-off") }
      #expect(failure == Scheduler.unaskedEnd)
    } else {
      #expect(state == .failed(Scheduler.unaskedEnd, allowed: false))
    }
  }

  @Test func servicesTakeNoSlots() throws {
    var bench = bench(slots: 1)
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    #expect(bench.services == ["db", "api"])
    #expect(bench.names == ["other"])
    #expect(bench.journal.run.counts.usedSlots == 1)
    #expect(bench.journal.run.counts.active == 3)
  }

  @Test func aServiceThatHasWaitedForAPoolNeedsNoFreeSlot() throws {
    var jobs = ["db", "api"].map { Job(name: $0, work: Self.service(), uses: ["p": 1]) }
    jobs.append(Job(name: "x", work: .simulate(SimulatedWork())))
    jobs.append(Job(name: "y", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(2))]))
    // Where ranks differ, nothing is admitted ahead of the slots as long as attempts end slowly.
    var bench = Bench(JobGraph(name: "test", jobs: jobs, schedule: .criticalPath, pools: ["p": 1]), slots: 1)
    bench.start()
    #expect(bench.services == ["db"])
    #expect(bench.names == ["x"])
    #expect(try bench.state("api") == .ready(for: .pool("p")))
    try bench.endService("db", .succeeded)
    #expect(bench.services == ["api"])
    #expect(bench.names == ["x"])
  }

  @Test func servicesAreStoppedInReverseOrderWhenNothingNeedsThem() throws {
    var bench = bench(slots: 2)
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    try bench.end("test")
    #expect(bench.cancelled == ["api"])
    #expect(bench.facts.contains(.cancelRequested(JobID(1), by: .unneeded, kill: false)))
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .succeeded(upToDate: false))
    #expect(bench.cancelled == ["api", "db"])
    try bench.endService("db", .failed(JobFailure(.signal(15), "SIGTERM (143)")))
    #expect(try bench.state("db") == .succeeded(upToDate: false))
    try bench.end("other")
    #expect(bench.journal.run.isComplete)
  }

  @Test(arguments: [JobState.Canceller.restart, .person, .timeout])
  func theFactsSayWhyAServiceEndsBeforeItServesNoLonger(canceller: JobState.Canceller) throws {
    var bench = bench()
    bench.start()
    try bench.serve("db")
    switch canceller {
    case .restart: bench.send(.retry([JobID(0)], withDependents: false))
    case .person: bench.send(.cancel([JobID(0)], by: .person))
    default:
      bench.scheduler.serviceHasDied(ticket: bench.executingServices[0].ticket, JobFailure(.error, "did not answer"))
      bench.settle()
    }
    let request = bench.facts.firstIndex(of: .cancelRequested(JobID(0), by: canceller, kill: false))
    let end = bench.facts.lastIndex(of: .jobState(JobID(0), .executing, attempt: 1, pid: nil))
    #expect(try #require(request) < #require(end))
  }

  @Test func aLimitInAStoppedRunEndsNoServiceBeforeItsUsers() throws {
    var bench = bench(slots: 2) { $0[3].timeout = .seconds(5) }
    bench.scheduler.graph.onFailure = .stopNow
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    bench.advance(to: .seconds(5))
    bench.send(.stop(.terminate, by: .person))
    try bench.end("other", .cancelled)
    #expect(try bench.state("other") == .failed(JobFailure(.timedOut, "timed out after 5s"), allowed: false))
    #expect(bench.cancelled == ["other", "test"])
    try bench.end("test", .cancelled)
    #expect(bench.cancelled == ["other", "test", "api"])
  }

  @Test func aServiceThatNoJobNamesRunsUntilAllOthersHaveEnded() throws {
    var bench = bench { $0[2].needs = [] }
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    try bench.end("test")
    #expect(bench.cancelled.isEmpty)
    try bench.end("other")
    #expect(bench.cancelled == ["api"])
  }

  @Test func aGraphOfServicesOnlyRunsUntilAPersonEndsIt() throws {
    var bench = bench { jobs in jobs.removeLast(2) }
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    #expect(bench.cancelled.isEmpty)
    bench.send(.stop(.terminate, by: .person))
    #expect(bench.cancelled == ["api"])
    try bench.endService("api", .cancelled)
    #expect(bench.cancelled == ["api", "db"])
    try bench.endService("db", .cancelled)
    // That was their end from the beginning.
    #expect(try bench.state("db") == .succeeded(upToDate: false))
  }

  @Test func aStopEndsServicesAfterTheJobsThatNeedThem() throws {
    var bench = bench(slots: 2)
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    bench.send(.stop(.terminate, by: .person))
    #expect(Set(bench.cancelled) == ["test", "other"])
    try bench.end("test", .cancelled)
    #expect(bench.cancelled.last == "api")
    bench.send(.stop(.kill, by: .person))
    #expect(Set(bench.killed) == ["db", "api", "other"])
  }

  @Test func aServiceThatFailsBeforeItCanBeUsedSkipsWhatNeedsIt() throws {
    var bench = bench()
    bench.start()
    try bench.endService("db", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("api") == .skipped(because: .job(JobID(0))))
    #expect(try bench.state("test") == .skipped(because: .job(JobID(0))))
  }

  @Test func aServiceThatCannotBeUsedInTimeFails() throws {
    var bench = bench()
    bench.start()
    bench.advance(to: .seconds(30))
    #expect(bench.cancelled == ["db"])
    try bench.endService("db", .cancelled)
    #expect(try bench.state("db") == .failed(JobFailure(.timedOut, "could not be used within 30s"), allowed: false))
  }

  @Test func aServiceThatCanBeUsedHasNoTimeLimit() throws {
    var bench = bench()
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    bench.advance(to: .seconds(3600))
    #expect(bench.cancelled.isEmpty)
  }

  @Test func aServiceBacksOffBeforeItsRestartAndDependentsWait() throws {
    var bench = bench(.onFailure)
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    // `other` has the only slot, so `test` is ready.
    #expect(try bench.state("test") == .ready(for: .slot))
    try bench.endService("api", .failed(JobFailure(.exit(2), "exit 2")))
    #expect(try bench.state("test") == .waiting)
    guard case .backingOff(_, number: 1, limit: 5, _) = try bench.state("api") else {
      Issue.record("no restart: \(try bench.state("api"))")
      return
    }
    bench.advance(to: .seconds(2))
    #expect(bench.services == ["db", "api"])
    try bench.serve("api")
    #expect(try bench.state("test") == .ready(for: .slot))
  }

  /// `api` serves, and `test` is in the operation queue behind `other`, which has the only slot.
  private func benchWithUserInQueue() throws -> Bench {
    var bench = bench()
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    #expect(bench.names == ["other"] && bench.queued.map(\.job) == [JobID(2)])
    return bench
  }

  @Test func aJobThatHasNotBegunIsSkippedWhenItsServiceFails() throws {
    var bench = try benchWithUserInQueue()
    try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("test") == .skipped(because: .job(JobID(1))))
    try bench.end("other")
    #expect(bench.names.isEmpty && bench.queued.isEmpty)
  }

  @Test(arguments: [true, false])
  func aJobThatHasNotBegunDoesNotUseAServiceThatIsEnded(byPerson: Bool) throws {
    var bench = try benchWithUserInQueue()
    if byPerson {
      bench.send(.cancel([JobID(1)], by: .person))
    } else {
      let ticket = try #require(bench.executingServices.last?.ticket)
      bench.scheduler.serviceHasDied(ticket: ticket, JobFailure(.error, "did not answer"))
      bench.settle()
    }
    #expect(bench.cancelled == ["api"])
    // It may take the time of its grace.
    try bench.end("other")
    #expect(bench.names.isEmpty)
    #expect(try bench.state("test") == .waiting)
    try bench.endService("api", .cancelled)
    #expect(try bench.state("test") == .skipped(because: .job(JobID(1))))
  }

  @Test func aJobIsSkippedThatLosesItsServiceByTheEndOfTheRun() throws {
    var bench = bench { jobs in jobs.append(Job(name: "last", work: .simulate(SimulatedWork()))) }
    bench.scheduler.graph.onFailure = .finishRunning
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("test") == .skipped(because: .job(JobID(1))))
    #expect(try bench.state("last") == .cancelled(by: .policy))
  }

  @Test func aServiceThatIsStoppedFromElsewhereIsWaitedFor() throws {
    var bench = try benchWithUserInQueue()
    let ticket = try #require(bench.executingServices.last?.ticket)
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: true)
    bench.settle()
    #expect(try bench.state("test") == .waiting)
    try bench.end("other")
    #expect(bench.names.isEmpty)
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: false)
    bench.settle()
    #expect(bench.names == ["test"])
  }

  @Test func aServiceWithoutAProbeCanBeUsedAtOnce() throws {
    var bench = bench { jobs in for job in 0...1 { jobs[job].work = Self.service(probe: nil) } }
    bench.start()
    #expect(try bench.state("api") == .serving)
  }

  @Test func aServiceWhoseDependentsWereDoneBeforeIsNotStarted() throws {
    var bench = bench()
    bench.start(restored: [JobID(2): EarlierSuccess(run: "1", at: .distantPast, took: .seconds(1))])
    #expect(try bench.state("api") == .skipped(because: .unneeded))
    #expect(try bench.state("db") == .skipped(because: .unneeded))
    try bench.end("other")
    #expect(bench.journal.run.isComplete)
  }

  @Test func aRetryStartsTheServicesAgainThatTheJobNeeds() throws {
    var bench = bench(slots: 2)
    bench.start()
    try bench.serve("db")
    try bench.serve("api")
    try bench.end("test", .failed(JobFailure(.exit(1), "exit 1")))
    try bench.endService("api", .cancelled)
    try bench.endService("db", .cancelled)
    bench.send(.retry([JobID(2)], withDependents: false))
    #expect(bench.services == ["db"])
    try bench.serve("db")
    try bench.serve("api")
    #expect(bench.names.contains("test"))
  }

  @Test func anEndThatNobodyAskedForIsAFailureWhereTheServiceIsNeeded() throws {
    var bench = bench()
    bench.start()
    try bench.endService("db", .succeeded)
    guard case .failed(let failure, _) = try bench.state("db") else {
      Issue.record("not failed")
      return
    }
    #expect(failure.reason == "ended by itself (exit 0) while it was needed")
  }
}
