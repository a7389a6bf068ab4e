import Foundation
import Testing

@testable import Transfers

struct FileNameTests {
  @Test(arguments: [
    ("http://h/a/b.zip?c=d", "b.zip"), ("http://h/a/b/", "b"), ("http://h", "index.html"), ("http://h/", "index.html"),
    ("http://h/a%20b", "a b"), ("http://h/x/a%2Fb", "a_b"), ("http://h/x/a%5Cb", "a_b"),
    ("http://h/%2E%2E", "index.html"), ("http://h/a%0Ab", "a_b"), ("http://h/a%FFb", "a%FFb"),
    ("http://h/..%2F%CC%81x", "..\u{5F}\u{301}x"), ("http://h/..%5C%CC%81x", "..\u{5F}\u{301}x"),
  ])
  func theNameOfAURLIsItsLastComponent(url: String, name: String) throws {
    #expect(FileName.of(try #require(URL(string: url))) == name)
  }

  @Test func anExtensionOfTwentyBytesIsKeptAndALongerOneIsNot() {
    let long = String(repeating: "a", count: 300)
    let kept = "." + String(repeating: "b", count: 19)
    #expect(FileName.chosenByServer(long + kept) == String(repeating: "a", count: 180) + kept)
    #expect(FileName.chosenByServer(long + kept + "b") == String(repeating: "a", count: 200))
  }

  @Test func aNameOf200BytesIsKept() {
    let name = String(repeating: "ä", count: 98) + ".zip"
    #expect(FileName.chosenByServer(name) == name)
    #expect(FileName.chosenByServer("ä" + name) == name)
    #expect(FileName.chosenByServer("a" + name)?.utf8.count == 199)
  }

  @Test func aSlashOrDotBeforeACombiningMarkIsOne() {
    #expect(FileName.chosenByServer("../\u{301}x") == "\u{301}x")
    #expect(FileName.chosenByServer("a\\\u{301}x") == "\u{301}x")
    #expect(FileName.chosenByServer(".\u{301}x") == "\u{301}x")
  }

  @Test(arguments: [(0, "f.zip"), (1, "f.zip.1"), (12, "f.zip.12")])
  func aNumberStandsBehindTheExtension(number: Int, name: String) {
    #expect(FileName.numbered("f.zip", number) == name)
  }
}
