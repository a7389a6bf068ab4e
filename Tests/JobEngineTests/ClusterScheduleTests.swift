import JobModel
import Testing

@testable import JobEngine

private func onCluster(_ job: inout Job) {
  job.work = .shell(ShellWork(.script("true"), cluster: ClusterTerms()))
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
}
