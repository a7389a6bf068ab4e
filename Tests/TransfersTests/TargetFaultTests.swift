import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// A file that a download refuses to overwrite before anything is sent; it stays as it is.
struct TargetFault: Sendable, CustomTestStringConvertible {
  var name: String
  /// With FOLDER in the place of the folder's path.
  var message: String
  var target: String
  /// Makes the file.
  let prepare: @Sendable (TemporaryFolder) throws -> Void

  init(
    _ name: String, _ message: String, target: String = "file",
    prepare: @escaping @Sendable (TemporaryFolder) throws -> Void
  ) {
    self.name = name
    self.message = message
    self.target = target
    self.prepare = prepare
  }

  var testDescription: String { name }
}

/// Downloads whose file, part or folder can't be what it should be.
struct TargetFaultTests {
  private let folder: TemporaryFolder
  private let content = Array("0123456789".utf8)

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.url.path() + "/" + name }
  private func text(_ name: String) throws -> String { try String(contentsOf: folder.file(name), encoding: .utf8) }
  private func mode(_ name: String) -> mode_t? { FileStatus(path(name))?.mode }

  private func download(_ server: RawServer, to name: String = "file") -> Observed<URL> {
    Observed(DownloadOperation(from: server.url("/f"), to: folder.file(name)))
  }

  /// Expects a download to fail with this message before anything is sent.
  private func expectRefusal(_ message: String, to name: String = "file") async throws {
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    let download = await download(server, to: name).run()
    #expect(download.error == TransferError(.file, message))
    #expect(server.requests.isEmpty)
  }

  private func expectFile(_ name: String = "file") async throws {
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    let download = await download(server, to: name).run()
    #expect(download.error == nil && download.result != nil)
    #expect(try text(name) == "0123456789")
  }

  /// A server that sends five of ten bytes and the others after `release`.
  private func halting(_ release: DispatchSemaphore) throws -> RawServer {
    try RawServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n01234"),
        .run { _ = release.wait(timeout: .now() + Patience.seconds) }, .send("56789"),
      ]
    }
  }

  // MARK: The target

  static let refusals = [
    TargetFault("a folder in the file's place", "Is a directory: FOLDER/file") {
      try FileManager.default.createDirectory(at: $0.file("file"), withIntermediateDirectories: false)
    },
    TargetFault("a FIFO in the file's place", noFile) { mkfifo($0.file("file").path(), 0o600) },
    TargetFault("a link to a device in the file's place", noFile) { symlink("/dev/null", $0.file("file").path()) },
    TargetFault("a file in the folder's place", "Not a directory: FOLDER/other", target: "other/a/file") { _ in },
    TargetFault("a symbolic link in the part's place", noLink) {
      symlink($0.file("other").path(), $0.file("file.part").path())
    },
    TargetFault("a symbolic link to nothing in the part's place", noLink) {
      symlink($0.file("none").path(), $0.file("file.part").path())
    },
    TargetFault("a hard link in the part's place", noHardLink) {
      link($0.file("other").path(), $0.file("file.part").path())
    },
    TargetFault("a FIFO in the part's place", noPart) { mkfifo($0.file("file.part").path(), 0o600) },
  ]

  private static let noFile = "FOLDER/file is not a regular file, which a download could replace: give another name"
  private static let noLink = "FOLDER/file.part is a symbolic link, which a download doesn't follow: remove it"
  private static let noHardLink =
    "FOLDER/file.part is a hard link to another file, which would be overwritten: remove it"
  private static let noPart = "FOLDER/file.part is not a regular file, and the download needs its name: remove it"

  @Test(arguments: refusals)
  func whatADownloadMayNotOverwriteStaysAsItIs(fault: TargetFault) async throws {
    try Data("other".utf8).write(to: folder.file("other"))
    try fault.prepare(folder)
    let kinds = { folder.names().map { "\($0) \(FileStatus(path($0))?.identity ?? [])" } }
    let before = kinds()
    let message = fault.message.replacing("FOLDER/", with: path(""))
    try await expectRefusal(message, to: fault.target)
    #expect(kinds() == before)
    #expect(try text("other") == "other")
  }

  @Test(.enabled(if: geteuid() == 0, "only root makes devices"))
  func aDeviceIsNotReplaced() async throws {
    // As /dev/null, which a failing test must not replace.
    try #require(ChildProcess.run(["mknod", path("file"), "c", "1", "3"]).ending == .exited(0))
    try await expectRefusal(Self.noFile.replacing("FOLDER/", with: path("")))
    #expect(FileStatus(path("file"))?.kind == S_IFCHR)
  }

  @Test(arguments: [true, false])
  func aLinkInTheFilesPlaceIsReplacedAndNotFollowed(leadsSomewhere: Bool) async throws {
    if leadsSomewhere { try Data("other".utf8).write(to: folder.file("other")) }
    symlink(path("other"), path("file"))
    try await expectFile()
    #expect(FileStatus(path("file"))?.kind == S_IFREG)
    #expect(leadsSomewhere ? try text("other") == "other" : folder.names() == ["file"])
  }

  @Test(arguments: [mode_t(0o600), 0o640, 0o444, 0o755])
  func aReplacedFileHandsOnItsPermissions(mode: mode_t) async throws {
    try Data("old".utf8).write(to: folder.file("file"))
    chmod(path("file"), mode)
    let release = DispatchSemaphore(value: 0)
    let server = try halting(release)
    defer { server.stop() }
    let download = download(server)
    download.start(until: 5)
    #expect(self.mode("file.part") == mode | 0o600)
    release.signal()
    await download.ended()
    #expect(try text("file") == "0123456789")
    #expect(self.mode("file") == mode)
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func theFileOfAnotherUserDoesNotMakeTheNewOneWritableForHim() async throws {
    try Data("old".utf8).write(to: folder.file("file"))
    chmod(path("file"), 0o666)
    chown(path("file"), 1, 1)
    try await expectFile()
    #expect(mode("file") == 0o644)
  }

  @Test func aNewFileHasThePermissionsOfTheUmask() async throws {
    try Data().write(to: folder.file("other"))
    let umask = try #require(mode("other"))
    try await expectFile()
    #expect(mode("file") == umask)
  }

  // MARK: The part

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func thePartOfAnotherUserInASharedFolderIsNotUsed() async throws {
    chmod(folder.url.path(), 0o1777)
    try Data("01234".utf8).write(to: folder.file("file.part"))
    chown(path("file.part"), 1, 1)
    try await expectRefusal("\(path("file.part")) belongs to another user: remove it")
    // Not shared: whoever may write there may do anything.
    chmod(folder.url.path(), 0o755)
    try await expectFile()
  }

  @Test func aPartsInfoAddsNoHeaders() async throws {
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    let info = ["url": server.url("/f").absoluteString, "validator": "\"1\"\r\nX-Planted: yes"]
    try JSONEncoder().encode(info).write(to: folder.file("file.part.meta"))
    try Data("01234".utf8).write(to: folder.file("file.part"))
    #expect(await download(server).run().error == nil)
    #expect(server.requests.first?.headers["x-planted"] == nil)
  }

  @Test func aLinkInThePlaceOfThePartsInfoIsNotFollowed() async throws {
    try Data("other".utf8).write(to: folder.file("other"))
    for part in ["", "01234"] {
      try Data(part.utf8).write(to: folder.file("file.part"))
      symlink(path("other"), path("file.part.meta"))
      try await expectFile()
      #expect(try text("other") == "other")
      // Bytes without info are another program's.
      let kept = part.isEmpty ? [] : ["file.part", "file.part.meta"]
      #expect(folder.names() == ["file"] + kept + ["other"])
    }
  }

  @Test func aFIFOInThePlaceOfThePartsInfoIsNotWaitedFor() async throws {
    try Data("01234".utf8).write(to: folder.file("file.part"))
    #expect(mkfifo(path("file.part.meta"), 0o600) == 0)
    try await expectFile()
    #expect(folder.names() == ["file", "file.part", "file.part.meta"])
  }

  @Test func thePartsInfoIsPrivate() async throws {
    let server = try RawServer(RawServer.stalled)
    defer { server.stop() }
    let download = download(server)
    download.start(until: 5)
    #expect(mode("file.part.meta") == 0o600)
    await download.cancel()
  }

  @Test func aPartThatWasReplacedMeanwhileDoesNotBecomeTheFile() async throws {
    let release = DispatchSemaphore(value: 0)
    let server = try halting(release)
    defer { server.stop() }
    let download = download(server)
    download.start(until: 5)
    try Data("other".utf8).write(to: folder.file("other"))
    #expect(rename(path("other"), path("file.part")) == 0)
    release.signal()
    await download.ended()
    #expect(
      download.error?.message == "another program has replaced \(path("file.part")): start the download again")
    #expect(try text("file.part") == "other")
    #expect(!folder.names().contains("file"))
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func thePartsInfoOfAnotherUserInASharedFolderIsNotUsed() async throws {
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    chmod(folder.url.path(), 0o1777)
    let info = ["url": server.url("/f").absoluteString, "validator": "\"1\""]
    try JSONEncoder().encode(info).write(to: folder.file("file.part.meta"))
    chown(path("file.part.meta"), 1, 1)
    try Data("xxxxx".utf8).write(to: folder.file("file.part"))
    #expect(await download(server).run().error == nil)
    #expect(server.requests.first?.headers["range"] == nil)
    #expect(try text("file") == "0123456789")
  }

  @Test func theDigestIsThatOfTheBytesThatWereWritten() async throws {
    let part = path("file.part")
    let server = try RawServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n01234"), .run { unlink(part) },
        .send("56789"), .next,
      ]
    }
    defer { server.stop() }
    let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    let operation = DownloadOperation(from: server.url("/f"), to: folder.file("file"), sha256: digest)
    let download = await Observed(operation).run()
    // What has the part's name by then is neither read nor renamed.
    #expect(download.error == TransferError(.file, "another program has replaced \(part): start the download again"))
    #expect(!folder.names().contains("file"))
  }

  @Test func aFileThatHasReplacedThePartIsNotRemoved() async throws {
    let server = try RawServer(RawServer.stalled)
    defer { server.stop() }
    let operation = DownloadOperation(from: server.url("/f"), to: folder.file("file"), resume: false)
    let download = Observed(operation)
    download.start(until: 5)
    try Data("other".utf8).write(to: folder.file("other"))
    #expect(rename(path("other"), path("file.part")) == 0)
    await download.cancel()
    #expect(try text("file.part") == "other")
  }

  // MARK: Two downloads

  @Test(arguments: ["file.part", "file.part.meta"])
  func thePartOfADownloadUnderWayIsNoTarget(name: String) async throws {
    let release = DispatchSemaphore(value: 0)
    let server = try halting(release)
    defer { server.stop() }
    let first = download(server)
    first.start(until: 5)
    try await expectRefusal("another transfer is writing \(path("file.part"))", to: name)
    release.signal()
    await first.ended()
    #expect(try text("file") == "0123456789")
    #expect(folder.names() == ["file"])
  }

  @Test func aDownloadDoesNotReplaceThePartThatAnotherHasBegunMeanwhile() async throws {
    let (release, otherRelease) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (server, other) = (try halting(release), try halting(otherRelease))
    defer {
      server.stop()
      other.stop()
    }
    let part = download(other, to: "file.part")
    part.start(until: 5)
    let file = download(server)
    file.start(until: 5)
    otherRelease.signal()
    await part.ended()
    #expect(part.error == TransferError(.file, "another transfer is writing \(path("file.part"))"))
    release.signal()
    await file.ended()
    #expect(try text("file") == "0123456789")
    #expect(folder.names() == ["file", "file.part.part", "file.part.part.meta"])
  }

  @Test(arguments: ["file.part", "file.part.meta"])
  func aFinishedFileIsNoPart(name: String) async throws {
    try await expectFile(name)
    try await expectRefusal(
      "\(path(name)) is a downloaded file, which the download of \(path("file")) would overwrite: rename one of them")
    #expect(folder.names() == [name])
    #expect(try text(name) == "0123456789")
    #expect(rename(path(name), path("renamed")) == 0)
    try await expectFile()
  }

  // MARK: The path

  @Test func aPathThatIsTooLongIsSaidToBe() async throws {
    let name = String(repeating: "n", count: 300)
    try await expectRefusal("File name too long: \(path(name))", to: name)
    try await expectRefusal("File name too long: \(path(name))/", to: "\(name)/file")
    let long = String(repeating: "folder/", count: 1000)
    let server = try RawServer(RawServer.file(content))
    defer { server.stop() }
    let message = await download(server, to: long + "file").run().error?.message
    #expect(message?.hasPrefix("File name too long: \(folder.url.path().prefix(60))") == true)
    #expect(message?.count ?? 0 < 600)
    #expect(server.requests.isEmpty)
  }

  @Test(.enabled(if: geteuid() != 0, "root may write anywhere"))
  func aFolderWithoutPermissionIsSaidToBe() async throws {
    chmod(folder.url.path(), 0o500)
    defer { chmod(folder.url.path(), 0o700) }
    try await expectRefusal("Permission denied: \(path("file.part"))")
    try await expectRefusal("Permission denied: \(path("a"))", to: "a/file")
  }

  @Test func missingFoldersAreCreated() async throws { try await expectFile("a/b/c/file") }

  @Test(.enabled(if: TinyDisk.canMount, "only root mounts a file system"), arguments: [300_000, 70_000])
  func aFullDiskKeepsThePartThatHasItsInfoAndSaysSo(size: Int) async throws {
    let server = try RawServer(RawServer.file(randomBytes(size)))
    defer { server.stop() }
    let disk = try TinyDisk(on: folder.url.path())
    defer { disk.unmount() }
    let download = await download(server).run()
    #expect(download.error == TransferError(.file, "No space left on device: \(path("file.part"))"))
    // The smaller file is written in one piece, which leaves no room for the info.
    #expect(folder.names() == (size > 128 << 10 ? ["file.part", "file.part.meta"] : []))
  }
}

/// A file system of 64 KiB in memory.
private struct TinyDisk {
  private let path: String

  static let canMount: Bool = {
    guard geteuid() == 0, let folder = try? TemporaryFolder(), let disk = try? TinyDisk(on: folder.url.path()) else {
      return false
    }
    disk.unmount()
    return true
  }()

  init(on path: String) throws {
    self.path = path
    let result = try ChildProcess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", path])
    guard result.ending == .exited(0) else { throw ChildProcess.Failure(description: "no tmpfs") }
  }

  func unmount() { _ = try? ChildProcess.run(["umount", path]) }
}
