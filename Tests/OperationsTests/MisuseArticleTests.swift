import Foundation
import Testing

/// The articles on differences and misuse name tests that exist.
struct MisuseArticleTests {
  @Test(arguments: [("Differences", 11), ("Misuse", 79)]) func everyTestThatTheArticleNamesIsThere(
    _ article: String, _ least: Int
  ) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appendingPathComponent("Sources/Operations/Operations.docc/\(article).md"), encoding: .utf8)
    var declared: Set<Substring> = []
    for file in try FileManager.default.contentsOfDirectory(atPath: tests.path) where file.hasSuffix("Tests.swift") {
      let source = try String(contentsOf: tests.appendingPathComponent(file), encoding: .utf8)
      declared.formUnion(source.matches(of: /func (\w+)\(/).map(\.1))
    }
    let named = text.split(separator: "\n").compactMap { $0.firstMatch(of: /\| `(\w+)`[^|]*\|$/)?.1 }
    #expect(named.count >= least)
    for name in named { #expect(declared.contains(name), "\(name)") }
  }
}
