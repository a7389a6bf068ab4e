import Foundation
import Operations
import Support
import Synchronization
import Testing

@testable import Transfers

@Suite struct TransferThreadTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func bodiesRunInTheOrderOfTheCalls() async {
    let thread = TransferThread()
    let seen = Lock<[Int]>([])
    for number in 0..<1000 { thread.async { seen.withLock { $0.append(number) } } }
    #expect(eventually { seen.withLock { $0.count } == 1000 })
    #expect(seen.withLock { $0 } == Array(0..<1000))
  }

  @Test func timersFireInTheOrderOfTheirDeadlines() async {
    let thread = TransferThread()
    let seen = Lock<[Int]>([])
    thread.async {
      for number in [300, 100, 200, 0] { thread.after(.milliseconds(number)) { seen.withLock { $0.append(number) } } }
    }
    #expect(eventually { seen.withLock { $0.count } == 4 })
    #expect(seen.withLock { $0 } == [0, 100, 200, 300])
  }

  /// The time is taken from another transfer: while one thread transfers for a second, the other must not wake.
  @Test(arguments: ["header", "body", "paused upload"])
  func aWaitingTransferCostsNothing(phase: String) async throws {
    let server = try RawServer { _ in
      switch phase {
      case "header": [.hold]
      case "body": [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), .hold]
      default: [.readBody(1), .hold]
      }
    }
    defer { server.stop() }
    let nginx = try Nginx()
    try nginx.add("clock", size: 1_000_000)
    let thread = TransferThread()
    let waiting: any Waiting
    if phase == "paused upload" {
      try Data(randomBytes(50_000_000)).write(to: folder.file("sent"))
      let upload = Observed(UploadOperation(folder.file("sent"), to: server.url("/f"), thread: thread))
      upload.operation.start()
      #expect(eventually { server.requests.count == 1 && upload.done > 0 })
      upload.operation.pause()
      waiting = upload
    } else {
      let download = Observed(DownloadOperation(from: server.url("/f"), to: folder.file("waiting"), thread: thread))
      download.operation.start()
      #expect(eventually { server.requests.count == 1 && (phase == "header" || download.done == 5) })
      waiting = download
    }
    let clock = { Observed(DownloadOperation(from: nginx.url("/rate/1m/clock"), to: folder.file("clock"))) }
    _ = await clock().run()
    let before = try await processorTime(of: thread)
    let wakeUps = thread.wakeUps
    _ = await clock().run()
    // The call that read its processor time may wake it once more, and libcurl's limit of the time to connect, which is
    // not taken back when it has connected, wakes it once.
    #expect(thread.wakeUps - wakeUps <= 2)
    #expect(try await processorTime(of: thread) - before < 0.01)
    await waiting.cancel()
  }

  private func processorTime(of thread: TransferThread) async throws -> Double {
    await withCheckedContinuation { continuation in
      thread.async {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        continuation.resume(returning: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
      }
    }
  }
}

private protocol Waiting { func cancel() async }
extension Observed: Waiting {}
