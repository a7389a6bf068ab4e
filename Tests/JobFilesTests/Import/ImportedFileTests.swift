import Foundation
import JobModel
import Testing

@testable import JobFiles

/// Files of other tools with the job files that are made of them, in a text that a person can read.
///
/// Each file stands in the golden itself, with the `.env` beside it. With OPDASH_RECORD=1 in the environment the job files
/// are written, and the run that records fails.
@Suite struct ImportedFileTests {
  private static let titleMark = "\n════ "
  private static let partMark = "──── "
  private static let golden = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Goldens/imports.txt")

  /// The files of the golden, and what follows each there.
  private static func cases() throws -> [(title: String, file: ImportCase, printed: String)] {
    let parts = try String(contentsOf: golden, encoding: .utf8).components(separatedBy: titleMark)
    return try parts.dropFirst().map { part in
      let lines = part.components(separatedBy: "\n")
      let words = lines[0].prefix { $0 != ":" }.split(separator: " ").map(String.init)
      let format = try #require(words.first.flatMap(ImportFormat.init), "\(lines[0])")
      var texts: [String: String] = [:]
      var name = ""
      for line in lines.dropFirst() {
        if line.hasPrefix(partMark) {
          name = String(line.dropFirst(partMark.count))
        } else if !line.isEmpty || name != "" || texts[""] != nil {
          texts[name, default: ""] += line + "\n"
        }
      }
      let others = texts[".env"].map { [".env": $0] } ?? [:]
      let file = ImportCase(format: format, name: words[1], text: texts[""] ?? "", others: others)
      return (lines[0], file, texts["opdash.yml"] ?? "")
    }
  }

  @Test func everyFileGetsAJobFileWithoutFaults() throws {
    let cases = try Self.cases()
    #expect(cases.count > 10)
    var now =
      try String(contentsOf: Self.golden, encoding: .utf8).components(separatedBy: Self.titleMark).prefix(1) + []
    for (title, file, printed) in cases {
      let (text, warnings) = try file.imported()
      _ = try file.graph()
      let shown = text + warnings.map { "\(file.name):\($0)\n" }.joined()
      if shown.trimmingCharacters(in: .newlines) != printed.trimmingCharacters(in: .newlines) {
        Issue.record("'\(title)' now gets\n\(shown)")
      }
      let env = file.others[".env"].map { "\(Self.partMark).env\n\($0.trimmingCharacters(in: .newlines))\n" } ?? ""
      let original = file.text.trimmingCharacters(in: .newlines)
      now.append("\(title)\n\(original)\n\(env)\(Self.partMark)opdash.yml\n\(shown)")
    }
    guard ProcessInfo.processInfo.environment["OPDASH_RECORD"] == "1" else { return }
    try Data(now.joined(separator: Self.titleMark).utf8).write(to: Self.golden)
    Issue.record("recorded the imports: read them, then run without OPDASH_RECORD")
  }

  @Test func whatIsPrintedIsTheSameEachTime() throws {
    for (_, file, _) in try Self.cases() { #expect(try file.imported().text == file.imported().text) }
  }

  @Test func aLongListStandsInABlock() throws {
    var file = ImportedFile()
    file.jobs = [
      .init(
        name: "a", keys: [("run", .list((0..<60).map { .text("word\($0)") }))],
        remarks: ["One word. " + String(repeating: "more ", count: 40)])
    ]
    let text = file.text(of: "ninja", named: "x")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    guard case .argv(let words)? = try ImportCase.read(text).jobs[0].shell?.command else {
      Issue.record("no words")
      return
    }
    #expect(words.count == 60)
  }
}
