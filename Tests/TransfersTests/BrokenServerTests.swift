import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// Downloads from servers that break off, contradict themselves or change their file.
@Suite struct BrokenServerTests {
  private let folder: TemporaryFolder
  private let content = randomBytes(300_000)

  init() throws { folder = try TemporaryFolder() }

  private func download(_ url: URL, headers: [String: String] = [:], resume: Bool = true) -> Observed<URL> {
    Observed(DownloadOperation(from: url, to: folder.file("file"), headers: headers, resume: resume))
  }

  /// Runs one download from a server that follows `script`.
  private func run(_ script: @escaping @Sendable (RawServer.Request) -> [RawServer.Step]) async throws -> Observed<URL>
  {
    let server = try RawServer(script)
    defer { server.stop() }
    return await download(server.url("/f")).run()
  }

  /// Writes the part and the info that an interrupted transfer of `count` bytes leaves.
  private func leavePart(_ count: Int, of server: RawServer) throws {
    try Data(content.prefix(count)).write(to: folder.file("file.part"))
    var reply = try #require(Reply(statusLine: "HTTP/1.1 200 OK"))
    reply.add(line: "ETag: \"1\"")
    reply.add(line: "Content-Length: \(content.count)")
    let info = try #require(PartInfo(url: server.url("/f").absoluteString, reply: reply))
    try JSONEncoder().encode(info).write(to: folder.file("file.part.meta"))
  }

  private func expectWhole(_ download: Observed<URL>) throws {
    #expect(try download.result?.get() == folder.file("file"))
    #expect(try Data(contentsOf: folder.file("file")) == Data(content))
    #expect(folder.names() == ["file"])
  }

  /// Expects a download that finds a part of 1,000 bytes to drop it, with this note, and to get the whole file.
  ///
  /// Returns the requests that the server got.
  @discardableResult
  private func expectRestart(
    _ note: String, _ script: @escaping @Sendable (RawServer.Request) -> [RawServer.Step]
  ) async throws -> [RawServer.Request] {
    let server = try RawServer(script)
    defer { server.stop() }
    try leavePart(1000, of: server)
    let download = await download(server.url("/f")).run()
    try expectWhole(download)
    #expect(download.notes.contains(note), "\(download.notes)")
    return server.requests
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n",
  ])
  func aReplyThatEndsInItsHeaderIsAFailure(head: String) async throws {
    let download = try await run { _ in [.send(head)] }
    #expect(download.error?.code == .network, "\(String(describing: download.result))")
    #expect(folder.names().isEmpty)
  }

  @Test func noReplyAtAllIsAFailure() async throws {
    let download = try await run { _ in [] }
    #expect(download.error == TransferError(.network, "the server closed the connection without a reply"))
  }

  @Test(arguments: ["hello\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 banana\r\n\r\n"])
  func whatIsNotHTTPIsAFailure(text: String) async throws {
    let download = try await run { _ in [.send(text)] }
    #expect(download.error?.code == .network, "\(String(describing: download.result))")
    #expect(folder.names().isEmpty)
  }

  @Test func aBodyLongerThanItsLengthIsAFailureAndIsNotKept() async throws {
    let download = try await run { _ in [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 5\r\n\r\n123456789")]
    }
    #expect(download.error == TransferError(.network, "the server sent more than it said"))
    #expect(folder.names().isEmpty)
  }

  @Test func aBodyLongerThanItsRangeIsAFailureAndIsNotKept() async throws {
    let server = try RawServer { [content] request in
      let start = request.rangeStart ?? 0
      let head = "HTTP/1.1 206 P\r\nContent-Range: bytes \(start)-\(content.count - 1)/\(content.count)\r\n\r\n"
      return [.send(head), .sendBytes(content)]
    }
    defer { server.stop() }
    try leavePart(100_000, of: server)
    let download = await download(server.url("/f")).run()
    #expect(download.error == TransferError(.network, "the server sent more than it said"))
    #expect(folder.names().isEmpty)
  }

  @Test func aChunkedBodyHasNoTotalBeforeItsEnd() async throws {
    let chunk = String(decoding: [UInt8](repeating: 65, count: 255), as: UTF8.self)
    let download = try await run { _ in
      [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n\(chunk)\r\n0\r\nTrailer: x\r\n\r\n")]
    }
    #expect(try Data(contentsOf: folder.file("file")).count == 255)
    #expect(download.progress.dropLast().allSatisfy { $0.total == nil })
    #expect(download.progress.last == OperationProgress(completed: 255, total: 255))
  }

  @Test(arguments: [200, 404]) func aTrailerThatDoesNotEndIsNotKept(status: Int) async throws {
    let line = "X: \(String(repeating: "x", count: 1000))\r\n"
    let download = try await run { _ in
      let head = "HTTP/1.1 \(status) S\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
      return [.send(head), .send(String(repeating: line, count: 100)), .hold]
    }
    #expect(
      download.error
        == (status == 200
          ? TransferError(.network, "the reply's trailer is too long") : TransferError(.http(404), "HTTP 404")))
    #expect(folder.names().isEmpty)
  }

  @Test func aChunkedBodyThatIsCutIsAFailure() async throws {
    let download = try await run { _ in [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc")] }
    #expect(download.error?.code == .network)
  }

  @Test func aResetConnectionIsAFailureThatCountsTheBytes() async throws {
    let received = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789"
      return [.send(head), .run { _ = received.wait(timeout: .now() + Patience.seconds) }, .reset]
    }
    defer { server.stop() }
    let download = download(server.url("/f"))
    download.start(until: 10)
    received.signal()
    await download.ended()
    #expect(download.error == TransferError(.network, "ended after 10 of 1000 bytes"))
  }

  @Test func aRefusedConnectionIsAFailureThatSaysSo() async throws {
    // No test gets this port.
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    #expect(await download(url).run().error == TransferError(.network, "connection refused"))
    #expect(folder.names().isEmpty)
  }

  @Test func anUnknownHostIsAFailure() async throws {
    let url = try #require(URL(string: "http://no-such-host.invalid/"))
    let error = await download(url).run().error
    #expect(error?.code == .network)
    #expect(error?.message.contains("no-such-host.invalid") == true)
  }

  @Test func anotherRangeThanTheRequestedOneIsNotWritten() async throws {
    try await expectRestart("the server sent another range than asked for: starting again") { [content] request in
      guard request.headers["range"] != nil else { return RawServer.file(content)(request) }
      return [
        .send("HTTP/1.1 206 P\r\nContent-Range: bytes 5-9/\(content.count)\r\nContent-Length: 5\r\n\r\nwrong"), .next,
      ]
    }
  }

  @Test func aFileThatChangedOnTheServerIsDownloadedFromItsStart() async throws {
    let note = "the file changed on the server: starting again"
    let requests = try await expectRestart(note, RawServer.file(content, tag: "\"2\""))
    #expect(requests.first?.headers["if-range"] == "\"1\"")
  }

  @Test func aChangedTagInA206MeansAChangedFile() async throws {
    try await expectRestart("the file changed on the server: starting again") { [content] request in
      guard let start = request.rangeStart else { return RawServer.file(content, tag: "\"2\"")(request) }
      let range = "bytes \(start)-\(content.count - 1)/\(content.count)"
      return [.send("HTTP/1.1 206 P\r\nETag: \"2\"\r\nContent-Range: \(range)\r\n\r\n"), .hold]
    }
  }

  @Test func aServerWithoutRangesMeansARestart() async throws {
    try await expectRestart("the server ignored the range: starting again") { [content] _ in
      [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(content.count)\r\n\r\n"), .sendBytes(content), .next]
    }
  }

  @Test func a416MeansARestart() async throws {
    try await expectRestart("the server has nothing after byte 1000: starting again") { [content] request in
      guard request.headers["range"] != nil else { return RawServer.file(content)(request) }
      return [.send("HTTP/1.1 416 R\r\nContent-Range: bytes */500\r\nContent-Length: 0\r\n\r\n"), .next]
    }
  }

  @Test func aPartStaysWhereTheRequestForTheWholeFails() async throws {
    let server = try RawServer { request in
      guard request.headers["range"] != nil else { return [.reset] }
      return [.send("HTTP/1.1 416 R\r\nContent-Length: 0\r\n\r\n")]
    }
    defer { server.stop() }
    try leavePart(1000, of: server)
    let download = await download(server.url("/f")).run()
    #expect(download.error?.code == .network)
    #expect(folder.names() == ["file.part", "file.part.meta"])
    #expect(try Data(contentsOf: folder.file("file.part")) == Data(content.prefix(1000)))
  }

  /// A server that answers a range with the status, and any other request with the file.
  private func refusing(_ status: Int) throws -> RawServer {
    try RawServer { [content] request in
      guard request.headers["range"] != nil else { return RawServer.file(content)(request) }
      return [.send("HTTP/1.1 \(status) R\r\nContent-Length: 0\r\n\r\n"), .next]
    }
  }

  @Test(arguments: [201, 204, 304, 400, 401, 403, 404, 405, 406, 410, 412, 416, 421, 501, 505])
  func aRefusedRangeMeansARequestForTheWhole(status: Int) async throws {
    let server = try refusing(status)
    defer { server.stop() }
    try leavePart(1000, of: server)
    try expectWhole(await download(server.url("/f")).run())
    #expect(server.requests.map(\.rangeStart) == [1000, nil])
  }

  /// A server that is ill for a moment would cost what the part has.
  @Test(arguments: [302, 408, 425, 429, 500, 502, 503, 504, 507])
  func aRangeRefusedTwiceMeansARequestForTheWhole(status: Int) async throws {
    let server = try refusing(status)
    defer { server.stop() }
    try leavePart(1000, of: server)
    #expect(await download(server.url("/f")).run().error?.code == .http(status))
    #expect(try Data(contentsOf: folder.file("file.part")) == Data(content.prefix(1000)))
    let second = await download(server.url("/f")).run()
    try expectWhole(second)
    #expect(second.notes.contains("HTTP \(status), also to the last request for the rest: starting again"))
    #expect(server.requests.map(\.rangeStart) == [1000, 1000, nil])
  }

  @Test(arguments: ["/loop", "ftp://h/f", "http://no-such-host.invalid/", "http://127.0.0.1:1/"])
  func aRangeRedirectedToNothingTwiceMeansARequestForTheWhole(target: String) async throws {
    let server = try RawServer { [content] request in
      guard request.headers["range"] != nil else { return RawServer.file(content)(request) }
      return [.send("HTTP/1.1 302 F\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    try leavePart(1000, of: server)
    #expect(await download(server.url("/f")).run().error != nil)
    try expectWhole(await download(server.url("/f")).run())
    #expect(server.requests.last?.rangeStart == nil)
  }

  @Test(arguments: ["", "HTTP/1.1 206 P\r\nETag: \"1\"\r\nContent-Range: bytes 1000-299999/300000\r\n\r\n"])
  func aRangeThatBringsNoByteTwiceMeansARequestForTheWhole(reply: String) async throws {
    let server = try RawServer { [content] request in
      request.headers["range"] == nil ? RawServer.file(content)(request) : [.send(reply)]
    }
    defer { server.stop() }
    try leavePart(1000, of: server)
    #expect(await download(server.url("/f")).run().error?.code == .network)
    try expectWhole(await download(server.url("/f")).run())
    #expect(server.requests.map(\.rangeStart) == [1000, 1000, nil])
  }

  @Test func aRangeThatIsAnsweredBetweenTwoRefusalsIsResumed() async throws {
    let server = try RawServer { [content] request in
      let isCut = request.number == 1
      guard isCut || request.number == 3 else { return [.send("HTTP/1.1 503 S\r\nContent-Length: 0\r\n\r\n")] }
      return RawServer.file(content, cuts: isCut ? [0, 500] : [])(request)
    }
    defer { server.stop() }
    try leavePart(1000, of: server)
    for _ in 0..<3 { #expect(await download(server.url("/f")).run().error != nil) }
    try expectWhole(await download(server.url("/f")).run())
    #expect(server.requests.map(\.rangeStart) == [1000, 1000, 1500, 1500])
  }

  @Test func aServerThatIsNotThereDoesNotRefuseARange() async throws {
    let server = try RawServer(RawServer.file(content))
    try leavePart(1000, of: server)
    server.stop()
    #expect(eventually { (try? Loopback.connect(to: server.port)).map { close($0) } == nil })
    for _ in 0..<3 {
      let download = await download(server.url("/f")).run()
      #expect(download.error?.code == .network)
      #expect(download.notes.isEmpty)
    }
    #expect(try Data(contentsOf: folder.file("file.part")) == Data(content.prefix(1000)))
  }

  // MARK: Pieces

  @Test(arguments: [true, false])
  func aPieceUnderStatus200IsNotTheFile(hasLength: Bool) async throws {
    try await expectRestart(
      "the server sent a piece of the file as the whole: bytes 1000-\(content.count - 1)/\(content.count): "
        + "starting again"
    ) { [content] request in
      guard let start = request.rangeStart else { return RawServer.file(content)(request) }
      let length = hasLength ? "Content-Length: \(content.count - start)\r\n" : ""
      let range = "Content-Range: bytes \(start)-\(content.count - 1)/\(content.count)\r\n"
      return [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\(length)\(range)\r\n"), .sendBytes(Array(content[start...]))]
    }
  }

  @Test func aGzipReplyIsNotContinuedByAnUnencodedOne() async throws {
    let server = try RawServer { [content] request in
      guard request.number == 0 else { return RawServer.file(content)(request) }
      let header = "ETag: \"1\"\r\nContent-Encoding: gzip\r\nContent-Length: \(content.count)\r\n"
      return [.send("HTTP/1.1 200 OK\r\n\(header)\r\n"), .sendBytes([UInt8](repeating: 7, count: 1000))]
    }
    defer { server.stop() }
    #expect(await download(server.url("/f")).run().error?.code == .network)
    try expectWhole(await download(server.url("/f")).run())
    #expect(server.requests.map(\.rangeStart) == [nil, 1000, nil])
  }

  @Test func onlyTheLastByteOfACompletePartIsRequestedAgain() async throws {
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    try leavePart(content.count, of: server)
    let download = await download(server.url("/f")).run()
    try expectWhole(download)
    #expect(server.requests.map { $0.headers["range"] } == ["bytes=\(content.count - 1)-"])
  }

  @Test func withoutAValidatorAPartIsNotResumed() async throws {
    let server = try RawServer { [content] request in
      let body = request.number == 0 ? Array(content.prefix(1000)) : content
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n"), .sendBytes(body)]
    }
    defer { server.stop() }
    #expect(await download(server.url("/f")).run().error?.message == "ended after 1000 of \(content.count) bytes")
    #expect(folder.names().isEmpty)
    try expectWhole(await download(server.url("/f")).run())
    #expect(server.requests.allSatisfy { $0.headers["range"] == nil })
  }

  @Test func aPartOfAnotherURLIsNotResumed() async throws {
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    try leavePart(1000, of: server)
    #expect(await download(server.url("/g")).run().error == nil)
    #expect(try Data(contentsOf: folder.file("file")) == Data(content))
    #expect(server.requests.map { $0.headers["range"] } == [nil])
  }

  @Test func aPartWithUnreadableInfoIsNotResumed() async throws {
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    try leavePart(1000, of: server)
    try Data("{".utf8).write(to: folder.file("file.part.meta"))
    #expect(await download(server.url("/f")).run().error == nil)
    #expect(try Data(contentsOf: folder.file("file")) == Data(content))
    #expect(server.requests.map { $0.headers["range"] } == [nil])
  }

  @Test func aTransferThatBreaksSeveralTimesIsResumedToTheEnd() async throws {
    let server = try RawServer(RawServer.file(content, cuts: [1, 50_000, 0, 99_999, 1]))
    defer { server.stop() }
    for _ in 0..<5 { #expect(await download(server.url("/f")).run().error?.code == .network) }
    try expectWhole(await download(server.url("/f")).run())
    #expect(server.requests.compactMap(\.rangeStart) == [1, 50_001, 50_001, 150_000, 150_001])
  }

  @Test func withoutResumeAFailureLeavesNoPart() async throws {
    let server = try RawServer(RawServer.file(content, cuts: [1000]))
    defer { server.stop() }
    #expect(await download(server.url("/f"), resume: false).run().error?.code == .network)
    #expect(folder.names().isEmpty)
  }

  @Test func aSlowErrorBodyIsNotAwaited() async throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 503 S\r\nContent-Length: 1000\r\n\r\nbusy\n"), .hold] }
    defer { server.stop() }
    let download = await download(server.url("/f")).run()
    #expect(download.error == TransferError(.http(503), "HTTP 503"))
    #expect(download.notes.last == "the server says: busy")
  }

  @Test func anEndlessErrorBodyIsNotRead() async throws {
    let wasRead = Lock(false)
    // More than the buffers of both sockets hold.
    let server = try RawServer { _ in
      [
        .send("HTTP/1.1 500 S\r\n\r\n"), .sendBytes([UInt8](repeating: 65, count: 40_000_000)),
        .run { wasRead.withLock { $0 = true } }, .hold,
      ]
    }
    defer { server.stop() }
    #expect(await download(server.url("/f")).run().error?.code == .http(500))
    #expect(eventually { server.openConnections == 0 })
    #expect(!wasRead.withLock { $0 })
  }

  @Test func redirectsAreFollowedToTheFile() async throws {
    let nginx = try Nginx()
    let data = try nginx.add("f", size: 1000)
    let download = await download(nginx.url("/hops/xxxxxxxxxx/f")).run()
    #expect(try Data(contentsOf: folder.file("file")) == data)
    #expect(download.notes.filter { $0.hasPrefix("redirected to ") }.count == 10)
    #expect(await self.download(nginx.url("/hops/xxxxxxxxxxx/f")).run().error?.code == .tooManyRedirects)
    #expect(await self.download(nginx.url("/loop")).run().error?.code == .tooManyRedirects)
  }

  @Test(arguments: ["ftp://127.0.0.1/f", "file:///etc/passwd", "dict://127.0.0.1/"])
  func aRedirectOutOfHTTPIsAFailure(target: String) async throws {
    let nginx = try Nginx()
    #expect(await download(nginx.url("/to?\(target)")).run().error?.code == .unsupportedURL)
    #expect(folder.names().isEmpty)
  }

  @Test func secretsAreSentToTheirHostOnly() async throws {
    let other = try RawServer(RawServer.file(content))
    let first = try RawServer { _ in
      [.send("HTTP/1.1 302 F\r\nLocation: \(other.url("/f"))\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer {
      first.stop()
      other.stop()
    }
    let headers = ["Authorization": "Bearer x", "X-Api-Key": "k", "Accept": "a/b"]
    try expectWhole(await download(first.url("/f"), headers: headers).run())
    #expect(first.requests.first?.headers["authorization"] == "Bearer x")
    #expect(first.requests.first?.headers["x-api-key"] == "k")
    #expect(other.requests.first?.headers["authorization"] == nil)
    #expect(other.requests.first?.headers["x-api-key"] == nil)
    #expect(other.requests.first?.headers["accept"] == "a/b")
  }

  @Test func aPartIsResumedBehindARedirectThatChanges() async throws {
    let file = RawServer.file(content, cuts: [1000])
    let store = try RawServer(file)
    let first = try RawServer { request in
      [
        .send("HTTP/1.1 302 F\r\nLocation: \(store.url("/signed?\(request.number)"))\r\nContent-Length: 0\r\n\r\n"),
        .next,
      ]
    }
    defer {
      first.stop()
      store.stop()
    }
    #expect(await download(first.url("/f")).run().error?.code == .network)
    try expectWhole(await download(first.url("/f")).run())
    #expect(store.requests.map(\.rangeStart) == [nil, 1000])
  }
}
