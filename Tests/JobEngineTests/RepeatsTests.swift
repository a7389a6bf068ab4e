import JobModel
import Testing

@testable import JobEngine

/// Jobs that are executed again.
struct RepeatsTests {
  private static func service(_ restart: Service.Restart = .never) -> JobWork {
    .shell(ShellWork(.script("serve"), service: Service(probe: .url("http://127.0.0.1/"), restart: restart)))
  }

  /// `test` needs the service `api`, which needs `build`.
  private func bench(isWatching: Bool = false, change: (inout JobGraph) -> Void = { _ in }) -> Bench {
    var graph = JobGraph(
      name: "test",
      jobs: [
        Job(name: "build", work: .simulate(SimulatedWork())),
        Job(name: "api", work: Self.service(), needs: [JobNeed(JobID(0))]),
        Job(name: "test", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(1), when: .ready)]),
      ], schedule: .priority)
    change(&graph)
    return Bench(graph, isWatching: isWatching)
  }

  /// The same, with `test` at work.
  private func served(isWatching: Bool = false, change: (inout JobGraph) -> Void = { _ in }) throws -> Bench {
    var bench = bench(isWatching: isWatching, change: change)
    bench.start()
    try bench.end("build")
    try bench.serve("api")
    #expect(bench.names == ["test"])
    return bench
  }

  // MARK: Services

  @Test func aServiceThatIsRetriedEndsAndStartsAgain() throws {
    var bench = try served()
    bench.send(.retry([JobID(1)], withDependents: false))
    #expect(bench.cancelled == ["api"])
    #expect(bench.facts.contains(.cancelRequested(JobID(1), by: .restart, kill: false)))
    // It serves no longer, and what uses it is left alone.
    #expect(try bench.state("api") == .executing)
    bench.send(.retry([JobID(1)], withDependents: false))
    #expect(bench.cancelled == ["api"] && bench.names == ["test"])
    try bench.endService("api", .cancelled)
    #expect(bench.services == ["api"])
    #expect(bench.journal.run[JobID(1)].attempt?.number == 2)
    try bench.serve("api")
    #expect(try bench.state("api") == .serving)
    try bench.end("test")
    #expect(bench.cancelled == ["api", "api"])
  }

  @Test func aRestartByAPersonHasACauseAndIsNoFurtherTry() throws {
    var bench = try served { $0.jobs[1].work = Self.service(.onFailure) }
    bench.send(.retry([JobID(1)], withDependents: true))
    bench.send(.retry([JobID(1)], withDependents: true))
    #expect(bench.facts.filter { if case .jobCaused = $0 { true } else { false } }.count == 2)
    try bench.end("test", .cancelled)
    try bench.endService("api", .cancelled)
    try bench.serve("api")
    let run = bench.journal.run
    #expect(StatusText(JobID(1), run, now: run.time).whole == "serving, a person has restarted it")
    #expect(StatusText(JobID(2), run, now: run.time).whole == "running, api is restarted")
    #expect(run[JobID(1)].tryNumber == 1 && run[JobID(1)].attempt?.number == 2)
    // What follows a failure is one.
    try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
    let wake = bench.scheduler.nextWake
    bench.advance(to: try #require(wake))
    try bench.serve("api")
    let later = bench.journal.run
    #expect(StatusText(JobID(1), later, now: later.time).whole == "serving, try 2")
    #expect(later[JobID(1)].attempt?.number == 3)
  }

  @Test func aJobThatAPersonStartsAgainIsNoFurtherTry() throws {
    var bench = Bench(graph(["seed": [], "other": [], "bad": []]) { $0.isManual = $0.name == "seed" }, slots: 3)
    bench.start()
    bench.send(.retry([JobID(0)], withDependents: false))
    try bench.end("seed")
    bench.send(.cancel([JobID(1)], by: .person))
    try bench.end("other", .cancelled)
    try bench.end("bad", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.retry([JobID(0), JobID(1), JobID(2)], withDependents: false))
    for id in [JobID(0), JobID(1)] { #expect(bench.journal.run[id].reason == "a person has started it again") }
    for name in ["seed", "other", "bad"] { try bench.end(name) }
    let run = bench.journal.run
    #expect(run.jobs.map { $0.attempt?.number } == [2, 2, 2])
    #expect(run.ids.map { StatusText($0, run, now: run.time).whole } == ["ok", "ok", "ok, after 2 tries"])
  }

  @Test func aServiceThatStartsAgainForOneJobPutsBackTheOthers() throws {
    var bench = bench { graph in
      let needs = [JobNeed(JobID(1), when: .ready), JobNeed(JobID(2))]
      graph.jobs.append(Job(name: "late", work: .simulate(SimulatedWork()), needs: needs))
    }
    bench.start()
    try bench.end("build")
    try bench.serve("api")
    try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("late") == .skipped(because: .job(JobID(1))))
    try bench.end("test", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.retry([JobID(2)], withDependents: false))
    try bench.serve("api")
    try bench.end("test")
    #expect(bench.names == ["late"])
  }

  /// The same, after `test` has failed: `api`, which nothing else needs, is being ended.
  private func ending() throws -> Bench {
    var bench = try served()
    try bench.end("test", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.cancelled == ["api"])
    #expect(try bench.state("api") == .serving)
    return bench
  }

  @Test func aRetriedJobWaitsForTheNextStartOfAnEndingService() throws {
    var bench = try ending()
    bench.send(.retry([JobID(2)], withDependents: false))
    #expect(try bench.state("test") == .waiting)
    #expect(try bench.state("api") == .executing)
    #expect(bench.facts.contains(.cancelRequested(JobID(1), by: .restart, kill: false)))
    // Its signal was sent.
    #expect(bench.cancelled == ["api"])
    try bench.endService("api", .cancelled)
    try bench.serve("api")
    #expect(bench.names == ["test"])
  }

  @Test func anEndingServiceThatAPersonCancelsDoesNotStartAgain() throws {
    var bench = try ending()
    bench.send(.retry([JobID(2)], withDependents: false))
    bench.send(.cancel([JobID(1)], by: .person))
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .cancelled(by: .person))
    #expect(try bench.state("test") == .skipped(because: .job(JobID(1))))
  }

  @Test func anEndingServiceThatIsNeededNoMoreDoesNotStartAgain() throws {
    var bench = try ending()
    bench.send(.retry([JobID(2)], withDependents: false))
    bench.send(.cancel([JobID(2)], by: .person))
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .succeeded(upToDate: false))
    #expect(bench.journal.run.isComplete)
  }

  /// `test` is being ended because `bad` has failed, and `api` is to end after it.
  private func closed() throws -> Bench {
    var bench = bench { graph in
      graph.jobs.append(Job(name: "bad", work: .simulate(SimulatedWork())))
      graph.onFailure = .stopNow
    }
    bench.start()
    try bench.end("build")
    try bench.serve("api")
    try bench.end("bad", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.cancelled == ["test"])
    return bench
  }

  @Test func aServiceThatAFailureEndsStartsAgainForARetriedJob() throws {
    var bench = try closed()
    try bench.end("test", .cancelled)
    #expect(bench.cancelled == ["test", "api"])
    bench.send(.retry([JobID(2)], withDependents: false))
    #expect(try bench.state("test") == .waiting)
    try bench.endService("api", .cancelled)
    try bench.serve("api")
    #expect(bench.names == ["test"] && bench.cancelled == ["test", "api"])
  }

  @Test func aRetryRevokesTheEndOfServicesThatFollowsTheirUsers() throws {
    var bench = try closed()
    bench.send(.retry([JobID(3)], withDependents: false))
    try bench.end("test", .cancelled)
    try bench.endService("api", .cancelled)
    #expect(try bench.state("test") == .cancelled(by: .policy))
    #expect(try bench.state("api") == .succeeded(upToDate: false))
  }

  @Test func aChangeStartsAJobAgainThatAFailureEnds() throws {
    var bench = Bench(graph(["a": [], "bad": []], onFailure: .stopNow), isWatching: true)
    bench.start()
    try bench.end("bad", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.cancelled == ["a"])
    bench.send(.inputsChanged([JobID(0): change("x")]))
    try bench.end("a", .cancelled)
    #expect(bench.names == ["a"] && bench.cancelled == ["a"])
  }

  @Test func theServicesStartAgainOfJobsThatARetryPutsBack() throws {
    var bench = bench { graph in
      graph.jobs[1].needs = []
      graph.jobs[2].needs.append(JobNeed(JobID(0)))
    }
    bench.start()
    try bench.serve("api")
    try bench.end("build", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("test") == .skipped(because: .job(JobID(0))))
    try bench.endService("api", .cancelled)
    bench.send(.retry([JobID(0)], withDependents: false))
    try bench.serve("api")
    try bench.end("build")
    #expect(bench.names == ["test"])
  }

  @Test func withItsDependentsThoseThatUseItStartAgainToo() throws {
    var bench = try served()
    bench.send(.retry([JobID(1)], withDependents: true))
    #expect(Set(bench.cancelled) == ["api", "test"])
    try bench.end("test", .cancelled)
    #expect(try bench.state("test") == .waiting)
    try bench.endService("api", .cancelled)
    #expect(bench.names.isEmpty)
    try bench.serve("api")
    #expect(bench.names == ["test"])
  }

  @Test func aRestartIsOverriddenByACancellationAndByTheEndOfTheRun() throws {
    var bench = try served()
    bench.send(.retry([JobID(1)], withDependents: false))
    bench.send(.cancel([JobID(1)], by: .person))
    // Its signal was sent.
    #expect(bench.cancelled == ["api"])
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .cancelled(by: .person))
    bench = try served()
    bench.send(.retry([JobID(1)], withDependents: false))
    bench.send(.kill([JobID(1)]))
    #expect(bench.killed == ["api"])
    bench = try served()
    bench.send(.retry([JobID(1)], withDependents: false))
    bench.send(.stop(.terminate, by: .signal))
    try bench.end("test", .cancelled)
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .cancelled(by: .signal))
  }

  @Test func aServiceThatNoJobNeedsWhenItHasEndedIsNotStartedAgain() throws {
    var bench = try served()
    bench.send(.retry([JobID(1)], withDependents: false))
    try bench.end("test")
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .succeeded(upToDate: false))
    #expect(bench.journal.run.isComplete)
  }

  @Test func aServiceThatHasServedLongHasAllItsRestartsAgain() throws {
    var bench = try served { $0.jobs[1].work = Self.service(.onFailure) }
    var time: Duration = .zero
    for _ in 1...20 {
      try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
      guard case .backingOff(let until, number: 1, _, _) = try bench.state("api") else {
        Issue.record("\(try bench.state("api"))")
        return
      }
      bench.advance(to: until)
      try bench.serve("api")
      time = until + .seconds(10)
      bench.advance(to: time)
    }
    // One that fails at once has not.
    for number in 1...5 {
      try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
      guard case .backingOff(let until, number: number, _, _) = try bench.state("api") else {
        Issue.record("\(try bench.state("api"))")
        return
      }
      bench.advance(to: until)
      if number > 1 { try bench.serve("api") }
    }
    try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("api").isFailure)
  }

  @Test func aServiceThatHasDiedIsEndedAndFailsWithTheReason() throws {
    var bench = try served()
    let failure = JobFailure(.error, "127.0.0.1:80 did not answer")
    let ticket = try #require(bench.executingServices.first?.ticket)
    bench.scheduler.serviceHasDied(ticket: ticket, failure)
    bench.settle()
    #expect(bench.cancelled == ["api"])
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .failed(failure, allowed: false))
  }

  // MARK: Services that stay

  @Test func servicesOfAGraphThatKeepsThemStayUntilAPersonEndsTheRun() throws {
    var bench = try served { $0.keepsServices = true }
    try bench.end("test")
    #expect(bench.cancelled.isEmpty && !bench.journal.run.isComplete)
    bench.send(.stop(.terminate, by: .person))
    #expect(bench.cancelled == ["api"])
    try bench.endService("api", .cancelled)
    // Nothing was cancelled that had work to do.
    #expect(try bench.state("api") == .succeeded(upToDate: false))
    #expect(RunSummary(of: bench.journal.run).exit == ExitStatus.success)
  }

  /// Two services at work, of which `api` needs `build`, and no other jobs.
  private func twoServices() throws -> Bench {
    var bench = bench { graph in
      graph.jobs.removeLast()
      graph.jobs[0].work = Self.service()
      graph.jobs[1].needs = [JobNeed(JobID(0), when: .ready)]
    }
    bench.start()
    try bench.serve("build")
    try bench.serve("api")
    return bench
  }

  @Test func cancellingOneOfSomeServicesLeavesTheOthers() throws {
    var bench = try twoServices()
    bench.send(.cancel([JobID(1)], by: .person))
    try bench.endService("api", .cancelled)
    #expect(try bench.state("build") == .serving)
    #expect(bench.cancelled == ["api"])
    bench.send(.stop(.terminate, by: .person))
    #expect(bench.cancelled == ["api", "build"])
  }

  @Test func keptServicesEndInReverseOrder() throws {
    var bench = try twoServices()
    bench.send(.stop(.terminate, by: .person))
    #expect(bench.cancelled == ["api"])
    try bench.endService("api", .cancelled)
    #expect(bench.cancelled == ["api", "build"])
    try bench.endService("build", .cancelled)
    #expect(bench.journal.run.isComplete && bench.journal.run.counts.succeeded == 2)
  }

  // MARK: Jobs that a person starts

  @Test func aManualJobKeepsNobodyWaitingAndStartsWhenAskedFor() throws {
    var bench = Bench(
      graph(["seed": [], "use": ["seed"], "other": []]) { if $0.name == "seed" { $0.isManual = true } })
    bench.start()
    #expect(try bench.state("seed") == .skipped(because: .manual))
    #expect(try bench.state("use") == .skipped(because: .job(JobID(0))))
    try bench.end("other")
    #expect(bench.journal.run.isComplete)
    bench.send(.retry([JobID(0)], withDependents: true))
    try bench.end("seed")
    try bench.end("use")
    #expect(bench.journal.run.counts.succeeded == 3)
    // Again, which no other job that has succeeded can be.
    bench.send(.retry([JobID(0), JobID(2)], withDependents: false))
    #expect(bench.names == ["seed"])
  }

  @Test func aRetryWithDependentsStartsNoJobThatNobodyHasStarted() throws {
    var bench = Bench(
      graph(["build": [], "deploy": ["build"], "pack": ["build"]]) { $0.isManual = $0.name == "deploy" })
    bench.start()
    try bench.end("build", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.retry([JobID(0)], withDependents: true))
    try bench.end("build")
    #expect(bench.names == ["pack"])
    #expect(try bench.state("deploy") == .skipped(because: .manual))
  }

  @Test func aRetryStartsNoServiceThatNobodyHasStarted() throws {
    var bench = bench { graph in
      graph.jobs[1].needs = []
      graph.jobs[1].isManual = true
      graph.jobs[2].needs.append(JobNeed(JobID(0)))
    }
    bench.start()
    try bench.end("build", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.retry([JobID(0)], withDependents: true))
    #expect(bench.services.isEmpty)
    #expect(try bench.state("api") == .skipped(because: .manual))
    #expect(try bench.state("test") == .skipped(because: .job(JobID(1))))
  }

  @Test func aGraphOfServicesAndManualJobsStaysUp() throws {
    var bench = bench { graph in
      graph.jobs.removeFirst()
      graph.jobs[0].needs = []
      graph.jobs[1] = Job(name: "shell", work: .simulate(SimulatedWork()), isManual: true)
    }
    bench.start()
    try bench.serve("api")
    bench.send(.retry([JobID(1)], withDependents: false))
    try bench.end("shell")
    #expect(bench.cancelled.isEmpty)
    #expect(try bench.state("api") == .serving)
  }

  // MARK: Changed inputs

  @Test func aChangeExecutesTheJobAndWhatNeedsItAgainInTheirOrder() throws {
    var bench = try served(isWatching: true)
    bench.send(.inputsChanged([JobID(0): change("a.c")]))
    #expect(Set(bench.cancelled) == ["api", "test"])
    #expect(bench.names.contains("build"))
    #expect(bench.journal.run[JobID(0)].reason == "a.c has changed")
    #expect(bench.journal.run[JobID(1)].reason == "build is executed again")
    #expect(bench.journal.run[JobID(2)].reason == "api is restarted")
    // A second change before the first was dealt with.
    bench.send(.inputsChanged([JobID(2): change("t.c")]))
    #expect(bench.cancelled.count == 2)
    try bench.end("test", .cancelled)
    try bench.endService("api", .cancelled)
    #expect(try bench.state("api") == .waiting)
    bench.send(.inputsChanged([JobID(1): change("out")]))
    #expect(bench.journal.run[JobID(1)].reason == "build is executed again")
    #expect(bench.journal.run[JobID(2)].reason == "api is restarted")
    try bench.end("build")
    try bench.serve("api")
    #expect(bench.names == ["test"])
    try bench.end("test")
    #expect(bench.journal.run.hasEnded == false && bench.services == ["api"])
  }

  @Test func aChangeLeavesWhatHasNotBegunAloneAndWhatAPersonStarts() throws {
    var bench = bench(isWatching: true) { graph in
      graph.slots = 1
      graph.jobs.append(Job(name: "seed", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(0))], isManual: true))
    }
    bench.start()
    let before = bench.facts.count
    bench.send(.inputsChanged([JobID(1): change("x"), JobID(3): change("x"), JobID(99): change("x")]))
    #expect(bench.facts.count == before)
    try bench.end("build")
    bench.send(.inputsChanged([JobID(0): change("x")]))
    #expect(try bench.state("seed") == .skipped(because: .manual))
  }

  @Test func withoutAWatchAChangeIsNothing() throws {
    var bench = try served()
    bench.send(.inputsChanged([JobID(0): change("a.c")]))
    #expect(bench.cancelled.isEmpty)
  }

  @Test func aRunIsNotCompleteWhileItsInputsAreWatched() throws {
    var bench = Bench(graph(["a": []]), isWatching: true)
    bench.start()
    try bench.end("a")
    #expect(bench.journal.run.hasEnded && !bench.journal.run.isComplete)
    bench.scheduler.setWatching(false)
    #expect(bench.journal.run.isComplete)
  }

  @Test func anAttemptAfterAChangeIsComparedWithTheLastOfThisRun() throws {
    var bench = Bench(graph(["a": [], "b": []]), isWatching: true)
    bench.start()
    bench.journal.state(.inputsHashed(JobID(0), "h1"))
    try bench.end("a")
    try bench.end("b", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.inputsChanged([JobID(0): change("x"), JobID(1): change("x")]))
    #expect(bench.executing.map(\.earlier) == [.succeeded(inputs: "h1"), .unfinished])
    try bench.end("b", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.retry([JobID(1)], withDependents: false))
    #expect(bench.executing.first { $0.job == JobID(1) }?.earlier == nil)
  }

  /// `heavy` needs `gate`, and has succeeded with the inputs `h`.
  private func gated() throws -> Bench {
    var bench = Bench(graph(["gate": [], "heavy": ["gate"]]), isWatching: true)
    bench.start()
    try bench.end("gate")
    bench.journal.state(.inputsHashed(JobID(1), "h"))
    try bench.end("heavy")
    return bench
  }

  @Test func aJobThatWasSkippedSinceIsComparedWithItsLastAttempt() throws {
    var bench = try gated()
    bench.send(.inputsChanged([JobID(0): change("flag")]))
    try bench.end("gate", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("heavy") == .skipped(because: .job(JobID(0))))
    bench.send(.inputsChanged([JobID(0): change("flag")]))
    try bench.end("gate")
    #expect(bench.executing.map(\.earlier) == [.succeeded(inputs: "h")])
  }

  @Test func aSecondChangeBeforeTheAttemptForgetsNothing() throws {
    var bench = try gated()
    for _ in 1...2 { bench.send(.inputsChanged([JobID(0): change("flag")])) }
    try bench.end("gate", .cancelled)
    try bench.end("gate")
    #expect(bench.executing.map(\.earlier) == [.succeeded(inputs: "h")])
  }

  @Test func aJobWithoutAnAttemptInThisRunIsComparedWithTheRecord() throws {
    var bench = Bench(graph(["gate": [], "heavy": ["gate"]]), isWatching: true)
    bench.start()
    try bench.end("gate", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.inputsChanged([JobID(0): change("flag")]))
    try bench.end("gate")
    #expect(bench.executing.map(\.job) == [JobID(1)] && bench.executing.map(\.earlier) == [nil])
  }

  @Test(arguments: ["/w/out", "/w/out/x", "/w/other"]) func theMakerOfAFileThatIsGoneIsAskedFirst(gone: String) throws {
    var bench = Bench(graph(["make": [], "test": ["make"]]) { $0.creates = ["/w/out"] }, isWatching: true)
    bench.start()
    try bench.end("make")
    try bench.end("test")
    let change = InputChange(path: "out", gone: gone)
    bench.send(.inputsChanged([JobID(1): change]))
    #expect(bench.names == [gone == "/w/other" ? "test" : "make"])
    // A maker at work makes it anyway.
    bench.send(.inputsChanged([JobID(1): change]))
    #expect(bench.names.contains("make") == (gone != "/w/other") && !bench.cancelled.contains("make"))
  }

  @Test func theFailurePolicyIsOpenAgainAfterAChange() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]], onFailure: .stopNow), isWatching: true)
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.inputsChanged([JobID(0): change("x")]))
    try bench.end("a")
    #expect(bench.names == ["b"])
  }

  @Test func aJobThatAPersonHasPausedStaysPausedAfterAChange() throws {
    var bench = try served(isWatching: true)
    bench.send(.pause([JobID(1), JobID(2)]))
    bench.send(.inputsChanged([JobID(1): change("a.c"), JobID(2): change("a.c")]))
    try bench.end("test", .cancelled)
    try bench.endService("api", .cancelled)
    #expect(bench.names.isEmpty && bench.services.isEmpty)
    for name in ["api", "test"] { #expect(try bench.state(name) == .paused(started: false)) }
    bench.send(.resume([JobID(1), JobID(2)]))
    try bench.serve("api")
    #expect(bench.names == ["test"])
  }

  @Test func aJobThatIsPausedWhileItIsRestartedIsPausedThen() throws {
    var bench = try served()
    bench.send(.retry([JobID(1)], withDependents: true))
    bench.send(.pause([JobID(1), JobID(2)]))
    bench.send(.resume([JobID(2)]))
    try bench.endService("api", .cancelled)
    try bench.end("test", .cancelled)
    #expect(try bench.state("api") == .paused(started: false))
    #expect(try bench.state("test") == .waiting)
  }

  @Test func aPausedServiceThatAPersonRestartsIsNotPausedAgain() throws {
    var bench = try served()
    bench.send(.pause([JobID(1)]))
    bench.send(.retry([JobID(1)], withDependents: false))
    try bench.endService("api", .cancelled)
    #expect(bench.services == ["api"])
  }

  @Test func aJobThatOthersLetGoOnIsNotPausedAfterAChange() throws {
    var bench = try served(isWatching: true)
    bench.send(.pause([JobID(2)]))
    let ticket = try #require(bench.executing.first?.ticket)
    bench.scheduler.attemptStopped(ticket: ticket, isStopped: false)
    bench.send(.inputsChanged([JobID(2): change("a.c")]))
    try bench.end("test", .cancelled)
    #expect(bench.names == ["test"])
  }

  @Test func whatWasApprovedIsAskedAgainAfterAChange() throws {
    var bench = Bench(graph(["a": []]) { $0.approval = "Deploy?" }, isWatching: true)
    bench.start()
    bench.send(.approve([JobID(0)]))
    try bench.end("a")
    bench.send(.inputsChanged([JobID(0): change("x")]))
    #expect(try bench.state("a") == .ready(for: .person))
  }

  /// `publish` shows the person the tag of `version`, and fails after the approval.
  private func published(_ inQuestion: Bool) throws -> Bench {
    let tag = OutputReference("${jobs.version.tag}", job: JobID(0), name: "tag")
    let branch = OutputReference("${jobs.version.branch}", job: JobID(0), name: "branch")
    var graph = graph(["version": [], "publish": ["version"]]) { $0.isManual = $0.name == "version" }
    graph.jobs[1].work = .shell(ShellWork(.script("publish " + (inQuestion ? "" : tag.text))))
    graph.jobs[1].approval = "Publish\(inQuestion ? " " + tag.text : "")?"
    graph.jobs[1].condition = JobCondition("", [[.init(branch.text)]])
    graph.jobs[1].outputs = [tag, branch]
    var bench = Bench(graph)
    bench.start()
    bench.send(.retry([JobID(0)], withDependents: false))
    bench.journal.state(.jobOutputs(JobID(0), ["tag": "v1", "branch": "main"]))
    try bench.end("version")
    bench.send(.approve([JobID(1)]))
    try bench.end("publish", .failed(JobFailure(.exit(1), "exit 1")))
    return bench
  }

  @Test(arguments: [true, false], [true, false])
  func anApprovalIsForTheValuesThatWereShown(inQuestion: Bool, isSame: Bool) throws {
    var bench = try published(inQuestion)
    bench.send(.retry([JobID(0)], withDependents: false))
    // Its condition reads the branch, which is part of neither the question nor the work.
    bench.journal.state(.jobOutputs(JobID(0), ["tag": isSame ? "v1" : "v2", "branch": "next"]))
    try bench.end("version")
    bench.send(.retry([JobID(1)], withDependents: false))
    #expect(try bench.state("publish") == (isSame ? .executing : .ready(for: .person)))
    if isSame { return }
    bench.send(.approve([JobID(1)]))
    #expect(bench.names == ["publish"])
  }

  @Test func aBackOffIsNotWaitedForAndTheTriesAreCountedAnew() throws {
    var bench = Bench(graph(["a": []]) { $0.retry = RetryPolicy(max: 1) }, isWatching: true)
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.inputsChanged([JobID(0): change("x")]))
    #expect(bench.names == ["a"])
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    guard case .backingOff(_, number: 1, _, _) = try bench.state("a") else {
      Issue.record("\(try bench.state("a"))")
      return
    }
  }

  // MARK: Changes by the job itself

  @Test func aJobThatChangesAnInputInThreeAttemptsInARowIsLeftAlone() throws {
    var bench = Bench(graph(["a": []]), isWatching: true)
    bench.start()
    for round in 1...3 {
      bench.advance(to: .seconds(round))
      try bench.end("a")
      bench.send(.inputsChanged([JobID(0): change("a.c", .own)]))
      #expect(bench.names == (round < 3 ? ["a"] : []))
    }
    #expect(bench.facts.contains { if case .jobLog(_, _, let line) = $0 { line.stream == .note } else { false } })
    bench.send(.inputsChanged([JobID(0): change("a.c", .own)]))
    #expect(bench.names.isEmpty)
    // A new watch is a new beginning.
    bench.scheduler.setWatching(false)
    bench.scheduler.setWatching(true)
    bench.send(.inputsChanged([JobID(0): change("a.c", .own)]))
    #expect(bench.names == ["a"])
  }

  @Test func changesOfAPersonAreNoEcho() {
    var echo = InputEcho()
    // At other times after the start.
    for offset in [1, 5, 2, 9, 3] { echo.note(change("a", .own), at: .seconds(offset)) }
    #expect(!echo.isOver)
    // Of other files.
    for path in ["a", "b", "a", "b"] { echo.note(change(path, .own), at: .seconds(3)) }
    #expect(!echo.isOver)
    // Not while the attempt executed.
    for _ in 1...5 { echo.note(change("b"), at: .seconds(3)) }
    #expect(!echo.isOver)
    for _ in 1...2 { echo.note(change("b", .own), at: .seconds(3)) }
    for _ in 1...5 { echo.note(change("b", .unclear), at: .seconds(3)) }
    #expect(!echo.isOver)
    echo.note(change("b", .own), at: .milliseconds(2750))
    #expect(echo.isOver)
  }

  @Test func aServiceThatChangesAnInputInFiveAttemptsIsLeftAlone() {
    var echo = InputEcho()
    // A person works at one file, at about the same pace.
    for offset in [30, 31, 29, 30, 31, 30] { echo.note(change("a", .service), at: .seconds(offset)) }
    #expect(!echo.isOver)
    for round in 1...5 {
      #expect(!echo.isOver)
      echo.note(change("a", .service), at: .milliseconds(1000 + 40 * round))
    }
    #expect(echo.isOver)
  }

  @Test func whatFollowsAnAttemptIsTakenForTheWriterAfterFive() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]), isWatching: true)
    bench.start()
    for round in 1...5 {
      bench.advance(to: .seconds(3 * round))
      try bench.end("a")
      try bench.end("b")
      bench.send(.inputsChanged([JobID(0): change("a.c", .later)]))
      #expect(bench.names == (round < 5 ? ["a"] : []))
    }
    let note = bench.facts.compactMap { if case .jobLog(_, _, let line) = $0 { line.text } else { nil } }.last
    #expect(note?.contains("five attempts in a row") == true)
    #expect(note?.contains("a job that follows seems to write it") == true)
    #expect(note?.hasSuffix("name the file in watch.ignore") == true)
  }

  private func change(_ path: String, _ writer: InputChange.Writer = .none) -> InputChange {
    InputChange(path: path, writer: writer)
  }
}
