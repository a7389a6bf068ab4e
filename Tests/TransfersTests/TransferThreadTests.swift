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
      // However late each call is, the first timer's deadline is the last, and the others' are in this order.
      for number in [3_600_000, 0, 10, 20] {
        thread.after(.milliseconds(number)) { seen.withLock { $0.append(number) } }
      }
    }
    #expect(eventually { seen.withLock { $0.count } == 3 })
    #expect(seen.withLock { $0 } == [0, 10, 20])
  }

  @Test func theLongestTimeIsATimerToo() async {
    await #expect(processExitsWith: .success) {
      let thread = TransferThread()
      let isAwake = Lock(false)
      thread.async {
        thread.after(.seconds(Int64.max)) {}
        // Runs after the thread has found out how long to sleep.
        thread.async { isAwake.withLock { $0 = true } }
      }
      exit(eventually { isAwake.withLock(\.self) } ? 0 : 1)
    }
  }

  /// What a waiting transfer costs is measured in Tests/Benchmarks.
  @Test(arguments: ["header", "body", "paused upload"])
  func theThreadSleepsWhileItsTransferWaits(phase: String) async throws {
    let server = try RawServer { _ in
      switch phase {
      case "header": [.hold]
      case "body": [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), .hold]
      default: [.readBody(1), .hold]
      }
    }
    defer { server.stop() }
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
    // It may wake a few times more for what has happened already.
    #expect(
      eventually {
        let wakeUps = thread.wakeUps
        return stays { thread.wakeUps == wakeUps }
      })
    await waiting.cancel()
  }
}

private protocol Waiting { func cancel() async }
extension Observed: Waiting {}
