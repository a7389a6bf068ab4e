import Foundation
import JobModel
import Testing

@testable import Scenarios

/// Builds a run from facts.
struct Script {
  var run = Run()
  private var names: [String: JobID] = [:]

  init(_ name: String, slots: Int, _ jobs: [Job]) {
    state(
      .runStarted(RunStart(id: "1", name: name, slots: slots, at: Date(timeIntervalSince1970: 0), jobs: jobs.count)), 0)
    for (index, job) in jobs.enumerated() {
      names[job.name] = JobID(index)
      state(.jobAdded(JobID(index), job), 0)
    }
  }

  mutating func state(_ fact: JobFact, _ seconds: Double) {
    run.apply(JobEvent(seq: run.nextSeq, time: .seconds(seconds), fact: fact))
  }

  mutating func job(_ name: String, _ state: JobState, attempt: Int = 1, _ seconds: Double) {
    guard let id = names[name] else { return }
    self.state(.jobState(id, state, attempt: attempt, pid: nil), seconds)
  }

  mutating func progress(_ name: String, _ bytes: Int64, _ seconds: Double) {
    guard let id = names[name] else { return }
    state(.jobProgress(id, JobProgress(done: bytes, total: bytes, unit: .bytes)), seconds)
  }
}

@Suite struct ClosingTests {
  private func download(_ name: String, needs: [JobNeed] = [], sha256: String? = nil, allowed: Bool = false) -> Job {
    Job(
      name: name, work: .download(DownloadWork(url: "http://x/\(name)", file: "/tmp/\(name)", sha256: sha256)),
      needs: needs, allowFailure: allowed)
  }

  private func upload(_ name: String, needs: [JobNeed] = []) -> Job {
    Job(name: name, work: .upload(UploadWork(file: "/tmp/\(name)", url: "http://x/\(name)")), needs: needs)
  }

  @Test func collectTellsBytesAndRetries() {
    var script = Script(
      "collect", slots: 4,
      [download("receive-a"), download("receive-b"), upload("enrich-a", needs: [JobNeed(JobID(0))])])
    script.job("receive-a", .executing, 0)
    script.job("receive-b", .executing, 0)
    script.progress("receive-a", 1000, 1)
    let failure = JobFailure(.network, "connection reset")
    script.job("receive-a", .backingOff(until: .seconds(3), number: 1, limit: 3, after: failure), 1)
    script.job("receive-a", .executing, attempt: 2, 3)
    script.progress("receive-a", 2_500_000, 4)
    script.progress("receive-b", 500_000, 4)
    script.job("receive-a", .succeeded(upToDate: false), attempt: 2, 4)
    script.job("receive-b", .succeeded(upToDate: false), 4)
    script.job("enrich-a", .executing, 4)
    script.progress("enrich-a", 20, 5)
    script.job("enrich-a", .succeeded(upToDate: false), 5)
    #expect(
      Scenario.collect.closing(script.run) == [
        "collect: 1 picture created, received, uploaded and enriched in 5.0 s.",
        "  3.0 MB came and 20 B went over HTTP on this machine's loopback.",
        "  Up to 2 of 4 slots were busy; one after another it would have been 7.0 s.",
        "  Attempts that failed: the network (1). A retry brought receive-a through.",
      ])
  }

  @Test func diamondNamesWhatAFailureSkipped() {
    let work = JobWork.simulate(SimulatedWork())
    let top = JobID(0)
    var script = Script(
      "diamond", slots: 2,
      [
        Job(name: "checkout", work: work), Job(name: "lint", work: work, needs: [JobNeed(top)]),
        Job(name: "compile", work: work, needs: [JobNeed(top)]),
        Job(name: "link", work: work, needs: [JobNeed(JobID(2))]),
        Job(name: "publish", work: work, needs: [JobNeed(JobID(1)), JobNeed(JobID(3))]),
        Job(name: "tell", work: work, needs: [JobNeed(JobID(1), when: .failed)]),
        Job(name: "spelling", work: work, allowFailure: true),
      ])
    for (name, start, end) in [("checkout", 0.0, 1.0), ("compile", 1, 2), ("link", 2, 3)] {
      script.job(name, .executing, start)
      script.job(name, .succeeded(upToDate: false), end)
    }
    script.job("lint", .executing, 3)
    script.job("lint", .failed(JobFailure(.exit(1), "exit 1"), allowed: false), 4)
    script.job("publish", .skipped(because: .job(JobID(1))), attempt: 0, 4)
    script.job("tell", .executing, 4)
    script.job("tell", .succeeded(upToDate: false), 5)
    script.job("spelling", .executing, 5)
    script.job("spelling", .failed(JobFailure(.exit(2), "exit 2"), allowed: true), 6)
    #expect(
      Scenario.diamond.closing(script.run) == [
        "diamond: 4 of 7 jobs succeeded in 6.0 s, up to 1 at once.",
        "  checkout fanned out to 2 jobs; link waited for 1 of them.",
        "  lint failed (exit 1), which skipped publish.",
        "  spelling failed (exit 2) and was allowed to: nothing was skipped for it.",
        "  tell asked for such an end, and ran.",
      ])
  }

  @Test func flakyNetworkCountsWhatItTook() {
    var script = Script(
      "flaky-network", slots: 2, [download("busy", sha256: "00"), download("missing", allowed: true), upload("send")])
    script.job("busy", .executing, 0)
    script.job("missing", .executing, 0)
    let busy = JobFailure(.http(503), "HTTP 503")
    script.job("busy", .backingOff(until: .seconds(1), number: 1, limit: 4, after: busy), 0.5)
    script.job("busy", .executing, attempt: 2, 1)
    script.job("busy", .succeeded(upToDate: false), attempt: 2, 2)
    script.job("missing", .failed(JobFailure(.http(404), "HTTP 404"), allowed: true), 2)
    script.job("send", .executing, 2)
    script.job("send", .succeeded(upToDate: false), 2.5)
    #expect(
      Scenario.flakyNetwork.closing(script.run) == [
        "flaky-network: 1 download and 1 upload got through in 2.5 s.",
        "  It took 1 retry. Attempts that failed: HTTP 404 (1), HTTP 503 (1).",
        "  Files with the SHA-256 that the job file asks for, in pieces or not: 1.",
        "  missing was tried once only: HTTP 404 does not get better by asking again.",
      ])
  }

  @Test func aScenarioThatWasLeftSaysSoAndNoMore() {
    var script = Script("collect", slots: 2, [download("a"), download("b")])
    script.job("a", .executing, 0)
    script.job("a", .succeeded(upToDate: false), 1.26)
    #expect(Scenario.collect.closing(script.run) == ["collect was left after 1.3 s, with 1 of 2 jobs done."])
    script.job("b", .cancelled(by: .person), attempt: 0, 2)
    #expect(Scenario.collect.closing(script.run) == ["collect was left after 2.0 s, with 1 of 2 jobs done."])
  }

  @Test func stressTellsItsSpeed() {
    var script = Script("stress", slots: 1, [Job(name: "a", work: .simulate(SimulatedWork()))])
    script.job("a", .executing, 0)
    script.job("a", .succeeded(upToDate: false), 0.5)
    #expect(
      Scenario.stress.closing(script.run) == [
        "stress: 1 job with 0 dependencies ended in 0.5 s: 2 jobs a second.",
        "  4 events were folded into what you saw.",
      ])
  }

  @Test func aFailureThatNobodyPlannedIsNamed() {
    var script = Script("stress", slots: 1, [Job(name: "a", work: .simulate(SimulatedWork()))])
    script.job("a", .executing, 0)
    script.job("a", .failed(JobFailure(.simulated, "simulated"), allowed: false), 1)
    #expect(Scenario.stress.closing(script.run).last == "  a failed, which was not planned: simulated.")
  }

  @Test(arguments: [
    (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_549_999, "1.5 MB"), (2_000_000_000, "2.0 GB"),
  ])
  func bytesAreToldShortly(count: Int64, text: String) {
    #expect(Tally.bytes(count) == text)
  }

  @Test(arguments: [(0.0, "0.0 s"), (59.9, "59.9 s"), (60, "1 min 0 s"), (125.4, "2 min 5 s")])
  func secondsAreToldShortly(seconds: Double, text: String) {
    #expect(Tally.seconds(.seconds(seconds)) == text)
  }
}
