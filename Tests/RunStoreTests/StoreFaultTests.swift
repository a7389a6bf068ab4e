import Basics
import CSQLite
import Foundation
import JobModel
import RunStore
import Support
import Testing

/// Faults of the real thing: the run goes on, and the recorder says once what was wrong, where, and what to do.
struct StoreFaultTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }
  private var path: String { state + "/opdash.db" }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.file("state").path(), withIntermediateDirectories: true)
  }

  /// The reports of a recorder.
  private final class Reports: Sendable {
    let errors = Lock<[RunStoreError]>([])
    var all: [RunStoreError] { errors.withLock { $0 } }
  }

  /// Records a run of `jobs` jobs, with output that can hardly be compressed, to its end; returns what the recorder reports.
  private func record(
    _ jobs: Int = 3, noise: Bool = false, patience: Duration = .patience, meanwhile: () throws -> Void = {}
  ) throws -> [RunStoreError] {
    let feed = FakeFeed()
    let reports = Reports()
    var limits = RunRecorder.Limits()
    limits.patience = patience
    limits.interval = .milliseconds(10)
    let origin = RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going")
    let recorder = RunRecorder(folder: state, origin: origin, limits: limits)
    recorder.whenLost { error in reports.errors.withLock { $0.append(error) } }
    recorder.start(feed)
    feed.begin(jobs, run: UUID().uuidString)
    for job in 0..<jobs {
      if noise { feed.post(.jobLog(JobID(job), attempt: 1, LogLine(.stdout, Self.noise))) }
      feed.post(.jobState(JobID(job), .succeeded(upToDate: false), attempt: 1, pid: nil))
    }
    try meanwhile()
    feed.post(.runFinished(RunSummary(of: feed.run)))
    let isRecorded = recorder.finish(within: .patience)
    // A report comes before the recorder is done.
    #expect(isRecorded == reports.all.isEmpty)
    #expect(isRecorded || eventually { feed.readers == 0 })
    return reports.all
  }

  private static var noise: String {
    String(decoding: (0..<4000).map { _ in UInt8.random(in: 35...90) }, as: UTF8.self)
  }

  private func message(_ reason: RunStoreError.Reason) -> [RunStoreError] { [RunStoreError(reason, path)] }

  /// A connection of another program.
  private func withConnection(_ body: (OpaquePointer) throws -> Void) throws {
    var database: OpaquePointer?
    try #require(sqlite3_open(path, &database) == SQLITE_OK)
    defer { sqlite3_close(database) }
    try body(try #require(database))
  }

  private func execute(_ sql: String, _ database: OpaquePointer) {
    #expect(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
  }

  /// Calls `body` while a file system of its own is at the state folder.
  private func withMount(_ options: String, _ body: () throws -> Void) throws {
    let mount = try ChildProcess.run(["mount", "-t", "tmpfs", "-o", options, "none", state])
    try #require(mount.ending == .exited(0))
    defer { _ = try? ChildProcess.run(["umount", state]) }
    try body()
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func aFullDiskIsReportedOnce() throws {
    try withMount("size=512k") { () throws in
      let reports = try record(300, noise: true)
      #expect(reports == message(.diskFull))
      // No room for a database at all.
      for name in folder.names(in: "state") { try FileManager.default.removeItem(atPath: state + "/" + name) }
      let filler = open(state + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      let bytes = [UInt8](repeating: 1, count: 4096)
      while write(filler, bytes, bytes.count) > 0 {}
      close(filler)
      let later = try record()
      #expect(later == message(.diskFull))
    }
    #expect(
      RunStoreError(.diskFull, "/s/opdash.db").description.hasPrefix("no space is left on the disk of /s/opdash.db: "))
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func whatWasCommittedBeforeTheDiskWasFullIsSound() throws {
    try withMount("size=768k") { () throws in
      #expect(try record(20) == [])
      let reports = try record(400, noise: true)
      #expect(reports == message(.diskFull))
      let store = try RunStore(folder: state)
      #expect(try store.check() == [])
      let last = try #require(store.runs().last)
      #expect(try RecordedRun(last, in: store).ended.count == 20)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a file system"))
  func aReadOnlyStateFolderIsReportedAndItsRunsCanBeRead() throws {
    try withMount("size=4m") { () throws in
      #expect(try record() == [])
      // A process that another test starts has a copy of every descriptor for a moment.
      try #require(try eventually { try ChildProcess.run(["mount", "-o", "remount,ro", state]).ending == .exited(0) })
      let reports = try record()
      #expect(reports == message(.notWritable("Read-only file system")))
      #expect(try RunStore(folder: state).runs().map(\.jobs) == [3])
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a file system"))
  func aStateFolderInWhichNothingCanBeMadeIsReported() throws {
    try withMount("size=4m,ro") { () throws in
      let reports = try record()
      #expect(reports == message(.notWritable("Read-only file system")))
      #expect(try RunStore(folder: state).runs() == [])
    }
  }

  @Test func aFileInThePlaceOfTheStateFolderIsReported() throws {
    try FileManager.default.removeItem(atPath: state)
    try Data().write(to: folder.file("state"))
    let reports = try record()
    #expect(reports == message(.notWritable("Not a directory")))
  }

  @Test(arguments: [false, true]) func aStoreThatAnotherProgramLocksIsReported(isNew: Bool) throws {
    if !isNew { #expect(try record() == []) }
    try withConnection { other throws in
      execute("BEGIN EXCLUSIVE", other)
      #expect(try record(patience: .milliseconds(200)) == message(.locked))
      execute("ROLLBACK", other)
    }
    #expect(try record() == [])
    #expect(try RunStore(folder: state).runs().count == (isNew ? 1 : 2))
  }

  @Test func aLockThatIsHeldForAMomentIsWaitedFor() throws {
    #expect(try record(1) == [])
    try withConnection { other throws in
      execute("BEGIN EXCLUSIVE; DELETE FROM runs", other)
      #expect(try record(2) { execute("COMMIT", other) } == [])
    }
    #expect(try RunStore(folder: state).runs().map(\.jobs) == [2])
  }

  @Test func aFileOfRandomBytesIsReportedAndLeftAlone() throws {
    let bytes = Data((0..<50_000).map { _ in UInt8.random(in: 0...255) })
    try bytes.write(to: URL(fileURLWithPath: path))
    let reports = try record()
    #expect(reports == message(.damaged("file is not a database")))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    #expect(throws: RunStoreError(.damaged("file is not a database"), path)) { try RunStore(folder: state) }
  }

  @Test func damageInTheMiddleIsFoundByTheCheckAndByARecorder() throws {
    #expect(try record(50, noise: true) == [])
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    // All pages but the first, which tells SQLite that there are any.
    try file.seek(toOffset: 4096)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    try file.write(contentsOf: Data((4096..<size).map { _ in UInt8.random(in: 0...255) }))
    try file.close()
    let reasons = try record().map(\.reason)
    guard case .damaged = reasons.first, reasons.count == 1 else {
      Issue.record("reported \(reasons)")
      return
    }
    let store = try RunStore(folder: state)
    let found = try? store.check()
    #expect(found != [])
    #expect(throws: RunStoreError.self) { try store.runs() }
  }

  @Test func aStoreOfALaterVersionIsLeftAlone() throws {
    #expect(try record() == [])
    try withConnection { execute("PRAGMA user_version = 99; PRAGMA wal_checkpoint", $0) }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let reports = try record()
    #expect(reports == message(.later(version: 99)))
    #expect(throws: RunStoreError(.later(version: 99), path)) { try RunStore(folder: state) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  /// As a power failure leaves it, or a copy that was interrupted.
  @Test func aTruncatedLogLosesItsLastCommitsOnly() throws {
    let probe = try RunStore.probe(state, run: "killed", jobs: 2000, pause: 50_000)
    let log = path + "-wal"
    #expect(eventually { ((try? FileManager.default.attributesOfItem(atPath: log))?[.size] as? Int ?? 0) > 300_000 })
    probe.stop()
    let size = try #require(FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
    #expect(truncate(log, off_t(size * 2 / 3)) == 0)
    let store = try RunStore(folder: state)
    #expect(try store.check() == [])
    #expect(try RecordedRun(try store.run(named: "killed"), in: store).isConsistent)
    #expect(try record() == [])
    #expect(try store.check() == [])
  }

  /// The disk is one that another program keeps locked: the recorder's call does not return.
  @Test func moreThanTheLimitDoesNotWaitForTheDisk() throws {
    #expect(try record() == [])
    try withConnection { other throws in
      execute("BEGIN EXCLUSIVE", other)
      let feed = FakeFeed()
      let reports = Reports()
      var limits = RunRecorder.Limits()
      limits.waiting = 100_000
      limits.patience = .seconds(600)
      let origin = RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going")
      let recorder = RunRecorder(folder: state, origin: origin, limits: limits)
      recorder.whenLost { error in reports.errors.withLock { $0.append(error) } }
      recorder.start(feed)
      feed.begin(5000)
      #expect(eventually { !reports.all.isEmpty })
      #expect(!recorder.flush(within: .zero))
      #expect(!recorder.finish(within: .zero))
      #expect(reports.all.count == 1)
      #expect(reports.all.first.map { "\($0)".contains("of events wait for it") } == true)
      execute("ROLLBACK", other)
      // All that is still taken of the run is its end.
      feed.post(.runFinished(RunSummary(of: feed.run)))
      #expect(eventually { feed.readers == 0 })
    }
  }

  @Test func aStoreThatIsLockedAllTheTimeIsReportedAtTheStart() throws {
    #expect(try record() == [])
    try withConnection { other throws in
      execute("BEGIN IMMEDIATE", other)
      let (recorder, feed, reports) = lockedOut { $0.startPatience = .milliseconds(1) }
      #expect(eventually { !reports.all.isEmpty })
      #expect(reports.all == message(.locked) && recorder.loss?.reason == .locked)
      // Nothing of it is there to be closed.
      feed.post(.runFinished(RunSummary(of: feed.run)))
      #expect(!recorder.finish(within: .patience))
      #expect(eventually { feed.readers == 0 })
      execute("ROLLBACK", other)
    }
    #expect(try RunStore(folder: state).runs().count == 1)
  }

  @Test func theEndOfARunDoesNotWaitForALockAsARunDoes() throws {
    #expect(try record() == [])
    try withConnection { other throws in
      execute("BEGIN IMMEDIATE", other)
      let (recorder, feed, reports) = lockedOut {
        ($0.startPatience, $0.endPatience) = (.seconds(86_400), .milliseconds(1))
      }
      feed.post(.runFinished(RunSummary(of: feed.run)))
      #expect(!recorder.finish(within: .patience))
      #expect(reports.all == message(.locked))
      execute("ROLLBACK", other)
    }
  }

  /// A recorder of a run of two jobs that waits for a lock.
  private func lockedOut(
    _ change: (inout RunRecorder.Limits) -> Void
  ) -> (RunRecorder, FakeFeed, Reports) {
    let (feed, reports) = (FakeFeed(), Reports())
    var limits = RunRecorder.Limits()
    limits.patience = .seconds(86_400)
    change(&limits)
    let origin = RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going")
    let recorder = RunRecorder(folder: state, origin: origin, limits: limits)
    recorder.whenLost { error in reports.errors.withLock { $0.append(error) } }
    recorder.start(feed)
    feed.begin(2)
    return (recorder, feed, reports)
  }

  @Test func aRunWhoseRecordingIsLostDoesNotLookKilled() throws {
    let feed = FakeFeed()
    let reports = Reports()
    var limits = RunRecorder.Limits()
    limits.patience = .milliseconds(20)
    let origin = RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going")
    let recorder = RunRecorder(folder: state, origin: origin, limits: limits)
    recorder.whenLost { error in reports.errors.withLock { $0.append(error) } }
    let isRecorded = Lock(false)
    recorder.whenRecorded { isRecorded.withLock { $0 = true } }
    recorder.start(feed)
    feed.begin(2)
    // No reader, whose lock the recorder might not wait for long enough.
    #expect(eventually { isRecorded.withLock(\.self) })
    try withConnection { other throws in
      execute("BEGIN IMMEDIATE", other)
      feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
      #expect(eventually { !reports.all.isEmpty })
      execute("ROLLBACK", other)
    }
    feed.post(.jobState(JobID(1), .succeeded(upToDate: false), attempt: 1, pid: nil), at: .seconds(3))
    feed.post(.runFinished(RunSummary(of: feed.run)), at: .seconds(4))
    #expect(!recorder.finish(within: .patience))
    #expect(reports.all == message(.locked))
    #expect(eventually { feed.readers == 0 })
    let store = try RunStore(folder: state)
    let run = try store.run(named: "last")
    #expect(run.endedAt == Date(timeIntervalSince1970: 4))
    #expect(run.summary == RunSummary(of: feed.run))
    // Its jobs count as not done: their ends are not known.
    #expect(try store.ended(in: run) == [])
  }
}
