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
    usesServerName: Bool = false
  ) -> Observed<URL> {
    Observed(
      DownloadOperation(from: url, to: folder.file(name), existing: existing, usesServerName: usesServerName))
  }

  private func isUpToDate(_ download: Observed<URL>) -> Bool {
    (download.operation as? DownloadOperation)?.isUpToDate == true
  }

  /// A server of `0123456789` with these header lines beside the length.
  private func server(_ headers: String...) throws -> RawServer {
    let lines = headers.map { "\($0)\r\n" }.joined()
    return try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(lines)\r\n0123456789"), .next] }
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

  @Test func aNumberedFileIsUpToDateToo() async throws {
    let server = try server("Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT")
    defer { server.stop() }
    try write("mine", to: "file")
    #expect(try await download(server.url("/f")).run().result?.get().lastPathComponent == "file.1")
    let again = await download(server.url("/f")).run()
    #expect(isUpToDate(again))
    #expect(try again.result?.get().lastPathComponent == "file.1")
    #expect(again.notes.last == "file.1 is not downloaded: the server has the same file")
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

  // MARK: Parts

  @Test func thePartOfTheSameURLIsResumed() async throws {
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: [4]))
    defer { server.stop() }
    try write("mine", to: "file")
    #expect(await download(server.url("/f")).run().error?.code == .network)
    #expect(folder.names() == ["file", "file.1.part", "file.1.part.meta"])
    #expect(await download(server.url("/f")).run().error == nil)
    #expect(server.requests.map(\.rangeStart) == [nil, 4])
    #expect(try text("file.1") == "0123456789")
    #expect(folder.names() == ["file", "file.1"])
  }

  @Test func thePartOfAnotherURLStays() async throws {
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: [4]))
    defer { server.stop() }
    #expect(await download(server.url("/a")).run().error?.code == .network)
    #expect(try await download(server.url("/b")).run().result?.get().lastPathComponent == "file")
    #expect(try text("file.part") == "0123")
    #expect(folder.names() == ["file", "file.part", "file.part.meta"])
  }

  @Test func thePartOfAnotherProgramStays() async throws {
    let server = try server()
    defer { server.stop() }
    try write("a browser's", to: "file.part")
    #expect(await download(server.url("/f")).run().error == nil)
    #expect(try text("file.part") == "a browser's")
    #expect(try text("file") == "0123456789")
  }

  /// Nobody can resume it, and the next download would take it for another program's.
  @Test func aPartThatCannotBeResumedIsNotKept() async throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012")] }
    defer { server.stop() }
    #expect(await download(server.url("/f")).run().error?.code == .network)
    #expect(folder.names().isEmpty)
  }

  @Test func aPausedDownloadGoesOnWithItsPart() async throws {
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: []))
    defer { server.stop() }
    try write("mine", to: "file")
    let stalled = try RawServer { request in
      request.rangeStart == nil ? RawServer.stalled(request) : RawServer.file(Array("1234567890".utf8))(request)
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
