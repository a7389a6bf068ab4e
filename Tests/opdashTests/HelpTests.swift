import Foundation
import Support
import Testing

@testable import JobFiles
@testable import opdash

struct HelpTests {
  private var pages: [HelpText] { [.program] + HelpTopic.allCases.map(\.page) }

  @Test func theHelpOfACommandTellsEveryOptionOfIt() {
    for command in CommandName.allCases {
      let text = HelpText(command).text
      for option in Option.all where option.commands.contains(command) {
        #expect(text.contains("\(option.spelled) \(option.valueName ?? "")"), "\(command) \(option.name)")
      }
      #expect(text.contains("Examples:\n  "), "\(command)")
    }
  }

  @Test func theOptionsOfEachStandBeforeItsCommand() {
    #expect(HelpText(.each).usage == "opdash each [OPTION...] 'CMD {}' [ARG...]")
    #expect(HelpText(.get).usage == "opdash get URL... [OPTION...]")
  }

  @Test func theHelpFitsTheScreen() {
    for page in pages {
      for line in page.text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
      #expect(!page.text.contains(" \n"))
    }
    #expect(HelpText.program.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 24)
  }

  @Test func everyExampleIsACommandLineThatIsUnderstood() throws {
    for page in pages {
      for case .table(let rows) in page.sections.filter({ $0.title == "Examples" }).flatMap(\.blocks) {
        for row in rows {
          let command = row.term.split(separator: "|").first { $0.contains("opdash") } ?? ""
          let words = command.replacing("source <(", with: "").replacing(")", with: "")
            .matches(of: /'[^']*'|\S+/).map { $0.output.trimmingCharacters(in: ["'"]) }
          #expect(words.first == "opdash", "\(row.term)")
          _ = try CommandLineParser.parse(Array(words.dropFirst()))
        }
      }
    }
  }

  @Test func theJobFileOfTheHelpHasNoFaults() throws {
    let graph = try JobFile.decode(Array(HelpText.jobFile.utf8), file: "jobs.yml", directory: "/w")
    #expect(graph.jobs.map(\.name) == ["fetch", "build", "report"])
    #expect(graph.jobs[0].description == "the sources")
    #expect(HelpText.jobs.text.contains(HelpText.jobFile.split(separator: "\n")[1]))
  }

  @Test func theLargeJobFileOfTheHelpHasNoFaults() throws {
    let folder = try TemporaryFolder()
    try Data("CHANNEL=beta\n".utf8).write(to: folder.file(".env"))
    try Data("jobs: { test-unit: make unit }\n".utf8).write(to: folder.file("common.yml"))
    let graph = try JobFile.decode(
      Array(HelpText.largeJobFile.utf8), file: "jobs.yml", directory: folder.url.path, environment: ["TOKEN": "t0p"])
    let instances = ["build[linux,x64]", "build[linux,arm]", "build[mac,arm]"]
    let others = ["api", "test-api", "publish", "test-unit", "page", "clean"]
    #expect(graph.jobs.map(\.name) == ["version"] + instances + others)
    let publish = try #require(graph.jobs.first { $0.name == "publish" })
    #expect(publish.needs.map { graph[$0.job].name } == ["version"] + instances + ["test-api", "test-unit"])
    #expect(graph.timeout == .seconds(7200) && graph.secrets == ["t0p"])
    #expect(HelpText.jobs.text.contains(HelpText.largeJobFile.split(separator: "\n")[12]))
  }

  @Test func theSettingsFileOfTheHelpHasNoFaults() throws {
    let settings = try SettingsFile.decode(
      Array(HelpText.settingsFile.utf8), file: "config.yaml", SettingsFile.dashboards)
    #expect(settings.keys.keys.sorted() == ["cancel", "kill"] && settings.notify == .bell)
  }

  @Test func theHelpOfJobFilesNamesEveryKey() {
    let text = HelpText.jobs.text
    let words = Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    let maps = JobFileSchema.allMaps
    #expect(maps.count == 18)
    for map in maps {
      for key in map.keys { #expect(words.contains(key.name), "\(map.owner): \(key.name)") }
    }
  }

  /// The reference has a heading for each, and its own test.
  @Test func theHelpNamesTheEventsOfTheReference() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let reference = try String(
      contentsOf: root.appending(path: "Sources/Reports/Reports.docc/Events.md"), encoding: .utf8)
    let types = reference.split(separator: "\n").filter { $0.hasPrefix("### ") }
      .flatMap { $0.dropFirst(4).split(separator: ", ").map(String.init) }
    guard case .table(let rows)? = HelpText.records.first?.blocks.first else { return #expect(Bool(false)) }
    #expect(rows.map(\.term) == types)
    for row in rows {
      for field in row.meaning.split(separator: ", ") where field.wholeMatch(of: #/[a-z_]+/#) != nil {
        #expect(reference.contains("`\(field)`"), "\(row.term) \(field)")
      }
    }
  }

  @Test func textIsBrokenIntoLinesBesideItsTerm() {
    let page = HelpText(
      name: "x", summary: "", usage: "x [OPTION...]", introduction: [.text("one two")],
      sections: [
        .init(
          title: "Options",
          blocks: [
            .table([
              .init(term: "-a", meaning: String(repeating: "word ", count: 20)),
              .init(term: "--a-term-that-has-more-than-thirty-columns", meaning: "below"),
            ]), .code("  as it stands"),
          ])
      ])
    #expect(
      page.text == """
        usage: x [OPTION...]

        one two

        Options:
          -a  word word word word word word word word word word word word word word word
              word word word word word
          --a-term-that-has-more-than-thirty-columns
              below
            as it stands
        """)
  }

  private func page(_ blocks: [HelpText.Block], usage: String = "", sections: [HelpText.Section] = []) -> HelpText {
    HelpText(name: "opdash x", summary: "does -x", usage: usage, introduction: blocks, sections: sections)
  }

  @Test func aLineHasUpTo80Columns() {
    let (half, less) = (String(repeating: "a", count: 40), String(repeating: "b", count: 39))
    #expect(page([.text("\(half) \(less)")]).text == "\(half) \(less)")
    #expect(page([.text("\(half) \(half)")]).text == "\(half)\n\(half)")
  }

  @Test func aTermOfMoreThan30CharactersHasALineOfItsOwn() {
    let (longest, longer) = (String(repeating: "a", count: 30), String(repeating: "b", count: 31))
    let table = HelpText.Block.table([.init(term: longest, meaning: "one"), .init(term: longer, meaning: "two")])
    let margin = String(repeating: " ", count: 34)
    #expect(page([table]).text == "  \(longest)  one\n  \(longer)\n\(margin)two")
  }

  @Test func aRowIsDividedAtItsFirstBar() {
    let rows = HelpText.Block.rows("a | b | c\n-x | y")
    #expect(rows == .table([.init(term: "a", meaning: "b | c"), .init(term: "-x", meaning: "y")]))
  }

  // MARK: Man pages

  @Test func aManPageIsTheSourceOfItsPage() {
    let options = HelpText.Section(title: "Options", blocks: [.table([.init(term: "-a \"b\"", meaning: "'quoted")])])
    let blocks = [HelpText.Block.text(".dot"), .code("a\\b\n\nx…")]
    #expect(
      ManPage(page: page(blocks, usage: "opdash x [-a]", sections: [options])).text == #"""
        .TH OPDASH-X 1 "" "opdash 0.2.0" "User Commands"
        .SH NAME
        opdash\-x \- does \-x
        .SH SYNOPSIS
        .B opdash x [\-a]
        .SH DESCRIPTION
        .PP
        \&.dot
        .PP
        .RS 4
        .nf
        a\eb

        x...
        .fi
        .RE
        .SH OPTIONS
        .TP
        .B \-a \(dqb\(dq
        \&'quoted
        """#)
    #expect(!ManPage(page: page([])).text.contains("SYNOPSIS"))
  }

  @Test func aManPageHasTheSectionsOfThePage() {
    let text = ManPage(page: HelpText(.get)).text
    #expect(text.hasPrefix(".TH OPDASH\\-GET 1 ") || text.hasPrefix(".TH OPDASH-GET 1 "))
    for line in [".SH NAME", "opdash\\-get \\- download each URL as a job", ".SH OPTIONS", ".SH EXAMPLES"] {
      #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
    }
    #expect(ManPage(page: HelpText(.get)).fileName == "opdash-get.1")
  }

  /// The formatter of `man`; a Debian system without manuals lacks it.
  @Test(.enabled(if: HelpTests.hasGroff)) func groffReadsEveryManPageWithoutAWarning() throws {
    let folder = try TemporaryFolder()
    for page in pages {
      let file = folder.file(ManPage(page: page).fileName)
      try Data((ManPage(page: page).text + "\n").utf8).write(to: file)
      let result = try ChildProcess.run(["sh", "-c", "groff -man -Tutf8 -ww -z \"$0\" 2>&1", file.path()])
      #expect(result.ending == .exited(0))
      #expect(result.output == "", "\(page.name)")
    }
  }

  private static let hasGroff = (try? ChildProcess.run(["sh", "-c", "command -v groff"]).ending) == .exited(0)

  // MARK: The version

  @Test func theVersionNamesTheCommitOrSaysThatItIsUnknown() {
    #expect(Version.line(commit: "0123456789ab") == "opdash 0.2.0 (0123456789ab)")
    #expect(Version.line(commit: "") == "opdash 0.2.0 (built from an unknown commit)")
  }
}
