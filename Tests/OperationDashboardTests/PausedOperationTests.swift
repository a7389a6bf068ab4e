import Foundation
import JobModel
import Operations
import Processes
import Support
import Testing
import Transfers

@testable import OperationDashboard

/// The operations of the library that a person can pause in a program's own queue.
struct PausedOperationTests {
  private let file = URL(filePath: "/nonexistent/file")

  @Test func shellOperationsAndTransfersCanBePaused() throws {
    let watch = Watch { $0.isSuspended = true }
    let url = try #require(URL(string: "http://127.0.0.1:9/file"))
    try watch.feed.add([
      ShellOperation(ProcessLaunch(["/bin/true"])), UploadOperation(file, to: url),
      DownloadOperation(from: url, to: file),
    ])
    watch.feed.start()
    #expect(watch.eventually { $0.jobs.count == 3 })
    for record in watch.run.jobs { #expect(record.job.work.refusal(of: .pause) == nil) }
    watch.feed.send(.pause(watch.run.ids.map { $0 }))
    #expect(watch.eventually { $0.counts.paused == 3 })
    watch.feed.send(.stop(.terminate, by: .person))
    watch.feed.send(.setDraining(false))
    #expect(watch.completes())
  }

  private func isStopped(_ process: Int32?) -> Bool {
    guard let process, let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
      return false
    }
    return status.contains(") T ")
  }

  @Test func aPauseStopsTheProcessOfAShellOperation() throws {
    let watch = Watch()
    let shell = ShellOperation(ProcessLaunch(["/bin/sleep", "1000"]))
    // In a group, which can't be paused itself.
    let group = GroupOperation([shell])
    try watch.feed.add([group])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 2 && shell.processIdentifier != nil })
    let id = watch.id("sleep 1000")
    watch.feed.send(.pause([id, watch.id("GroupOperation")]))
    #expect(watch.eventually { $0.counts.paused == 1 })
    #expect(eventually { isStopped(shell.processIdentifier) })
    watch.feed.send(.resume([id]))
    #expect(watch.eventually { $0.counts.executing == 2 })
    #expect(eventually { !isStopped(shell.processIdentifier) })
    watch.feed.send(.cancel([id], by: .person))
    #expect(watch.completes())
  }

  @Test func aProgramThatExitsWithAnErrorHasFailed() throws {
    let watch = Watch()
    let shell = ShellOperation(ProcessLaunch(["/bin/sh", "-c", "exit 3"]))
    try watch.feed.add([shell])
    watch.feed.start()
    #expect(watch.completes())
    guard case .failed(let failure, allowed: false)? = watch.state("exit 3") else {
      Issue.record("not failed: \(String(describing: watch.state("exit 3")))")
      return
    }
    #expect(failure.cause == .exit(3))
  }
}
