import CCurl
import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

struct TransferJobTests {
  /// Runs one job to its end and returns the run, and the text of its first attempt's log file.
  private func play(
    _ work: JobWork, _ options: JobQueueOptions = .init(slots: 1)
  ) throws -> (run: Run, log: String?) {
    var options = options
    let state = NSTemporaryDirectory() + "opdash-transfer-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: state) }
    options.stateFolder = state
    let queue = try JobQueue(JobGraph(name: "test", jobs: [Job(name: "get", work: work)]), options: options)
    queue.start()
    #expect(eventually { queue.run.isComplete })
    let path = try #require(queue.run.logPath(JobID(0), attempt: 1))
    return (queue.run, try? String(contentsOfFile: path, encoding: .utf8))
  }

  @Test func whatATransferSaysOfItselfIsInItsLogAndInTheFile() throws {
    let folder = NSTemporaryDirectory() + "opdash-files-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try RawServer { _ in [.send("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry")] }
    defer { server.stop() }
    let (run, log) = try play(.download(DownloadWork(url: server.url("/a").absoluteString, file: folder + "/a")))
    #expect(run.jobs[0].state == .failed(JobFailure(.http(404), "HTTP 404"), allowed: false))
    let lines = (0..<run.jobs[0].log.count).map { run.jobs[0].log[$0].line.text + "\n" }
    #expect(lines.contains { $0.contains("404") })
    #expect(log == lines.joined())
  }

  /// Its job owns the file, so only its digest says that it is the server's.
  @Test func aDownloadIsFetchedEachTimeUnlessItsDigestIsThere() throws {
    let folder = NSTemporaryDirectory() + "opdash-files-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try RawServer { request in
      let date = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT"
      let body = request.number == 0 ? "9876543210" : "0123456789"
      return [.send("HTTP/1.1 200 OK\r\n\(date)\r\nContent-Length: 10\r\n\r\n\(body)"), .next]
    }
    defer { server.stop() }
    let file = folder + "/a"
    for content in ["9876543210", "0123456789"] {
      let run = try play(.download(DownloadWork(url: server.url("/a").absoluteString, file: file))).run
      #expect(run.jobs[0].state == .succeeded(upToDate: false))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == content)
    }
    let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    let work = DownloadWork(url: server.url("/a").absoluteString, file: file, sha256: digest)
    #expect(try play(.download(work)).run.jobs[0].state == .succeeded(upToDate: true))
    #expect(server.requests.count == 2)
  }

  /// The file of another download may be what the server had then.
  @Test(arguments: [false, true])
  func aResumedRunTakesTheFileOfADownloadWithoutARecordedEndAlone(isUnrecorded: Bool) throws {
    let folder = try TemporaryFolder()
    let server = try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"), .next] }
    defer { server.stop() }
    let work = DownloadWork(url: server.url("/a").absoluteString, file: folder.file("a").path())
    _ = try play(.download(work))
    var options = JobQueueOptions(slots: 1)
    options.resumedSince = Date(timeIntervalSinceNow: -60)
    if isUnrecorded { options.unrecorded = [JobID(0)] }
    let run = try play(.download(work), options).run
    // Where the file system keeps no mark, nothing says that the file is whole.
    let isKept = isUnrecorded && getxattr(work.file, "user.opdash.url", nil, 0) > 0
    #expect(run.jobs[0].state == .succeeded(upToDate: isKept))
    #expect(server.requests.count == (isKept ? 1 : 2))
  }

  @Test func aTextThatIsNoURLFailsBeforeAnythingIsOpened() throws {
    let (run, log) = try play(.upload(UploadWork(file: "/dev/null", url: "http://a b/")))
    guard case .failed(let failure, _) = run.jobs[0].state else {
      Issue.record("it is \(run.jobs[0].state)")
      return
    }
    #expect(failure.cause == .launch)
    #expect(log == nil)
  }

  @Test func nothingThatATransferSaysOfItselfHoldsTheCredentialsOfItsURL() throws {
    let folder = NSTemporaryDirectory() + "opdash-files-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try RawServer { request in
      let target = request.path.hasPrefix("/f") ? "Location: /g?sig=s3cret\r\n" : "Location: ftp://s3cret@h/\r\n"
      return [.send("HTTP/1.1 302 Found\r\n\(target)Content-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    let url = "http://me:s3cret@127.0.0.1:\(server.port)/f?token=s3cret"
    let headers = ["Authorization": "Bearer s3cret", "Cookie": "s3cret"]
    let (run, log) = try play(.download(DownloadWork(url: url, file: folder + "/f", headers: headers)))
    // The server has them whole.
    #expect(server.requests.first?.path == "/f?token=s3cret")
    #expect(server.requests.first?.headers["authorization"] == "Bearer s3cret")
    guard case .failed(let failure, _) = run.jobs[0].state else {
      Issue.record("it is \(run.jobs[0].state)")
      return
    }
    #expect(failure.reason == "redirected: ftp is neither http nor https: ftp://***@h/")
    #expect(log?.contains("redirected to http://***@127.0.0.1:\(server.port)/g?sig=***") == true)
    #expect(log?.contains("s3cret") == false, "\(log ?? "")")
  }

  @Test func aTextThatIsNoURLIsShownWithoutItsCredentials() throws {
    let (run, _) = try play(.upload(UploadWork(file: "/dev/null", url: "http://me:pw@a b/?key=k")))
    guard case .failed(let failure, _) = run.jobs[0].state else {
      Issue.record("it is \(run.jobs[0].state)")
      return
    }
    #expect(failure.reason == "'http://***@a b/?key=***' is no URL")
  }

  @Test func aURLIsNotEscapedTwice() throws {
    let folder = NSTemporaryDirectory() + "opdash-files-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .next] }
    defer { server.stop() }
    let url = "http://127.0.0.1:\(server.port)/up/my%20file[1].txt?sig=a%2Fb|c"
    #expect(
      try play(.download(DownloadWork(url: url, file: folder + "/f"))).run.jobs[0].state == .succeeded(upToDate: false))
    #expect(
      try play(.upload(UploadWork(file: "/proc/version", url: url))).run.jobs[0].state == .succeeded(upToDate: false))
    #expect(server.requests.map(\.path) == Array(repeating: "/up/my%20file[1].txt?sig=a%2Fb|c", count: 2))
  }

  @Test(arguments: [true, false]) func aSilentTransferEndsAfterItsStallTime(isDownload: Bool) throws {
    let folder = NSTemporaryDirectory() + "opdash-files-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try RawServer { _ in [.hold] }
    defer { server.stop() }
    let url = server.url("/a").absoluteString
    let work =
      isDownload
      ? JobWork.download(DownloadWork(url: url, file: folder + "/f", stall: .milliseconds(500)))
      : .upload(UploadWork(file: "/proc/version", url: url, stall: .milliseconds(500)))
    let failure = JobFailure(.timedOut, "no byte has moved for 0.5 s")
    #expect(try play(work).run.jobs[0].state == .failed(failure, allowed: false))
  }

  @Test func theWaitThatAServerAsksForIsInTheFailure() throws {
    let folder = NSTemporaryDirectory() + "opdash-files-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try RawServer { _ in
      [.send("HTTP/1.1 429 Too Many\r\nRetry-After: 40\r\nContent-Length: 0\r\n\r\n")]
    }
    defer { server.stop() }
    let (run, log) = try play(.download(DownloadWork(url: server.url("/a").absoluteString, file: folder + "/a")))
    #expect(
      run.jobs[0].state == .failed(JobFailure(.http(429), "HTTP 429", retryAfter: .seconds(40)), allowed: false))
    #expect(log?.contains("the server asks to wait 40 s") == true)
  }
}
