import Foundation
import Support
import Testing

/// The examples of the articles and the README are compiled, and every public symbol has a comment.
@Suite struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  private static var articles: [String] {
    get throws {
      let folder = "Sources/Operations/Operations.docc"
      return try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        .filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
    }
  }

  /// The README's table of features names a test for each.
  @Test func everyTestThatTheComparisonNamesIsThere() throws {
    let rows = try Self.text("README.md").split(separator: "\n").drop { !$0.hasPrefix("| | ProcedureKit |") }
      .dropFirst(2).prefix { $0.hasPrefix("|") }
    #expect(rows.count > 25)
    var declared: Set<Substring> = []
    let folder = Self.root.appendingPathComponent("Tests")
    for case let file as String in FileManager.default.enumerator(atPath: folder.path) ?? .init()
    where file.hasSuffix("Tests.swift") {
      let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      declared.formUnion(source.matches(of: /func (\w+)\(/).map(\.1))
    }
    for row in rows {
      let name = row.split(separator: "`").dropLast().last ?? ""
      #expect(declared.contains(name), "\(name)")
    }
  }

  /// The lines of each block of Swift code, without the imports.
  private static func blocks(of text: String) -> [[Substring]] {
    var blocks: [[Substring]] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```swift"
        if isInside { blocks.append([]) }
      } else if line == "import OperationDashboard" {
        // Tests/run builds that one in a package of its own, from outside.
        blocks.removeLast()
        isInside = false
      } else if isInside, !line.hasPrefix("import ") {
        blocks[blocks.count - 1].append(line)
      }
    }
    return blocks
  }

  private static func withoutIndentation(_ lines: some Sequence<Substring>) -> [Substring] {
    lines.map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
  }

  @Test func everyExampleIsCompiled() throws {
    let folder = Self.root.appendingPathComponent("Tests/DocumentationTests").path
    let sources = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("Snippets") }
    #expect(!sources.isEmpty)
    let compiled = try sources.map { file in
      "\n"
        + Self.withoutIndentation(try Self.text("Tests/DocumentationTests/\(file)").split(separator: "\n"))
        .joined(separator: "\n") + "\n"
    }
    let articles = try Self.articles
    #expect(articles.count >= 7)
    for article in articles + ["README.md"] {
      for block in Self.blocks(of: try Self.text(article)) {
        let lines = Self.withoutIndentation(block)
        let isCompiled = compiled.contains { $0.contains("\n" + lines.joined(separator: "\n") + "\n") }
        #expect(isCompiled, "\(article): not in Tests/DocumentationTests: \(lines.first ?? "")")
      }
    }
  }

  private struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
      struct Comment: Decodable {}
      let docComment: Comment?
      let pathComponents: [String]
    }
    let symbols: [Symbol]
  }

  /// Of the built library, by the tools of the toolchain.
  private static func extractSymbols(to folder: TemporaryFolder) throws {
    // …/TRIPLE/debug
    let products = Bundle.main.bundleURL
    let extraction = try ChildProcess([
      "swift", "symbolgraph-extract", "-module-name", "Operations", "-I",
      products.appendingPathComponent("Modules").path, "-minimum-access-level", "public",
      "-target", products.deletingLastPathComponent().lastPathComponent, "-skip-synthesized-members", "-output-dir",
      folder.url.path,
    ])
    #expect(extraction.ending(waiting: true) == .exited(0))
  }

  @Test func everyPublicSymbolSaysWhatItIs() throws {
    let folder = try TemporaryFolder()
    try Self.extractSymbols(to: folder)
    let data = try Data(contentsOf: folder.file("Operations.symbols.json"))
    let symbols = try JSONDecoder().decode(SymbolGraph.self, from: data).symbols
    #expect(symbols.count > 200)
    for symbol in symbols where symbol.docComment == nil {
      Issue.record("\(symbol.pathComponents.joined(separator: ".")) has no documentation")
    }
  }

  @Test func everyLinkOfTheArticlesLeadsSomewhere() throws {
    let folder = try TemporaryFolder()
    try Self.extractSymbols(to: folder)
    let conversion = try ChildProcess([
      "docc", "convert", Self.root.appendingPathComponent("Sources/Operations/Operations.docc").path,
      "--additional-symbol-graph-dir", folder.url.path, "--fallback-display-name", "Operations",
      "--fallback-bundle-identifier", "opdash.Operations", "--output-path", folder.file("archive").path,
      "--warnings-as-errors",
    ])
    #expect(conversion.ending(waiting: true) == .exited(0))
  }
}
