import Foundation
import Support
import Testing

@testable import Transfers

struct CreatedFoldersTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.url.path() + "/" + name }

  private var content: [String] {
    get throws { try FileManager.default.subpathsOfDirectory(atPath: folder.url.path()).sorted() }
  }

  @Test func onlyEmptyFoldersOfItsOwnAreRemoved() throws {
    #expect(mkdir(path("a"), 0o777) == 0)
    try CreatedFolders.make(path("a/b/c/"))
    #expect(try content == ["a", "a/b", "a/b/c"])
    try Data().write(to: folder.file("a/b/file"))
    CreatedFolders.removeEmpty(path("a/b/c/"))
    #expect(try content == ["a", "a/b", "a/b/file"])
    try FileManager.default.removeItem(at: folder.file("a/b/file"))
    CreatedFolders.removeEmpty(path("a/b"))
    #expect(try content == ["a"])
    CreatedFolders.removeEmpty(path("a"))
    #expect(try content == ["a"])
  }

  @Test func aFolderThatCannotBeMadeLeavesNoneAboveIt() throws {
    let long = String(repeating: "n", count: 300)
    #expect(throws: TransferError(.file, "File name too long: \(path("a/b/\(long)"))")) {
      try CreatedFolders.make(path("a/b/\(long)"))
    }
    #expect(try content.isEmpty)
  }

  @Test func aFileInAFoldersPlaceIsNamed() throws {
    try Data().write(to: folder.file("file"))
    for name in ["file", "file/a", "file/a/b"] {
      #expect(throws: TransferError(.file, "Not a directory: \(path("file"))")) { try CreatedFolders.make(path(name)) }
    }
  }

  @Test func aFolderThatIsThereIsLeftAlone() throws {
    #expect(mkdir(path("a"), 0o777) == 0)
    #expect(symlink(path("a"), path("link")) == 0)
    try CreatedFolders.make(path("a"))
    try CreatedFolders.make(path("link"))
    CreatedFolders.removeEmpty(path("link"))
    #expect(try content == ["a", "link"])
  }
}
