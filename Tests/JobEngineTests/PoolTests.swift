import JobModel
import Testing

@testable import JobEngine

@Suite struct PoolTests {
  /// A job that needs the whole pool among light ones that come before it in the schedule.
  private func bench(lights: Int, heavyPriority: JobPriority = .normal) -> Bench {
    var jobs = (0..<lights).map { Job(name: "light\($0)", work: .simulate(SimulatedWork()), uses: ["net": 1]) }
    jobs.insert(
      Job(name: "heavy", work: .simulate(SimulatedWork()), priority: heavyPriority, uses: ["net": 4]), at: 4)
    return Bench(JobGraph(name: "test", jobs: jobs, schedule: .priority, pools: ["net": 4]), slots: 8)
  }

  /// Ends the oldest executing job again and again; returns the names in the order of their starts.
  private func order(_ bench: inout Bench) throws -> [String] {
    var started = bench.names
    var known = Set(started)
    while let name = bench.names.first {
      try bench.end(name)
      for name in bench.names where known.insert(name).inserted { started.append(name) }
    }
    return started
  }

  @Test func aHeavyJobIsNotPassedForEver() throws {
    var bench = bench(lights: 100)
    bench.start()
    let started = try order(&bench)
    #expect(started.count == 101)
    // Four start before it comes, at most twice the size of the pool pass it, and four may execute then.
    #expect(try #require(started.firstIndex(of: "heavy")) <= 4 + 8 + 4)
  }

  @Test func jobsOfHigherPriorityPassAHeavyJob() throws {
    var bench = bench(lights: 100, heavyPriority: .low)
    bench.start()
    #expect(try order(&bench).last == "heavy")
  }

  @Test func twoHeavyJobsOfTwoPoolsDoNotBlockEachOther() throws {
    var jobs: [Job] = []
    for index in 0..<40 {
      jobs.append(Job(name: "a\(index)", work: .simulate(SimulatedWork()), uses: ["a": 1]))
      jobs.append(Job(name: "b\(index)", work: .simulate(SimulatedWork()), uses: ["b": 1]))
    }
    jobs.insert(Job(name: "both", work: .simulate(SimulatedWork()), uses: ["a": 2, "b": 2]), at: 6)
    jobs.insert(Job(name: "too", work: .simulate(SimulatedWork()), uses: ["a": 2, "b": 1]), at: 7)
    var bench = Bench(
      JobGraph(name: "test", jobs: jobs, schedule: .fifo, pools: ["a": 2, "b": 2]), slots: 4)
    bench.start()
    let started = try order(&bench)
    #expect(started.count == 82)
    #expect(try #require(started.firstIndex(of: "both")) < 40)
    #expect(try #require(started.firstIndex(of: "too")) < 40)
  }

  @Test func theSizeOfAPoolIsChangedWhileTheRunGoesOn() throws {
    var bench = bench(lights: 20)
    bench.start()
    #expect(bench.names.count == 4)
    bench.send(.changePool("net", by: 2))
    #expect(bench.journal.run.pools == ["net": 6])
    #expect(bench.names.count == 6)
    bench.send(.changePool("net", by: -10))
    // The heavy job needs four units at once.
    #expect(bench.journal.run.pools == ["net": 4])
    #expect(bench.facts.contains(.poolChanged("net", 4)))
    try bench.end("light0")
    try bench.end("light1")
    #expect(bench.names.count == 4)
    bench.send(.changePool("none", by: 1))
    #expect(bench.journal.run.pools == ["net": 4])
  }

  @Test func aRetryGivesAPoolTheUnitsThatTheJobNeedsAtOnce() throws {
    var bench = bench(lights: 4)
    bench.start()
    for _ in 0..<4 { try bench.end(bench.names[0]) }
    try bench.end("heavy", .failed(JobFailure(.exit(1), "exit 1")))
    bench.send(.changePool("net", by: -3))
    #expect(bench.journal.run.pools == ["net": 1])
    bench.send(.retry([try bench.id("heavy")], withDependents: false))
    #expect(bench.journal.run.pools == ["net": 4])
    #expect(bench.names == ["heavy"])
  }
}

@Suite struct OpenRunTests {
  private func bench() -> Bench { Bench(JobGraph(name: "each", schedule: .priority), slots: 2) }

  @Test func jobsJoinAnOpenRunAndStart() throws {
    var bench = bench()
    bench.start(isOpen: true)
    #expect(!bench.journal.run.isComplete)
    bench.add([Job(name: "a", work: .simulate(SimulatedWork())), Job(name: "b", work: .simulate(SimulatedWork()))])
    #expect(bench.names == ["a", "b"])
    try bench.end("a")
    try bench.end("b")
    #expect(!bench.journal.run.isComplete)
    bench.add([Job(name: "c", work: .simulate(SimulatedWork()))])
    bench.endArrivals()
    #expect(!bench.journal.run.isComplete)
    try bench.end("c")
    #expect(bench.journal.run.isComplete)
  }

  @Test func theEndOfArrivalsStartsTheJobsOfFinally() throws {
    var bench = Bench(graph(["clean": []]) { $0.finally = .always }, slots: 2)
    bench.start(isOpen: true)
    bench.add([Job(name: "a", work: .simulate(SimulatedWork()))])
    try bench.end("a")
    #expect(bench.names == [])
    bench.endArrivals()
    #expect(bench.names == ["clean"])
    try bench.end("clean")
    #expect(bench.journal.run.isComplete)
  }

  @Test func jobsThatJoinAStoppedRunAreCancelled() throws {
    var bench = bench()
    bench.start(isOpen: true)
    bench.send(.stop(.terminate, by: .signal))
    bench.add([Job(name: "a", work: .simulate(SimulatedWork()))])
    #expect(try bench.state("a") == .cancelled(by: .signal))
  }
}

@Suite struct SilenceTests {
  @Test func anAttemptThatWritesNothingForTooLongIsEnded() throws {
    let graph = graph(["a": []]) { $0.work = .shell(ShellWork(.script("x"), silence: .seconds(10))) }
    var bench = Bench(graph)
    bench.start()
    bench.advance(to: .seconds(6))
    bench.scheduler.attemptSpoke(ticket: bench.executing[0].ticket)
    bench.advance(to: .seconds(10))
    #expect(bench.cancelled.isEmpty)
    bench.advance(to: .seconds(16))
    #expect(bench.cancelled == ["a"])
    try bench.end("a", .cancelled)
    #expect(try bench.state("a") == .failed(JobFailure(.timedOut, "wrote nothing for 10s"), allowed: false))
  }

  @Test func aPausedAttemptMayBeSilent() throws {
    let graph = graph(["a": []]) { $0.work = .shell(ShellWork(.script("x"), silence: .seconds(10))) }
    var bench = Bench(graph)
    bench.start()
    bench.send(.pause([JobID(0)]))
    bench.advance(to: .seconds(60))
    bench.send(.resume([JobID(0)]))
    bench.advance(to: .seconds(69))
    #expect(bench.cancelled.isEmpty)
    bench.advance(to: .seconds(70))
    #expect(bench.cancelled == ["a"])
  }
}

@Suite struct ChosenRetryTests {
  @Test(arguments: [
    (RetryPolicy(max: 1), JobFailure(.exit(1), ""), false, true),
    (RetryPolicy(max: 1, exits: [75]), JobFailure(.exit(75), ""), false, true),
    (RetryPolicy(max: 1, exits: [75]), JobFailure(.exit(1), ""), false, false),
    (RetryPolicy(max: 1, patterns: ["x"]), JobFailure(.exit(1), ""), false, false),
    (RetryPolicy(max: 1, patterns: ["x"]), JobFailure(.exit(1), ""), true, true),
    (RetryPolicy(max: 1, only: [.network], exits: [75]), JobFailure(.network, ""), false, true),
    (RetryPolicy(max: 1, only: [.network], exits: [75]), JobFailure(.timedOut, ""), false, false),
    (RetryPolicy(max: 1, only: [.tooManyRequests]), JobFailure(.http(429), ""), false, true),
  ]) func aRetryFollowsTheFailuresThatThePolicyNames(
    _ policy: RetryPolicy, _ failure: JobFailure, _ outputMatches: Bool, _ isRetried: Bool
  ) {
    #expect(policy.allows(failure, outputMatches: outputMatches) == isRetried)
  }
}
