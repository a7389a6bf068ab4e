import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// The files that downloads read and write.
@Suite struct DownloadFileTests {
  private let folder: TemporaryFolder
  private let content = randomBytes(300_000)
  /// The digest of "hello\n".
  private let digest = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

  init() throws { folder = try TemporaryFolder() }

  private func serve(_ content: [UInt8], cuts: [Int] = []) throws -> RawServer {
    try RawServer(RawServer.file(content, cuts: cuts))
  }

  private func download(_ url: URL, to name: String = "file", sha256: String? = nil) -> Observed<URL> {
    Observed(DownloadOperation(from: url, to: folder.file(name), sha256: sha256))
  }

  @Test func aFileWithTheExpectedDigestIsKept() async throws {
    let server = try serve(Array("hello\n".utf8))
    defer { server.stop() }
    for digest in [digest, digest.uppercased()] {
      #expect(try await download(server.url("/f"), sha256: digest).run().result?.get() != nil)
    }
    #expect(folder.names() == ["file"])
  }

  @Test func theDigestOfAResumedDownloadIsThatOfTheWholeFile() async throws {
    let server = try serve(Array("hello\n".utf8), cuts: [3])
    defer { server.stop() }
    #expect(await download(server.url("/f"), sha256: digest).run().error?.code == .network)
    #expect(try await download(server.url("/f"), sha256: digest).run().result?.get() != nil)
    #expect(server.requests.map(\.rangeStart) == [nil, 3])
  }

  @Test func aWrongDigestIsAFailureAndThePartIsRemoved() async throws {
    let server = try serve(Array("hullo\n".utf8))
    defer { server.stop() }
    let download = await download(server.url("/f"), sha256: digest).run()
    #expect(download.error?.code == .checksum)
    #expect(download.error?.message.hasSuffix("expected 5891b5b522d5…") == true)
    #expect(download.notes.last?.hasSuffix("expected \(digest)") == true)
    #expect(folder.names().isEmpty)
  }

  @Test(arguments: ["", "abc", String(repeating: "g", count: 64)])
  func whatIsNoDigestFailsBeforeAnythingIsSent(digest: String) async throws {
    let server = try serve(content)
    defer { server.stop() }
    #expect(await download(server.url("/f"), sha256: digest).run().error?.code == .checksum)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [245, 246, 250, 251, 254, 255])
  func aNameOfAnyLengthIsDownloadedAndResumed(count: Int) async throws {
    let server = try serve(content, cuts: [1000])
    defer { server.stop() }
    let name = String(repeating: "n", count: count)
    #expect(await download(server.url("/f"), to: name).run().error?.code == .network)
    #expect(folder.names().count == 2 && folder.names().allSatisfy { $0.hasPrefix("nnn") && $0.utf8.count <= 255 })
    #expect(try await download(server.url("/f"), to: name).run().result?.get() == folder.file(name))
    #expect(server.requests.map(\.rangeStart) == [nil, 1000])
    #expect(folder.names() == [name])
    let numbered = DownloadOperation(from: server.url("/f"), to: folder.file(name), existing: .number)
    #expect(await Observed(numbered).run().error == nil)
    #expect(folder.names().contains(String(name.prefix(253)) + ".1"))
  }

  @Test func twoLongNamesHaveTwoParts() throws {
    let names = ["a", "b"].map { String(repeating: "n", count: 250) + $0 }
    #expect(Set(names.map { PartFile.path(for: "/d/\($0)") }).count == 2)
    #expect(names.allSatisfy { PartFile.path(for: "/d/\($0)").hasPrefix("/d/nnn") })
  }

  @Test func anExistingFileIsReplacedOnlyAtTheEnd() async throws {
    let server = try serve(content, cuts: [1000])
    defer { server.stop() }
    try Data("old".utf8).write(to: folder.file("file"))
    #expect(await download(server.url("/f")).run().error?.code == .network)
    #expect(try Data(contentsOf: folder.file("file")) == Data("old".utf8))
    #expect(try await download(server.url("/f")).run().result?.get() != nil)
    #expect(try Data(contentsOf: folder.file("file")) == Data(content))
  }

  @Test func aFolderInTheFilesPlaceIsAFailureBeforeAnythingIsSent() async throws {
    let server = try serve(content)
    defer { server.stop() }
    try FileManager.default.createDirectory(at: folder.file("file"), withIntermediateDirectories: true)
    let path = folder.file("file").path()
    let error = await download(server.url("/f")).run().error
    #expect(error?.code == .file)
    #expect(error?.message.hasPrefix("Is a directory: ") == true && error?.message.contains(path.dropLast()) == true)
    #expect(server.requests.isEmpty)
  }

  @Test func aFileInAFoldersPlaceIsAFailureThatNamesIt() async throws {
    let server = try serve(content)
    defer { server.stop() }
    try Data().write(to: folder.file("a"))
    let download = await download(server.url("/f"), to: "a/b/c").run()
    #expect(download.error == TransferError(.file, "Not a directory: \(folder.file("a").path())"))
  }

  @Test func aPartThatIsNoRegularFileIsAFailure() async throws {
    let server = try serve(content)
    defer { server.stop() }
    symlink("/dev/full", folder.file("file.part").path())
    let download = await download(server.url("/f")).run()
    #expect(
      download.error
        == TransferError(
          .file, "\(folder.file("file.part").path()) is a symbolic link, which a download doesn't follow: remove it"))
  }

  @Test func aURLThatIsNoFileIsAFailure() async throws {
    let server = try serve(content)
    defer { server.stop() }
    let download = Observed(DownloadOperation(from: server.url("/f"), to: server.url("/g")))
    #expect(await download.run().error?.code == .file)
  }

  /// The limit is the process's, so it lies beyond any file of another test.
  @Test func aFullDiskIsAFailureThatKeepsThePart() async throws {
    let limit = 8 << 40
    let nginx = try Nginx()
    try sparseFile(nginx.files.appending(path: "huge"), size: limit + (1 << 20))
    try sparseFile(folder.file("file.part"), size: limit)
    let tag = try await tag(of: nginx.url("/files/huge"))
    var reply = try #require(Reply(statusLine: "HTTP/1.1 200 OK"))
    reply.add(line: "ETag: \(tag)")
    let info = try #require(PartInfo(url: nginx.url("/files/huge").absoluteString, reply: reply))
    try JSONEncoder().encode(info).write(to: folder.file("file.part.meta"))
    signal(SIGXFSZ, SIG_IGN)
    var old = rlimit()
    getrlimit(fileSizeLimit, &old)
    var new = rlimit(rlim_cur: rlim_t(limit), rlim_max: old.rlim_max)
    setrlimit(fileSizeLimit, &new)
    defer { setrlimit(fileSizeLimit, &old) }
    let download = await download(nginx.url("/files/huge")).run()
    #expect(download.error == TransferError(.file, "File too large: \(folder.file("file.part").path())"))
    #expect(download.notes == ["GET /files/huge 206, from byte \(limit) of \(limit + (1 << 20)) (HTTP/1.1)"])
    #expect(folder.names() == ["file.part", "file.part.meta"])
  }

  @Test func aPartIsLockedAgainstASecondTransfer() async throws {
    let server = try RawServer(RawServer.stalled)
    defer { server.stop() }
    let first = download(server.url("/f"))
    first.start(until: 5)
    let second = await download(server.url("/f")).run()
    #expect(second.error == TransferError(.file, "another transfer is writing \(folder.file("file.part").path())"))
    await first.cancel()
    #expect(try Data(contentsOf: folder.file("file.part")) == Data("12345".utf8))
  }

  /// A child process has a copy of every descriptor until its program begins.
  @Test func aClosedPartIsUnlockedAlthoughACopyOfItsDescriptorIsOpen() throws {
    let part = try PartFile(for: folder.file("file").path(percentEncoded: false))
    try Array("12345".utf8).withUnsafeBytes { try part.write($0) }
    var named = stat()
    try #require(stat(part.path, &named) == 0)
    let descriptor = try #require(
      (Int32(0)..<1024).first { number in
        var opened = stat()
        return fstat(number, &opened) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
      })
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    defer { close(copy) }
    part.close(keeping: true)
    let next = try PartFile(for: folder.file("file").path(percentEncoded: false))
    #expect(next.size == 5)
    next.close(keeping: false)
  }

  /// `ProgressGateTests` has the pace of the reports.
  @Test func progressGrowsFromNothingToTheWhole() async throws {
    let server = try serve(randomBytes(20_000_000))
    defer { server.stop() }
    let download = await download(server.url("/f")).run()
    #expect(download.progress.first == OperationProgress(completed: 0, total: 20_000_000))
    #expect(download.progress.last == OperationProgress(completed: 20_000_000, total: 20_000_000))
    #expect(download.progress.map(\.completed) == download.progress.map(\.completed).sorted())
  }

  @Test func allNotesAndTheLastProgressAreDeliveredBeforeTheEnd() async throws {
    let server = try serve(content)
    defer { server.stop() }
    let heard = Lock<[String]>([])
    let queue = DispatchQueue(label: "observer")
    for round in 0..<50 {
      heard.withLock { $0 = [] }
      let wrong = String(repeating: "0", count: 64)
      let operation = DownloadOperation(from: server.url("/f"), to: folder.file("\(round)"), sha256: wrong)
      let tokens = [
        operation.observe(\.progress, on: queue) { _, change in
          heard.withLock { $0.append("\(change.newValue.completed)") }
        },
        operation.observeLog(on: queue) { _, line in
          heard.withLock { $0.append(line.source == .note ? String(line.text.prefix(6)) : "not a note") }
        },
        operation.observe(\.state, on: queue) { _, change in
          if change.newValue == .finished { heard.withLock { $0.append("finished") } }
        },
      ]
      operation.start()
      #expect(eventually { heard.withLock { $0.last } == "finished" })
      withExtendedLifetime(tokens) {}
      let lines = heard.withLock { $0.filter { !["0", "finished"].contains($0) && Int($0) ?? 300_000 == 300_000 } }
      #expect(lines == ["GET /f", "300000", "sha256"])
    }
  }

  @Test func twoHundredDownloadsAtOnceAreEachWhole() async throws {
    let nginx = try Nginx()
    let files = try (0..<10).map { try nginx.add("\($0)", size: 50_000 + $0, seed: UInt64($0)) }
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 200
    let downloads = (0..<200).map { download(nginx.url("/files/\($0 % 10)"), to: "\($0)") }
    for download in downloads { queue.addOperation(download.operation) }
    for download in downloads { await download.ended() }
    for number in 0..<200 {
      #expect(
        try Data(contentsOf: folder.file("\(number)")) == files[number % 10],
        "\(String(describing: downloads[number].result))")
    }
    #expect(folder.names().count == 200)
  }

  private func sparseFile(_ file: URL, size: Int) throws {
    try Data().write(to: file)
    #expect(truncate(file.path(), off_t(size)) == 0)
  }

  /// The validator that a transfer saves.
  private func tag(of url: URL) async throws -> String {
    let download = download(url, to: "probe")
    download.operation.start()
    #expect(eventually { folder.names().contains("probe.part.meta") && download.done > 0 })
    await download.cancel()
    let data = try Data(contentsOf: folder.file("probe.part.meta"))
    defer {
      for name in ["probe.part", "probe.part.meta"] { try? FileManager.default.removeItem(at: folder.file(name)) }
    }
    return try JSONDecoder().decode(PartInfo.self, from: data).validator
  }
}

private let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
