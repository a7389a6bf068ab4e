import Foundation
import JobFiles
import JobModel
import Support
import Testing

@testable import Reports

/// What `opdash graph` prints.
struct GraphTests {
  private func shell(_ name: String, needs: [JobNeed] = []) -> Job {
    Job(name: name, work: .shell(ShellWork(.script("true"))), needs: needs)
  }

  private func need(_ index: Int, _ when: JobNeed.Condition = .ok) -> JobNeed { JobNeed(JobID(index), when: when) }

  private var release: JobGraph {
    var jobs = [
      Job(name: "fetch", work: .download(DownloadWork(url: "http://h/a?token=s3cret", file: "/w/a"))),
      shell("build", needs: [need(0)]), shell("unit", needs: [need(1)]), shell("docs", needs: [need(0)]),
      shell("page", needs: [need(1, .failed)]), shell("clean", needs: [need(2), need(3), need(4, .finished), need(0)]),
      shell("lint"),
    ]
    jobs[1].uses = ["heavy": 2]
    return JobGraph(name: "release", jobs: jobs)
  }

  /// 100,000 jobs, each with the needs that the closure gives it.
  private func large(_ needs: (Int) -> [Int]) -> JobGraph {
    JobGraph(name: "large", jobs: (0..<100_000).map { shell("job\($0)", needs: needs($0).map { need($0) }) })
  }

  // MARK: The tree

  @Test func theTreeHasEachJobOnceBelowWhatItNeeds() {
    #expect(
      GraphTree(release).text == """
        release: 7 jobs, 8 needs
        fetch  download
        ├─ build  shell
        │  ├─ unit  shell
        │  └─ page  shell  (needs build failed)
        │     └─ clean  shell  (needs unit, docs, page finished and 1 more)
        └─ docs  shell
        lint  shell

        """)
  }

  @Test func theTreeIsDrawnInASCIIAndCutToTheTerminal() {
    #expect(
      GraphTree(release, isASCII: true, width: 30).text == """
        release: 7 jobs, 8 needs
        fetch  download
        |- build  shell
        |  |- unit  shell
        |  `- page  shell  (needs bu..
        |     `- clean  shell  (need..
        `- docs  shell
        lint  shell

        """)
  }

  @Test func aLongChainGoesOnBelowAtTheLeft() {
    let graph = JobGraph(name: "chain", jobs: (0..<50).map { shell("\($0)", needs: $0 == 0 ? [] : [need($0 - 1)]) })
    let lines = GraphTree(graph, isASCII: true).text.split(separator: "\n").map(String.init)
    #expect(lines[21].hasSuffix("`- 20  shell  (continued below)"))
    #expect(lines[22...23] == ["20:", "`- 21  shell"])
    #expect(lines.last?.hasSuffix("`- 49  shell") == true)
    #expect(lines.count == 50 + 3)
  }

  // MARK: Graphviz

  @Test func edgesThatNeedNoSuccessAreLabelled() {
    #expect(
      DotGraph(graph: release.restricted(to: [JobID(4)])).text == #"""
        digraph "release" {
          rankdir=LR;
          node [shape=box];
          j0 [label="fetch", shape=cds, tooltip="download: download http://h/a?token=*** to /w/a"];
          j1 [label="build", tooltip="shell: true, uses 2 of heavy"];
          j2 [label="page", tooltip="shell: true"];
          j0 -> j1;
          j1 -> j2 [label="failed", style=dashed];
        }

        """#)
  }

  private static let hasDot = (try? ChildProcess.run(["sh", "-c", "command -v dot"]).ending) == .exited(0)

  /// Names that a job file may have.
  private static let names = [
    "a", #"say "hi""#, #"C:\dir\"#, #"\N\l"#, "digraph", "a:b:c", "<b>x</b>", "build [linux,x64]", "größe", "日本",
    "a;b}",
    "#x", "it's", "-> b", "%d", "R&D", "a &amp; b", "&lt;", "&#38;",
  ]

  private var named: JobGraph {
    JobGraph(
      name: #"a "quoted" \ name"#,
      jobs: Self.names.enumerated().map { shell($1, needs: $0 == 0 ? [] : [need($0 - 1, .finished)]) })
  }

  /// Graphviz itself; Demo/packages installs it.
  @Test(.enabled(if: GraphTests.hasDot, "there is no dot")) func graphvizDrawsTheNamesAndEdgesOfAnyGraph() throws {
    let folder = try TemporaryFolder()
    try Data(DotGraph(graph: named).text.utf8).write(to: folder.file("a.dot"))
    let result = try ChildProcess.run(["sh", "-c", "dot -Tsvg \"$0\" 2>&1", folder.file("a.dot").path()])
    #expect(result.ending == .exited(0), "\(result.output)")
    var picture = result.output
    for (entity, text) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#45;", "-"), ("&amp;", "&"),
    ] {
      picture = picture.replacing(entity, with: text)
    }
    func texts(_ kind: String) -> [String] {
      picture.matches(of: #/<g id="[^"]*" class="(\w+)">.*?<\/g>\n/#.dotMatchesNewlines()).filter { $0.1 == kind }
        .compactMap { $0.0.firstMatch(of: #/<text[^>]*>(.*)<\/text>/#).map { String($0.1) } }
    }
    #expect(texts("node").sorted() == Self.names.sorted())
    #expect(texts("edge") == Self.names.dropFirst().map { _ in "finished" })
  }

  @Test func everyLineOfDotIsAStatement() throws {
    // A string ends at the first quotation mark after an even number of backslashes.
    let string = #/"(?:[^"\\\n]|\\.)*"/#
    let lines = DotGraph(graph: named).text.split(separator: "\n")
    for line in lines.dropFirst(3).dropLast() {
      let bare = String(line).replacing(string, with: "S")
      #expect(
        bare.wholeMatch(
          of: #/  j\d+ \[label=S(, shape=\w+)?, tooltip=S\];|  j\d+ -> j\d+( \[label=S, style=dashed\])?;/#)
          != nil, "\(line)")
    }
    #expect(String(lines[0]).replacing(string, with: "S") == "digraph S {" && lines.last == "}")
  }

  // MARK: Mermaid

  @Test func aFlowchartHasSafeIdentifiersAndEscapedLabels() {
    #expect(
      MermaidGraph(graph: release.restricted(to: [JobID(4)])).text == """
        flowchart LR
          j0(["fetch"])
          j1["build"]
          j2["page"]
          j0 --> j1
          j1 -.->|failed| j2

        """)
    let lines = MermaidGraph(graph: named).text.split(separator: "\n")
    for line in lines.dropFirst() {
      #expect(
        line.wholeMatch(of: #/  j\d+\["(?:[\p{L}\p{N} \-.,:\/+()\[\]]|#\d+;)*"\]|  j\d+ (-->|-\.->\|\w+\|) j\d+/#)
          != nil,
        "\(line)")
    }
    #expect(lines[2] == ##"  j1["say #34;hi#34;"]"## && lines[7] == ##"  j6["#60;b#62;x#60;/b#62;"]"##)
  }

  // MARK: Matrices, services and finally

  private var whole: JobGraph {
    get throws {
      let text = """
        name: whole
        jobs:
          api: { run: ls, service: true }
          build: { matrix: { os: [a, b, c, d] }, run: ls }
          test: { needs: { build: ok, api: ready }, run: ls }
          some: { needs: ["build[a]", "build[b]", test], run: ls }
          report: { needs: { build: finished, test: not-ok }, run: ls }
        finally:
          page: { when: failed, run: ls }
          clean: { needs: { page: finished }, run: ls }
        """
      return try JobFile.decode(Array(text.utf8), file: "whole.yml", directory: "/w")
    }
  }

  @Test func theTreeNamesMatricesAsAWholeAndTheJobsOfFinally() throws {
    #expect(
      GraphTree(try whole).text == """
        whole: 10 jobs, 14 needs
        api  shell
        build[a]  shell
        build[b]  shell
        build[c]  shell
        build[d]  shell
        └─ test  shell  (needs build, api ready)
           ├─ some  shell  (needs build[a], build[b], test)
           └─ report  shell  (needs build finished, test not-ok)
        page  shell  (finally, when failed)
        └─ clean  shell  (finally, needs page finished)

        """)
  }

  @Test func theJobsOfFinallyStandInABoxOfTheirOwn() throws {
    let (dot, mermaid) = (DotGraph(graph: try whole).text, MermaidGraph(graph: try whole).text)
    #expect(dot.hasSuffix("  subgraph cluster_finally { label=finally; j8; j9; }\n}\n"))
    #expect(dot.contains("  j5 -> j7 [label=\"not-ok\", style=dashed];\n"))
    #expect(mermaid.hasSuffix("  subgraph finally\n    j8\n    j9\n  end\n"))
    #expect(mermaid.contains("  j5 -.->|not-ok| j7\n"))
  }

  @Test(.enabled(if: GraphTests.hasDot, "there is no dot")) func graphvizReadsTheGraphOfAnyJobFile() throws {
    let folder = try TemporaryFolder()
    try Data(DotGraph(graph: whole).text.utf8).write(to: folder.file("a.dot"))
    let result = try ChildProcess.run(["sh", "-c", "dot -Tplain \"$0\" 2>&1", folder.file("a.dot").path()])
    #expect(result.ending == .exited(0), "\(result.output)")
    #expect(result.output.split(separator: "\n").count { $0.hasPrefix("edge ") } == 14)
    #expect(result.output.contains("not-ok"))
  }

  // MARK: Size

  @Test(arguments: GraphFormat.allCases) func aLargeGraphTakesNoRecursion(_ format: GraphFormat) {
    let chain = large { $0 == 0 ? [] : [$0 - 1] }
    let wide = large { $0 == 0 ? [] : $0 == 99_999 ? Array(0..<99_999) : [0] }
    for graph in [chain, wide] {
      let text = format.text(of: graph, isASCII: false, width: nil)
      #expect(text.contains("job99999"))
    }
  }

  @Test func aQuotationMarkBeforeACombiningMarkEndsNoLabel() {
    let graph = JobGraph(name: "g", jobs: [Job(name: "a\"\u{301}b\\\u{301}", work: .simulate(SimulatedWork()))])
    let label = Array("label=\"a\\\"\u{301}b\\\\\u{301}\"".unicodeScalars)
    #expect(DotGraph(graph: graph).text.unicodeScalars.contains(label))
  }
}
