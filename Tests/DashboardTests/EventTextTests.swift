import Foundation
import JobModel
import Testing

@testable import Dashboard

@Suite struct EventTextTests {
  private static let failure = JobFailure(.exit(1), "exit 1")
  private static let start = RunStart(
    id: "r", name: "r", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 2, pools: [:])

  private static func summary(succeeded: Int, failed: Int) -> RunSummary {
    var summary = RunSummary()
    (summary.succeeded, summary.failed) = (succeeded, failed)
    return summary
  }

  private var run: Run {
    var builder = RunBuilder([.shell("lint"), .shell("api")])
    builder.move("lint", .executing)
    builder.move("lint", .failed(Self.failure, allowed: false))
    return builder.run
  }

  private static func state(_ state: JobState, _ attempt: Int = 1, pid: Int32? = nil) -> JobFact {
    .jobState(JobID(1), state, attempt: attempt, pid: pid)
  }

  @Test(
    arguments: [
      (.waiting, 0, "waits for its needs"), (.ready(for: .slot), 0, "waits for a slot"),
      (.ready(for: .pool("net")), 0, "waits for pool net"), (.ready(for: .person), 0, "waits for approval"),
      (.ready(for: .cluster(reason: nil)), 0, "waits for the cluster"),
      (.ready(for: .cluster(reason: "Priority")), 0, "waits for the cluster: Priority"), (.serving, 1, "serving"),
      (.executing, 1, "running"), (.executing, 2, "running, try 2"), (.paused(started: true), 1, "paused"),
      (.paused(started: false), 0, "paused before its start"),
      (.backingOff(until: .seconds(9), number: 2, limit: 3, after: failure), 1, "retry 2 of 3, after exit 1"),
      (.succeeded(upToDate: true), 0, "up to date"), (.succeeded(upToDate: false), 1, "ok"),
      (.succeeded(upToDate: false), 2, "ok, after 2 tries"), (.failed(failure, allowed: false), 1, "exit 1"),
      (.failed(failure, allowed: false), 3, "exit 1, after 3 tries"),
      (.failed(failure, allowed: true), 1, "exit 1, allowed to fail"),
      (.failed(failure, allowed: true), 2, "exit 1, after 2 tries, allowed to fail"),
      (.cancelled(by: .person), 1, "cancelled by you"), (.cancelled(by: .policy), 0, "cancelled by on_failure"),
      (.skipped(because: .job(JobID(0))), 0, "skipped, lint failed"),
      (.skipped(because: .manual), 0, "not started, a person starts it"),
    ] as [(JobState, Int, String)])
  func aStateIsSaidInWords(_ state: JobState, _ attempt: Int, _ text: String) {
    #expect(Self.state(state, attempt).text(in: run) == text)
  }

  @Test func anAttemptWithACauseIsTheFirstTry() {
    var caused = run
    caused.apply(
      JobEvent(seq: caused.nextSeq, time: .zero, fact: .jobCaused(JobID(1), attempt: 2, "a person has restarted it")))
    #expect(Self.state(.executing, 2).text(in: caused) == "running")
    #expect(Self.state(.executing, 3).text(in: caused) == "running, try 2")
    #expect(Self.state(.succeeded(upToDate: false), 2).text(in: caused) == "ok")
    #expect(Self.state(.failed(Self.failure, allowed: false), 1).text(in: caused) == "exit 1")
  }

  @Test func aProcessIsNamedByItsNumber() {
    #expect(Self.state(.executing, 1, pid: 4101).text(in: run) == "running, pid 4101")
    #expect(Self.state(.executing, 2, pid: 4102).text(in: run) == "running, try 2, pid 4102")
  }

  @Test(
    arguments: [
      (.runStarted(start), "the run starts: 2 jobs, 1 slot"), (.jobAdded(JobID(1), .shell("api")), "added to the run"),
      (
        .jobRestored(JobID(1), EarlierSuccess(run: "r7", at: Date(timeIntervalSince1970: 0), took: .zero)),
        "done in run r7"
      ),
      (.jobLaunched(JobID(1), pid: 7), "its program runs, pid 7"), (.inputsHashed(JobID(1), "00"), "inputs hashed"),
      (.jobOutputs(JobID(1), ["b": "2", "a": "1"]), "wrote a, b"),
      (.jobOutputs(JobID(1), [:]), "wrote no values"),
      (.jobPlaced(JobID(1), ClusterPlace(id: "12")), "cluster job 12"),
      (.jobPlaced(JobID(1), ClusterPlace(id: "12", nodes: "n[1-2]")), "cluster job 12 on n[1-2]"),
      (.jobProgress(JobID(1), JobProgress(done: 1, total: 2, unit: .steps)), "progress"),
      (.jobLog(JobID(1), attempt: 1, LogLine(.stdout, "a line")), "a line"),
      (.programLog(LogLine(.stderr, "its line")), "its line"),
      (.cancelRequested(JobID(1), by: .person, kill: false), "cancel asked for by you"),
      (.cancelRequested(JobID(1), by: .signal, kill: true), "kill asked for by a signal"),
      (.slotsChanged(3), "3 slots"), (.poolChanged("net", 1), "pool net has 1 unit"),
      (.clusterChanged(fault: "no route"), "the cluster's controller is down: no route"),
      (.clusterChanged(fault: nil), "the cluster's controller answers again"),
      (
        .warningRaised(RunWarning(.longLine, [JobID(0)], "has the only slot", advice: "widen it", since: .zero)),
        "warning: has the only slot; widen it"
      ),
      (.warningCleared(.init(.longLine, JobID(0))), "no longer: a long line waits"),
      (.arrivalsEnded, "no more jobs are added"),
      (.priorityChanged(JobID(1), .veryHigh), "priority very-high"), (.drainChanged(true), "nothing new starts"),
      (.drainChanged(false), "jobs start again"),
      (.stopRequested(.terminate, by: .person), "the run is stopped by you"),
      (.stopRequested(.kill, by: .signal), "everything is killed by a signal"),
      (.runFinished(summary(succeeded: 3, failed: 1)), "the run has ended: 3 ok, 1 failed"),
    ] as [(JobFact, String)])
  func aFactIsSaidInWords(_ fact: JobFact, _ text: String) {
    #expect(fact.text(in: run) == text)
    #expect(fact.state == nil)
  }

  @Test func aJobOfAnEarlierRunIsSaidToBe() {
    var builder = RunBuilder([.shell("lint"), .shell("api")])
    builder.state(
      .jobRestored(JobID(1), EarlierSuccess(run: "r7", at: Date(timeIntervalSince1970: 0), took: .zero)))
    #expect(Self.state(.succeeded(upToDate: true), 0).text(in: builder.run) == "ok in an earlier run")
    #expect(Self.state(.succeeded(upToDate: false), 1).text(in: builder.run) == "ok")
  }

  @Test func onlyAChangeOfStateHasAState() {
    #expect(Self.state(.failed(Self.failure, allowed: true)).state == .allowedFailure)
    #expect(Self.state(.failed(JobFailure(.timedOut, "too slow"), allowed: false)).state == .timedOut)
  }
}
