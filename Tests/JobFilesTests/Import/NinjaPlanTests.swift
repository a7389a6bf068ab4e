import JobModel
import Testing

@testable import JobFiles

@Suite struct NinjaPlanTests {
  private func file(_ text: String, others: [String: String] = [:]) -> ImportCase {
    ImportCase(format: .ninja, name: "build.ninja", text: text, others: others)
  }

  private static let rules = """
    rule cc
      command = cc -c $in -o $out $flags
      description = CC $out
    rule cat
      command = cat $in > $out

    """

  @Test func anEdgeIsAJobWithItsFilesAndNeeds() throws {
    let graph = try file(
      Self.rules + "build a.o: cc a.c\n  flags = -O2\nbuild b.o | b.d: cc b.c | b.h || a.o\nbuild app: cat a.o b.o\n"
    ).graph()
    #expect(graph.jobs.map(\.name) == ["a.o", "b.o", "app"])
    #expect(try graph.job("a.o").script == "cc -c a.c -o a.o -O2")
    #expect(try graph.job("a.o").description == "CC a.o")
    #expect(try graph.job("b.o").script == "cc -c b.c -o b.o ")
    #expect(try graph.job("b.o").inputs == ["/jobs/b.c", "/jobs/b.h"])
    #expect(try graph.job("b.o").creates == ["/jobs/b.o", "/jobs/b.d"])
    #expect(try graph.needs(of: "b.o") == ["a.o ok"])
    #expect(try graph.needs(of: "app") == ["a.o ok", "b.o ok"])
    #expect(graph.onFailure == .finishRunning && graph.jobs[0].shell?.shell == ["/bin/sh", "-c"])
  }

  @Test func aPhonyEdgeStandsForWhatItNeeds() throws {
    let graph = try file(
      Self.rules + """
        build all: phony both || extra
        build both: phony x y src.txt
        build x: cat 1
        build y: cat 2
        build extra: cat 3
        build force: phony
        build out: cat both force || all

        """
    ).graph()
    #expect(graph.jobs.map(\.name) == ["x", "y", "extra", "out"])
    #expect(try graph.needs(of: "out") == ["x ok", "y ok", "extra ok"])
    #expect(try graph.job("out").inputs == ["/jobs/x", "/jobs/y", "/jobs/src.txt", "/jobs/force"])
  }

  @Test func onlyWhatDefaultReachesIsAJob() throws {
    let file = file(
      Self.rules + "build a: cat 1 |@ check\nbuild b: cat 2\nbuild check: cat 3\nbuild all: phony a\ndefault all\n")
    #expect(try file.graph().jobs.map(\.name) == ["a", "check"])
    #expect(try file.graph().needs(of: "a") == [])
    #expect(try file.imported().text.contains("# Left out: 1 edge that 'default' does not reach."))
  }

  @Test func variablesAreOfTheEdgeThenTheRuleThenTheFile() throws {
    let graph = try file(
      """
      x = file
      y = ${x}2
      rule r
        command = $x $y $z ${un.known}. $$HOME $in $out
        z = unused$
          text
        description = rule
      x = later
      build o: r i
        x = edge
        description = of $out $x
      build p: r i
      """.replacing("  z = unused$\n    text\n", with: "  depfile = unused$\n    text\n")
    ).graph()
    #expect(try graph.job("o").script == "edge file2  . $HOME i o")
    #expect(try graph.job("o").description == "of  later")
    #expect(try graph.job("p").script == "later file2  . $HOME i p")
  }

  @Test func pathsAreWordsOfTheShell() throws {
    let graph = try file(
      Self.rules + "build o$ 1: cat a$ b.c it's.c ./x/../c$:d\n  flags = 1\nbuild e: cat $$x.c ~y é.c\n"
    ).graph()
    #expect(try graph.job("o 1").script == "cat 'a b.c' 'it'\\''s.c' 'c:d' > 'o 1'")
    #expect(try graph.job("o 1").inputs == ["/jobs/a b.c", "/jobs/it's.c", "/jobs/c:d"])
    #expect(try graph.job("e").script == "cat '$x.c' '~y' 'é.c' > e")
    #expect(try graph.job("e").inputs == ["/jobs/$x.c", "/jobs/~y", "/jobs/é.c"])
  }

  @Test func aPathWithMarksOfPatternsMatchesItselfOnly() throws {
    let file = file(Self.rules + "build a[1]: cat b[1].c c*.c d?\\.c\nbuild e*: cat f\n")
    let graph = try file.graph()
    #expect(graph.jobs.map(\.name) == ["a_1_", "e_"])
    #expect(graph.jobs[0].inputs == [#"/jobs/b\[1].c"#, #"/jobs/c\*.c"#, #"/jobs/d\?\\.c"#])
    #expect(graph.jobs[0].creates == ["/jobs/a[1]"] && graph.jobs[1].creates.isEmpty)
    #expect(try file.imported().warnings == ["7:1: 'e*' can't be a path in a job file: rename it"])
  }

  @Test func poolsAreTakenAndTheConsoleIsATerminal() throws {
    let graph = try file(
      """
      pool heavy
        depth = 2
      pool free
        depth = 0
      rule r
        command = x
        pool = heavy
      build a: r
      build b: r
        pool =
      build c: r
        pool = console
      build d: r
        pool = free
      """
    ).graph()
    #expect(graph.pools == ["heavy": 2, "console": 1])
    #expect(graph.jobs.map(\.uses) == [["heavy": 1], [:], ["console": 1], [:]])
    #expect(graph.jobs.map { $0.shell?.hasTerminal } == [false, false, true, false])
  }

  @Test func aResponseFileIsWrittenAndRemoved() throws {
    let graph = try file(
      "rule link\n  command = ld @$out.rsp\n  rspfile = $out.rsp\n  rspfile_content = $in_newline -l'x'\nbuild a: link 1 2$ 3\n"
    ).graph()
    #expect(
      try graph.job("a").script
        == "printf %s '1\n'\\''2 3'\\'' -l'\\''x'\\''' > a.rsp && {\nld @a.rsp\n} && rm -f -- a.rsp")
  }

  @Test func foldersOfOutputsAreMadeByAJob() throws {
    let graph = try file(Self.rules + "build obj/x/a: cat 1\nbuild folders: cat 2\nbuild -d/b: cat obj/x/a\n").graph()
    let folders = try graph.job("folders-2")
    guard case .argv(let words)? = folders.shell?.command else {
      Issue.record("no words")
      return
    }
    #expect(words == ["mkdir", "-p", "--", "obj/x", "-d"])
    #expect(folders.creates == ["/jobs/obj/x", "/jobs/-d"])
    #expect(try graph.needs(of: "obj/x/a") == ["folders-2 ok"])
    #expect(try graph.needs(of: "_d/b") == ["folders-2 ok", "obj/x/a ok"])
    #expect(try graph.needs(of: "folders") == [])
  }

  @Test func filesAreIncludedAndScopesInherited() throws {
    let graph = try file(
      "a = 1\ninclude rules.ninja\nsubninja sub/b.ninja\nbuild o: r $b\n",
      others: [
        "rules.ninja": "b = 2\nrule r\n  command = r $a $b $c $in\n",
        "sub/b.ninja": "a = 3\nc = 4\nrule s\n  command = s $a $b\nbuild p: r $a\nbuild q: s\n",
      ]
    ).graph()
    #expect(try graph.job("o").script == "r 1 2  2")
    #expect(try graph.job("p").script == "r 3 2 4 3")
    #expect(try graph.job("q").script == "s 3 2")
  }

  @Test func whatHasNoEqualIsNamed() throws {
    let file = file(
      """
      rule r
        command = x
        depfile = $out.d
        deps = gcc
        dyndep = dd
      build a: r 1 || dd
      build dd: r
      build build.ninja: r CMakeLists.txt
      """)
    let warnings = try file.imported().warnings.map { $0.split(separator: " ").prefix(4).joined(separator: " ") }
    #expect(
      warnings == [
        "6:1: 'dyndep' has no", "6:1: Files that only", "7:1: 'dyndep' has no", "7:1: A job without",
        "7:1: Files that only",
        "8:1: Ninja generates this",
      ])
    let text = try file.imported().text
    #expect(text.contains("\n    # 'dyndep' has no equal: write the job's needs into 'needs'.\n"))
    #expect(try file.graph().jobs.map(\.name) == ["a", "dd"])
  }

  @Test func headersOfTheLastBuildAreInputs() throws {
    let text = "rule cc\n  command = cc $in\n  depfile = $out.d\n  deps = gcc\nbuild a.o: cc a.c\n"
    let graph = try file(text, others: ["a.o.d": "a.o: a.c ./inc/a.h \\\n  /usr/b\\ c.h\n\ninc/a.h:\n"]).graph()
    #expect(graph.jobs[0].inputs == ["/jobs/a.c", "/jobs/inc/a.h", "/usr/b c.h"])
  }

  @Test func headersThatAnEdgeMakesAreNeeded() throws {
    let text = """
      rule cc
        command = cc $in
        depfile = $out.d
      rule gen
        command = gen
      build a.o: cc a.c
      build b.o: cc b.c
      build gen.h: gen
      build other.h: gen
      build also.h: phony other.h
      default a.o

      """
    let headers = ["a.o.d": "a.o: a.c ./gen.h also.h a.o\n", "b.o.d": "b.o: b.c\n"]
    let graph = try file(text, others: headers).graph()
    #expect(graph.jobs.map(\.name) == ["a.o", "gen.h", "other.h"])
    #expect(try graph.needs(of: "a.o") == ["gen.h ok", "other.h ok"])
    #expect(
      file(text.replacing("build gen.h: gen", with: "build gen.h: gen a.o"), others: headers).faults == [
        "6:1: files need each other: a.o -> gen.h -> a.o: delete one of these needs"
      ])
  }

  @Test func aFileAsItsOwnPhonyInputIsNoCycle() throws {
    #expect(try file(Self.rules + "build a: phony a\nbuild b: cat a\n").graph().jobs.map(\.inputs) == [["/jobs/a"]])
  }

  @Test func windowsLineBreaksAndCommentsAreRead() throws {
    let text = "# c\r\nrule r\r\n  # inside\r\n\r\n  command = a $\r\n    b\r\n   # also\r\nbuild o: r\r\n\r\n# end"
    #expect(try file(text).graph().jobs.map(\.script) == ["a b"])
  }

  @Test(arguments: [
    ("rule r\n  command = x\nbuild a: s\n", "3:10: rule 's' is unknown here: write it above this line"),
    ("build a: cc\n", "1:10: rule 'cc' is unknown here: write it above this line"),
    ("rule r\n  comand = x\n", "2:3: a rule has no 'comand': did you mean 'command'?"),
    ("rule r\n", "1:1: rule 'r' has no command: write 'command = …' below it"),
    ("rule r\n  command x\n", "2:11: '=' is missing after 'command': write 'NAME = VALUE'"),
    ("x = $!\n", "1:5: this '$' begins nothing that ninja knows: write '$$' for a plain '$'"),
    ("x = ${a\n", "1:5: this '$' begins nothing that ninja knows: write '$$' for a plain '$'"),
    ("x\n", "1:2: '=' is missing after 'x': write 'NAME = VALUE'"),
    ("  x = 1\n", "1:3: this line is indented, but belongs to no line above: write it at the start"),
    ("\tx = 1\n", "1:1: ninja allows no tabs here: use blanks"),
    ("build a\n", "1:8: ':' is missing after the files that are made: write 'build FILE: RULE …'"),
    ("build : phony\n", "1:7: build names no file that it makes: write 'build FILE: RULE …'"),
    ("build a: phony b : c\n", "1:18: the line does not end after the files of build: delete this"),
    ("build a: phony\nbuild ./a: phony\n", "2:1: 'a' is made at line 1, column 1 already: delete one of them"),
    ("build a: phony b\nbuild b: phony a\n", "1:1: files need each other: a -> b -> a: delete one of these needs"),
    ("build a: phony $x\n", "1:1: a path on this line is empty: write one, or give its variable a value"),
    ("build a: phony\ndefault b\n", "2:1: no line makes 'b': write one with 'build', or correct the path"),
    ("pool p\n  depth = -1\n", "2:3: depth takes a whole number up to 1000000; this is '-1': write one"),
    ("pool p\n  depht = 1\n", "2:3: a pool has no 'depht': write 'depth = NUMBER'"),
    ("rule r\n  command = x\nbuild a: r\n  pool = q\n", "3:1: pool 'q' is unknown: write it with 'pool'"),
    (
      "rule r\n  command = $depfile\n  depfile = $command\nbuild a: r\n",
      "4:1: the variables of rule 'r' need each other: depfile -> command -> depfile"
    ),
    ("include x.ninja\n", "1:1: 'x.ninja' does not exist: generate it first, or delete the line"),
    ("include build.ninja\n", "1:1: 'build.ninja' includes itself: delete one of these lines"),
    ("build a: phony\n", "1:1: there is nothing to do in it: name a file that has something"),
  ])
  func aFaultHasItsPlace(_ text: String, _ fault: String) throws {
    let faults = file(text).faults
    #expect(faults.count == 1 && faults.first?.hasPrefix(fault) == true, "\(faults)")
  }

  @Test func textThatGrowsWithoutEndIsAFault() {
    let doubled = (0..<40).map { "v\($0 + 1) = $v\($0)$v\($0)\n" }.joined()
    #expect(file("v0 = 0123456789\n" + doubled).faults.first?.contains("longer than 1 MiB") == true)
    let pairs = zip(NinjaRule.names.sorted(), NinjaRule.names.sorted().dropFirst())
    let rule = pairs.map { "  \($0) = " + String(repeating: "${\($1)}", count: 40) + "\n" }.joined()
    #expect(file("rule r\n\(rule)build a: r\n").faults.first?.contains("takes more than opdash allows") == true)
  }

  @Test func aChainOfIncludesHasAnEnd() {
    var others: [String: String] = [:]
    for number in 0..<40 { others["\(number).ninja"] = "include \(number + 1).ninja\ninclude \(number + 1).ninja\n" }
    #expect(
      file("include 0.ninja\n", others: others).faults == [
        "30.ninja:1:1: more than 32 files include each other: put some of them together"
      ])
    for number in 20..<40 { others["\(number).ninja"] = "" }
    #expect(file("include 0.ninja\n", others: others).faults.first?.contains("more than 1024 files") == true)
  }
}
