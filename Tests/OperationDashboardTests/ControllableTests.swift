import Dispatch
import Foundation
import JobModel
import Operations
import Processes
import Support
import Testing
import Transfers

@testable import OperationDashboard

/// The operations of this package in a program's queue: the dashboard offers to pause them, and tells how they ended.
struct ControllableTests {
  private static let nowhere = URL(fileURLWithPath: "/dev/null/nowhere")

  private func shell(_ name: String, _ script: String) -> ShellOperation {
    let operation = ShellOperation(ProcessLaunch(script: script, grace: .seconds(3600)))
    operation.name = name
    return operation
  }

  @Test func transfersAndShellOperationsOfferAPause() throws {
    let server = try #require(URL(string: "http://127.0.0.1:1/"))
    let operations: [AsyncOperation] = [
      UploadOperation(Self.nowhere, to: server), UploadOperation(to: server),
      DownloadOperation(from: server, to: Self.nowhere), shell("shell", "true"),
    ]
    for (number, operation) in operations.enumerated() { operation.name = "\(number)" }
    let watch = Watch { $0.isSuspended = true }
    try watch.feed.add(operations)
    watch.feed.start()
    #expect(watch.eventually { $0.jobs.count == operations.count })
    for record in watch.run.jobs { #expect(record.job.work.refusal(of: .pause) == nil, "\(record.job.work)") }
    for operation in operations { operation.cancel() }
    watch.queue.isSuspended = false
    #expect(watch.completes())
  }

  /// Those that were added to the queue by the program's own call as well.
  @Test(arguments: [true, false])
  func aShellOperationIsPausedAndGoesOn(isAddedHere: Bool) throws {
    let shell = shell("shell", "while :; do sleep 0.01; done")
    let watch = Watch { if !isAddedHere { $0.addOperation(shell) } }
    if isAddedHere { try watch.feed.add([shell]) }
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("shell") == .executing && shell.processIdentifier != nil })
    let pid = try #require(shell.processIdentifier)
    watch.feed.send(.pause([JobID(0)]))
    #expect(watch.eventually { _ in watch.state("shell") == .paused(started: true) })
    #expect(eventually { Self.isStopped(pid) })
    watch.feed.send(.resume([JobID(0)]))
    #expect(eventually { !Self.isStopped(pid) })
    watch.feed.send(.kill([JobID(0)]))
    #expect(watch.completes())
    #expect(watch.state("shell") == .cancelled(by: .person))
  }

  @Test func anUploadIsPausedAndGoesOn() throws {
    let (size, begin) = (64 << 20, 1 << 16)
    let reply = RawServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let readsOn = DispatchSemaphore(value: 0)
    let server = try RawServer { request in
      if request.path == "/other" { return [.readBody(), reply] }
      return [.readBody(begin), .run { readsOn.wait() }, .readBody(size - begin), reply]
    }
    let folder = try TemporaryFolder()
    let (file, small) = (folder.file("body"), folder.file("small"))
    try Data(count: size).write(to: file)
    try Data(count: 10).write(to: small)
    let upload = UploadOperation(file, to: server.url("/body"))
    upload.name = "upload"
    let watch = Watch()
    try watch.feed.add([upload])
    watch.feed.start()
    #expect(eventually { upload.progress.completed > 0 })
    watch.feed.send(.pause([JobID(0)]))
    #expect(watch.eventually { _ in watch.state("upload") == .paused(started: true) })
    // The server takes all that comes now, and the one thread of all transfers has begun and ended another one.
    readsOn.signal()
    let other = UploadOperation(small, to: server.url("/other"))
    OperationQueue().addOperation(other)
    #expect(eventually { other.isFinished })
    #expect(!upload.isFinished && upload.progress.completed < size)
    watch.feed.send(.resume([JobID(0)]))
    #expect(watch.completes())
    #expect(watch.state("upload") == .succeeded(upToDate: false))
  }

  @Test func aShellOperationThatExitsWithAnotherStatusThanZeroHasFailed() throws {
    let watch = Watch()
    try watch.feed.add([shell("three", "exit 3"), shell("killed", "kill -ABRT $$"), shell("fine", "exit 0")])
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.state("three") == .failed(JobFailure(.exit(3), "exit 3"), allowed: false))
    #expect(watch.state("killed") == .failed(JobFailure(.signal(SIGABRT), "SIGABRT (134)"), allowed: false))
    #expect(watch.state("fine") == .succeeded(upToDate: false))
  }

  @Test(arguments: ["echo up; exec sleep 3600", "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done"])
  func aShellOperationThatIsCancelledIsNoSuccess(script: String) throws {
    let shell = shell("shell", script)
    let watch = Watch()
    try watch.feed.add([shell])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.record("shell")?.log.isEmpty == false })
    watch.feed.send(.cancel([JobID(0)], by: .person))
    #expect(watch.completes())
    #expect(watch.state("shell") == .cancelled(by: .person))
  }

  @Test func aShellOperationThatTakesTooLongHasFailed() throws {
    let clock = ManualOperationClock()
    let shell = shell("shell", "exec sleep 3600")
    shell.setTimeout(.seconds(1), clock: clock)
    let watch = Watch()
    try watch.feed.add([shell])
    watch.feed.start()
    #expect(eventually { shell.processIdentifier != nil })
    clock.advance(by: .seconds(1))
    #expect(watch.completes())
    guard case .failed(let failure, allowed: false)? = watch.state("shell") else {
      Issue.record("not failed: \(String(describing: watch.state("shell")))")
      return
    }
    #expect(failure.cause == .timedOut)
    #expect(shell.exit == .signalled(SIGTERM))
  }

  /// Whether a process is stopped by a signal, or suspended in vfork (D) by a stopped child.
  private static func isStopped(_ pid: Int32) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
    return text.split(separator: ")").last.flatMap { $0.dropFirst().first }.map { "TD".contains($0) } ?? false
  }
}
