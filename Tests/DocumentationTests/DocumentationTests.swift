import Foundation
import Support
import Testing

/// The articles and the README name what exists, their code compiles, and every public symbol is documented.
@Suite struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  private static func catalogue(of target: String) -> String { "Sources/\(target)/\(target).docc" }

  /// The targets whose catalogues have no symbols, only articles.
  private static let documented = ["Dashboard", "JobFiles", "OperationDashboard", "Reports", "opdash"]

  /// The targets whose catalogues have the public symbols as well.
  private static let libraries = ["Operations", "Processes", "Transfers"]

  private static var articles: [String] {
    get throws {
      try (documented + libraries).flatMap { target in
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(catalogue(of: target)).path)
          .filter { $0.hasSuffix(".md") }.sorted().map { "\(catalogue(of: target))/\($0)" }
      }
    }
  }

  /// The table of features names a test for each.
  @Test func everyTestThatTheComparisonNamesIsThere() throws {
    let rows = try Self.text("\(Self.catalogue(of: "Operations"))/BesideOtherLibraries.md").split(separator: "\n")
      .drop { !$0.hasPrefix("| | ProcedureKit |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
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

  @Test func theREADMEIsShortAndItsLinksLeadSomewhere() throws {
    let text = try Self.text("README.md")
    #expect(text.utf8.count <= 9000)
    let links = text.matches(of: /\]\(([^)]+)\)/).map(\.1)
    #expect(links.count > 10)
    for link in links {
      let path = Self.root.appendingPathComponent(String(link)).path
      #expect(FileManager.default.fileExists(atPath: path), "\(link)")
    }
  }

  /// `Tests/run` builds the README's example in a package of its own; the article shows the same code.
  @Test func theArticleOnWatchingAQueueHasTheREADMEsExample() throws {
    let article = try Self.text("\(Self.catalogue(of: "OperationDashboard"))/OperationDashboard.md")
    let example = try #require(article.components(separatedBy: "```").dropFirst().first)
    #expect(try Self.text("README.md").contains("```\(example)```"))
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
    #expect(articles.count >= 18)
    for article in articles + ["README.md"] {
      for block in Self.blocks(of: try Self.text(article)) {
        let lines = Self.withoutIndentation(block)
        let isCompiled = compiled.contains { $0.contains("\n" + lines.joined(separator: "\n") + "\n") }
        #expect(isCompiled, "\(article): not in Tests/DocumentationTests: \(lines.first ?? "")")
      }
    }
  }

  /// Of the library that most programs begin with: in tasks, and where the main actor is the default isolation.
  @Test func theLessonsCompileInTasksAndOnTheMainActor() throws {
    let products = Bundle.main.bundleURL
    let folder = try TemporaryFolder()
    var files: [String] = []
    for article in try Self.articles where article.hasPrefix(Self.catalogue(of: "Operations")) {
      for block in Self.blocks(of: try Self.text(article)) {
        // Those that wait are refused in a task.
        #expect(!block.contains { $0.contains("waitUntilFinished") }, "\(article)")
        guard block.contains(where: { $0.contains("final class") }), !block.contains(where: { $0.contains("await") })
        else { continue }
        let file = folder.file("File\(files.count).swift")
        // By a name of its own: two articles have a Countdown.
        let imports = "import Dispatch\nimport Foundation\nimport Operations\nenum Article\(files.count) {\n"
        try (imports + block.joined(separator: "\n") + "\n}\n").write(to: file, atomically: true, encoding: .utf8)
        files.append(file.path)
      }
    }
    #expect(files.count > 4)
    let check = try ChildProcess(
      ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-default-isolation", "MainActor", "-I"]
        + [products.appendingPathComponent("Modules").path] + files)
    #expect(check.ending(waiting: true) == .exited(0))
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
  private static func extractSymbols(of target: String, to folder: URL) throws {
    // …/TRIPLE/debug
    let products = Bundle.main.bundleURL
    let extraction = try ChildProcess([
      "swift", "symbolgraph-extract", "-module-name", target, "-I",
      products.appendingPathComponent("Modules").path, "-I", products.appendingPathComponent("CProcess.build").path,
      "-I", root.appendingPathComponent("Sources/CCurl").path, "-I",
      root.appendingPathComponent("Sources/CCrypto").path, "-minimum-access-level", "public",
      "-target", products.deletingLastPathComponent().lastPathComponent, "-skip-synthesized-members", "-output-dir",
      folder.path,
    ])
    #expect(extraction.ending(waiting: true) == .exited(0))
  }

  @Test(arguments: [("Operations", 200), ("Processes", 90), ("Transfers", 25)])
  func everyPublicSymbolSaysWhatItIs(_ target: String, least: Int) throws {
    let folder = try TemporaryFolder()
    try Self.extractSymbols(of: target, to: folder.url)
    let data = try Data(contentsOf: folder.file("\(target).symbols.json"))
    let symbols = try JSONDecoder().decode(SymbolGraph.self, from: data).symbols
    #expect(symbols.count > least)
    for symbol in symbols where symbol.docComment == nil {
      Issue.record("\(symbol.pathComponents.joined(separator: ".")) has no documentation")
    }
  }

  @Test(arguments: documented + libraries)
  func everyLinkOfTheArticlesLeadsSomewhere(_ target: String) throws {
    let folder = try TemporaryFolder()
    let symbols = folder.file("symbols")
    try FileManager.default.createDirectory(at: symbols, withIntermediateDirectories: false)
    if Self.libraries.contains(target) { try Self.extractSymbols(of: target, to: symbols) }
    let conversion = try ChildProcess([
      "docc", "convert", Self.root.appendingPathComponent(Self.catalogue(of: target)).path,
      "--additional-symbol-graph-dir", symbols.path, "--fallback-display-name", target,
      "--fallback-bundle-identifier", "opdash.\(target)", "--output-path", folder.file("archive").path,
      "--warnings-as-errors",
    ])
    #expect(conversion.ending(waiting: true) == .exited(0))
  }
}
