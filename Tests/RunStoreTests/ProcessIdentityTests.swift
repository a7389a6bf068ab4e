import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

struct ProcessIdentityTests {
  @Test func aProcessIsAliveUntilItEnds() throws {
    let child = try ChildProcess(["sleep", "3600"])
    let identity = try #require(ProcessIdentity.of(child.pid))
    #expect(identity.startTime > 0 && !identity.boot.isEmpty)
    #expect(identity.isAlive)
    kill(child.pid, SIGKILL)
    // Also before its parent has waited for it.
    #expect(eventually { !identity.isAlive })
    _ = child.ending(waiting: true)
    #expect(ProcessIdentity.of(child.pid) == nil)
  }

  @Test func aLaterProcessWithTheSameNumberIsAnother() {
    var other = ProcessIdentity.current
    #expect(other.isAlive)
    other.startTime += 1
    #expect(!other.isAlive)
    other = .current
    other.boot = "another"
    #expect(!other.isAlive)
    other = .current
    other.startTime = 0
    #expect(!other.isAlive)
  }

  @Test func theStoreKnowsTheProcessesOfTheExecutingJobs() throws {
    let folder = try TemporaryFolder()
    let state = folder.file("state").path()
    let child = try ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    let feed = FakeFeed()
    let recorder = RunRecorder(
      folder: state, origin: RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going"))
    recorder.start(feed)
    feed.begin(3)
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: child.pid))
    // A number that is not that of a child may be a stranger's by now.
    feed.post(.jobState(JobID(1), .executing, attempt: 1, pid: 1))
    func found() throws -> [AttemptProcess] {
      let store = try RunStore(folder: state)
      return try store.runs().flatMap { try store.processes(of: $0) }
    }
    let process = try #require(ProcessIdentity.of(child.pid))
    #expect(
      try eventually { try found() == [AttemptProcess(job: JobID(0), name: "job0", attempt: 1, process: process)] })
    feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
    #expect(try eventually { try found().isEmpty })
    feed.post(.runFinished(RunSummary(of: feed.run)))
    #expect(recorder.finish(within: .patience))
  }
}
