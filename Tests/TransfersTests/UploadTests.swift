import Foundation
import Operations
import Support
import Testing

@testable import Transfers

@Suite struct UploadTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func file(_ size: Int) throws -> URL {
    try Data(randomBytes(size)).write(to: folder.file("sent"))
    return folder.file("sent")
  }

  private func upload(
    _ file: URL, to url: URL, method: String = "PUT", headers: [String: String] = [:]
  ) -> Observed<Int> {
    Observed(UploadOperation(file, to: url, method: method, headers: headers))
  }

  @Test(arguments: [0, 1, 100_000, 20_000_000])
  func theServerReceivesTheFile(size: Int) async throws {
    let nginx = try Nginx()
    let upload = await upload(try file(size), to: nginx.url("/up/a/b")).run()
    #expect(try upload.result?.get() == 201)
    #expect(try Data(contentsOf: nginx.uploads.appending(path: "a/b")) == Data(contentsOf: folder.file("sent")))
    #expect(upload.progress.first == OperationProgress(completed: 0, total: Int64(size)))
    #expect(upload.progress.last == OperationProgress(completed: Int64(size), total: Int64(size)))
    #expect(upload.notes == ["PUT /up/a/b 201 (HTTP/1.1)"])
  }

  @Test func anUploadSendsTheFileOfTheDownloadThatItReceivesFrom() async throws {
    let nginx = try Nginx()
    let data = try nginx.add("made", size: 100_000)
    let download = DownloadOperation(from: nginx.url("/files/made"), to: folder.file("fetched"))
    let upload = UploadOperation(to: nginx.url("/up/fetched"))
    upload.takeInput(from: download)
    let orphan = UploadOperation(to: nginx.url("/up/orphan"))
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    try dependencyQueue.add([upload, download, orphan])
    await withCheckedContinuation { continuation in dependencyQueue.whenEmpty(on: .global()) { continuation.resume() } }
    #expect(try upload.outcome?.get() == 201)
    #expect(try Data(contentsOf: nginx.uploads.appending(path: "fetched")) == data)
    #expect(orphan.failure as? TransferError == TransferError(.file, "no file was given to upload"))
  }

  @Test func anUploadWhoseSourceFailsFailsWithItsErrorWithoutConnecting() async throws {
    let nginx = try Nginx()
    let server = try RawServer { _ in [.hold] }
    defer { server.stop() }
    let download = DownloadOperation(from: nginx.url("/status/404"), to: folder.file("fetched"))
    let upload = UploadOperation(to: server.url("/x"))
    upload.takeInput(from: download)
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    try dependencyQueue.add([upload, download])
    await withCheckedContinuation { continuation in dependencyQueue.whenEmpty(on: .global()) { continuation.resume() } }
    #expect(upload.failure as? TransferError == TransferError(.http(404), "HTTP 404"))
    #expect(server.requests.isEmpty)
  }

  @Test func methodAndHeadersAreSent() async throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 202 A\r\nContent-Length: 2\r\n\r\nok"), .next] }
    defer { server.stop() }
    let upload = upload(
      try file(1000), to: server.url("/x"), method: "POST", headers: ["Authorization": "Bearer t", "X-Empty": ""])
    #expect(try await upload.run().result?.get() == 202)
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.headers["content-length"] == "1000")
    #expect(request.headers["authorization"] == "Bearer t")
    #expect(request.headers["x-empty"] == "")
    #expect(request.headers["transfer-encoding"] == nil)
  }

  @Test(arguments: [403, 404, 503])
  func aBadStatusIsAFailure(status: Int) async throws {
    let nginx = try Nginx()
    let upload = await upload(try file(3_000_000), to: nginx.url("/status/\(status)")).run()
    #expect(upload.error == TransferError(.http(status), "HTTP \(status)"))
    #expect(upload.notes.last == "the server says: this is a \(status)")
  }

  @Test(arguments: ["GET", "PATCH"])
  func anyMethodIsSentAsItIs(method: String) async throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next] }
    defer { server.stop() }
    #expect(try await upload(try file(10), to: server.url("/x"), method: method).run().result?.get() == 200)
    #expect(server.requests.map { "\($0.method) \($0.headers["content-length"] ?? "")" } == ["\(method) 10"])
  }

  @Test(arguments: [
    (300, "Content-Length: 5\r\n\r\nwhich", "the server says: which"),
    (503, "Content-Length: 0\r\nRetry-After: 9\r\n\r\n", "the server asks to wait 9 s"),
  ])
  func aNoteTellsWhatAServerSaysOfItsRefusal(status: Int, rest: String, note: String) async throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 \(status) R\r\n\(rest)"), .next] }
    defer { server.stop() }
    let upload = await upload(try file(10), to: server.url("/x")).run()
    #expect(upload.error?.code == .http(status))
    #expect(upload.notes == ["PUT /x \(status) (HTTP/1.1)", note])
  }

  @Test(arguments: [0, 1, 1 << 20, 1 << 20 + 1]) func onlyALargeBodyIsAnnouncedToTheServer(size: Int) async throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next] }
    defer { server.stop() }
    #expect(try await upload(try file(size), to: server.url("/x")).run().result?.get() == 200)
    #expect(server.requests.map { $0.headers["expect"] } == [size > 1 << 20 ? "100-continue" : nil])
  }

  @Test func aServerThatIgnoresExpectReceivesTheFile() async throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next] }
    defer { server.stop() }
    #expect(try await upload(try file(2_000_000), to: server.url("/x")).run().result?.get() == 200)
    #expect(server.requests.first?.headers["expect"] == "100-continue")
  }

  @Test func aServerThatRefusesExpectIsAskedWithoutIt() async throws {
    let server = try RawServer { request in
      request.headers["expect"] != nil
        ? [.send("HTTP/1.1 417 E\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
        : [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    #expect(try await upload(try file(2_000_000), to: server.url("/x")).run().result?.get() == 200)
  }

  @Test func anApprovalBeforeTheEndDoesNotStopTheRest() async throws {
    let server = try RawServer { _ in
      [.readBody(1000), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .readBody(999_000), .send("ok"), .next]
    }
    defer { server.stop() }
    let upload = await upload(try file(1_000_000), to: server.url("/x")).run()
    #expect(try upload.result?.get() == 200)
  }

  @Test func anApprovalOfHalfAFileIsAFailure() async throws {
    let server = try RawServer { _ in
      [.readBody(1000), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
    }
    defer { server.stop() }
    let upload = await upload(try file(50_000_000), to: server.url("/x")).run()
    #expect(upload.error?.code == .network, "\(String(describing: upload.result))")
  }

  @Test func aConnectionThatBreaksIsAFailure() async throws {
    let server = try RawServer { _ in [.readBody(100_000), .reset] }
    defer { server.stop() }
    #expect(await upload(try file(50_000_000), to: server.url("/x")).run().error?.code == .network)
  }

  @Test(arguments: [307, 308, 302])
  func aRedirectedPutIsSentAgain(status: Int) async throws {
    let server = try RawServer { request in
      request.path == "/a"
        ? [.readBody(), .send("HTTP/1.1 \(status) R\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"), .next]
        : [.readBody(), .send("HTTP/1.1 201 C\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    #expect(try await upload(try file(100_000), to: server.url("/a")).run().result?.get() == 201)
    #expect(
      server.requests.map { "\($0.method) \($0.headers["content-length"] ?? "")" } == ["PUT 100000", "PUT 100000"])
  }

  @Test(arguments: [(303, "PUT"), (302, "POST")])
  func anAnswerElsewhereIsFetchedWithoutTheFile(status: Int, method: String) async throws {
    let server = try RawServer { request in
      request.path == "/a"
        ? [.readBody(), .send("HTTP/1.1 \(status) R\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"), .next]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    #expect(try await upload(try file(1000), to: server.url("/a"), method: method).run().result?.get() == 200)
    #expect(server.requests.map(\.method) == [method, "GET"])
    #expect(server.requests.last?.headers["content-length"] == nil)
  }

  @Test(arguments: [
    (303, "PUT"), (303, "POST"), (303, "PATCH"), (301, "POST"), (302, "POST"),
  ])
  func anAnswerElsewhereBeforeTheFileIsSentIsAFailure(status: Int, method: String) async throws {
    let server = try RawServer { request in
      request.path == "/a"
        ? [.send("HTTP/1.1 \(status) R\r\nLocation: /login\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
        : [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nlog in"), .next]
    }
    defer { server.stop() }
    let upload = await upload(try file(3_000_000), to: server.url("/a"), method: method).run()
    let message = "HTTP \(status) after 0 of 3000000 bytes: give the URL that takes the file"
    #expect(upload.error == TransferError(.http(status), message))
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [301, 302, 307, 308])
  func aRedirectedPutThatALoginPageAnswersIsAFailure(status: Int) async throws {
    let server = try RawServer { request in
      request.path == "/a"
        ? [.send("HTTP/1.1 \(status) R\r\nLocation: /login\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nlog in"), .next]
    }
    defer { server.stop() }
    let upload = await upload(try file(3_000_000), to: server.url("/a")).run()
    #expect(upload.error == .ended(after: 0, of: 3_000_000))
  }

  @Test(arguments: [301, 302], [1000, 3_000_000])
  func aPostToAServerThatHasMovedIsSentThere(status: Int, size: Int) async throws {
    let target = try RawServer { _ in
      [.readBody(), .send("HTTP/1.1 201 C\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { target.stop() }
    let to = target.url("/up?a=b").absoluteString
    let server = try RawServer { request in
      let reply = "HTTP/1.1 \(status) R\r\nLocation: \(to)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      return request.headers["expect"] == nil ? [.readBody(), .send(reply)] : [.send(reply)]
    }
    defer { server.stop() }
    let upload = await upload(try file(size), to: server.url("/up?a=b"), method: "POST").run()
    #expect(try upload.result?.get() == 201)
    #expect(target.requests.map { "\($0.method) \($0.headers["content-length"] ?? "")" } == ["POST \(size)"])
  }

  @Test func aFileThatChangesBeforeItsAnswerElsewhereIsAFailure() async throws {
    let file = try file(1000)
    let server = try RawServer { request in
      request.path == "/a"
        ? [
          .readBody(), .run { try? Data(repeating: 0, count: 1000).write(to: file, options: []) },
          .send("HTTP/1.1 303 S\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"), .next,
        ]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    let upload = await upload(file, to: server.url("/a")).run()
    #expect(upload.error == TransferError(.file, "\(file.path()) changed while it was sent"))
  }

  @Test(arguments: ["endless", "slow"]) func theRestOfAnAnswerIsNotWaitedFor(rest: String) async throws {
    let server = try RawServer { _ in
      let body = [RawServer.Step.sendBytes([UInt8](repeating: 0x61, count: 100_000))]
      return [.readBody(), .send("HTTP/1.1 200 OK\r\n\r\n")] + (rest == "slow" ? [] : body) + [.hold]
    }
    defer { server.stop() }
    for size in [0, 1000, 3_000_000] {
      #expect(try await upload(try file(size), to: server.url("/x")).run().result?.get() == 200)
    }
  }

  @Test func aLongAnswerBeforeTheEndDoesNotStopTheRest() async throws {
    let server = try RawServer { _ in
      [
        .readBody(1000), .send("HTTP/1.1 200 OK\r\n\r\n"), .sendBytes([UInt8](repeating: 0x61, count: 100_000)),
        .readBody(999_000), .hold,
      ]
    }
    defer { server.stop() }
    let upload = await upload(try file(1_000_000), to: server.url("/x")).run()
    #expect(try upload.result?.get() == 200)
    #expect(upload.done == 1_000_000)
  }

  @Test func aFileOfProcIsSentAsItIsRead() async throws {
    let nginx = try Nginx()
    let upload = await upload(URL(filePath: "/proc/version"), to: nginx.url("/up/version")).run()
    #expect(try upload.result?.get() == 201)
    let sent = try Data(contentsOf: nginx.uploads.appending(path: "version"))
    #expect(try !sent.isEmpty && sent == Data(contentsOf: URL(filePath: "/proc/version")))
    #expect(upload.progress.last == OperationProgress(completed: Int64(sent.count), total: Int64(sent.count)))
  }

  @Test func aRedirectOutOfHTTPIsAFailure() async throws {
    let nginx = try Nginx()
    #expect(await upload(try file(10), to: nginx.url("/put?ftp://127.0.0.1/")).run().error?.code == .unsupportedURL)
  }

  @Test func aFileThatShrinksIsAFailure() async throws {
    let size = 30_000_000
    let file = try file(size)
    let server = try RawServer { _ in
      [.readBody(1000), .run { _ = truncate(file.path(), 1_000_000) }, .readBody(size), .hold]
    }
    defer { server.stop() }
    let upload = await upload(file, to: server.url("/x")).run()
    #expect(upload.error == TransferError(.file, "\(file.path()) shrank while it was sent"))
  }

  @Test func aFileThatChangesIsAFailure() async throws {
    let file = try file(100_000)
    let server = try RawServer { _ in
      [
        .readBody(), .run { try? Data(repeating: 0, count: 100_000).write(to: file, options: []) },
        .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next,
      ]
    }
    defer { server.stop() }
    let upload = await upload(file, to: server.url("/x")).run()
    #expect(upload.error == TransferError(.file, "\(file.path()) changed while it was sent"))
  }

  @Test func anUnreadableFileIsAFailureBeforeAnythingIsSent() async throws {
    let server = try RawServer { _ in [] }
    defer { server.stop() }
    let missing = folder.file("missing")
    #expect(
      await upload(missing, to: server.url("/")).run().error
        == TransferError(.file, "No such file or directory: \(missing.path())"))
    #expect(await upload(folder.url, to: server.url("/")).run().error?.code == .file)
    mkfifo(folder.file("pipe").path(), 0o600)
    #expect(
      await upload(folder.file("pipe"), to: server.url("/")).run().error
        == TransferError(.file, "\(folder.file("pipe").path()): it is a named pipe: name a regular file"))
    #expect(await upload(try file(1), to: server.url("/"), method: "PUT /\r\n").run().error?.code == .invalidHeader)
    #expect(
      await upload(try file(1), to: server.url("/"), headers: ["Content-Length": "5"]).run().error?.code
        == .invalidHeader)
    #expect(server.connections == 0)
  }

  @Test func aPausedUploadIsResumedAndArrivesWhole() async throws {
    let nginx = try Nginx()
    let file = try file(60_000_000)
    let upload = upload(file, to: nginx.url("/up/f"))
    upload.operation.pause()
    upload.operation.start()
    await withCheckedContinuation { continuation in TransferThread.shared.async { continuation.resume() } }
    #expect(upload.progress.isEmpty)
    upload.operation.resume()
    for _ in 0..<200 where upload.result == nil {
      upload.operation.pause()
      upload.operation.resume()
    }
    await upload.ended()
    #expect(try upload.result?.get() == 201)
    #expect(FileManager.default.contentsEqual(atPath: file.path(), andPath: nginx.uploads.appending(path: "f").path()))
  }

  @Test func anUploadThatIsRedirectedWhileItIsPausedStaysPaused() async throws {
    let (isAsked, mayAnswer, isAskedAgain) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let server = try RawServer { request in
      guard request.number > 0 else {
        return [
          .run {
            isAsked.signal()
            _ = mayAnswer.wait(timeout: .now() + Patience.seconds)
          },
          .send("HTTP/1.1 307 Temporary Redirect\r\nLocation: /y\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
        ]
      }
      return [
        .run { isAskedAgain.signal() }, .send("HTTP/1.1 100 Continue\r\n\r\n"), .readBody(),
        .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next,
      ]
    }
    defer { server.stop() }
    let upload = upload(try file(5_000_000), to: server.url("/x"))
    upload.operation.start()
    #expect(await soon { isAsked.wait(timeout: .now()) == .success })
    upload.operation.pause()
    await withCheckedContinuation { continuation in TransferThread.shared.async { continuation.resume() } }
    mayAnswer.signal()
    #expect(await soon { isAskedAgain.wait(timeout: .now()) == .success })
    let isPaused = await withCheckedContinuation { continuation in
      TransferThread.shared.async { continuation.resume(returning: upload.operation.exchange?.body?.isPaused) }
    }
    #expect(isPaused == true && upload.result == nil)
    upload.operation.resume()
    await upload.ended()
    #expect(try upload.result?.get() == 200)
  }

  @Test func whilePausedNothingIsRead() async throws {
    let reads = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      [
        .run { _ = reads.wait(timeout: .now() + Patience.seconds) }, .readBody(),
        .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next,
      ]
    }
    defer { server.stop() }
    let upload = upload(try file(50_000_000), to: server.url("/x"))
    upload.operation.start()
    upload.operation.pause()
    await withCheckedContinuation { continuation in TransferThread.shared.async { continuation.resume() } }
    let reached = upload.done
    reads.signal()
    #expect(stays { upload.done == reached })
    #expect(upload.result == nil)
    upload.operation.resume()
    await upload.ended()
    #expect(try upload.result?.get() == 200)
  }

  @Test func anUploadCanBeCancelledAtAnyMoment() async throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next] }
    defer { server.stop() }
    let file = try file(3_000_000)
    for round in 0..<300 {
      let upload = upload(file, to: server.url("/x"))
      upload.operation.start()
      for _ in 0..<Int.random(in: 0...50) { sched_yield() }
      if round % 4 == 0 { upload.operation.pause() }
      await upload.cancel()
      if case .success = upload.result { continue }
      #expect(upload.isCancelled, "\(String(describing: upload.result))")
    }
  }

  @Test func anUploadCanBeCancelledWhileTheServerDoesNotRead() async throws {
    let server = try RawServer { _ in [.readBody(1), .hold] }
    defer { server.stop() }
    let upload = upload(try file(500_000), to: server.url("/x"))
    upload.operation.start()
    #expect(eventually { server.requests.count == 1 })
    await upload.cancel()
    #expect(upload.isCancelled)
    #expect(eventually { server.openConnections == 0 })
  }
}
