import Basics
import Foundation
import Support
import Testing

struct FileIdentityTests {
  @Test func allNamesOfAFileAreEqual() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] { try Data().write(to: folder.file(name)) }
    let path = folder.file("a").path()
    try #require(symlink(path, folder.file("link").path()) == 0 && link(path, folder.file("hard").path()) == 0)
    let identity = try #require(FileIdentity(path: path))
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(FileIdentity(path: folder.file("link").path()) == identity)
    #expect(FileIdentity(path: folder.file("hard").path()) == identity)
    #expect(FileIdentity(descriptor: descriptor) == identity)
    #expect(FileIdentity(path: folder.file("b").path()) != identity)
  }

  @Test func onlyARegularFileHasOne() throws {
    #expect(FileIdentity(path: "/dev/null") == nil && FileIdentity(path: "/") == nil)
    #expect(FileIdentity(path: "/nowhere") == nil && FileIdentity(descriptor: -1) == nil)
  }
}
