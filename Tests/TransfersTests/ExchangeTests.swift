import Foundation
import Operations
import Support
import Testing

@testable import Transfers

struct ExchangeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failing(_ body: String) throws -> RawServer {
    try RawServer { _ in [.send("HTTP/1.1 500 S\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"), .next] }
  }

  @Test(arguments: [(65_536, 1), (65_537, 2)])
  func aShortErrorBodyIsReadSoThatTheConnectionIsUsedAgain(size: Int, connections: Int) async throws {
    let server = try failing(String(repeating: "a", count: size))
    defer { server.stop() }
    let thread = TransferThread()
    for _ in 1...2 {
      let download = DownloadOperation(from: server.url("/f"), to: folder.file("file"), thread: thread)
      #expect(await Observed(download).run().error?.code == .http(500))
    }
    #expect(server.connections == connections)
  }

  private static let bodies: [(body: String, line: String?)] = [
    (" \n\t\nbusy\nmore", "busy"), (String(repeating: "\n", count: 8191) + "ab", "a"),
    (String(repeating: "\n", count: 8190) + "aäb", "a"), (String(repeating: "\n", count: 8192) + "ab", nil),
    ("\n<html>", nil), ("", nil), (String(repeating: "x", count: 200) + "y", String(repeating: "x", count: 200)),
  ]

  @Test(arguments: bodies)
  func theFirstLineOfTheSampleIsNoted(body: String, line: String?) async throws {
    let server = try failing(body)
    defer { server.stop() }
    let download = await Observed(DownloadOperation(from: server.url("/f"), to: folder.file("file"))).run()
    let notes = ["GET /f 500 (HTTP/1.1)"] + (line.map { ["the server says: \($0)"] } ?? [])
    #expect(download.notes == notes)
  }

  // MARK: Silence

  /// Advances by a quarter of a stall time, and waits until the thread has looked.
  private func look(_ clock: ManualOperationClock, _ thread: TransferThread) async {
    clock.advance(by: .seconds(1))
    for _ in 1...2 { await withCheckedContinuation { continuation in thread.async { continuation.resume() } } }
  }

  /// Advances until the transfer has ended.
  private func pass<Success>(
    _ clock: ManualOperationClock, _ thread: TransferThread, until transfer: Observed<Success>
  ) async {
    for _ in 0..<10_000 where transfer.result == nil { await look(clock, thread) }
    #expect(transfer.result != nil)
  }

  /// A download that has begun, with a stall time of four seconds by the clock.
  private func startStallingDownload(
    from server: RawServer
  ) -> (Observed<URL>, ManualOperationClock, TransferThread) {
    let clock = ManualOperationClock()
    let thread = TransferThread(clock: clock)
    let download = Observed(DownloadOperation(from: server.url("/f"), to: folder.file("file"), thread: thread))
    download.operation.stallTimeout = .seconds(4)
    download.operation.start()
    return (download, clock, thread)
  }

  private static let stalled = TransferError(.timedOut, "no byte has moved for 4 s")

  @Test(arguments: ["before the reply", "in the header", "in the body"])
  func aSilentServerFailsTheDownload(place: String) async throws {
    let server = try RawServer { _ in
      switch place {
      case "before the reply": [.hold]
      case "in the header": [.send("HTTP/1.1 200 OK\r\n"), .hold]
      default: [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n12345"), .hold]
      }
    }
    defer { server.stop() }
    let (download, clock, thread) = startStallingDownload(from: server)
    #expect(eventually { server.requests.count == 1 && (place != "in the body" || !download.notes.isEmpty) })
    await pass(clock, thread, until: download)
    #expect(download.error == Self.stalled)
    // The next attempt resumes it.
    #expect(FileManager.default.fileExists(atPath: folder.file("file.part").path()) == (place == "in the body"))
  }

  @Test func aServerThatAnswersNothingFailsTheUpload() async throws {
    let server = try RawServer { _ in [.readBody(1), .hold] }
    defer { server.stop() }
    let clock = ManualOperationClock()
    let thread = TransferThread(clock: clock)
    try Data("0123456789".utf8).write(to: folder.file("sent"))
    let upload = Observed(UploadOperation(folder.file("sent"), to: server.url("/f"), thread: thread))
    upload.operation.stallTimeout = .seconds(4)
    upload.operation.start()
    #expect(eventually { server.requests.count == 1 })
    await pass(clock, thread, until: upload)
    #expect(upload.error == Self.stalled)
  }

  @Test func aByteInEachStallTimeIsEnough() async throws {
    let turns = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      let wait = RawServer.Step.run { _ = turns.wait(timeout: .now() + Patience.seconds) }
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")] + (1...5).flatMap { _ in [wait, .send("x")] }
    }
    defer { server.stop() }
    let (download, clock, thread) = startStallingDownload(from: server)
    #expect(eventually { server.requests.count == 1 })
    for count in 1...5 {
      for _ in 1...3 { await look(clock, thread) }
      turns.signal()
      #expect(eventually { download.done >= count })
      await look(clock, thread)
    }
    await download.ended()
    #expect(download.error == nil)
  }

  @Test func aPauseAndATransferWithoutALimitMayBeSilent() async throws {
    let server = try RawServer { _ in [.readBody(1), .hold] }
    defer { server.stop() }
    let clock = ManualOperationClock()
    let thread = TransferThread(clock: clock)
    try Data(randomBytes(50_000_000)).write(to: folder.file("sent"))
    let paused = Observed(UploadOperation(folder.file("sent"), to: server.url("/f"), thread: thread))
    paused.operation.stallTimeout = .seconds(4)
    paused.operation.start()
    let unlimited = Observed(DownloadOperation(from: server.url("/g"), to: folder.file("file"), thread: thread))
    unlimited.operation.stallTimeout = .zero
    unlimited.operation.start()
    paused.operation.pause()
    #expect(eventually { server.requests.count == 2 })
    for _ in 1...20 { await look(clock, thread) }
    #expect(paused.result == nil && unlimited.result == nil)
    await paused.cancel()
    await unlimited.cancel()
  }

  @Test func anEndlessAnswerIsNoProgressOfAnUpload() async throws {
    let turns = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      let wait = RawServer.Step.run { _ = turns.wait(timeout: .now() + Patience.seconds) }
      return [.send("HTTP/1.1 200 OK\r\n\r\n")] + (1...10_000).flatMap { _ in [wait, .send("x")] }
    }
    defer {
      server.stop()
      for _ in 1...3 { turns.signal() }
    }
    let clock = ManualOperationClock()
    let thread = TransferThread(clock: clock)
    try Data(randomBytes(50_000_000)).write(to: folder.file("sent"))
    let upload = Observed(UploadOperation(folder.file("sent"), to: server.url("/f"), thread: thread))
    upload.operation.stallTimeout = .seconds(4)
    upload.operation.start()
    #expect(eventually { server.requests.count == 1 })
    for _ in 0..<10_000 where upload.result == nil {
      turns.signal()
      await look(clock, thread)
    }
    #expect(upload.error == Self.stalled)
  }

  @Test func fiveMinutesOfSilenceAreTheDefault() {
    let upload = UploadOperation(to: URL(filePath: "/"))
    #expect(upload.stallTimeout == .seconds(300))
  }
}
