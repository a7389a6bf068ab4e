import Testing

@testable import JobFiles

/// Paths as text.
struct FilePathTests {
  @Test(arguments: [
    ("a", "/d/a"), ("./a/../b//c", "/d/b/c"), ("../../..", "/"), ("/x/./y", "/x/y"), ("", "/d"),
    ("../\u{301}a", "/\u{301}a"), ("/\u{301}a", "/\u{301}a"),
  ])
  func aPathIsMadeAbsolute(path: String, absolute: String) {
    #expect(Array(FilePath.absolute(path, in: "/d").utf8) == Array(absolute.utf8))
  }

  @Test(arguments: ["..", "a/../..", "../a", "../\u{301}a", "a/../../d/a"]) func aPathLeavesItsFolder(path: String) {
    #expect(FilePath.leaves(path))
  }

  @Test(arguments: ["", ".", "a", "a/..", "..a", "a/\u{301}../.."]) func aPathStaysInItsFolder(path: String) {
    #expect(!FilePath.leaves(path))
  }

  @Test(arguments: [
    ("a", "", "a"), ("a/b", "a", "b"), ("/a", "/", "a"), ("/a/b/", "/a", "b"), ("./a", ".", "a"), ("../a", "..", "a"),
    ("", "", ""), ("/", "/", ""), ("a/\u{301}b", "a", "\u{301}b"),
  ])
  func aPathHasAFolderAndAName(path: String, folder: String, name: String) {
    #expect(FilePath.folder(of: path) == folder)
    #expect(FilePath.name(of: path) == name)
  }
}
