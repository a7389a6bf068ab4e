import Foundation
import JobModel
import RunStore
import Support
import Testing

struct PruningTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }
  private static let now = Date(timeIntervalSince1970: 10_000_000)

  init() throws { folder = try TemporaryFolder() }

  /// Records a run that began so many days ago, with a log file of so many bytes.
  private func record(_ id: String, daysAgo days: Double, logs: Int = 0, jobs: Int = 1, isEnded: Bool = true) throws {
    let feed = FakeFeed()
    let origin = RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going")
    let recorder = RunRecorder(folder: state, origin: origin)
    recorder.start(feed)
    let at = Self.now - days * 86_400
    let path = try makeFolder(id, logs: logs)
    feed.post(.runStarted(RunStart(id: id, name: "test", slots: 1, at: at, jobs: jobs, folder: path)))
    for index in 0..<jobs {
      feed.post(.jobAdded(JobID(index), Job(name: "job\(index)", work: .simulate(SimulatedWork()))))
      feed.post(.jobState(JobID(index), .succeeded(upToDate: false), attempt: 1, pid: nil))
    }
    if isEnded {
      feed.post(.runFinished(RunSummary(of: feed.run)))
      #expect(recorder.finish(within: .patience))
    } else {
      #expect(try eventually { try RunStore(folder: state).runs(1).first?.id == id })
    }
  }

  @discardableResult
  private func makeFolder(_ id: String, logs: Int) throws -> String {
    let path = "\(state)/runs/\(id)"
    try FileManager.default.createDirectory(atPath: path + "/logs", withIntermediateDirectories: true)
    try Data(count: logs).write(to: URL(fileURLWithPath: path + "/logs/job0.0.1.log"))
    return path
  }

  private func kept(after retention: Retention) throws -> [String] {
    let store = try RunStore(folder: state)
    try store.prune(retention, now: Self.now)
    #expect(try store.check() == [])
    let ids = try store.runs().map(\.id)
    #expect(folder.names(in: "state/runs") == ids.sorted())
    return ids
  }

  @Test func runsThatAreTooOldAreRemovedWithTheirFolders() throws {
    for days in [40, 31, 29, 1] { try record("r\(days)", daysAgo: Double(days)) }
    #expect(try kept(after: Retention()) == ["r1", "r29"])
    let store = try RunStore(folder: state)
    #expect(try store.lastAttempt("job0", ofFile: nil)?.end.run == "r1")
    #expect(try store.runs().map { try store.ended(in: $0).map(\.name) } == [["job0"], ["job0"]])
  }

  @Test func theNewestRunsAreKept() throws {
    for days in [3, 2, 1] { try record("r\(days)", daysAgo: Double(days)) }
    #expect(try kept(after: Retention(runs: 2)) == ["r1", "r2"])
    #expect(try kept(after: Retention(runs: 2)) == ["r1", "r2"])
  }

  @Test func runsBeyondTheSizeAreRemovedButTheNewest() throws {
    for days in [3, 2, 1] { try record("r\(days)", daysAgo: Double(days), logs: 100_000) }
    #expect(try kept(after: Retention(bytes: 250_000)) == ["r1", "r2"])
    #expect(try kept(after: Retention(bytes: 10)) == ["r1"])
  }

  @Test func aRunThatGoesOnIsKept() throws {
    try record("on", daysAgo: 90, isEnded: false)
    try record("r1", daysAgo: 1)
    #expect(try kept(after: Retention(runs: 0)) == ["on"])
  }

  @Test func theFolderOfAnUnrecordedRunGoesWithItsProcess() throws {
    try record("r1", daysAgo: 1)
    // A process that has ended.
    let child = try ChildProcess(["true"])
    _ = child.ending(waiting: true)
    for id in ["20200101-000000-\(child.pid)", "20200101-000000-\(getpid()).1"] {
      let path = try makeFolder(id, logs: 10)
      let date = Self.now - 50 * 86_400
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }
    try RunStore(folder: state).prune(Retention(), now: Self.now)
    #expect(folder.names(in: "state/runs") == ["20200101-000000-\(getpid()).1", "r1"])
  }

  @Test func aFolderThatIsNoRunsIsLeftAlone() throws {
    try record("r1", daysAgo: 1)
    for name in ["results", "20200101", "20200101-000000-notes"] {
      let path = try makeFolder(name, logs: 10)
      let date = Self.now - 500 * 86_400
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }
    try RunStore(folder: state).prune(Retention(runs: 1, bytes: 1), now: Self.now)
    #expect(Set(folder.names(in: "state/runs")) == ["20200101", "20200101-000000-notes", "r1", "results"])
  }

  @Test func foldersElsewhereAreLeftAlone() throws {
    let victim = folder.file("victim").path()
    try FileManager.default.createDirectory(atPath: victim, withIntermediateDirectories: true)
    try record("../../victim", daysAgo: 90)
    try record("r1", daysAgo: 1)
    try RunStore(folder: state).prune(Retention(), now: Self.now)
    #expect(try RunStore(folder: state).runs().map(\.id) == ["r1"])
    #expect(FileManager.default.fileExists(atPath: victim))
  }

  @Test func theDatabaseBecomesSmaller() throws {
    try record("large", daysAgo: 50, jobs: 5000)
    try record("r1", daysAgo: 1)
    func size() throws -> Int {
      try FileManager.default.attributesOfItem(atPath: state + "/opdash.db")[.size] as? Int ?? 0
    }
    let before = try size()
    #expect(try kept(after: Retention()) == ["r1"])
    #expect(try size() < before / 4, "it was \(before) bytes")
  }

  @Test func theNewestRunsAreThoseRecordedLast() throws {
    // The clock was a year ahead for the first run.
    for (id, days) in [("ahead", -365.0), ("r2", 2), ("r1", 1)] { try record(id, daysAgo: days) }
    #expect(try kept(after: Retention(runs: 2)) == ["r1", "r2"])
  }

  @Test func aFolderThatStaysKeepsNoOtherRun() async {
    await #expect(processExitsWith: .success) {
      // Root could remove it.
      if geteuid() == 0 { #expect(setuid(12_345) == 0) }
      let tests = try PruningTests()
      for days in [50, 49, 1] { try tests.record("r\(days)", daysAgo: Double(days)) }
      let stuck = "\(tests.state)/runs/r49/logs"
      chmod(stuck, 0o500)
      defer { chmod(stuck, 0o700) }
      let store = try RunStore(folder: tests.state)
      let error = #expect(throws: RunStoreError.self) { try store.prune(now: PruningTests.now) }
      #expect(error?.description.contains("r49: can't be removed") == true)
      #expect(try store.runs().map(\.id) == ["r1"])
      #expect(tests.folder.names(in: "state/runs") == ["r1", "r49"])
    }
  }
}
