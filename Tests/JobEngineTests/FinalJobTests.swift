import JobModel
import Testing

@testable import JobEngine

@Suite struct FinalJobTests {
  /// `a`, `b` that needs it, and one final job for each condition.
  private func bench(onFailure: JobGraph.Failure = .keepGoing) -> Bench {
    var graph = graph(
      ["a": [], "b": ["a"], "thanks": [], "page": [], "clean": []], onFailure: onFailure
    ) { job in
      job.finally = ["thanks": .ok, "page": .failed, "clean": .always][job.name]
    }
    graph.jobs[4].needs = []
    return Bench(graph, slots: 4)
  }

  @Test func finalJobsStartAfterAllOthers() throws {
    var bench = bench()
    bench.start()
    #expect(bench.names == ["a"])
    try bench.end("a")
    #expect(bench.names == ["b"])
    try bench.end("b")
    #expect(bench.names == ["thanks", "clean"])
    #expect(try bench.state("page") == .skipped(because: .outcome))
  }

  /// `a`, and two final jobs, of which `clean` needs a service; all have ended, as the service has.
  private func served(_ outcome: AttemptOutcome) throws -> Bench {
    var graph = graph(["a": [], "db": [], "thanks": [], "clean": []]) { job in
      if job.name == "db" { job.work = .shell(ShellWork(.argv(["db"]), service: Service())) }
      if ["thanks", "clean"].contains(job.name) { job.finally = .always }
    }
    graph.jobs[3].needs = [JobNeed(JobID(1), when: .ready)]
    var bench = Bench(graph, slots: 4)
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.names == ["thanks", "clean"])
    try bench.end("thanks")
    try bench.end("clean", outcome)
    try bench.endService("db", .cancelled)
    #expect(bench.journal.run.isComplete)
    return bench
  }

  @Test func aServiceStartsAgainWithTheFinalJobThatNeedsIt() throws {
    var bench = try served(.succeeded)
    bench.send(.retry([JobID(0)], withDependents: false))
    #expect(bench.services == ["db"])
    try bench.end("a")
    #expect(bench.names == ["thanks", "clean"])
  }

  @Test func aRetriedFinalJobAndItsServiceLeaveTheOthersAlone() throws {
    var bench = try served(.failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.retry([JobID(3)], withDependents: false))
    #expect(bench.services == ["db"] && bench.names == ["clean"])
    #expect(try bench.state("thanks") == .succeeded(upToDate: false))
  }

  @Test(arguments: [true, false]) func aPartOfARunThatLeavesWorkIsNoSuccess(fails: Bool) throws {
    var graph = graph(["a": [], "thanks": [], "page": [], "clean": []]) { job in
      job.finally = ["thanks": .ok, "page": .failed, "clean": .always][job.name]
    }
    graph.slots = 4
    var scheduler = Scheduler(graph, journal: RunJournal(), options: .init(leavesWork: true))
    scheduler.start(runStart(graph, slots: 4))
    scheduler.attemptStarted(ticket: 0, pid: nil)
    scheduler.attemptEnded(ticket: 0, fails ? .failed(JobFailure(.exit(1), "exit 1")) : .succeeded)
    #expect(scheduler.state(JobID(1)) == .skipped(because: .outcome))
    #expect((scheduler.state(JobID(2)) == .skipped(because: .outcome)) != fails)
    #expect(scheduler.state(JobID(3)) == .ready(for: .slot))
  }

  @Test func afterAFailureTheJobsForFailuresRunAndThoseForSuccessesDoNot() throws {
    var bench = bench()
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(try bench.state("b") == .skipped(because: .job(JobID(0))))
    #expect(bench.names == ["page", "clean"])
    #expect(try bench.state("thanks") == .skipped(because: .outcome))
  }

  @Test(arguments: [JobGraph.Failure.finishRunning, .stopNow])
  func thePolicyAfterAFailureDoesNotConcernFinalJobs(_ policy: JobGraph.Failure) throws {
    var bench = bench(onFailure: policy)
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.names == ["page", "clean"])
  }

  @Test func afterAStopOnlyTheJobsForEveryEndRun() throws {
    var bench = bench()
    bench.start()
    bench.send(.stop(.terminate, by: .person))
    #expect(!bench.journal.run.isStopped)
    try bench.end("a", .cancelled)
    #expect(bench.names == ["clean"])
    #expect(try bench.state("thanks") == .skipped(because: .outcome))
    #expect(!bench.journal.run.isStopped)
    try bench.end("clean")
    #expect(bench.journal.run.isStopped)
    #expect(bench.journal.run.isComplete)
  }

  @Test func aStopWhileNothingExecutesEndsTheOthersAndRunsTheFinalJobs() throws {
    var asking = Bench(
      graph(["ask": [], "clean": []]) { job in
        if job.name == "ask" { job.approval = "Go?" } else { job.finally = .always }
      }, slots: 4)
    asking.start()
    asking.send(.stop(.terminate, by: .signal))
    #expect(try asking.state("ask") == .cancelled(by: .signal))
    #expect(asking.names == ["clean"])
  }

  @Test func aFinalJobThatIsForAnotherEndIsSkippedWhateverItNeeds() throws {
    let graph = graph(["a": [], "thanks": [], "tell": []]) { job in
      if job.name != "a" { job.finally = .ok }
      if job.name == "tell" { job.needs = [JobNeed(JobID(1), when: .finished)] }
    }
    var bench = Bench(graph)
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.names.isEmpty)
    #expect(try bench.state("tell") == .skipped(because: .outcome))
  }

  @Test func aStopEndsADrainSoThatFinalJobsRun() throws {
    var bench = bench()
    bench.start()
    bench.send(.setDraining(true))
    bench.send(.stop(.terminate, by: .signal))
    try bench.end("a", .cancelled)
    #expect(!bench.journal.run.isDraining)
    #expect(bench.names == ["clean"])
  }

  @Test func aStopLetsAFinalJobGoOnThatWasPausedBeforeItsStart() throws {
    var bench = bench()
    bench.start()
    bench.send(.pause([try bench.id("clean"), try bench.id("thanks")]))
    bench.send(.stop(.terminate, by: .signal))
    try bench.end("a", .cancelled)
    #expect(bench.names == ["clean"])
    #expect(try bench.state("thanks") == .skipped(because: .outcome))
  }

  @Test func aResumedFinalJobRunsOnlyIfItIsForTheOutcome() throws {
    var bench = bench()
    bench.start()
    bench.send(.pause([try bench.id("page"), try bench.id("clean")]))
    try bench.end("a")
    try bench.end("b")
    #expect(bench.names == ["thanks"])
    #expect(try bench.state("page") == .skipped(because: .outcome))
    #expect(try bench.state("clean") == .paused(started: false))
    bench.send(.resume([try bench.id("clean")]))
    #expect(bench.names == ["thanks", "clean"])
  }

  @Test func aKillEndsFinalJobsToo() throws {
    var bench = bench()
    bench.start()
    bench.send(.stop(.terminate, by: .person))
    bench.send(.stop(.kill, by: .person))
    #expect(try bench.state("clean") == .cancelled(by: .person))
    try bench.end("a", .cancelled)
    #expect(bench.journal.run.isComplete)
  }

  @Test func aRetryHasTheFinalJobsRunAgainAfterIt() throws {
    var bench = bench()
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    try bench.end("page")
    try bench.end("clean")
    #expect(bench.journal.run.isComplete)
    bench.send(.retry([JobID(0)], withDependents: true))
    #expect(try bench.state("clean") == .waiting)
    try bench.end("a")
    try bench.end("b")
    #expect(bench.names == ["thanks", "clean"])
    #expect(try bench.state("page") == .skipped(because: .outcome))
  }

  @Test func aRetryStartsNoFinalJobThatAPersonStarts() throws {
    var bench = Bench(
      graph(["a": [], "page": [], "clean": []]) { job in
        if job.name != "a" { job.finally = .always }
        job.isManual = job.name == "page"
      }, slots: 4)
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    try bench.end("clean")
    bench.send(.retry([JobID(0)], withDependents: true))
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.names == ["clean"])
    #expect(try bench.state("page") == .skipped(because: .manual))
    bench.send(.retry([JobID(0), JobID(1)], withDependents: false))
    try bench.end("a")
    #expect(Set(bench.names) == ["clean", "page"])
  }

  @Test func aRetryLeavesAFinalJobPaused() throws {
    var bench = bench()
    bench.start()
    bench.send(.pause([try bench.id("clean")]))
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    try bench.end("page")
    bench.send(.retry([JobID(0)], withDependents: false))
    #expect(try bench.state("clean") == .paused(started: false))
    try bench.end("a")
    try bench.end("b")
    #expect(bench.names == ["thanks"])
    bench.send(.resume([try bench.id("clean")]))
    #expect(bench.names == ["thanks", "clean"])
  }

  @Test func aFinalJobThatWasCancelledRunsAfterARetry() throws {
    var bench = bench()
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.cancel([try bench.id("clean")], by: .person))
    try bench.end("clean", .cancelled)
    bench.send(.retry([JobID(0)], withDependents: false))
    try bench.end("a")
    try bench.end("b")
    #expect(bench.names.contains("clean"))
    #expect(bench.journal.run[try bench.id("clean")].cancelling == nil)
    #expect(bench.cancelled == ["clean"])
  }

  /// `a`, and `tidy` of `finally`, which asks for approval.
  private func asking() -> Bench {
    var bench = Bench(
      graph(["a": [], "tidy": []]) { job in
        guard job.name == "tidy" else { return }
        job.finally = .always
        job.approval = "Tidy?"
      }, slots: 4)
    bench.start()
    return bench
  }

  @Test func afterASignalNoFinalJobAsks() throws {
    var bench = asking()
    bench.send(.stop(.terminate, by: .signal))
    try bench.end("a", .cancelled)
    #expect(try bench.state("tidy") == .cancelled(by: .signal))
    #expect(bench.journal.run.isStopped)
    bench = asking()
    bench.send(.approve([JobID(1)]))
    bench.send(.stop(.terminate, by: .person))
    try bench.end("a", .cancelled)
    #expect(try bench.state("tidy") == .ready(for: .person))
    bench.send(.approve([JobID(1)]))
    #expect(bench.names == ["tidy"])
  }

  @Test(arguments: [true, false]) func aSignalEndsTheWaitsOfAStoppedRun(isLate: Bool) throws {
    var bench = asking()
    bench.send(.stop(.terminate, by: .person))
    if isLate { try bench.end("a", .cancelled) }
    bench.send(.stop(.terminate, by: .signal))
    if !isLate { try bench.end("a", .cancelled) }
    #expect(try bench.state("tidy") == .cancelled(by: .signal))
    #expect(bench.journal.run.isStopped)
    bench = self.bench()
    bench.start()
    bench.send(.stop(.terminate, by: .person))
    bench.send(.pause([try bench.id("clean")]))
    if isLate { try bench.end("a", .cancelled) }
    bench.send(.stop(.terminate, by: .signal))
    if !isLate { try bench.end("a", .cancelled) }
    #expect(bench.names == ["clean"])
  }

  @Test func theTimeLimitOfTheRunFailsWhatExecutesAndCancelsTheRest() throws {
    var bench = bench()
    bench.start(timeout: .seconds(60))
    bench.advance(to: .seconds(60))
    #expect(bench.journal.run.stopping?.by == .timeout)
    try bench.end("a", .cancelled)
    #expect(
      try bench.state("a") == .failed(JobFailure(.timedOut, "the time limit of the run of 1m was over"), allowed: false)
    )
    #expect(try bench.state("b") == .cancelled(by: .timeout))
    #expect(bench.names == ["page", "clean"])
    #expect(RunSummary(of: bench.journal.run).exit == ExitStatus.jobFailed)
  }

  @Test func theTimeLimitOfTheRunIsNoFailureThatIsAllowed() throws {
    let graph = graph(["a": [], "b": ["a"], "page": []]) { job in
      job.allowFailure = job.name == "a"
      job.finally = job.name == "page" ? .failed : nil
    }
    var bench = Bench(graph)
    bench.start(timeout: .seconds(60))
    bench.advance(to: .seconds(60))
    try bench.end("a", .cancelled)
    #expect(bench.names == ["page"])
    try bench.end("page")
    #expect(RunSummary(of: bench.journal.run).exit == ExitStatus.jobFailed)
  }

  @Test func theTimeLimitOfTheRunNamesTheFailureThatAwaitsARetry() throws {
    let graph = graph(["a": []]) { $0.retry = RetryPolicy(max: 3, initial: .seconds(90), cap: .seconds(90)) }
    var bench = Bench(graph)
    bench.start(timeout: .seconds(60))
    try bench.end("a", .failed(JobFailure(.exit(5), "exit 5")))
    bench.advance(to: .seconds(60))
    let reason = "the time limit of the run of 1m was over, after exit 5"
    #expect(try bench.state("a") == .failed(JobFailure(.timedOut, reason), allowed: false))
  }

  @Test func theTimeLimitOfTheRunBoundsNoFinalJobThatBeginsAfterIt() throws {
    var bench = bench()
    bench.start(timeout: .seconds(60))
    bench.advance(to: .seconds(60))
    try bench.end("a", .cancelled)
    bench.advance(to: .seconds(6_000))
    #expect(bench.names == ["page", "clean"])
    #expect(try bench.state("clean") == .executing)
  }

  @Test func theTimeLimitOfTheRunEndsFinalJobsThatExecute() throws {
    var bench = bench()
    bench.start(timeout: .seconds(60))
    try bench.end("a")
    try bench.end("b")
    #expect(bench.names == ["thanks", "clean"])
    bench.advance(to: .seconds(60))
    try bench.end("clean", .cancelled)
    #expect(try bench.state("clean").isFailure)
  }
}

@Suite struct JobConditionTests {
  private func bench(_ condition: JobCondition, approval: String? = nil, canAsk: Bool = true) -> Bench {
    let graph = graph(["detect": [], "deploy": ["detect"], "tell": ["deploy"]]) { job in
      guard job.name == "deploy" else { return }
      job.condition = condition
      job.approval = approval
      job.outputs = [OutputReference("${jobs.detect.changed}", job: JobID(0), name: "changed")]
    }
    return Bench(graph, canAsk: canAsk)
  }

  private static let changed = JobCondition(
    "${jobs.detect.changed} == yes", [[.init("${jobs.detect.changed}", equals: "yes")]])

  @Test func aJobWhoseConditionIsFalseIsSkippedAndSkipsItsDependents() throws {
    var bench = bench(Self.changed)
    bench.start()
    bench.journal.state(.jobOutputs(JobID(0), ["changed": "no"]))
    try bench.end("detect")
    #expect(try bench.state("deploy") == .skipped(because: .condition))
    #expect(try bench.state("tell") == .skipped(because: .job(JobID(1))))
    #expect(bench.journal.run.isComplete)
    #expect(RunSummary(of: bench.journal.run).exit == 0)
    #expect(
      StatusText(JobID(1), bench.journal.run, now: .zero).whole
        == "skipped, its condition is false: ${jobs.detect.changed} == yes")
  }

  @Test func aValueOfAnotherJobDecidesACondition() throws {
    var bench = bench(Self.changed)
    bench.start()
    bench.journal.state(.jobOutputs(JobID(0), ["changed": "yes"]))
    try bench.end("detect")
    #expect(bench.names == ["deploy"])
  }

  @Test(arguments: [
    ([JobCondition.Term("")], false), ([.init("false")], false), ([.init("No")], false), ([.init("0")], false),
    ([.init("1")], true), ([.init("text")], true), ([.init("", isNegated: true)], true),
    ([.init("a", equals: "a")], true), ([.init("a", equals: "b")], false),
    ([.init("a", equals: "b", isNegated: true)], true), ([.init("1"), .init("")], false), ([], true),
  ]) func theTermsOfAConditionMustAllHold(_ terms: [JobCondition.Term], _ holds: Bool) {
    #expect(JobCondition("", [terms]).holds() == holds)
    #expect(JobCondition("", [[.init("")], terms]).holds() == holds)
  }

  @Test func aJobThatAsksForApprovalWaitsForAPerson() throws {
    var bench = bench(JobCondition("", [[]]), approval: "Publish?")
    bench.start()
    try bench.end("detect")
    #expect(try bench.state("deploy") == .ready(for: .person))
    #expect(bench.names.isEmpty)
    bench.send(.setPriority([JobID(1)], .high))
    #expect(bench.names.isEmpty)
    bench.send(.approve([JobID(1)]))
    #expect(bench.names == ["deploy"])
  }

  @Test func whereNobodyCanApproveTheJobFails() throws {
    var bench = bench(JobCondition("", [[]]), approval: "Publish?", canAsk: false)
    bench.start()
    try bench.end("detect")
    #expect(try bench.state("deploy").isFailure)
    #expect(try bench.state("tell") == .skipped(because: .job(JobID(1))))
    #expect(RunSummary(of: bench.journal.run).exit == ExitStatus.jobFailed)
  }

  @Test func aPausedJobIsAskedForAgainAfterItsResumption() throws {
    var bench = bench(JobCondition("", [[]]), approval: "Publish?")
    bench.start()
    try bench.end("detect")
    bench.send(.pause([JobID(1)]))
    bench.send(.resume([JobID(1)]))
    #expect(try bench.state("deploy") == .ready(for: .person))
    bench.send(.cancel([JobID(1)], by: .person))
    #expect(try bench.state("deploy") == .cancelled(by: .person))
  }
}
