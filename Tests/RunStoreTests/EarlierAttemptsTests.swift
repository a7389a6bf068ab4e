import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

/// The newest attempts of jobs, read from a real store.
struct EarlierAttemptsTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }

  init() throws { folder = try TemporaryFolder() }

  private func job(_ script: String = "make") -> Job { Job(name: "build", work: .shell(ShellWork(.script(script)))) }

  /// Records a run of one job; `body` states what happens to it, and `isKilled` leaves it without an end.
  private func record(
    _ id: String, _ job: Job, file: String = "/f", isKilled: Bool = false, folder: String? = nil,
    _ body: (FakeFeed) -> Void
  ) throws {
    try write(id, job, file: file, isKilled: isKilled, folder: folder, body)
    guard isKilled else { return }
    // The process that has recorded it executes this test.
    let database = try RunStore.openForWriting(state, patience: .patience)
    try database.execute("UPDATE runs SET boot = 'before' WHERE id = '\(id)'")
    try FileManager.default.removeItem(atPath: state + "/opdash.live")
    let store = try RunStore(folder: state)
    #expect(try !store.isGoingOn(store.run(named: id)))
  }

  private func write(
    _ id: String, _ job: Job, file: String, isKilled: Bool, folder: String?, _ body: (FakeFeed) -> Void
  ) throws {
    let origin = RunOrigin(command: "run", file: file, directory: "/", slots: 1, onFailure: "keep-going")
    let feed = FakeFeed()
    let recorder = RunRecorder(folder: state, origin: origin, fingerprint: { _ in Fingerprint.of(job) })
    recorder.start(feed)
    feed.post(.runStarted(RunStart(id: id, name: id, slots: 1, at: Date(), jobs: 1, folder: folder)))
    feed.post(.jobAdded(JobID(0), job))
    body(feed)
    guard !isKilled else {
      let processes = { try RunStore(folder: self.state) }
      #expect(
        try eventually {
          guard let store = try? processes(), let run = try? store.run(named: id) else { return false }
          return try store.events(of: run).last?.seq == feed.run.nextSeq - 1
        })
      return
    }
    feed.post(.runFinished(RunSummary(of: feed.run)))
    #expect(recorder.finish(within: .patience))
  }

  /// The newest attempt of a job, where job 7 is called `tag`.
  private func newest(_ job: Job, file: String = "/f") throws -> EarlierAttempt? {
    let attempts = try EarlierAttempts(RunStore(folder: state), ofFile: file)
    let newest = attempts.newest(of: job) { $0 == JobID(7) ? "tag" : nil }
    guard case .succeeded(let inputs, let read, let begun) = newest else { return newest }
    // Just now.
    #expect(begun.map { abs($0.timeIntervalSinceNow) < Patience.seconds } == true)
    return .succeeded(inputs: inputs, read: read)
  }

  private func end(_ feed: FakeFeed, _ state: JobState, attempt: Int = 1) {
    if attempt > 0 { feed.post(.jobState(JobID(0), .executing, attempt: attempt, pid: nil)) }
    feed.post(.jobState(JobID(0), state, attempt: attempt, pid: nil))
  }

  @Test func aSuccessOfTheSameWorkHasTheHashOfItsInputs() throws {
    #expect(try newest(job()) == nil)
    try record("a", job()) { feed in
      feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
      feed.post(.inputsHashed(JobID(0), "hash"))
      feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
    }
    #expect(try newest(job()) == .succeeded(inputs: "hash"))
    #expect(try newest(job("make all")) == .changed)
    #expect(try newest(job(), file: "/other") == nil)
  }

  @Test func theValuesAreThoseOfTheNewestSuccessOfTheSameWork() throws {
    func values(_ job: Job) throws -> [String: String]? {
      try EarlierAttempts(RunStore(folder: state), ofFile: "/f").values(of: job)
    }
    #expect(try values(job()) == nil)
    for (run, value) in [("a", "old"), ("b", "new")] {
      try record(run, job()) { feed in
        feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
        feed.post(.jobOutputs(JobID(0), ["v": value]))
        feed.post(.jobState(JobID(0), .succeeded(upToDate: run == "b"), attempt: 1, pid: nil))
      }
    }
    #expect(try values(job()) == ["v": "new"])
    #expect(try values(job("make all")) == nil)
    try record("c", job()) { end($0, .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    #expect(try values(job()) == nil)
    try record("d", job()) { end($0, .succeeded(upToDate: false)) }
    for run in ["e", "f"] {
      try record(run, job()) { end($0, .succeeded(upToDate: true)) }
      #expect(try values(job()) == [:])
    }
  }

  @Test func theValuesOutlastARunThatDoesNotReadThem() throws {
    func values() throws -> [String: String]? {
      try EarlierAttempts(RunStore(folder: state), ofFile: "/f").values(of: job())
    }
    try record("a", job()) { feed in
      feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
      feed.post(.jobOutputs(JobID(0), ["v": "1"]))
      feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
    }
    try record("b", job()) { end($0, .succeeded(upToDate: true)) }
    #expect(try values() == ["v": "1"])
    // Without the attempt that wrote them, nothing is known.
    try RunStore.openForWriting(state, patience: .patience).execute("DELETE FROM ended WHERE outcome = 'ok'")
    #expect(try values() == nil)
  }

  @Test func theValuesThatAnAttemptHasReadAreThoseOfItsRun() throws {
    var job = job()
    job.inputs = ["/in"]
    job.outputs = [OutputReference("${jobs.tag.v}", job: JobID(7), name: "v")]
    try record("a", job) { feed in
      // Another number than it has now.
      feed.post(.jobAdded(JobID(1), Job(name: "tag", work: job.work)))
      feed.post(.jobState(JobID(1), .executing, attempt: 1, pid: nil))
      feed.post(.jobOutputs(JobID(1), ["v": "1", "w": "2"]))
      feed.post(.jobState(JobID(1), .succeeded(upToDate: false), attempt: 1, pid: nil))
      end(feed, .succeeded(upToDate: false))
    }
    #expect(try newest(job) == .succeeded(inputs: nil, read: ["${jobs.tag.v}": "1"]))
    try record("b", job) { feed in
      feed.post(.jobAdded(JobID(1), Job(name: "tag", work: job.work)))
      end(feed, .succeeded(upToDate: false))
      // The value is from a retry, after the job had read another one.
      feed.post(.jobState(JobID(1), .executing, attempt: 2, pid: nil), at: .seconds(1))
      feed.post(.jobOutputs(JobID(1), ["v": "2"]))
      feed.post(.jobState(JobID(1), .succeeded(upToDate: false), attempt: 2, pid: nil))
    }
    #expect(try newest(job) == .succeeded(inputs: nil))
  }

  @Test func aJobThatAddedJobsToItsRunHasAddedThem() throws {
    var job = job()
    job.inputs = ["/in"]
    let path = folder.file("run").path()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    _ = try KeptTexts(in: path).keep(KeptText(AddedText([], file: "x", directory: "/", writer: "build"), names: []))
    try record("a", job, folder: path) { end($0, .succeeded(upToDate: false)) }
    #expect(try newest(job) == .addedJobs)
    job.name = "other"
    try record("b", job, folder: path) { end($0, .succeeded(upToDate: false)) }
    #expect(try newest(job) == .succeeded(inputs: nil))
  }

  @Test func theNewestAttemptCounts() throws {
    try record("a", job()) { end($0, .succeeded(upToDate: false)) }
    try record("b", job()) { end($0, .failed(JobFailure(.exit(1), "exit 1"), allowed: true)) }
    #expect(try newest(job()) == .unfinished)
    try record("c", job()) { end($0, .succeeded(upToDate: true)) }
    #expect(try newest(job()) == .succeeded(inputs: nil))
    try record("d", job()) { end($0, .cancelled(by: .person)) }
    #expect(try newest(job()) == .unfinished)
  }

  @Test func aRunInWhichTheJobHadNoAttemptDoesNotCount() throws {
    try record("a", job()) { end($0, .succeeded(upToDate: false)) }
    try record("b", job()) { end($0, .cancelled(by: .signal), attempt: 0) }
    try record("c", job()) { feed in
      feed.post(.jobRestored(JobID(0), EarlierSuccess(run: "a", at: Date(), took: .seconds(1))))
      end(feed, .succeeded(upToDate: true), attempt: 0)
    }
    #expect(try newest(job()) == .succeeded(inputs: nil))
  }

  @Test func anyNumberOfSkippedOrRestoredEndsHidesNoAttempt() throws {
    try record("a", job()) { end($0, .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    for number in 1...15 {
      try record("s\(number)", job()) { end($0, .skipped(because: .job(JobID(0))), attempt: 0) }
      try record("r\(number)", job()) { feed in
        feed.post(.jobRestored(JobID(0), EarlierSuccess(run: "x", at: Date(), took: .seconds(1))))
        end(feed, .succeeded(upToDate: true), attempt: 0)
      }
    }
    #expect(try newest(job()) == .unfinished)
  }

  @Test func anyNumberOfRunsWithoutTheJobHidesNoBrokenAttempt() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    try record("a", job()) { end($0, .succeeded(upToDate: false)) }
    try record("b", job(), isKilled: true) { feed in
      feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: child.pid))
    }
    for number in 1...60 { try record("c\(number)", Job(name: "other", work: job().work)) { _ in } }
    #expect(try newest(job()) == .unfinished)
  }

  @Test func anAttemptThatWasBrokenOffIsUnfinishedUntilTheNextOne() throws {
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    try record("a", job()) { end($0, .succeeded(upToDate: false)) }
    try record("b", job(), isKilled: true) { feed in
      feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: child.pid))
    }
    #expect(try newest(job()) == .unfinished)
    try record("c", job()) { end($0, .succeeded(upToDate: false)) }
    #expect(try newest(job()) == .succeeded(inputs: nil))
  }

  @Test func aJobOfARunThatGoesOnIsExecuting() throws {
    try record("a", job(), isKilled: true, folder: folder.url.path()) { feed in
      feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
    }
    #expect(try newest(job()) == .unfinished)
    // The number of its row.
    let lock = RunLock(run: 1, in: state)
    #expect(try newest(job()) == .executing)
    _ = lock
  }

  @Test func aJobThatWasLeftInTheClusterIsUnfinishedUntilTheNextOne() throws {
    try record("a", job()) { end($0, .succeeded(upToDate: false)) }
    try record("b", job(), isKilled: true) { feed in
      feed.post(.jobPlaced(JobID(0), ClusterPlace(id: "12", nodes: "node1")))
      feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
    }
    #expect(try newest(job()) == .unfinished)
    try record("c", job()) { end($0, .succeeded(upToDate: false)) }
    #expect(try newest(job()) == .succeeded(inputs: nil))
  }

  private static let betweenAttempts: [[JobState]] = [
    [.backingOff(until: .zero, number: 1, limit: 2, after: JobFailure(.exit(1), "exit 1")), .ready(for: .slot)],
    // Restarted.
    [.waiting], [.ready(for: .slot)], [.ready(for: .cluster(reason: nil))],
  ]

  @Test(arguments: betweenAttempts.indices, [false, true])
  func aJobThatWaitsForItsNextAttemptIsUnfinished(index: Int, isInCluster: Bool) throws {
    let path = folder.file("run").path()
    try FileManager.default.createDirectory(
      atPath: path + (isInCluster ? "/cluster" : ""), withIntermediateDirectories: true)
    try record("a", job()) { end($0, .succeeded(upToDate: false)) }
    try record("b", job(), isKilled: true, folder: path) { feed in
      if isInCluster { feed.post(.jobPlaced(JobID(0), ClusterPlace(id: "12"))) }
      feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
      feed.post(.cancelRequested(JobID(0), by: .restart, kill: false))
      for state in Self.betweenAttempts[index] { feed.post(.jobState(JobID(0), state, attempt: 1, pid: nil)) }
    }
    #expect(try newest(job()) == .unfinished)
    try record("c", job()) { end($0, .succeeded(upToDate: false)) }
    #expect(try newest(job()) == .succeeded(inputs: nil))
  }

  @Test func aSuccessThatIsExecutedAgainIsOneUntilItBegins() throws {
    try record("a", job(), isKilled: true, folder: folder.url.path()) { feed in
      end(feed, .succeeded(upToDate: false))
      feed.post(.jobState(JobID(0), .waiting, attempt: 1, pid: nil))
    }
    #expect(try newest(job()) == .succeeded(inputs: nil))
  }
}
