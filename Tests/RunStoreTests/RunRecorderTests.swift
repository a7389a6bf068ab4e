import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

struct RunRecorderTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }

  init() throws { folder = try TemporaryFolder() }

  private static let origin = RunOrigin(
    command: "run", words: ["--set", "a=b"], file: "/w/opdash.yml", directory: "/w", slots: 2, onFailure: "keep-going")

  private func recorder(
    fingerprint: @escaping @Sendable (JobID) -> String? = { _ in nil }
  ) -> RunRecorder {
    RunRecorder(folder: state, origin: Self.origin, fingerprint: fingerprint, cookie: "c1")
  }

  /// Ends the run of the feed.
  private func end(_ feed: FakeFeed) { feed.post(.runFinished(RunSummary(of: feed.run))) }

  @Test func theLogOfSuccessesIsThereUntilTheRunIsOnDisk() throws {
    let runFolder = folder.file("run")
    try FileManager.default.createDirectory(at: runFolder, withIntermediateDirectories: false)
    let successes = SuccessLog(folder: runFolder.path) { _ in nil }
    let feed = FakeFeed()
    let recorder = RunRecorder(folder: state, origin: Self.origin, successes: successes)
    recorder.start(feed)
    feed.begin(1)
    let success = AttemptSuccess(job: JobID(0), attempt: 1, took: .seconds(1), inputsHash: nil)
    successes.append(success)
    #expect(recorder.flush(within: .patience))
    let file = runFolder.appending(path: "succeeded").path
    #expect(FileManager.default.fileExists(atPath: file))
    end(feed)
    #expect(recorder.finish(within: .patience))
    #expect(!FileManager.default.fileExists(atPath: runFolder.path))
    // Nothing comes of a late one.
    successes.append(success)
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func aFinishedRunIsReadBack() throws {
    let feed = FakeFeed()
    let recorder = self.recorder { ["00ff", "x"][$0.index] }
    recorder.start(feed)
    feed.begin(2)
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil), at: .seconds(1))
    feed.post(.inputsHashed(JobID(0), "i0"))
    feed.post(.jobState(JobID(0), .paused(started: true), attempt: 1, pid: nil), at: .seconds(2))
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil), at: .seconds(4))
    feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil), at: .seconds(5))
    feed.post(.jobState(JobID(1), .skipped(because: .job(JobID(0))), attempt: 0, pid: nil), at: .seconds(5))
    // The dashboard stays open for a second.
    feed.post(.slotsChanged(2), at: .seconds(6))
    end(feed)
    #expect(recorder.finish(within: .patience))

    let store = try RunStore(folder: state)
    let run = try #require(store.runs().first)
    #expect(
      run
        == RunEntry(
          id: "1", name: "test", origin: Self.origin, startedAt: Date(timeIntervalSince1970: 0),
          endedAt: Date(timeIntervalSince1970: 6), summary: RunSummary(of: feed.run), length: .seconds(5), jobs: 2,
          process: .current,
          cookie: "c1"))
    #expect(!store.isGoingOn(run))
    let first = EndedJob(
      run: "1", job: JobID(0), name: "job0", fingerprint: "00ff", attempts: 1, outcome: .ok, took: .seconds(2),
      at: Date(timeIntervalSince1970: 5), inputs: "i0")
    let second = EndedJob(
      run: "1", job: JobID(1), name: "job1", fingerprint: "x", attempts: 0, outcome: .skipped,
      at: Date(timeIntervalSince1970: 5))
    #expect(try store.ended(in: run) == [first, second])
    #expect(try store.lastAttempt("job0", ofFile: "/w/opdash.yml")?.end == first)
    #expect(try store.lastAttempt("job0", ofFile: nil) == nil)
    #expect(try store.check() == [])
    var read = Run()
    for event in try store.events(of: run) { read.apply(event) }
    #expect(read == feed.run)
  }

  @Test func aJobThatHadEndedBeforeItWasSeenExecutingIsKnownWithItsTime() throws {
    let feed = FakeFeed()
    let recorder = self.recorder()
    recorder.start(feed)
    let at = Date(timeIntervalSince1970: 0)
    feed.post(.runStarted(RunStart(id: "1", name: "cluster", slots: 2, at: at, jobs: 1)))
    feed.post(.jobAdded(JobID(0), Job(name: "job0", work: .shell(ShellWork(.script("a"), cluster: ClusterRequest())))))
    feed.post(.jobState(JobID(0), .ready(for: .cluster(reason: nil)), attempt: 0, pid: nil))
    feed.post(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "n", took: .seconds(1.5))), at: .seconds(3))
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil), at: .seconds(3))
    feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil), at: .seconds(3))
    end(feed)
    #expect(recorder.finish(within: .patience))
    let store = try RunStore(folder: state)
    #expect(try store.ended(in: #require(store.runs().first)).map(\.took) == [.seconds(1.5)])
  }

  @Test func jobsThatAreAddedLaterCountBeforeTheRunEnds() throws {
    let feed = FakeFeed()
    let recorder = self.recorder()
    recorder.start(feed)
    let at = Date(timeIntervalSince1970: 0)
    feed.post(.runStarted(RunStart(id: "1", name: "each", slots: 2, at: at, jobs: 0, isOpen: true)))
    for count in [1, 3] {
      while feed.run.jobs.count < count {
        feed.post(.jobAdded(JobID(feed.run.jobs.count), Job(name: "j", work: .simulate(SimulatedWork()))))
      }
      #expect(recorder.flush(within: .patience))
      #expect(try RunStore(folder: state).runs().map(\.jobs) == [count])
    }
    feed.post(.arrivalsEnded)
    end(feed)
    #expect(recorder.finish(within: .patience))
    #expect(try RunStore(folder: state).runs().map(\.jobs) == [3])
  }

  @Test func aStoreThatIsNotThereIsEmptyAndIsNotMade() throws {
    let store = try RunStore(folder: state)
    #expect(try store.runs() == [])
    #expect(folder.names() == [])
  }

  @Test func onlyItsOwnerMayReadTheStore() throws {
    let feed = FakeFeed()
    let recorder = self.recorder()
    recorder.start(feed)
    feed.begin(1)
    let path = state + "/opdash.db"
    let names = [path, path + "-wal", path + "-shm"]
    #expect(eventually { names.allSatisfy { FileManager.default.fileExists(atPath: $0) } })
    for name in names {
      #expect(try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions] as? Int == 0o600)
    }
    end(feed)
    #expect(recorder.finish(within: .patience))
    #expect(folder.names(in: "state") == ["opdash.db", "opdash.live"])
  }

  @Test func theEndOfAJobIsOnDiskBeforeTheRunEnds() throws {
    let feed = FakeFeed()
    let recorder = self.recorder()
    recorder.start(feed)
    feed.begin(1)
    feed.post(.jobState(JobID(0), .succeeded(upToDate: true), attempt: 1, pid: nil), at: .seconds(1))
    #expect(try eventually { try RunStore(folder: state).lastAttempt("job0", ofFile: "/w/opdash.yml") != nil })
    let store = try RunStore(folder: state)
    #expect(store.isGoingOn(try store.run(named: "last")))
    end(feed)
    #expect(recorder.finish(within: .patience))
  }

  @Test func anEndIsCommittedSoonAndFlushedWithinHalfASecond() throws {
    let clock = ManualOperationClock()
    let feed = FakeFeed()
    var limits = RunRecorder.Limits()
    // The time that a commit takes decides nothing here.
    limits.rest = 0
    let recorder = RunRecorder(folder: state, origin: Self.origin, limits: limits, clock: clock)
    recorder.start(feed)
    feed.begin(1)
    // Committed at once.
    #expect(eventually { clock.due.contains(.milliseconds(500)) })
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
    #expect(eventually { clock.due.contains(.milliseconds(100)) })
    feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
    #expect(eventually { clock.due.contains(.milliseconds(5)) })
    let store = try RunStore(folder: state)
    #expect(try store.lastAttempt("job0", ofFile: "/w/opdash.yml") == nil)
    clock.advance(by: .milliseconds(5))
    #expect(try eventually { try store.lastAttempt("job0", ofFile: "/w/opdash.yml") != nil })
    clock.advance(by: .milliseconds(495))
    #expect(clock.due == [])
    end(feed)
    #expect(recorder.finish(within: .patience))
    #expect(clock.due == [])
  }

  /// 100,000 jobs, scaled down: a row for each end and four events a job, besides the index of names.
  @Test func theEventsOfAJobTakeLessThan600Bytes() throws {
    let feed = FakeFeed()
    let recorder = self.recorder { String(repeating: String($0.index % 10), count: 64) }
    recorder.start(feed)
    feed.begin(20_000)
    for job in (0..<20_000).map({ JobID($0) }) {
      let at = Duration.milliseconds(job.index)
      feed.post(.jobState(job, .ready(for: .slot), attempt: 0, pid: nil), at: at)
      feed.post(.jobState(job, .executing, attempt: 1, pid: nil), at: at)
      feed.post(.jobState(job, .succeeded(upToDate: false), attempt: 1, pid: nil), at: at)
    }
    end(feed)
    #expect(recorder.finish(within: .patience))
    let size = try FileManager.default.attributesOfItem(atPath: state + "/opdash.db")[.size] as? Int
    #expect(try #require(size) < 20_000 * 600)
  }

  @Test func aRunIsRecordedWithItsCookieWhenTheRecorderSaysSo() throws {
    let feed = FakeFeed()
    let recorder = recorder()
    let cookie = Lock<String?>(nil)
    let state = state
    recorder.start(feed)
    recorder.whenRecorded {
      let found = (try? RunStore(folder: state).run(named: "last"))?.cookie
      cookie.withLock { $0 = found ?? "none" }
    }
    #expect(cookie.withLock { $0 } == nil)
    feed.begin(1)
    #expect(eventually { cookie.withLock { $0 } == "c1" })
    // Later, it is said at once.
    let isTold = Lock(false)
    recorder.whenRecorded { isTold.withLock { $0 = true } }
    #expect(isTold.withLock { $0 })
    end(feed)
    #expect(recorder.finish(within: .patience))
  }
}
