import JobFiles
import JobModel
import Session
import Testing

@testable import opdash

/// Which jobs the words of a command line select.
struct JobSelectionTests {
  private func select(_ names: String..., of text: String = JobSelectionTests.file) throws -> [String] {
    try select(names, in: JobFile.decode(Array(text.utf8), file: "g.yml", directory: "/w"))
  }

  private func select(_ names: [String], in graph: JobGraph) throws -> [String] {
    try JobFileSearch.Choice(file: "g.yml", jobs: names).selection(in: graph).jobs.map(\.name)
  }

  private static let file = """
    jobs:
      a: ls
      b: { matrix: { os: [linux, mac], arch: [x64, arm] }, needs: [a], run: ls }
      c: ls
    """

  @Test func namingJobsKeepsThoseAndWhatTheyNeed() throws {
    let b = ["b[linux,x64]", "b[linux,arm]", "b[mac,x64]", "b[mac,arm]"]
    #expect(try select() == ["a"] + b + ["c"])
    #expect(try select("c") == ["c"])
    #expect(try select("b[linux,arm]") == ["a", "b[linux,arm]"])
    #expect(try select("b") == ["a"] + b)
    #expect(try select("b[*,arm]") == ["a", b[1], b[3]])
    #expect(try select("b[m?c,*", "c") == ["a", b[2], b[3], "c"])
    #expect(throws: UsageError("g.yml has no job 'x*'")) { try select("x*") }
  }

  @Test func aJobThatIsNamedStartsWithoutAPersonAndSoDoesWhatItNeeds() throws {
    let text =
      "jobs: { a: { run: ls, start: manual }, b: { run: ls, start: manual, needs: [a] }, c: { run: ls, start: manual } }"
    let graph = try JobFile.decode(Array(text.utf8), file: "g.yml", directory: "/w")
    func manual(_ names: String...) throws -> [Bool] {
      try JobFileSearch.Choice(file: "g.yml", jobs: names).selection(in: graph).jobs.map(\.isManual)
    }
    #expect(try manual() == [true, true, true])
    #expect(try manual("b") == [false, false])
  }

  /// `needs` and the command line have one rule.
  @Test(arguments: ["a", "b", "b[linux,*]", "b[*,x64]", "?", "*"]) func aNameSelectsWhatItIsAsANeed(name: String) throws
  {
    let text = Self.file + "\n  all: { needs: { '\(name)': finished }, run: ls }"
    let graph = try JobFile.decode(Array(text.utf8), file: "g.yml", directory: "/w")
    let all = try #require(graph.jobs.last)
    let needed = Set(all.needs.map { graph[$0.job].name })
    let selected = Set(graph.jobs(matching: name).map { graph[$0].name }).subtracting(["all"])
    #expect(!needed.isEmpty && needed == selected)
  }

  /// The part of a name before a bracket is the name of a matrix only if the job has one.
  @Test func aJobWithBracketsInItsNameIsNoMatrix() throws {
    let graph = JobGraph(
      name: "g",
      jobs: ["d[1", "e[1]", "e[2]"].map { Job(name: $0, work: .simulate(SimulatedWork())) })
    for name in ["d", "e"] {
      #expect(throws: UsageError.self) { _ = try select([name], in: graph) }
    }
    #expect(try select(["e[*]"], in: graph) == ["e[1]", "e[2]"])
  }

  @Test func anUnknownFirstWordMayHaveBeenACommand() throws {
    let graph = try JobFile.decode(Array(Self.file.utf8), file: "g.yml", directory: "/w")
    func select(_ names: String...) throws(UsageError) -> [String] {
      try JobFileSearch.Choice(file: "g.yml", jobs: names).selection(in: graph, isBare: true).jobs.map(\.name)
    }
    #expect(try select("c") == ["c"])
    #expect(throws: UsageError("'hisotry' is neither a command nor a job of g.yml: did you mean 'history'?")) {
      try select("hisotry", "c")
    }
    #expect(throws: UsageError("g.yml has no job 'hisotry'")) { try select("c", "hisotry") }
  }

  @Test func anUnknownJobIsNamedWithTheNearest() {
    #expect(throws: UsageError("g.yml has no job 'b[mc,x64]': did you mean 'b[mac,x64]'?")) {
      try select("c", "b[mc,x64]")
    }
    let text = "jobs: { build: { matrix: { os: [a, b] }, run: ls } }"
    #expect(throws: UsageError("g.yml has no job 'biuld': did you mean 'build'?")) { try select("biuld", of: text) }
    #expect(throws: UsageError("g.yml has no job 'nowhere'")) { try select("nowhere") }
  }

  // MARK: finally

  private static let final = """
    jobs:
      create: echo id=7 >> $OPDASH_OUTPUT
      use: { needs: [create], run: ls }
      other: ls
    finally:
      page: { when: failed, run: ls }
      remove: rm ${jobs.create.id}
      after: { needs: [remove], run: ls }
      report: { needs: { page: finished }, run: ls }
    """

  @Test func theJobsOfFinallyFollowASelection() throws {
    #expect(
      try select("use", of: Self.final) == ["create", "use", "page", "remove", "after", "report"])
  }

  @Test func aJobOfFinallyThatReadsTheValueOfAJobThatDoesNotRunIsLeftOut() throws {
    #expect(try select("other", of: Self.final) == ["other", "page", "report"])
  }

  @Test func aJobOfFinallyThatIsNamedAloneRunsAloneWithWhatItReads() throws {
    #expect(try select("page", of: Self.final) == ["page"])
    #expect(try select("report", of: Self.final) == ["page", "report"])
    // The value is of a job, which makes it a run like any other.
    #expect(try select("after", of: Self.final) == ["create", "page", "remove", "after", "report"])
  }
}
