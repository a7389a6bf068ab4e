import Foundation
import Support
import Testing

@testable import Basics

@Suite struct PrivateFolderTests {
  private let temporary: TemporaryFolder
  private var folder: String { temporary.url.path(percentEncoded: false) }

  init() throws { temporary = try TemporaryFolder() }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  @Test func missingFoldersAboveAreMadeAndPrivate() {
    #expect(PrivateFolder.make(folder + "/a/b/c") == nil)
    #expect(["/a", "/a/b", "/a/b/c"].map { mode(folder + $0) } == [0o700, 0o700, 0o700])
  }

  @Test func aFolderThatIsThereKeepsItsMode() {
    mkdir(folder + "/a", 0o755)
    chmod(folder + "/a", 0o755)
    #expect(PrivateFolder.make(folder + "/a") == EEXIST)
    #expect(PrivateFolder.ensure(folder + "/a") == nil && mode(folder + "/a") == 0o755)
  }

  @Test func aFileAboveIsSaid() throws {
    try Data().write(to: URL(filePath: folder + "/file"))
    #expect(PrivateFolder.make(folder + "/file/a") == ENOTDIR)
    #expect(PrivateFolder.ensure(folder + "/file/a") == "Not a directory")
  }

  @Test func aNameMayBeginWithACombiningMark() {
    #expect(PrivateFolder.make(folder + "/\u{301}a/\u{301}b") == nil)
    #expect(mode(folder + "/\u{301}a/\u{301}b") == 0o700)
  }
}
