import Foundation
import Support
import Testing

@testable import Checksums

struct SHA256ListTests {
  private static let one = String(repeating: "0aF1", count: 16)
  private static let two = String(repeating: "2", count: 64)

  private func names(_ text: String) -> [String?] { SHA256List(Array(text.utf8)).entries.map(\.name) }

  @Test(arguments: [
    ("\(one)  a.zip", "a.zip"), ("\(one) *a.zip", "a.zip"), ("\(one)   a.zip ", " a.zip "), ("  \(one)  a", "a"),
    ("\(one)\t*a b", "a b"), ("\(one) a.zip", "a.zip"), ("\(one)  ./d/a", "./d/a"), ("\(one) **", "*"),
    ("SHA256 (a (1).zip) = \(one)", "a (1).zip"), ("SHA256(a.zip)= \(one)", "a.zip"),
    ("\\\(one)  a\\\\b\\nc\\rd", "a\\b\nc\rd"), ("\\SHA256 (a\\\\b) = \(one)", "a\\b"), ("\(one)  a\\nb", "a\\nb"),
  ])
  func aLineHasASumAndAName(line: String, name: String) {
    for ending in ["", "\n", "\r\n"] {
      let list = SHA256List(Array((line + ending).utf8))
      #expect(list.entries == [.init(name: name, sum: Self.one.lowercased(), line: 1)])
    }
  }

  @Test(arguments: [
    "", "# \(one)  a", one, "\(one) ", "\(one)a", "\(one.dropLast())  a", "\(one.dropLast())g  a", "\(one)0  a",
    "MD5 (a) = \(one)", "SHA256 (a) \(one)", "SHA256 (a = \(one)", "SHA256 () = \(one)", "\\\(one)  a\\tb",
    "\\\(one)  a\\", "-----BEGIN PGP SIGNED MESSAGE-----", "Hash: SHA256",
  ])
  func aLineWithoutBothIsLeftOut(line: String) {
    #expect(names(line + "\n\(Self.two)  b\n").last == "b")
    #expect(names(line) == [])
  }

  @Test func aNameThatIsNotUTF8IsNil() {
    let list = SHA256List(Array("\(Self.one)  a".utf8) + [0xFF] + Array("\n\(Self.two)  b".utf8))
    #expect(list.entries.map(\.name) == [nil, "b"])
    #expect(list.entries.map(\.line) == [1, 2])
  }

  @Test func aByteOrderMarkIsNoPartOfTheFirstLine() {
    #expect(names("\u{FEFF}\(Self.one)  a") == ["a"])
  }

  /// The list is that of files whose content is their name; the tool says OK for each one that it has read.
  @Test(arguments: [[], ["--tag"], ["--binary"]])
  func theNamesAreThoseThatSha256sumReads(options: [String]) throws {
    let folder = try TemporaryFolder()
    let names = ["a", " b ", "c\\d", "e\nf", "(g) = h", "i\rj", "*k", "é"]
    for name in names { try Data(name.utf8).write(to: folder.file(name)) }
    let paths = names.map { folder.url.path() + "/" + $0 }
    let (text, ending) = try ChildProcess.run(["sha256sum"] + options + paths)
    #expect(ending == .exited(0))
    let list = SHA256List(Array(text.utf8))
    #expect(list.entries.map(\.name) == paths)
    #expect(list.entries.map(\.sum) == names.map { SHA256Sum.hex(of: Array($0.utf8)) })
    try Data(text.replacing("\n", with: "\r\n").utf8).write(to: folder.file("list"))
    #expect(try ChildProcess.run(["sha256sum", "-c", "--status", folder.file("list").path()]).ending == .exited(0))
    #expect(SHA256List(Array(text.replacing("\n", with: "\r\n").utf8)) == list)
  }
}
