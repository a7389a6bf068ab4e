import Foundation
import Support
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

  /// Hindi, Persian, an emoji of several, the flag of Scotland; and joiners that join nothing.
  @Test(arguments: [
    ("क्\u{200D}ष.txt", "क्\u{200D}ष.txt"), ("می\u{200C}خواهم.pdf", "می\u{200C}خواهم.pdf"),
    ("👩\u{200D}👩\u{200D}👧.png", "👩\u{200D}👩\u{200D}👧.png"), ("❤️\u{200D}🔥", "❤️\u{200D}🔥"),
    (
      "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
      "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}"
    ),
    ("a\u{200D}b", "a_b"), ("\u{200C}a", "_a"), ("x\u{202E}y", "x_y"), ("x\u{E0067}", "x_"), ("ع\u{200B}", "ع_"),
    ("ع\u{200C}\u{200C}", "ع\u{200C}_"),
  ])
  func aJoinerIsKeptWhereItJoins(text: String, name: String) throws {
    #expect(FileName.chosenByServer(text).map { Array($0.unicodeScalars) } == Array(name.unicodeScalars))
  }

  @Test(arguments: ["", ".zip"])
  func aLetterWithManyMarksIsCutWithinThem(ending: String) throws {
    let marks = "e" + String(repeating: "\u{301}", count: 150)
    let name = try #require(FileName.chosenByServer(marks + ending))
    #expect(name.hasPrefix("e") || name.unicodeScalars.first == "e")
    #expect(name.hasSuffix(ending) || ending.isEmpty)
    #expect((190...200).contains(name.utf8.count))
    #expect(try FileName.of(#require(URL(string: "http://h/\(marks)\(ending)"))) == name)
    // Another letter before it stays whole.
    #expect(FileName.chosenByServer("ab" + marks + ending) == "ab" + ending)
  }

  @Test func aServersNameIsSafeWhateverItIs() {
    let parts = [
      "a", "é", "क", "ع", "👩", "🏴", "\u{301}", "\u{94D}", "\u{200C}", "\u{200D}", "\u{FE0F}", "\u{E0067}", "\u{202E}",
      ".",
      "-", " ", "/", "\\", "\u{0}", "\n", "\u{1B}", "\u{600}", String(repeating: "\u{301}", count: 120), "zip",
    ]
    let choices = randomBytes(60_000).map { Int($0) }
    var rest = choices[...]
    while let count = rest.popFirst(), rest.count > 40 {
      let text = rest.prefix(count % 40).map { parts[$0 % parts.count] }.joined()
      rest = rest.dropFirst(count % 40)
      guard let name = FileName.chosenByServer(text) else { continue }
      let shown = text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
      #expect((1...200).contains(name.utf8.count), "\(shown)")
      #expect(!"./-\\ ".utf8.contains(name.utf8.first ?? 0) && !name.utf8.contains(UInt8(ascii: "/")), "\(shown)")
      #expect(FileName.isPrintable(name), "\(shown)")
    }
  }

  @Test(arguments: ["", "/a/b/"])
  func aNumberedNameHas255BytesAtMost(folder: String) {
    let name = String(repeating: "ä", count: 127)
    #expect(FileName.numbered(folder + name, 0) == folder + name)
    #expect(FileName.numbered(folder + name, 1) == folder + name.dropLast() + ".1")
    #expect(FileName.numbered(folder + name.dropLast(), 1) == folder + name.dropLast() + ".1")
  }

  @Test(arguments: [(0, "f.zip"), (1, "f.zip.1"), (12, "f.zip.12")])
  func aNumberStandsBehindTheExtension(number: Int, name: String) {
    #expect(FileName.numbered("f.zip", number) == name)
  }
}
