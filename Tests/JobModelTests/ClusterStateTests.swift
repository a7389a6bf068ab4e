import Foundation
import JobModel
import Testing

/// A job that a cluster executes, in the fold of its events.
@Suite struct ClusterStateTests {
  private struct Recorder {
    var run = Run()
    var time: Duration = .zero

    init() {
      state(.runStarted(RunStart(id: "r", name: "r", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 1)))
      state(.jobAdded(JobID(0), Job(name: "a", work: .shell(ShellWork(.script("a"), cluster: ClusterRequest())))))
    }

    mutating func state(_ fact: JobFact) { run.apply(JobEvent(seq: run.nextSeq, time: time, fact: fact)) }

    mutating func move(_ state: JobState, attempt: Int = 0) {
      self.state(.jobState(JobID(0), state, attempt: attempt, pid: nil))
    }

    var status: String { StatusText(JobID(0), run, now: time).whole }
  }

  @Test func aDrainKeepsBackOnlyWhatWasNotSubmitted() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    #expect(recorder.status == "waits for the cluster")
    recorder.state(.drainChanged(true))
    #expect(recorder.status == "waits: nothing new starts")
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7")))
    #expect(recorder.status == "waits for the cluster")
    recorder.move(.ready(for: .cluster(reason: "Priority")))
    #expect(recorder.status == "waits for the cluster: Priority")
  }

  @Test func anAttemptThatBeginsAgainHasTheTimeSinceThen() {
    var recorder = Recorder()
    recorder.move(.executing, attempt: 1)
    recorder.time = .seconds(5)
    recorder.move(.ready(for: .cluster(reason: nil)), attempt: 1)
    recorder.time = .seconds(60)
    recorder.move(.executing, attempt: 1)
    recorder.time = .seconds(62)
    let record = recorder.run[JobID(0)]
    #expect(record.attempts.map(\.number) == [1])
    #expect(record.elapsed(at: .seconds(62)) == .seconds(2))
    #expect(record.spent(.forCluster, until: .seconds(62)) == .seconds(55))
  }

  @Test func itTakesNoSlotAndItsPlaceIsKept() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    #expect(recorder.run.counts.withCluster == 1)
    recorder.time = .seconds(4)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1")))
    recorder.move(.executing, attempt: 1)
    #expect(recorder.run.counts.withCluster == 0)
    #expect(recorder.run.counts.executing == 1)
    #expect(recorder.run.counts.usedSlots == 0)
    #expect(recorder.run[JobID(0)].place == ClusterPlace(id: "7", nodes: "node1"))
    #expect(recorder.run[JobID(0)].spent(.forCluster, until: .seconds(4)) == .seconds(4))
  }

  @Test func whatHadEndedBeforeItWasSeenExecutingHasTakenItsTime() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.time = .seconds(2)
    recorder.move(.ready(for: .cluster(reason: "Priority")))
    recorder.time = .seconds(3)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1", took: .seconds(1.5))))
    recorder.move(.executing, attempt: 1)
    recorder.move(
      .backingOff(until: .seconds(4), number: 1, limit: 2, after: JobFailure(.exit(1), "exit 1")), attempt: 1)
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(3)) == .seconds(1.5))
    #expect(recorder.run[JobID(0)].spent(.forCluster, until: .seconds(3)) == .seconds(1.5))
    #expect(recorder.run[JobID(0)].spent(.executing, until: .seconds(3)) == .seconds(1.5))
    recorder.time = .seconds(4)
    recorder.move(.ready(for: .cluster(reason: nil)), attempt: 1)
    recorder.time = .seconds(5)
    // The time of the attempt before is not that of this one.
    recorder.move(.executing, attempt: 2)
    recorder.time = .seconds(5.5)
    recorder.move(.succeeded(upToDate: false), attempt: 2)
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(9)) == .seconds(0.5))
  }

  @Test func itEndedWhenItsNodeSaysAndNotWhenThatWasSeen() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.time = .seconds(2)
    recorder.move(.executing, attempt: 1)
    recorder.time = .seconds(3)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1", took: .seconds(0.2))))
    recorder.move(.succeeded(upToDate: false), attempt: 1)
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(3)) == .seconds(0.2))
    #expect(recorder.run[JobID(0)].spent(.executing, until: .seconds(3)) == .seconds(0.2))
    #expect(recorder.run.length == .seconds(3))
  }

  @Test(arguments: [false, true])
  func itBeganWhenItsNodeSaysAndNotWhenThatWasSeen(isPaused: Bool) {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.time = .seconds(2)
    recorder.move(.executing, attempt: 1)
    if isPaused {
      recorder.time = .seconds(3)
      recorder.move(.paused(started: true), attempt: 1)
      recorder.time = .seconds(4)
      recorder.move(.executing, attempt: 1)
    }
    recorder.time = .seconds(5)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1", took: .seconds(3.5))))
    recorder.move(.succeeded(upToDate: false), attempt: 1)
    let job = recorder.run[JobID(0)]
    #expect(job.elapsed(at: .seconds(5)) == .seconds(isPaused ? 2.5 : 3.5))
    #expect(job.spent(.executing, until: .seconds(5)) == .seconds(isPaused ? 2.5 : 3.5))
    #expect(job.spent(.forCluster, until: .seconds(5)) == .seconds(1.5))
  }

  @Test func anAttemptHasNotBegunBeforeItWasSubmitted() {
    var recorder = Recorder()
    recorder.time = .seconds(2)
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.time = .seconds(3)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1", took: .seconds(60))))
    recorder.move(.executing, attempt: 1)
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(3)) == .seconds(1))
  }

  @Test func whatItExecutedBeforeTheRunCounts() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.time = .seconds(2)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", before: .seconds(600))))
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(2)) == nil)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1", before: .seconds(600))))
    recorder.move(.executing, attempt: 1)
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(5)) == .seconds(603))
    recorder.time = .seconds(10)
    recorder.state(
      .jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1", took: .seconds(607), before: .seconds(600))))
    recorder.move(.succeeded(upToDate: false), attempt: 1)
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(20)) == .seconds(607))
    #expect(recorder.run[JobID(0)].spent(.executing, until: .seconds(20)) == .seconds(7))
  }

  @Test func whatEndedBeforeTheRunSawItHasTakenItsTime() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.time = .seconds(2)
    recorder.state(
      .jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "node1", took: .seconds(60), before: .seconds(60))))
    recorder.move(.executing, attempt: 1)
    recorder.move(.succeeded(upToDate: false), attempt: 1)
    #expect(recorder.run[JobID(0)].elapsed(at: .seconds(3)) == .seconds(60))
  }

  @Test func whatTheClusterHasSuspendedIsPausedByIt() {
    var recorder = Recorder()
    var place = ClusterPlace(id: "7", nodes: "node1")
    recorder.state(.jobPlaced(JobID(0), place))
    recorder.move(.executing, attempt: 1)
    place.isSuspended = true
    recorder.state(.jobPlaced(JobID(0), place))
    recorder.move(.paused(started: true), attempt: 1)
    #expect(recorder.status == "paused, suspended by the cluster")
    place.isSuspended = false
    recorder.state(.jobPlaced(JobID(0), place))
    #expect(recorder.status == "paused")
  }

  private static let failure = JobFailure(.exit(1), "exit 1")

  /// What follows the first attempt, whether its end was requested, and whether the job keeps its place.
  @Test(arguments: [
    ([JobState.ready(for: .cluster(reason: nil))], false, true), ([.paused(started: true), .executing], false, true),
    ([.ready(for: .cluster(reason: nil))], true, false), ([.paused(started: false)], true, false),
    ([.waiting], false, false), ([.failed(failure, allowed: false)], false, true),
    ([.backingOff(until: .zero, number: 1, limit: 2, after: failure)], true, true),
    ([.backingOff(until: .zero, number: 1, limit: 2, after: failure), .cancelled(by: .person)], false, true),
    ([.backingOff(until: .zero, number: 1, limit: 2, after: failure), .paused(started: false)], false, false),
    (
      [.backingOff(until: .zero, number: 1, limit: 2, after: failure), .ready(for: .cluster(reason: nil))], false, false
    ), ([.failed(failure, allowed: false), .waiting], false, false),
    ([.succeeded(upToDate: false), .ready(for: .cluster(reason: nil))], false, false),
  ])
  func anotherSubmissionHasAnotherPlace(states: [JobState], isCancelled: Bool, keepsPlace: Bool) {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7")))
    recorder.move(.executing, attempt: 1)
    if isCancelled { recorder.state(.cancelRequested(JobID(0), by: .restart, kill: false)) }
    for state in states { recorder.move(state, attempt: 1) }
    #expect(recorder.run[JobID(0)].place?.id == (keepsPlace ? "7" : nil))
  }

  @Test func aHeldSubmissionKeepsItsPlaceAndAWithdrawnOneDoesNot() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7")))
    for state in [JobState.paused(started: false), .ready(for: .cluster(reason: "Priority"))] { recorder.move(state) }
    #expect(recorder.run[JobID(0)].clusterJob == "7")
    for state in [JobState.waiting, .ready(for: .cluster(reason: nil))] { recorder.move(state) }
    #expect(recorder.run[JobID(0)].clusterJob == nil)
  }

  @Test func theClusterHasAJobFromItsNumberToItsEnd() {
    var recorder = Recorder()
    recorder.move(.ready(for: .cluster(reason: nil)))
    #expect(recorder.run[JobID(0)].clusterJob == nil)
    recorder.state(.jobPlaced(JobID(0), ClusterPlace(id: "7")))
    let states: [JobState] = [
      .ready(for: .cluster(reason: nil)), .paused(started: false), .executing, .paused(started: true),
    ]
    for state in states {
      recorder.move(state, attempt: 1)
      #expect(recorder.run[JobID(0)].clusterJob == "7")
    }
    recorder.move(.cancelled(by: .person), attempt: 1)
    #expect(recorder.run[JobID(0)].clusterJob == nil)
  }

  @Test func anOutageLastsUntilTheControllerAnswers() {
    var recorder = Recorder()
    recorder.time = .seconds(2)
    recorder.state(.clusterChanged(fault: "no answer"))
    #expect(recorder.run.clusterOutage?.fault == "no answer")
    #expect(recorder.run.clusterOutage?.since == .seconds(2))
    recorder.state(.clusterChanged(fault: nil))
    #expect(recorder.run.clusterOutage == nil)
  }

  @Test func theTimeLimitOfTheClusterIsATimeout() {
    #expect(StateClass(.failed(JobFailure(.timeLimit, "time limit"), allowed: false)) == .timedOut)
    #expect(StateClass(.failed(JobFailure(.outOfMemory, "out of memory"), allowed: false)) == .failed)
  }

  @Test func aPolicyCanBeForTheEndsOfACluster() {
    let policy = RetryPolicy(max: 1, only: [.nodeFailure, .preempted])
    #expect(policy.allows(JobFailure(.nodeFailure, "lost its node")))
    #expect(policy.allows(JobFailure(.preempted, "preempted")))
    #expect(!policy.allows(JobFailure(.lost, "lost")))
    #expect(!policy.allows(JobFailure(.outOfMemory, "out of memory")))
  }
}
