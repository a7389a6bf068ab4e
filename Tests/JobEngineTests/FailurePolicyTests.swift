import JobModel
import Testing

@testable import JobEngine

/// What may still start after a failure, for each policy: retries, approvals, services and jobs of `finally`.
@Suite struct FailurePolicyTests {
  private static let broken = JobFailure(.exit(1), "exit 1")

  /// `db` is a service for `user`, which executes, and for `late`, which waits for `user`; `lint` executes too.
  ///
  /// `again` backs off, `asks` waits for a person, `queued` for a slot.
  private func bench(_ policy: JobGraph.Failure) throws -> Bench {
    var graph = graph(
      [
        "db": [], "user": [], "lint": [], "again": [], "asks": [], "queued": [], "late": ["user"], "page": [],
        "clean": [], "first": [],
      ], onFailure: policy)
    graph.jobs[0].work = .shell(ShellWork(.script("serve"), service: Service()))
    graph.jobs[1].needs = [JobNeed(JobID(0), when: .ready)]
    graph.jobs[3].retry = RetryPolicy(max: 3, initial: .seconds(10))
    graph.jobs[3].priority = .high
    graph.jobs[5].priority = .veryLow
    graph.jobs[4].approval = "Go?"
    graph.jobs[6].needs.append(JobNeed(JobID(0), when: .ready))
    graph.jobs[7].finally = .failed
    graph.jobs[8].finally = .always
    for index in [1, 2] { graph.jobs[index].priority = .veryHigh }
    var bench = Bench(graph, slots: 3)
    bench.start()
    try bench.end("again", .failed(Self.broken))
    bench.send(.setSlots(2))
    try bench.end("first")
    #expect(bench.names == ["lint", "user"] && bench.services == ["db"])
    #expect(try bench.state("asks") == .ready(for: .person))
    #expect(try bench.state("queued") == .ready(for: .slot))
    return bench
  }

  @Test(arguments: [JobGraph.Failure.finishRunning, .stopNow])
  func thePolicyMayWaitForSeveralFailures(policy: JobGraph.Failure) throws {
    var graph = graph(["a": [], "b": [], "c": [], "d": [], "e": []], onFailure: policy)
    graph.failureLimit = 2
    graph.jobs[0].allowFailure = true
    var bench = Bench(graph, slots: 1)
    bench.start()
    try bench.end("a", .failed(Self.broken))
    try bench.end("b", .failed(Self.broken))
    #expect(bench.names == ["c"])
    // A retry takes a failure back.
    bench.send(.retry([JobID(1)], withDependents: false))
    try bench.end("c", .failed(Self.broken))
    #expect(bench.names == ["d"])
    try bench.end("d", .failed(Self.broken))
    #expect(bench.names.isEmpty)
    #expect(try bench.state("e") == .cancelled(by: .policy))
  }

  @Test func keepGoingLetsEverythingStartThatDoesNotNeedTheFailedJob() throws {
    var bench = try bench(.keepGoing)
    try bench.end("lint", .failed(Self.broken))
    #expect(bench.names == ["user", "queued"])
    bench.send(.approve([JobID(4)]))
    try bench.end("user")
    #expect(bench.names == ["queued", "asks"])
    try bench.end("queued")
    #expect(bench.names == ["asks", "late"])
    bench.advance(to: .seconds(10))
    try bench.end("asks")
    #expect(bench.names == ["late", "again"])
    try bench.end("late")
    #expect(bench.cancelled == ["db"])
    try bench.endService("db", .cancelled)
    #expect(bench.names == ["again"])
    try bench.end("again")
    #expect(bench.names == ["page", "clean"])
  }

  @Test func finishRunningStartsOnlyTheJobsOfFinally() throws {
    var bench = try bench(.finishRunning)
    try bench.end("lint", .failed(Self.broken))
    #expect(bench.names == ["user"] && bench.services == ["db"] && bench.cancelled.isEmpty)
    for name in ["again", "asks", "queued", "late"] { #expect(try bench.state(name) == .cancelled(by: .policy)) }
    #expect(bench.scheduler.nextWake == nil)
    bench.send(.approve([JobID(4)]))
    #expect(bench.names == ["user"])
    try bench.end("user")
    #expect(try bench.state("user") == .succeeded(upToDate: false))
    #expect(bench.cancelled == ["db"] && bench.names.isEmpty)
    try bench.endService("db", .cancelled)
    #expect(bench.names == ["page", "clean"])
  }

  @Test func stopNowEndsJobsThenServicesAndStartsOnlyFinally() throws {
    var bench = try bench(.stopNow)
    try bench.end("lint", .failed(Self.broken))
    for name in ["again", "asks", "queued", "late"] { #expect(try bench.state(name) == .cancelled(by: .policy)) }
    #expect(bench.cancelled == ["user"])
    try bench.end("user", .cancelled)
    #expect(bench.cancelled == ["user", "db"] && bench.names.isEmpty)
    try bench.endService("db", .cancelled)
    #expect(bench.names == ["page", "clean"])
    #expect(try bench.state("user") == .cancelled(by: .policy))
  }

  @Test(arguments: [JobGraph.Failure.finishRunning, .stopNow])
  func aFailureThatIsAllowedStopsNothing(_ policy: JobGraph.Failure) throws {
    var bench = Bench(graph(["a": [], "b": []], onFailure: policy) { $0.allowFailure = $0.name == "a" }, slots: 1)
    bench.start()
    try bench.end("a", .failed(Self.broken))
    #expect(bench.names == ["b"])
  }

  @Test(arguments: [JobGraph.Failure.finishRunning, .stopNow])
  func aFailureThatIsRetriedStopsNothingBeforeTheLastTry(_ policy: JobGraph.Failure) throws {
    var bench = Bench(
      graph(["a": [], "b": []], onFailure: policy) { job in
        if job.name == "a" { job.retry = RetryPolicy(max: 1, initial: .seconds(1)) }
      }, slots: 1)
    bench.start()
    try bench.end("a", .failed(Self.broken))
    #expect(bench.names == ["b"])
    try bench.end("b")
    bench.advance(to: .seconds(1))
    try bench.end("a", .failed(Self.broken))
    #expect(try bench.state("a") == .failed(Self.broken, allowed: false))
  }
}
