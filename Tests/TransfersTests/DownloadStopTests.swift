import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// Cancelling and pausing downloads, in every phase and at every moment.
@Suite struct DownloadStopTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func download(_ url: URL, to name: String = "file", sha256: String? = nil, resume: Bool = true) -> Observed<
    URL
  > {
    Observed(DownloadOperation(from: url, to: folder.file(name), sha256: sha256, resume: resume))
  }

  /// A download that has all its bytes and computes their digest, which is wrong, until it is stopped.
  ///
  /// The part grows before the last byte: its digest takes longer than a test.
  private func verifyingDownload(resume: Bool, tag: String = "\"1\"") throws -> (Observed<URL>, RawServer) {
    let hasGrown = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: 10\r\n\r\n012345678"),
        .run { _ = hasGrown.wait(timeout: .now() + Patience.seconds) }, .send("9"), .next,
      ]
    }
    let download = download(server.url("/f"), sha256: String(repeating: "0", count: 64), resume: resume)
    download.start(until: 9)
    setSizeOfPart(1 << 42)
    hasGrown.signal()
    // The digest has opened the part too.
    #expect(eventually { openFiles == 2 })
    return (download, server)
  }

  private func setSizeOfPart(_ size: off_t) { #expect(truncate(folder.file("file.part").path(), size) == 0) }

  /// How many files of the test's folder the process has open.
  private var openFiles: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let targets = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    return targets.filter { $0.contains(folder.url.lastPathComponent) }.count
  }

  @Test func aDownloadCancelledBeforeItsStartSendsNothing() async throws {
    let server = try RawServer(RawServer.file([1]))
    defer { server.stop() }
    let queue = OperationQueue()
    queue.isSuspended = true
    let download = download(server.url("/f"))
    queue.addOperation(download.operation)
    download.operation.cancel()
    queue.isSuspended = false
    #expect(eventually { download.operation.isFinished })
    #expect(server.requests.isEmpty)
    #expect(folder.names().isEmpty)
  }

  @Test func aDownloadCanBeCancelledWhileItConnects() async throws {
    // The backlog is full and no connection is accepted, so the kernel answers no further SYN.
    let (listener, port) = try Loopback.listen(backlog: 0)
    let taken = try Loopback.connect(to: port)
    defer {
      close(taken)
      close(listener)
    }
    let download = download(try #require(URL(string: "http://127.0.0.1:\(port)/f")))
    download.operation.start()
    #expect(eventually { folder.names() == ["file.part"] })
    await download.cancel()
    #expect(download.isCancelled)
    #expect(folder.names().isEmpty)
    #expect(openFiles == 0)
  }

  @Test func aDownloadCanBeCancelledWhileItWaitsForTheHeader() async throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nConten"), .hold] }
    defer { server.stop() }
    let download = download(server.url("/f"))
    download.operation.start()
    #expect(eventually { server.requests.count == 1 })
    await download.cancel()
    #expect(download.isCancelled)
    #expect(folder.names().isEmpty)
    #expect(eventually { server.openConnections == 0 })
  }

  @Test(arguments: [true, false])
  func cancelledInTheBodyItKeepsThePartIfItMayResume(resume: Bool) async throws {
    let server = try RawServer(RawServer.stalled)
    defer { server.stop() }
    let download = download(server.url("/f"), resume: resume)
    download.start(until: 5)
    // A part that must not be resumed has no info either, which would outlive a crash.
    #expect(folder.names() == (resume ? ["file.part", "file.part.meta"] : ["file.part"]))
    await download.cancel()
    #expect(download.isCancelled)
    #expect(folder.names() == (resume ? ["file.part", "file.part.meta"] : []))
    #expect(openFiles == 0)
    #expect(eventually { server.openConnections == 0 })
  }

  @Test func aDownloadCanBeCancelledWhilePaused() async throws {
    let server = try RawServer(RawServer.stalled)
    defer { server.stop() }
    let download = download(server.url("/f"))
    download.start(until: 5)
    download.operation.pause()
    #expect(eventually { server.openConnections == 0 })
    #expect(download.result == nil)
    await download.cancel()
    #expect(download.isCancelled)
    #expect(folder.names() == ["file.part", "file.part.meta"])
    download.operation.resume()
    download.operation.pause()
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [true, false])
  func cancelledWhileItsDigestIsComputedItKeepsThePartIfItMayResume(resume: Bool) async throws {
    let (download, server) = try verifyingDownload(resume: resume)
    defer { server.stop() }
    await download.cancel()
    #expect(download.isCancelled)
    #expect(folder.names() == (resume ? ["file.part", "file.part.meta"] : []))
    #expect(eventually { openFiles == 0 })
  }

  @Test func cancelledWithAPartThatCannotBeResumedItKeepsNone() async throws {
    let (download, server) = try verifyingDownload(resume: true, tag: "W/\"1\"")
    defer { server.stop() }
    await download.cancel()
    #expect(download.isCancelled)
    #expect(folder.names().isEmpty)
  }

  @Test(arguments: [true, false])
  func pausedWhileItsDigestIsComputedItRepeatsOnlyTheDigest(resume: Bool) async throws {
    let (download, server) = try verifyingDownload(resume: resume)
    defer { server.stop() }
    download.operation.pause()
    #expect(eventually { openFiles == 0 })
    setSizeOfPart(10)
    download.operation.resume()
    await download.ended()
    #expect(download.error?.code == .checksum)
    // That of the ten bytes, which are there still.
    #expect(download.error?.message.contains("84d89877f0d4") == true)
    #expect(download.notes.filter { $0.hasPrefix("GET") }.count == 1)
  }

  @Test func pausedBeforeItsStartItSendsNothingBeforeResume() async throws {
    let server = try RawServer(RawServer.file([1, 2, 3]))
    defer { server.stop() }
    let download = download(server.url("/f"))
    download.operation.pause()
    download.operation.start()
    // The thread runs bodies in order, so the start has taken effect after this one.
    await withCheckedContinuation { continuation in TransferThread.shared.async { continuation.resume() } }
    #expect(folder.names().isEmpty)
    download.operation.resume()
    await download.ended()
    #expect(try Data(contentsOf: folder.file("file")) == Data([1, 2, 3]))
  }

  @Test func theLastCallBeforeTheStartDecidesWhetherItIsPaused() async throws {
    let server = try RawServer(RawServer.file([1, 2, 3]))
    defer { server.stop() }
    for calls in 1...6 {
      let download = download(server.url("/f"), to: "\(calls)")
      for call in 1...calls { if call % 2 == 1 { download.operation.pause() } else { download.operation.resume() } }
      download.operation.start()
      await withCheckedContinuation { continuation in TransferThread.shared.async { continuation.resume() } }
      if calls % 2 == 1 {
        #expect(folder.names() == (1..<calls).map { "\($0)" })
        #expect(server.requests.count == calls - 1)
        download.operation.resume()
      }
      await download.ended()
      #expect(try Data(contentsOf: folder.file("\(calls)")) == Data([1, 2, 3]))
    }
  }

  @Test func aDownloadThatMayNotResumeRestartsAfterAPause() async throws {
    let content = randomBytes(1000)
    let server = try RawServer { request in
      guard request.number > 0 else {
        return [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\n12345"), .hold]
      }
      return RawServer.file(content)(request)
    }
    defer { server.stop() }
    let download = download(server.url("/f"), resume: false)
    download.start(until: 5)
    download.operation.pause()
    download.operation.resume()
    await download.ended()
    #expect(try Data(contentsOf: folder.file("file")) == Data(content))
    #expect(server.requests.map(\.rangeStart) == [nil, nil])
  }

  @Test func afterManyPausesTheFileIsByteIdentical() async throws {
    let nginx = try Nginx()
    // 16 KiB a second: it can't end before the first pause, however late that is.
    let data = try nginx.add("f", size: 40_000_000)
    let download = download(nginx.url("/slow/f"))
    download.operation.start()
    #expect(eventually { download.done > 0 })
    var random = SystemRandomNumberGenerator()
    for _ in 0..<40 where download.result == nil {
      let reached = download.progress.count
      let steps = Int.random(in: 0...1, using: &random)
      _ = stays { download.result == nil && download.progress.count <= reached + steps }
      download.operation.pause()
      download.operation.resume()
    }
    try nginx.recover()
    download.operation.pause()
    download.operation.resume()
    await download.ended()
    #expect(try download.result?.get() != nil)
    #expect(try Data(contentsOf: folder.file("file")) == data)
    #expect(folder.names() == ["file"])
    #expect(download.notes.contains { $0.contains("206, from byte") })
    #expect(openFiles == 0)
  }

  @Test func cancelledAtAnyMomentItHasTheWholeFileOrACancellationError() async throws {
    let content = randomBytes(100_000)
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    var random = SystemRandomNumberGenerator()
    var cancelled = 0
    for round in 0..<2000 {
      let download = download(server.url("/f"), to: "\(round % 8)", resume: round % 3 != 0)
      download.operation.start()
      let spins = Int.random(in: 0...60, using: &random)
      for _ in 0..<spins { sched_yield() }
      if round % 5 == 0 { download.operation.pause() }
      await download.cancel()
      switch download.result {
      case .success(let file):
        #expect(try Data(contentsOf: file) == Data(content))
        try FileManager.default.removeItem(at: file)
      case .failure(is CancellationError): cancelled += 1
      case let other: Issue.record("round \(round): \(String(describing: other))")
      }
    }
    #expect(cancelled > 0)
    #expect(openFiles == 0)
    #expect(!folder.names().contains { !$0.contains(".part") })
  }

  @Test func callsFromManyThreadsLeaveNoTransferUnfinished() async throws {
    let content = randomBytes(50_000)
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    let downloads = (0..<100).map { download(server.url("/f"), to: "\($0)") }
    await withTaskGroup(of: Void.self) { group in
      for (number, download) in downloads.enumerated() {
        group.addTask {
          download.operation.start()
          for _ in 0..<5 {
            download.operation.pause()
            download.operation.resume()
          }
          if number % 2 == 0 { download.operation.cancel() }
        }
      }
    }
    for (number, download) in downloads.enumerated() {
      await download.ended()
      if case .success = download.result {
        #expect(try Data(contentsOf: folder.file("\(number)")) == Data(content))
      } else {
        #expect(download.isCancelled && number % 2 == 0, "\(String(describing: download.result))")
      }
    }
    #expect(openFiles == 0)
  }
}
