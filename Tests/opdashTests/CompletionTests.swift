import Testing

@testable import opdash

struct CompletionTests {
  private func texts(_ words: String...) -> [String] {
    guard case .candidates(let candidates) = answer(words) else { return ["no candidates"] }
    return candidates.map(\.text)
  }

  private func answer(_ words: [String]) -> Completion.Answer {
    Completion(
      words: words, scenarios: [.init(text: "collect", summary: "content"), .init(text: "diamond")],
      jobs: { operands in
        guard let file = operands.first, JobFileSearch.isFile(file) else {
          return [.init(text: "build", summary: "the program"), .init(text: "test:unit")]
        }
        return [.init(text: "of \(file)")]
      },
      runs: { areUnfinished in
        [.init(text: "20260102-1", summary: "release")] + (areUnfinished ? [] : [.init(text: "20260101-1")])
      }, live: { [.init(text: "20260102-1", summary: "release")] }
    ).answer
  }

  @Test func aCandidateIsOneLine() {
    let answer = Completion.Answer.candidates([.init(text: "a\u{1B}]0;x\u{7}\nb", summary: "c\td")])
    #expect(answer.lines.map(\.text) == [#"a\u{1B}]0;x\u{07}\nb"# + "\t" + #"c\td"#])
  }

  @Test func commandsAreOfferedFirst() {
    #expect(texts("") == CommandName.allCases.map(\.rawValue))
    #expect(texts("-n", "c") == ["check", "cancel", "completion"])
    #expect(answer(["ru"]).lines == ["run\trun a job file; naming jobs runs them and their needs"])
  }

  @Test func optionsAreThoseOfTheCommand() {
    #expect(texts("check", "--") == ["--set", "--help", "--version"])
    #expect(texts("get", "--o") == ["--on-failure", "--on-exists", "--output", "--otlp"])
    #expect(texts("--v") == ["--version"])
    // After `--` it is a file.
    #expect(answer(["run", "--", "--"]) == .files(["yml", "yaml", "json"]))
  }

  @Test func valuesAreOfferedInAWordOfTheirOwnAndAttached() {
    #expect(texts("run", "--ui", "p") == ["plain"])
    #expect(texts("run", "--ui=j") == ["--ui=json"])
    #expect(answer(["get", "-d", ""]) == .folders)
    #expect(answer(["get", "--dir", "x"]) == .folders)
    #expect(answer(["get", "-i", ""]) == .files([]))
    #expect(answer(["run", "-nj", ""]) == .candidates([]))
    #expect(answer(["run", "-j4", "b"]).lines == ["build\tthe program"])
    #expect(answer(["run", "--trace", ""]) == .files([]))
    #expect(texts("run", "--output=") == ["lines", "grouped", "github"].map { "--output=\($0)" })
    #expect(texts("each", "--output", "r") == ["raw"])
    #expect(texts("run", "--approve", "") == ["build", "test:unit", "all"])
    #expect(
      texts("run", "./x", "--approve=o") == ["--approve=of ./x"] || texts("run", "./x", "--approve", "o") == ["of ./x"])
  }

  @Test func whatIsAddedToIsARunAndThenAFileOrAFileAtOnce() {
    #expect(texts("add", "") == ["20260102-1"])
    #expect(answer(["add", "mo"]) == .files(["yml", "yaml", "json"]))
    #expect(answer(["add", "last", ""]) == .files(["yml", "yaml", "json"]))
  }

  @Test func jobsAreThoseOfTheFileThatIsNamedOrFound() {
    #expect(texts("run", "") == ["build", "test:unit"])
    #expect(texts("run", "build", "") == ["test:unit"])
    #expect(texts("run", "ci.yml", "") == ["of ci.yml"])
    #expect(texts("run", "--ui", "plain", "./x", "o") == ["of ./x"])
    #expect(answer(["run", "ci"]) == .files(["yml", "yaml", "json"]))
    #expect(answer(["check", ""]).lines == ["-files\tyml yaml json"])
    #expect(texts("check", "a.yml", "") == [])
    #expect(texts("graph", "build", "") == ["test:unit"])
    #expect(texts("graph", "--format", "d") == ["dot"])
  }

  @Test func jobsAreOfferedInPlaceOfACommand() {
    #expect(texts("t") == ["test:unit"] && texts("b") == ["build"])
    #expect(texts("build", "") == ["test:unit"])
    #expect(texts("build", "--for") == ["--force"] && texts("-j", "4", "bu") == ["build"])
  }

  @Test func runsAreOfferedAsFarAsTheyAreTaken() {
    for command in ["report", "replay", "diff", "logs"] {
      #expect(texts(command, "") == ["20260102-1", "20260101-1", "last"])
    }
    // Of the others, nothing is left.
    #expect(texts("resume", "") == ["20260102-1", "last"])
    #expect(texts("logs", "last", "") == ["build", "test:unit"])
    #expect(texts("resume", "a", "") == [] && texts("replay", "a", "") == [])
    #expect(texts("diff", "a", "l") == ["last"] && texts("diff", "a", "b", "") == [])
    // A recording in a file.
    #expect(answer(["replay", "x"]) == .files([]) && answer(["report", "x"]) == .candidates([]))
    #expect(answer(["history", ""]) == .files(["yml", "yaml", "json"]))
    #expect(answer(["history", ""]) == answer(["list", ""]))
  }

  @Test func aHyphenIsAFileAndWhatFollowsTheOptionsAreOperands() {
    #expect(texts("run", "-", "") == ["of -"])
    #expect(texts("run", "--", "ci.yml", "") == ["of ci.yml"])
    #expect(texts("run", "--ui=plain", "") == ["build", "test:unit"])
    #expect(texts("demo", "collect", "") == [])
  }

  @Test func otherOperandsAreNamedToo() {
    #expect(texts("demo", "d") == ["diamond"])
    #expect(texts("each", "") == [] && answer(["each", "gzip {}", ""]) == .files([]))
    #expect(answer(["each", "-n", ""]) == .candidates([]) && answer(["each", "-nd", "x", "y", ""]) == .files([]))
    #expect(texts("import", "") == ["ninja", "procfile", "compose"] && answer(["import", "ninja", ""]) == .files([]))
    #expect(texts("completion", "") == ["bash", "zsh", "fish"])
    #expect(texts("help", "") == CommandName.allCases.map(\.rawValue) + ["jobs", "settings"])
    #expect(texts("get", "") == [] && texts("keys", "") == [] && texts("schema", "") == [])
  }
}
