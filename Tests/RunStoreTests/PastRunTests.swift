import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

/// The jobs of recorded runs, read from a real store.
struct PastRunTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }
  private let start = Date(timeIntervalSince1970: 1000)

  init() throws { folder = try TemporaryFolder() }

  /// Records a run of jobs with these names; `body` states what happens to them.
  private func record(
    _ id: String, _ names: [String], resumes: String? = nil, folder: String? = nil, ends: Bool = true,
    isOpen: Bool = false, _ body: (FakeFeed) -> Void
  ) throws -> RunEntry {
    let origin = RunOrigin(command: "run", file: "/f", directory: "/", slots: 1, onFailure: "keep-going")
    let feed = FakeFeed()
    let recorder = RunRecorder(folder: state, origin: origin, fingerprint: { _ in isOpen ? nil : "aa" })
    recorder.start(feed)
    feed.post(
      .runStarted(
        RunStart(
          id: id, name: id, slots: 1, at: start, jobs: names.count, folder: folder, resumes: resumes, isOpen: isOpen)))
    for (index, name) in names.enumerated() {
      feed.post(.jobAdded(JobID(index), Job(name: name, work: .simulate(SimulatedWork()))))
    }
    body(feed)
    if ends {
      feed.post(.runFinished(RunSummary(of: feed.run)))
      #expect(recorder.finish(within: .patience))
    } else {
      let count = feed.run.jobs.count { $0.state.isTerminal }
      #expect(
        try eventually {
          let store = try RunStore(folder: state)
          guard let run = try? store.run(named: id) else { return false }
          return try store.ended(in: run).count >= count && store.events(of: run).count >= feed.run.nextSeq
        })
    }
    return try RunStore(folder: state).run(named: id)
  }

  private func succeed(_ feed: FakeFeed, _ index: Int, at time: Duration) {
    feed.post(.jobState(JobID(index), .executing, attempt: 1, pid: nil), at: time)
    feed.post(.jobState(JobID(index), .succeeded(upToDate: false), attempt: 1, pid: nil), at: time + .seconds(4))
  }

  @Test func theJobsOfAKilledRunAreThoseOfItsLastCommit() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    let failure = JobFailure(.exit(1), "exit 1")
    let names = ["done", "failed", "allowed", "retried", "skipped", "cancelled", "executing", "waiting"]
    let run = try record("a", names, ends: false) { feed in
      feed.post(.jobState(JobID(6), .executing, attempt: 1, pid: child.pid), at: .seconds(1))
      feed.post(.inputsHashed(JobID(0), "hash"))
      succeed(feed, 0, at: .seconds(1))
      feed.post(.jobState(JobID(1), .failed(failure, allowed: false), attempt: 1, pid: nil))
      feed.post(.jobState(JobID(2), .failed(failure, allowed: true), attempt: 1, pid: nil))
      feed.post(.jobState(JobID(3), .failed(failure, allowed: false), attempt: 1, pid: nil))
      feed.post(.jobState(JobID(3), .waiting, attempt: 1, pid: nil))
      succeed(feed, 3, at: .seconds(6))
      feed.post(.jobState(JobID(4), .skipped(because: .job(JobID(1))), attempt: 0, pid: nil))
      feed.post(.jobState(JobID(5), .cancelled(by: .person), attempt: 0, pid: nil))
    }
    let store = try RunStore(folder: state)
    #expect(run.endedAt == nil)
    let success = EarlierSuccess(run: "a", at: start + 5, took: .seconds(4))
    let retried = EarlierSuccess(run: "a", at: start + 10, took: .seconds(4))
    #expect(try eventually { try EarlierJob.of(store.past(of: run)).contains { $0.end == .executing } })
    #expect(
      try EarlierJob.of(store.past(of: run)) == [
        EarlierJob("done", .done(success), fingerprint: "aa", inputsHash: "hash"),
        EarlierJob("failed", .failed, fingerprint: "aa"), EarlierJob("allowed", .failed, fingerprint: "aa"),
        EarlierJob("retried", .done(retried), fingerprint: "aa"), EarlierJob("skipped", .skipped, fingerprint: "aa"),
        EarlierJob("cancelled", .cancelled, fingerprint: "aa"), EarlierJob("executing", .executing, fingerprint: nil),
        EarlierJob("waiting", .waiting, fingerprint: nil),
      ])
  }

  @Test func aFailedJobThatWasToBeRetriedHasFailed() throws {
    let failure = JobFailure(.exit(1), "exit 1")
    let run = try record("a", ["retried", "waiting", "backing-off"], ends: false) { feed in
      for job in [0, 2] { feed.post(.jobState(JobID(job), .executing, attempt: 1, pid: nil), at: .seconds(1)) }
      feed.post(.jobState(JobID(0), .failed(failure, allowed: false), attempt: 1, pid: nil), at: .seconds(2))
      feed.post(.jobState(JobID(0), .waiting, attempt: 1, pid: nil), at: .seconds(3))
      let pause = JobState.backingOff(until: .seconds(9), number: 1, limit: 2, after: failure)
      feed.post(.jobState(JobID(2), pause, attempt: 1, pid: nil), at: .seconds(4))
    }
    #expect(try EarlierJob.of(RunStore(folder: state).past(of: run)).map(\.end) == [.failed, .waiting, .waiting])
  }

  @Test func theJobsThatCameDuringARunAreCompared() throws {
    func job(_ name: String) -> Job { Job(name: name, work: .shell(ShellWork(.script("echo \(name)")))) }
    let run = try record("a", [], ends: false, isOpen: true) { feed in
      feed.post(.jobAdded(JobID(0), job("first")))
      succeed(feed, 0, at: .seconds(1))
      feed.post(.jobAdded(JobID(1), job("second")))
      feed.post(.jobState(JobID(1), .failed(JobFailure(.exit(1), "exit 1"), allowed: false), attempt: 1, pid: nil))
      feed.post(.jobAdded(JobID(2), job("third")))
    }
    let jobs = try EarlierJob.of(RunStore(folder: state).past(of: run))
    #expect(jobs.map(\.name) == ["first", "second", "third"])
    #expect(jobs.map(\.fingerprint) == ["first", "second", "third"].map { Fingerprint.of(job($0)) })
    let graph = JobGraph(name: "each", jobs: jobs.map { job($0.name) })
    let plan = ResumePlan(jobs, graph, fingerprints: graph.jobs.map(Fingerprint.of), inputsHash: { _ in nil })
    #expect(plan.restored.keys.map(\.index) == [0] && plan.again.map(\.reason) == [.failed, .waiting])
  }

  @Test func aSuccessAfterTheLastCommitIsKnownFromTheRunsFolder() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    let failure = JobFailure(.exit(1), "exit 1")
    let names = ["recorded", "retried", "ended", "again", "new", "waiting"]
    let runFolder = folder.url.path
    let run = try record("a", names, folder: runFolder, ends: false) { feed in
      for (job, attempt) in [(2, 1), (3, 2)] {
        feed.post(.jobState(JobID(job), .executing, attempt: attempt, pid: child.pid), at: .seconds(1))
      }
      succeed(feed, 0, at: .seconds(1))
      feed.post(.jobOutputs(JobID(1), ["A": "of the failed attempt"]))
      feed.post(.jobState(JobID(1), .failed(failure, allowed: false), attempt: 1, pid: nil))
    }
    let store = try RunStore(folder: state)
    #expect(try eventually { try store.processes(of: run).count == 2 })
    func success(
      _ job: Int, attempt: Int = 1, inputs: String? = nil, outputs: [String: String]? = nil
    ) -> AttemptSuccess {
      AttemptSuccess(
        job: JobID(job), attempt: attempt, took: .milliseconds(1500), inputsHash: inputs, outputs: outputs)
    }
    let log = SuccessLog(folder: runFolder) { $0.index < 4 ? "f\($0.index)" : nil }
    let before = Date()
    for success in [
      success(0), success(1, attempt: 2, inputs: "hash"), success(2), success(3), success(4), success(99),
    ] {
      log.append(success)
    }
    let entries = SuccessLog.read(in: runFolder)
    #expect(entries.map(\.success.job.index) == [0, 1, 2, 3, 4, 99])
    #expect((before...Date()).contains(entries[1].at))
    // As a full disk may leave it.
    let file = try FileHandle(forWritingTo: folder.file("succeeded"))
    try file.seekToEnd()
    try file.write(contentsOf: Data("5 1 0.5 17".utf8))
    try file.close()
    log.append(success(0))
    // The values come later than the success; those of an earlier attempt don't count.
    log.append(success(2, outputs: ["A": "1"]))
    log.append(success(1, outputs: ["A": "0"]))
    #expect(SuccessLog.read(in: runFolder).map(\.success.job.index) == [0, 1, 2, 3, 4, 99, 0, 2, 1])
    func later(_ index: Int) -> EarlierJob.End {
      .done(
        EarlierSuccess(
          run: "a", at: entries[index].at, took: .milliseconds(1500), outputs: index == 2 ? ["A": "1"] : nil))
    }
    #expect(
      try EarlierJob.of(store.past(of: run)) == [
        EarlierJob("recorded", .done(.init(run: "a", at: start + 5, took: .seconds(4))), fingerprint: "aa"),
        EarlierJob("retried", later(1), fingerprint: "f1", inputsHash: "hash"),
        EarlierJob("ended", later(2), fingerprint: "f2"), EarlierJob("again", .executing, fingerprint: nil),
        EarlierJob("new", later(4), fingerprint: nil), EarlierJob("waiting", .waiting, fingerprint: nil),
      ])
    #expect(try store.past(of: run)[0].run.jobs.map(\.outputs) == [[:], [:], ["A": "1"], [:], [:], [:]])
    #expect(try store.past(of: run)[0].withoutValues == ["retried", "new"])
  }

  @Test func aResumedRunThatWasKilledAfterItsFirstSuccessKeepsIt() throws {
    _ = try record("a", ["x", "y"]) { feed in succeed(feed, 0, at: .seconds(1)) }
    let run = try record("b", ["x", "y"], resumes: "a", folder: folder.url.path, ends: false) { _ in }
    SuccessLog(folder: folder.url.path) { _ in "aa" }
      .append(AttemptSuccess(job: JobID(1), attempt: 1, took: .zero, inputsHash: nil))
    let jobs = try EarlierJob.of(RunStore(folder: state).past(of: run))
    #expect(jobs.map(\.name) == ["x", "y"])
    guard case .done(let success) = jobs[1].end else {
      Issue.record("y is \(jobs[1].end)")
      return
    }
    #expect(success.run == "b")
  }

  @Test func aSuccessThatWasRestoredTwiceIsThatOfTheRunThatExecutedIt() throws {
    _ = try record("a", ["x", "y"]) { feed in succeed(feed, 0, at: .seconds(1)) }
    let first = EarlierSuccess(run: "a", at: start + 5, took: .seconds(4))
    func restore(_ feed: FakeFeed) {
      feed.post(.inputsHashed(JobID(1), "hash"), .jobRestored(JobID(1), first))
      feed.post(.jobState(JobID(1), .succeeded(upToDate: true), attempt: 0, pid: nil))
    }
    _ = try record("b", ["y", "x"], resumes: "a") { feed in
      restore(feed)
      succeed(feed, 0, at: .seconds(2))
    }
    let last = try record("c", ["z", "x"], resumes: "b") { feed in restore(feed) }
    let jobs = try EarlierJob.of(RunStore(folder: state).past(of: last))
    #expect(jobs[1] == EarlierJob("x", .done(first), fingerprint: "aa", inputsHash: "hash"))
    #expect(jobs[0].end == .waiting)
    // Left out of the last run: as it was in the one before.
    #expect(
      jobs[2] == EarlierJob("y", .done(EarlierSuccess(run: "b", at: start + 6, took: .seconds(4))), fingerprint: "aa"))
  }

  @Test func aResumedRunThatWasKilledAtItsStartChangesNothing() throws {
    _ = try record("a", ["x", "y"]) { feed in
      succeed(feed, 0, at: .seconds(1))
      succeed(feed, 1, at: .seconds(6))
    }
    // The restored job y was not recorded any more.
    let killed = try record("b", ["x", "y"], resumes: "a", ends: false) { feed in
      feed.post(
        .jobRestored(JobID(0), EarlierSuccess(run: "a", at: start, took: .seconds(4))),
        .jobState(JobID(0), .succeeded(upToDate: true), attempt: 0, pid: nil))
    }
    let jobs = try EarlierJob.of(RunStore(folder: state).past(of: killed))
    #expect(jobs.map(\.name) == ["x", "y"])
    #expect(jobs[1].end == .done(EarlierSuccess(run: "a", at: start + 10, took: .seconds(4))))
  }

  @Test func theValuesThatJobsWroteAreRead() throws {
    let run = try record("a", ["x", "y"]) { feed in
      feed.post(.jobOutputs(JobID(0), ["path": "/old"]))
      feed.post(.jobOutputs(JobID(0), ["path": "/a"]))
      succeed(feed, 0, at: .seconds(1))
      succeed(feed, 1, at: .seconds(6))
    }
    func outputs(_ jobs: [EarlierJob]) -> [[String: String]?] {
      jobs.map { job in
        guard case .done(let success) = job.end else { return ["end": "\(job.end)"] }
        return success.outputs
      }
    }
    let store = try RunStore(folder: state)
    #expect(try outputs(EarlierJob.of(store.past(of: run))) == [["path": "/a"], [:]])
  }
}
