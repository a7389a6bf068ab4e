import Basics
import Foundation
import Support
import Testing

/// Signs of a syntax before a combining mark, with which they are one Character.
@Suite struct EscapesTests {
  private static let mark = "\u{301}"

  @Test func aSignBeforeACombiningMarkIsReplaced() {
    let text = "a'\(Self.mark)b\"\(Self.mark)'"
    #expect(Array(text.escaping(["'": "<", "\"": ">"]).utf8) == Array("a<\(Self.mark)b>\(Self.mark)<".utf8))
    #expect("plain".escaping(["'": "x"]) == "plain" && "".escaping(["'": "x"]) == "")
  }

  @Test(arguments: ["", "a b", "it's", "'\u{301}; touch hacked; '\u{301}", "'\u{20E3}$(id)`id`\\", "line\nfeed\r\n"])
  func aQuotedTextIsOneWordOfAShell(text: String) throws {
    let folder = try TemporaryFolder()
    let output = try ChildProcess.run(
      ["/bin/sh", "-c", "cd \(folder.url.path().shellQuoted) && printf '%s|' \(text.shellQuoted) end"]).output
    #expect(Array(output.utf8) == Array("\(text)|end|".utf8))
    #expect(folder.names(in: "").isEmpty)
  }

  @Test func aPathIsAbsoluteByItsFirstByte() {
    #expect("/\(Self.mark)a".isAbsolutePath && "/".isAbsolutePath)
    #expect(!"".isAbsolutePath && !"a/".isAbsolutePath && !"\(Self.mark)/".isAbsolutePath)
  }

  @Test func aTextIsHeldWhateverFollowsIt() {
    #expect("x=\(Self.mark)".holds("=") && "https:/\u{200D}/".holds("/") && "${\(Self.mark)".holds("${"))
    #expect(!"a".holds("b") && !"$ {".holds("${"))
  }

  /// These compare Characters, so that they miss a sign before a combining mark: `escaping`, `holds` and the scalars of a
  /// text don't.
  @Test func noSourceSearchesASignAsACharacter() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
    var found: [String] = []
    for case let file as String in FileManager.default.enumerator(atPath: sources.path()) ?? .init()
    where file.hasSuffix(".swift") && !file.hasSuffix("Escapes.swift") {
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      for line in text.split(separator: "\n") where line.contains("(\"") {
        let isSearch =
          line.contains(#/\.replacing\("(?:[^"\\]|\\.)", with:/#) || line.contains(".hasPrefix(\"/\")")
          || line.contains(".contains(\"${")
        if isSearch { found.append("\(file): \(line)") }
      }
    }
    #expect(found == [])
  }
}
