import Foundation
import Support
import Testing

@testable import Transfers

struct FileStatusTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.url.path() + "/" + name }

  private func reply(lastModified: String?) throws -> Reply {
    var reply = try #require(Reply(statusLine: "HTTP/1.1 200 OK"))
    if let lastModified { reply.add(line: "Last-Modified: \(lastModified)") }
    return reply
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:36 GMT", 3, true), ("Sun, 06 Nov 1994 08:49:37 GMT", 3, true),
    ("Sun, 06 Nov 1994 08:49:38 GMT", 3, false), ("Sun, 06 Nov 1994 08:49:37 GMT", 2, false),
    ("Sun, 06 Nov 1994 08:49:37 GMT", 4, false), (nil, 3, false),
  ])
  func aFileIsTheServersIfItIsAsLongAndNotOlder(lastModified: String?, size: Int64, isFile: Bool) throws {
    try Data("abc".utf8).write(to: folder.file("file"))
    let changed = Date(timeIntervalSince1970: 784_111_777)  // 08:49:37
    try FileManager.default.setAttributes([.modificationDate: changed], ofItemAtPath: path("file"))
    let status = try #require(FileStatus(path("file")))
    #expect(status.isFile(of: try reply(lastModified: lastModified), size: size) == isFile)
  }

  @Test func aFolderIsNoFileOfAServer() throws {
    let status = try #require(FileStatus(folder.url.path()))
    let reply = try reply(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(!status.isFile(of: reply, size: Int64(status.value.st_size)))
  }

  @Test func aLinkIsFollowedOnlyIfItIsToBe() throws {
    try Data("abc".utf8).write(to: folder.file("file"))
    #expect(symlink(path("file"), path("link")) == 0)
    #expect(FileStatus(path("link"))?.kind == S_IFLNK)
    #expect(FileStatus(path("link"), followsLink: true)?.kind == S_IFREG)
    #expect(FileStatus(path("link"), followsLink: true)?.identity == FileStatus(path("file"))?.identity)
    #expect(FileStatus(path("none")) == nil)
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root gives files away"),
    arguments: [
      (mode_t(0o1777), uid_t(0), uid_t(0), true), (0o1777, 0, 1, false), (0o1777, 1, 1, true), (0o1777, 1, 0, true),
      (0o1777, 2, 1, false), (0o777, 0, 1, true),
    ])
  func inASharedFolderOnlyItsOwnerAndTheUserAreTrusted(
    mode: mode_t, folderOwner: uid_t, fileOwner: uid_t, isUsable: Bool
  ) throws {
    try Data().write(to: folder.file("file"))
    #expect(chown(path("file"), fileOwner, 0) == 0)
    #expect(chown(folder.url.path(), folderOwner, 0) == 0)
    #expect(chmod(folder.url.path(), mode) == 0)
    let others = try TemporaryFolder()
    let link = others.url.path() + "/link"
    #expect(symlink(folder.url.path(), link) == 0)
    for name in [path("file"), link + "/file"] {
      let status = try #require(FileStatus(name))
      let message = "\(name) belongs to another user: remove it"
      if isUsable {
        #expect(throws: Never.self) { try status.checkIsUsable(as: name) }
      } else {
        #expect(throws: TransferError(.file, message)) { try status.checkIsUsable(as: name) }
      }
    }
  }
}
