import Basics
import Foundation
import Testing

/// Paths as bytes, which two Strings may not tell apart.
struct BytePathTests {
  private let composed = BytePath("/a/\u{E9}")
  private let decomposed = BytePath("/a/e\u{301}")

  @Test func namesThatLookTheSameAreTwo() {
    #expect("\u{E9}" == "e\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
  }

  @Test func aSlashBeforeACombiningMarkSeparatesNames() {
    let path = BytePath("//a/../\u{301}b/")
    #expect(path.components.map(\.text) == ["a", "..", "\u{301}b"])
    #expect(path.relative(to: BytePath("//a/.."))?.text == "\u{301}b/")
  }

  @Test func aPathIsRelativeToTheFoldersThatItIsIn() {
    let path = BytePath("/a/bc")
    #expect(path.relative(to: BytePath("/a"))?.text == "bc")
    #expect(path.relative(to: BytePath("")) == BytePath("a/bc"))
    for other in ["/a/b", "/a/bc", "/a/bc/d", "/x"] { #expect(path.relative(to: BytePath(other)) == nil) }
    #expect(BytePath("/a").appending(BytePath("bc")) == path)
  }

  @Test func bytesThatAreNotTextAreShownAsReplaced() {
    #expect(BytePath([0x2F, 0x62, 0xFF]).text == "/b\u{FFFD}")
    #expect(BytePath([0x62, 0xFF]).cString == [0x62, -1, 0])
  }

  // Other systems have names in one form only.
  @Test func aFolderHasTheNamesThatWereGivenToItsFiles() throws {
    let base = FileManager.default.temporaryDirectory.appending(path: "opdash-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: base, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: base) }
    let folder = BytePath(base.path(percentEncoded: false))
    let names = [
      BytePath("\u{E9}"), BytePath("e\u{301}"), BytePath([0x62, 0xFF]), BytePath(String(repeating: "x", count: 255)),
    ]
    for name in names { close(open(folder.appending(name).cString, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)) }
    #expect(folder.names()?.sorted() == names.sorted())
    let link = folder.appending(BytePath("link"))
    try #require(symlink(names[2].cString, link.cString) == 0)
    #expect(link.linkTarget == names[2])
    #expect(link.resolved == folder.resolved?.appending(names[2]))
    #expect(names.allSatisfy { folder.appending($0).names() == nil && folder.appending($0).linkTarget == nil })
    #expect(folder.appending(BytePath("none")).resolved == nil)
  }
}
