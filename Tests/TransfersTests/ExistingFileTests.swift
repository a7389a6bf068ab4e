import CCurl
import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// Downloads that find a file, a part or another download in their place and must not destroy it.
struct ExistingFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func text(_ name: String) throws -> String { try String(contentsOf: folder.file(name), encoding: .utf8) }
  private func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: folder.file(name)) }

  private func download(
    _ url: URL, to name: String = "file", existing: DownloadOperation.ExistingFile = .number,
    usesServerName: Bool = false, resumedSince: Date? = nil, thread: TransferThread = .shared
  ) -> Observed<URL> {
    let operation = DownloadOperation(
      from: url, to: folder.file(name), existing: existing, usesServerName: usesServerName, thread: thread)
    operation.resumedSince = resumedSince
    return Observed(operation)
  }

  private func isUpToDate(_ download: Observed<URL>) -> Bool {
    (download.operation as? DownloadOperation)?.isUpToDate == true
  }

  /// A server of `0123456789` with these header lines beside the length.
  private func server(_ headers: String...) throws -> RawServer {
    let lines = headers.map { "\($0)\r\n" }.joined()
    return try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(lines)\r\n0123456789"), .next] }
  }

  /// Equal Strings may name two files.
  @Test(arguments: [DownloadOperation.ExistingFile.number, .overwrite])
  func theResultIsTheFileWithTheBytesOfTheServersName(existing: DownloadOperation.ExistingFile) async throws {
    let server = try server("Content-Disposition: attachment; filename*=UTF-8''cafe%CC%81")
    defer { server.stop() }
    let download = await download(server.url("/f"), to: "caf\u{e9}", existing: existing, usesServerName: true).run()
    let path = try #require(try download.result?.get().path(percentEncoded: false))
    #expect(FileStatus(path) != nil)
    #expect(download.notes.last == "saved as cafe\u{301}: the name that the server gives")
  }

  // MARK: Numbers

  @Test func anotherFileStaysAndTheNewOneGetsANumber() async throws {
    let server = try server()
    defer { server.stop() }
    try write("mine", to: "file")
    for number in 1...3 {
      let download = await download(server.url("/f")).run()
      #expect(try download.result?.get().lastPathComponent == "file.\(number)")
      #expect(try text("file.\(number)") == "0123456789")
      #expect(download.notes.last == "saved as file.\(number): there is another file")
      #expect(!isUpToDate(download))
    }
    #expect(try text("file") == "mine")
    #expect(folder.names() == ["file", "file.1", "file.2", "file.3"])
  }

  @Test(arguments: ["folder", "FIFO", "link to nothing"])
  func whateverIsThereStaysAsItIs(kind: String) async throws {
    let server = try server()
    defer { server.stop() }
    let path = folder.file("file").path()
    switch kind {
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case "FIFO": #expect(mkfifo(path, 0o600) == 0)
    default: #expect(symlink("nowhere", path) == 0)
    }
    let before = FileStatus(path)?.identity
    #expect(try await download(server.url("/f")).run().result?.get().lastPathComponent == "file.1")
    #expect(FileStatus(path)?.identity == before)
    #expect(folder.names() == ["file", "file.1"])
  }

  @Test(arguments: [DownloadOperation.ExistingFile.number, .overwrite])
  func nothingIsSavedInAFolderOfThatName(existing: DownloadOperation.ExistingFile) async throws {
    let server = try server()
    defer { server.stop() }
    try FileManager.default.createDirectory(at: folder.file("file"), withIntermediateDirectories: false)
    // As Foundation writes the URL of a path where there is a folder.
    let url = URL(filePath: folder.file("file").path(), directoryHint: .isDirectory)
    let download = await Observed(DownloadOperation(from: server.url("/f"), to: url, existing: existing)).run()
    if case .number = existing {
      #expect(try download.result?.get().lastPathComponent == "file.1")
      #expect(folder.names() == ["file", "file.1"])
    } else {
      #expect(download.error == TransferError(.file, "Is a directory: \(url.path())"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: url.path()).isEmpty)
  }

  @Test func aFileThatAppearsMeanwhileStays() async throws {
    let release = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n01234"),
        .run { _ = release.wait(timeout: .now() + Patience.seconds) }, .send("56789"),
      ]
    }
    defer { server.stop() }
    let download = download(server.url("/f"))
    download.start(until: 5)
    try write("mine", to: "file")
    release.signal()
    await download.ended()
    #expect(try text("file") == "mine")
    #expect(try text("file.1") == "0123456789")
    #expect(folder.names() == ["file", "file.1"])
  }

  @Test func twoDownloadsOfOneNameAtOnceGiveTwoFiles() async throws {
    let release = DispatchSemaphore(value: 0)
    let server = try RawServer { request in
      let half = request.path == "/a" ? ["01234", "56789"] : ["abcde", "fghij"]
      return [
        .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n\(half[0])"),
        .run { _ = release.wait(timeout: .now() + Patience.seconds) }, .send(half[1]),
      ]
    }
    defer { server.stop() }
    let first = download(server.url("/a"), to: "100% a")
    first.start(until: 5)
    let second = download(server.url("/b"), to: "100% a")
    second.start(until: 5)
    release.signal()
    release.signal()
    await first.ended()
    await second.ended()
    #expect(folder.names() == ["100% a", "100% a.1"])
    #expect(Set([try text("100% a"), try text("100% a.1")]) == ["0123456789", "abcdefghij"])
  }

  // MARK: The same file

  @Test(arguments: [
    ("the server's file has not changed since", "0123456789", "Sat, 01 Jan 2000 00:00:00 GMT", true),
    ("the server's file is newer", "0123456789", "Fri, 01 Jan 2100 00:00:00 GMT", false),
    ("the file is shorter", "012345678", "Sat, 01 Jan 2000 00:00:00 GMT", false),
    ("the date is no date", "0123456789", "yesterday", false),
  ])
  func aFileIsUpToDateWhereItsSizeAndDateSaySo(
    _: String, _ content: String, _ date: String, _ isSame: Bool
  ) async throws {
    let server = try server("Last-Modified: \(date)")
    defer { server.stop() }
    try write(content, to: "file")
    let download = await download(server.url("/f")).run()
    #expect(isUpToDate(download) == isSame)
    #expect(try download.result?.get().lastPathComponent == (isSame ? "file" : "file.1"))
    #expect(try text("file") == content)
    #expect(folder.names() == (isSame ? ["file"] : ["file", "file.1"]))
  }

  /// As `wget -N --no-if-modified-since`, which does not retrieve it either.
  @Test(arguments: [("Sat, 01 Jan 2000 00:00:00 GMT", true), ("Fri, 01 Jan 2100 00:00:00 GMT", false)])
  func whereTheServerSaysNoSizeTheDateDecides(_ date: String, _ isSame: Bool) async throws {
    let server = try RawServer { request in
      let head = "HTTP/1.1 200 OK\r\nLast-Modified: \(date)\r\nTransfer-Encoding: chunked\r\n\r\n"
      return [.send(request.method == "HEAD" ? head : head + "a\r\n0123456789\r\n0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    try write("0123456789", to: "file")
    let download = await download(server.url("/f")).run()
    #expect(isUpToDate(download) == isSame)
    #expect(folder.names() == (isSame ? ["file"] : ["file", "file.1"]))
  }

  @Test func aNumberedFileIsUpToDateToo() async throws {
    let server = try server("Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT")
    defer { server.stop() }
    try write("mine", to: "file")
    #expect(try await download(server.url("/f")).run().result?.get().lastPathComponent == "file.1")
    let again = await download(server.url("/f")).run()
    #expect(isUpToDate(again))
    #expect(try again.result?.get().lastPathComponent == "file.1")
    #expect(again.notes.last == "file.1 is not downloaded: the server's is no newer and of the same size")
    #expect(folder.names() == ["file", "file.1"])
  }

  @Test func aLinkToTheSameFileIsUpToDate() async throws {
    let server = try server("Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT")
    defer { server.stop() }
    try write("0123456789", to: "other")
    #expect(symlink(folder.url.path() + "/other", folder.url.path() + "/a link") == 0)
    #expect(isUpToDate(await download(server.url("/f"), to: "a link").run()))
    #expect(folder.names() == ["a link", "other"])
  }

  @Test func aFileWithADigestIsNotTakenForTheSame() async throws {
    let server = try server("Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT")
    defer { server.stop() }
    try write("9876543210", to: "file")
    let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    let download = Observed(
      DownloadOperation(from: server.url("/f"), to: folder.file("file"), sha256: digest, existing: .number))
    #expect(try await download.run().result?.get().lastPathComponent == "file.1")
  }

  @Test func aSkippedDownloadAsksNoServer() async throws {
    let server = try server()
    defer { server.stop() }
    try write("mine", to: "file")
    let download = await download(server.url("/f"), existing: .skip).run()
    #expect(isUpToDate(download))
    #expect(server.requests.isEmpty)
    #expect(try text("file") == "mine")
    #expect(await self.download(server.url("/f"), to: "other", existing: .skip).run().error == nil)
    #expect(try text("other") == "0123456789")
  }

  // MARK: Times

  private func modified(_ file: URL) -> time_t? { FileStatus(file.path(), followsLink: true)?.modified }

  @Test(arguments: [0, 946_684_800, 4_102_444_800])
  func theTimeOfTheFileIsThatOfTheServer(second: Int) async throws {
    let nginx = try Nginx()
    try nginx.add("f", size: 100_000)
    try setTime(second, of: nginx.files.appending(path: "f"))
    #expect(await download(nginx.url("/files/f")).run().error == nil)
    #expect(modified(folder.file("file")) == second)
  }

  /// A reply to a range need not repeat the date.
  @Test func theTimeOfAResumedFileIsThatOfTheServer() async throws {
    let server = try RawServer { request in
      guard request.number > 0 else {
        let date = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT"
        return [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\(date)\r\nContent-Length: 10\r\n\r\n0123")]
      }
      return RawServer.file(Array("0123456789".utf8))(request)
    }
    defer { server.stop() }
    #expect(await download(server.url("/f")).run().error?.code == .network)
    #expect(await download(server.url("/f")).run().error == nil)
    #expect(server.requests.map(\.rangeStart) == [nil, 4])
    #expect(modified(folder.file("file")) == 946_684_800)
  }

  @Test func withoutADateTheTimeOfTheFileIsThatOfTheDownload() async throws {
    let server = try server()
    defer { server.stop() }
    let before = time(nil)
    #expect(await download(server.url("/f")).run().error == nil)
    #expect(try #require(modified(folder.file("file"))) >= before)
  }

  /// wget asks by HEAD, so that it knows the size: a 304 says the date only.
  @Test(arguments: [
    ("nothing", 0, 100_000, false), ("published again", 3600, 100_000, true), ("rolled back", -3600, 100_000, false),
    ("another size, rolled back", -3600, 99_999, true), ("another size of the same date", 0, 100_001, true),
  ])
  func aFileIsFetchedAgainWhereWgetFetchesIt(_: String, later: Int, size: Int, isFetched: Bool) async throws {
    let nginx = try Nginx()
    let served = nginx.files.appending(path: "file")
    try nginx.add("file", size: 100_000)
    try setTime(1_700_000_000, of: served)
    let wget = ["wget", "-q", "-N", "--no-if-modified-since", "--no-proxy", "-P", folder.file("wget").path()]
    for isFirst in [true, false] {
      #expect(try ChildProcess.run(wget + [nginx.url("/files/file").absoluteString]).ending == .exited(0))
      let download = await download(nginx.url("/files/file"), to: "ours/file").run()
      #expect(download.error == nil)
      #expect(isUpToDate(download) == !(isFirst || isFetched))
      let ours = try #require(try download.result?.get())
      #expect(try Data(contentsOf: ours) == Data(contentsOf: folder.file("wget/file")))
      #expect(modified(ours) == modified(folder.file("wget/file")))
      try nginx.add("file", size: size, seed: 2)
      try setTime(1_700_000_000 + later, of: served)
    }
  }

  /// The server sends no body, and keeps its connection.
  @Test func aFileThatIsThereIsAskedForByHEAD() async throws {
    let server = try RawServer { request in
      let date = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n"
      switch (request.path, request.method) {
      case ("/hop", _): return [.send("HTTP/1.1 302 F\r\nLocation: /f\r\nContent-Length: 0\r\n\r\n"), .next]
      case (_, "HEAD"): return [.send("HTTP/1.1 200 OK\r\n\(date)Content-Length: 10\r\n\r\n"), .next]
      default: return [.send("HTTP/1.1 200 OK\r\n\(date)Content-Length: 10\r\n\r\n0123456789"), .next]
      }
    }
    defer { server.stop() }
    // The connections of other tests would push this one out of a common pool.
    let thread = TransferThread()
    #expect(await download(server.url("/f"), thread: thread).run().error == nil)
    for path in ["/f", "/hop"] {
      let download = await download(server.url(path), thread: thread).run()
      #expect(isUpToDate(download))
      #expect(download.notes.contains("HEAD /f 200 (HTTP/1.1)"))
    }
    #expect(server.requests.map(\.method) == ["GET", "HEAD", "HEAD", "HEAD"])
    #expect(server.connections == 1)
  }

  /// What HEAD doesn't say, GET does: some servers refuse it, send a body, break off or know no length.
  @Test(arguments: [
    "HTTP/1.1 405 M\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 403 F\r\nContent-Length: 5\r\n\r\nsorry", "", "HTTP",
    "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 302 F\r\nLocation: ftp://h/\r\n\r\n",
    "HTTP/1.1 200 OK\r\nLast-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\nContent-Length: 9\r\n\r\n012345678",
  ])
  func aServerThatCannotAnswerHEADIsAskedByGET(answer: String) async throws {
    for ending in answer.contains("\r\n\r\n") ? [RawServer.Step.next, .reset] : [.reset] {
      let server = try RawServer { request in
        guard request.method == "GET" else { return [.send(answer), ending] }
        let date = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT"
        return [.send("HTTP/1.1 200 OK\r\n\(date)\r\nContent-Length: 10\r\n\r\n0123456789"), .next]
      }
      defer { server.stop() }
      try write("0123456789", to: "file")
      let download = await download(server.url("/f")).run()
      #expect(isUpToDate(download), "\(String(describing: download.error)) \(download.notes)")
    }
  }

  @Test func aDownloadIsPausedAndCancelledWhileItAsks() async throws {
    let server = try RawServer { _ in [.hold] }
    defer { server.stop() }
    try write("mine", to: "file")
    let download = download(server.url("/f"))
    download.operation.start()
    #expect(eventually { server.requests.count == 1 })
    download.operation.pause()
    #expect(eventually { server.openConnections == 0 })
    download.operation.resume()
    #expect(eventually { server.requests.count == 2 })
    await download.cancel()
    #expect(download.isCancelled)
    #expect(server.requests.map(\.method) == ["HEAD", "HEAD"])
    #expect(folder.names() == ["file"])
  }

  private func setTime(_ second: Int, of file: URL) throws {
    let date = Date(timeIntervalSince1970: TimeInterval(second))
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path())
  }

  // MARK: Digests

  private static let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"

  private func checked(_ server: RawServer, _ existing: DownloadOperation.ExistingFile) -> Observed<URL> {
    Observed(
      DownloadOperation(
        from: server.url("/f"), to: folder.file("file"), sha256: Self.digest.uppercased(), existing: existing))
  }

  @Test(arguments: [DownloadOperation.ExistingFile.overwrite, .number, .skip])
  func aFileWithTheExpectedDigestIsNotFetchedAgain(existing: DownloadOperation.ExistingFile) async throws {
    let server = try server()
    defer { server.stop() }
    try write("0123456789", to: "file")
    let download = await checked(server, existing).run()
    #expect(isUpToDate(download))
    #expect(download.notes == ["file is not downloaded: it has the expected sha256"])
    #expect(server.requests.isEmpty)
    #expect(folder.names() == ["file"])
  }

  @Test(arguments: [
    (DownloadOperation.ExistingFile.overwrite, ["file"], "0123456789"), (.number, ["file", "file.1"], "mine"),
  ])
  func aFileWithAnotherDigestIsFetched(
    existing: DownloadOperation.ExistingFile, names: [String], content: String
  ) async throws {
    let server = try server()
    defer { server.stop() }
    try write("mine", to: "file")
    let isNumbered = existing == .number
    let first = await checked(server, existing).run()
    #expect(try first.result?.get() == folder.file(names.last ?? ""))
    #expect(first.notes.contains("saved as file.1: there is another file with another sha256") == isNumbered)
    #expect(folder.names() == names)
    #expect(try text("file") == content)
    // The numbered one has it.
    let second = await checked(server, existing).run()
    #expect(isUpToDate(second))
    #expect(second.notes.contains("found as file.1: there is another file with another sha256") == isNumbered)
    #expect(server.requests.count == 1)
  }

  @Test func aSkippedFileWithAnotherDigestIsAFailure() async throws {
    let server = try server("Content-Disposition: attachment; filename=file")
    defer { server.stop() }
    try write("mine", to: "file")
    let download = await checked(server, .skip).run()
    #expect(download.error?.code == .checksum)
    #expect(download.error?.message.hasSuffix("expected 84d89877f0d4…") == true)
    let named = DownloadOperation(
      from: server.url("/f"), to: folder.file("other"), sha256: Self.digest, existing: .skip, usesServerName: true)
    #expect(await Observed(named).run().error == download.error)
    #expect(folder.names() == ["file"])
    try FileManager.default.removeItem(at: folder.file("file"))
    #expect(mkfifo(folder.file("file").path(), 0o600) == 0)
    #expect(
      await checked(server, .skip).run().error
        == TransferError(.checksum, "file is there, and its sha256 can't be computed"))
  }

  @Test func aDownloadIsPausedAndCancelledWhileItComparesAFile() async throws {
    let server = try server()
    defer { server.stop() }
    try Data().write(to: folder.file("file"))
    #expect(truncate(folder.file("file").path(), 1 << 42) == 0)
    let download = checked(server, .overwrite)
    download.operation.start()
    download.operation.pause()
    download.operation.resume()
    #expect(stays { download.result == nil })
    await download.cancel()
    #expect(download.isCancelled)
    #expect(server.requests.isEmpty)
    #expect(folder.names() == ["file"])
  }

  // MARK: Parts

  @Test func thePartOfTheSameURLIsResumed() async throws {
    // The first request is HEAD.
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: [0, 4]))
    defer { server.stop() }
    try write("mine", to: "file")
    #expect(await download(server.url("/f")).run().error?.code == .network)
    #expect(folder.names() == ["file", "file.1.part", "file.1.part.meta"])
    #expect(await download(server.url("/f")).run().error == nil)
    #expect(server.requests.filter { $0.method == "GET" }.map(\.rangeStart) == [nil, 4])
    #expect(try text("file.1") == "0123456789")
    #expect(folder.names() == ["file", "file.1"])
  }

  @Test(arguments: [DownloadOperation.ExistingFile.overwrite, .number])
  func thePartOfAnotherURLStays(existing: DownloadOperation.ExistingFile) async throws {
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: [4]))
    defer { server.stop() }
    #expect(await download(server.url("/a"), existing: existing).run().error?.code == .network)
    let second = await download(server.url("/b"), existing: existing).run()
    #expect(try second.result?.get().lastPathComponent == "file")
    #expect(try text("file.part") == "0123")
    #expect(folder.names() == ["file", "file.part", "file.part.meta"])
  }

  @Test(arguments: [DownloadOperation.ExistingFile.overwrite, .number])
  func thePartOfAnotherProgramStays(existing: DownloadOperation.ExistingFile) async throws {
    let server = try server()
    defer { server.stop() }
    try write("a browser's", to: "file.part")
    #expect(await download(server.url("/f"), existing: existing).run().error == nil)
    #expect(try text("file.part") == "a browser's")
    #expect(try text("file") == "0123456789")
  }

  @Test func aFileIsReplacedByANumberedPartThatIsResumed() async throws {
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: [4]))
    defer { server.stop() }
    try write("mine", to: "file")
    try write("a browser's", to: "file.part")
    #expect(chmod(folder.file("file").path(), 0o640) == 0 && chmod(folder.file("file.part").path(), 0o604) == 0)
    #expect(await download(server.url("/f"), existing: .overwrite).run().error?.code == .network)
    #expect(try text("file.part.1.part") == "0123")
    #expect(try text("file") == "mine")
    #expect(await download(server.url("/f"), existing: .overwrite).run().error == nil)
    #expect(server.requests.map(\.rangeStart) == [nil, 4])
    #expect(try text("file") == "0123456789")
    #expect(try text("file.part") == "a browser's")
    #expect(folder.names() == ["file", "file.part"])
    let modes = ["file", "file.part"].map { FileStatus(folder.file($0).path())?.mode }
    #expect(modes == [0o640, 0o604])
  }

  /// As of two URLs of one `opdash get` that end alike.
  @Test func aNumberedPartIsNotThatOfTheNumberedFile() async throws {
    let server = try RawServer(RawServer.stalled)
    defer { server.stop() }
    try write("a browser's", to: "file.part")
    let downloads = ["file", "file.1"].map { download(server.url("/\($0)"), to: $0, existing: .overwrite) }
    for download in downloads {
      download.start(until: 5)
      #expect(download.result == nil)
    }
    for download in downloads { await download.cancel() }
    #expect(folder.names().filter { $0.hasSuffix(".part") } == ["file.1.part", "file.part", "file.part.1.part"])
  }

  /// Nobody can resume it, and the next download would take it for another program's.
  @Test(arguments: [DownloadOperation.ExistingFile.overwrite, .number])
  func aPartThatCannotBeResumedIsNotKept(existing: DownloadOperation.ExistingFile) async throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012")] }
    defer { server.stop() }
    #expect(await download(server.url("/f"), existing: existing).run().error?.code == .network)
    #expect(folder.names().isEmpty)
  }

  /// Its name is free while the download is paused.
  @Test func aPartThatIsRemovedByAPauseIsChosenAnew() async throws {
    let server = try RawServer { request in
      request.number == 0
        ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234"), .hold]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"), .next]
    }
    defer { server.stop() }
    let download = download(server.url("/f"), existing: .overwrite)
    download.start(until: 5)
    download.operation.pause()
    #expect(eventually { folder.names().isEmpty })
    try write("a browser's", to: "file.part")
    download.operation.resume()
    await download.ended()
    #expect(try [text("file"), text("file.part")] == ["0123456789", "a browser's"])
  }

  @Test func aPausedDownloadGoesOnWithItsPart() async throws {
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: []))
    defer { server.stop() }
    try write("mine", to: "file")
    let stalled = try RawServer { request in
      if request.method == "HEAD" { return [.reset] }
      return request.rangeStart == nil ? RawServer.stalled(request) : RawServer.file(Array("1234567890".utf8))(request)
    }
    defer { stalled.stop() }
    let download = download(stalled.url("/f"))
    download.start(until: 5)
    download.operation.pause()
    #expect(eventually { stalled.openConnections == 0 })
    download.operation.resume()
    await download.ended()
    #expect(try text("file.1") == "1234567890")
    #expect(folder.names() == ["file", "file.1"])
  }

  // MARK: Folders

  @Test(arguments: ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", ""])
  func aFailedDownloadLeavesNoFolderThatItCreated(reply: String) async throws {
    let server = try RawServer { _ in [.send(reply)] }
    defer { server.stop() }
    try FileManager.default.createDirectory(at: folder.file("a"), withIntermediateDirectories: false)
    for existing in [DownloadOperation.ExistingFile.number, .overwrite] {
      #expect(await download(server.url("/f"), to: "a/b/c/file", existing: existing).run().error != nil)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.url.path()) == ["a"])
    }
  }

  @Test func aFolderWithAFileStays() async throws {
    let server = try RawServer { request in
      let status = request.path == "/f" ? "200 OK" : "404 Not Found"
      return [.send("HTTP/1.1 \(status)\r\nContent-Length: 1\r\n\r\nx"), .next]
    }
    defer { server.stop() }
    #expect(await download(server.url("/f"), to: "a/file").run().error == nil)
    #expect(await download(server.url("/g"), to: "a/b/other").run().error != nil)
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.url.path()).sorted() == ["a", "a/file"])
  }

  // MARK: Names of servers

  @Test func aServerMayChooseTheNameButNotThePlace() async throws {
    let server = try server("Content-Disposition: attachment; filename=\"../../tool-1.2.zip\"")
    defer { server.stop() }
    try write("mine", to: "tool-1.2.zip")
    for (number, existing) in zip([1, 2], [DownloadOperation.ExistingFile.number, .number]) {
      let download = await download(server.url("/f"), existing: existing, usesServerName: true).run()
      #expect(download.error == nil)
      #expect(try text("tool-1.2.zip.\(number)") == "0123456789")
    }
    let skipped = await download(server.url("/f"), existing: .skip, usesServerName: true).run()
    #expect(isUpToDate(skipped))
    #expect(try text("tool-1.2.zip") == "mine")
    let replaced = await download(server.url("/f"), existing: .overwrite, usesServerName: true).run()
    #expect(replaced.notes.last == "saved as tool-1.2.zip: the name that the server gives")
    #expect(try text("tool-1.2.zip") == "0123456789")
    #expect(folder.names() == ["tool-1.2.zip", "tool-1.2.zip.1", "tool-1.2.zip.2"])
  }

  @Test(arguments: ["file.part", "file.part.meta"], [DownloadOperation.ExistingFile.overwrite, .number])
  func aServerMayChooseTheNameOfThePart(name: String, existing: DownloadOperation.ExistingFile) async throws {
    let server = try server("Content-Disposition: attachment; filename=\(name)")
    defer { server.stop() }
    let download = await download(server.url("/f"), existing: existing, usesServerName: true).run()
    #expect(download.error == nil)
    #expect(try text("\(name).1") == "0123456789")
    #expect(folder.names() == ["\(name).1"])
  }

  /// Nothing says that the files of two URLs are one.
  @Test(arguments: [DownloadOperation.ExistingFile.overwrite, .number, .skip])
  func twoURLsWithOneServerNameGiveTwoFiles(existing: DownloadOperation.ExistingFile) async throws {
    let server = try RawServer { request in
      let date = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n"
      let header = "\(date)Content-Disposition: attachment; filename=x\r\nContent-Length: 2\r\n"
      return [.send("HTTP/1.1 200 OK\r\n\(header)\r\n\(request.path)"), .next]
    }
    defer { server.stop() }
    for round in 0..<2 {
      for (path, name) in [("/a", "x"), ("/b", "x.1")] {
        let download = await download(server.url(path), to: path, existing: existing, usesServerName: true).run()
        #expect(try download.result?.get().lastPathComponent == name)
        #expect(isUpToDate(download) == (round > 0 && existing != .overwrite))
      }
    }
    #expect(try [text("x"), text("x.1")] == ["/a", "/b"])
    #expect(folder.names() == ["x", "x.1"])
  }

  /// As of a run that was interrupted between the two.
  @Test func aSkippedFileIsThatOfOneURL() async throws {
    let server = try server("Content-Disposition: attachment; filename=x")
    defer { server.stop() }
    try write("mine", to: "x")
    for (path, name) in [("/a", "x"), ("/b", "x.1")] {
      let download = await download(server.url(path), to: path, existing: .skip, usesServerName: true).run()
      #expect(try download.result?.get().lastPathComponent == name)
    }
    #expect(try [text("x"), text("x.1")] == ["mine", "0123456789"])
  }

  /// The process that saved the first of two files with one server-given name has ended.
  @Test(arguments: [DownloadOperation.ExistingFile.overwrite, .number, .skip])
  func aFileOfTheRunThatIsResumedIsThatOfAnotherURL(existing: DownloadOperation.ExistingFile) async throws {
    let date = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT"
    let server = try server("Content-Disposition: attachment; filename=x\r\n\(date)")
    defer { server.stop() }
    try write("9876543210", to: "x")
    let download = await download(
      server.url("/b"), to: "b", existing: existing, usesServerName: true, resumedSince: Date(timeIntervalSinceNow: -60)
    ).run()
    #expect(try download.result?.get().lastPathComponent == "x.1")
    #expect(try [text("x"), text("x.1")] == ["9876543210", "0123456789"])
  }

  @Test func aFileOlderThanTheRunThatIsResumedIsReplaced() async throws {
    let server = try server("Content-Disposition: attachment; filename=x")
    defer { server.stop() }
    try write("mine", to: "x")
    let later = Date(timeIntervalSinceNow: 60)
    _ = await download(server.url("/b"), to: "b", existing: .overwrite, usesServerName: true, resumedSince: later).run()
    #expect(try text("x") == "0123456789")
  }

  // MARK: Files that the run that is resumed has finished

  private let aMinuteAgo = Date(timeIntervalSinceNow: -60)
  private static let hasAttributes: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    return withExtendedLifetime(folder) { setxattr(folder.url.path(), "user.opdash.test", "x", 1, 0) == 0 }
  }()

  @Test(
    .enabled(if: hasAttributes, "the folder for temporary files has no extended attributes"),
    arguments: [DownloadOperation.ExistingFile.overwrite, .number, .skip], [true, false])
  func aFileThatTheResumedRunHasFinishedIsNotDownloadedAgain(
    existing: DownloadOperation.ExistingFile, usesServerName: Bool
  ) async throws {
    let server = try server(usesServerName ? "Content-Disposition: attachment; filename=x" : "X: y")
    defer { server.stop() }
    // Of another URL, with the same name.
    try write("mine", to: usesServerName ? "x" : "file")
    let isNumbered = if case .number = existing { true } else { usesServerName }
    if !isNumbered { try FileManager.default.removeItem(at: folder.file("file")) }
    let url = server.url("/f?token=\(usesServerName)")
    // What the earlier process did, which did not live to record it.
    let name = (usesServerName ? "x" : "file") + (isNumbered ? ".1" : "")
    _ = await download(url, to: "file", existing: .number).run()
    if usesServerName { try FileManager.default.moveItem(at: folder.file("file"), to: folder.file(name)) }
    let (names, requests) = (folder.names(), server.requests.count)
    let download = await download(
      url, to: "file", existing: existing, usesServerName: usesServerName, resumedSince: aMinuteAgo
    ).run()
    #expect(try download.result?.get().lastPathComponent == name)
    #expect(isUpToDate(download))
    #expect(download.notes.last == "\(name) is not downloaded: it was downloaded before the run was resumed")
    #expect(folder.names() == names)
    #expect(server.requests.count == requests + (usesServerName ? 1 : 0))
  }

  @Test(arguments: ["another URL", "changed", "another size", "copied", "older", "repeated"])
  func anyOtherFileIsDownloadedInAResumedRun(kind: String) async throws {
    let server = try server()
    defer { server.stop() }
    let url = server.url("/f")
    _ = await download(kind == "another URL" ? server.url("/g") : url, existing: .overwrite).run()
    switch kind {
    case "changed": #expect(utimes(folder.file("file").path(), nil) == 0)
    case "another size":
      let file = try FileHandle(forWritingTo: folder.file("file"))
      let time = try #require(FileStatus(file.fileDescriptor)).value.st_mtim
      try file.write(contentsOf: Data("0123456789ab".utf8))
      futimens(file.fileDescriptor, [time, time])
    case "copied":
      try FileManager.default.removeItem(at: folder.file("file"))
      try write("9876543210", to: "file")
    default: break
    }
    let operation = DownloadOperation(from: url, to: folder.file("file"))
    operation.resumedSince = kind == "older" ? Date(timeIntervalSinceNow: 60) : aMinuteAgo
    operation.takesFinished = kind != "repeated"
    let download = await Observed(operation).run()
    #expect(!isUpToDate(download) && server.requests.count == 2)
    #expect(try text("file") == "0123456789")
    #expect(folder.names() == ["file"])
  }

  @Test(.enabled(if: hasAttributes, "the folder for temporary files has no extended attributes"))
  func aNumberedFileIsNotTheOneThatIsToBeReplaced() async throws {
    let server = try server()
    defer { server.stop() }
    try write("mine", to: "file")
    let url = server.url("/f")
    _ = await download(url, to: "file.1").run()
    let download = await download(url, existing: .overwrite, resumedSince: aMinuteAgo).run()
    #expect(!isUpToDate(download) && server.requests.count == 2)
    #expect(try text("file") == "0123456789")
  }

  @Test(.enabled(if: hasAttributes, "the folder for temporary files has no extended attributes"))
  func theMarkOfAFinishedFileHoldsNoSecret() async throws {
    let server = try server()
    defer { server.stop() }
    _ = await download(try #require(URL(string: "http://me:s3cret@127.0.0.1:\(server.port)/f?token=s3cret"))).run()
    let path = folder.file("file").path()
    var names = [CChar](repeating: 0, count: 1000)
    let count = llistxattr(path, &names, names.count)
    let name = String(decoding: names.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #expect(name.split(separator: "\0").filter { $0.hasPrefix("user.") } == ["user.opdash.url"])
    var mark = [UInt8](repeating: 0, count: 1000)
    let size = lgetxattr(path, "user.opdash.url", &mark, mark.count)
    let text = String(decoding: mark.prefix(max(0, size)), as: UTF8.self)
    #expect(text.count == 32 && text.allSatisfy(\.isHexDigit))
    #expect(DownloadMark.isOn(path, server.url("/f?token=s3cret").absoluteString))
  }

  @Test(arguments: [
    ("attachment; filename=a.zip", "a.zip"), ("attachment; filename=\"a b;c.zip\"; size=3", "a b;c.zip"),
    ("ATTACHMENT; FileName = \"x\\\"y\"", "x\"y"), ("inline", nil), ("attachment; filename=\"\"", nil),
    ("attachment; filename=\"../../etc/passwd\"", "passwd"), ("attachment; filename=\"/etc/\"", "etc"),
    ("attachment; filename=\"..\"", nil), ("attachment; filename=\".bashrc\"", "bashrc"),
    ("attachment; filename=\"-rf\"", "rf"), ("attachment; filename=\"a\u{1B}[2Jb\u{202E}c\"", "a_[2Jb_c"),
    ("attachment; filename=old.txt; filename*=UTF-8''na%C3%AFve%20file.txt", "naïve file.txt"),
    ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
    ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
    ("attachment; filename*=UTF-8''%FF; filename=plain", "plain"),
    ("attachment; filename*=KOI8-R''%C1; filename=plain", "plain"),
    ("attachment; filename*=broken; filename=plain", "plain"),
    ("attachment; filename*=UTF-8''it's.txt; filename=plain", "it's.txt"),
  ])
  func theNameInAContentDispositionIsSafe(_ field: String, _ name: String?) throws {
    var reply = try #require(Reply(statusLine: "HTTP/1.1 200 OK"))
    reply.add(line: "Content-Disposition: \(field)")
    #expect(reply.fileName == name)
  }

  @Test func aLongNameKeepsItsExtension() throws {
    let long = String(repeating: "ä", count: 400)
    let name = try #require(FileName.chosenByServer(long + ".tar.gz"))
    #expect(name.hasPrefix("ää") && name.hasSuffix("ä.gz"))
    #expect(name.utf8.count <= 200)
    #expect(FileName.of(try #require(URL(string: "http://h/" + String(repeating: "a", count: 300)))).count == 200)
  }
}
