import Testing

@testable import JobFiles

@Suite struct ProcfileImportTests {
  private func file(_ text: String, others: [String: String] = [:]) -> ImportCase {
    ImportCase(format: .procfile, name: "Procfile", text: text, others: others)
  }

  @Test func eachLineIsAServiceWithAPortOfItsOwn() throws {
    let graph = try file("# all of it\nweb: bin/web -p $PORT\n\nworker:  bin/work\n").graph()
    #expect(graph.jobs.map(\.name) == ["web", "worker"])
    #expect(graph.jobs.map(\.script) == ["bin/web -p $PORT", "bin/work"])
    #expect(graph.jobs.map { $0.shell?.environment["PORT"] } == ["5000", "5100"])
    #expect(graph.jobs.map { $0.shell?.environment["PS"] } == ["web.1", "worker.1"])
    #expect(graph.jobs.allSatisfy { $0.shell?.service != nil && $0.shell?.shell == ["/bin/sh", "-c"] })
    #expect(graph.onFailure == .stopNow)
  }

  @Test func theVariablesBesideItAreThoseOfTheJobs() throws {
    let file = file("web: x\nclock: y\n", others: [".env": "PORT=3000\nKEY='a'\n"])
    #expect(try file.imported().text.contains("\ndotenv: .env\n"))
    #expect(try file.graph().jobs.map { $0.shell?.environment["PORT"] } == ["3000", "3100"])
  }

  /// Foreman takes what is not quoted as it is.
  @Test func aVariableThatForemanReadsOtherwiseIsNamed() throws {
    let lines = [
      "PW=pa$$word", "TAG=abc #1", "A=a", "B='$b #c'", "C=\"a\\nb\"", "D= e", "E=\"a $$b\"", "export F=$$", "G=1",
      "G=$$", "# H=$$",
    ]
    let differ = [(1, "PW"), (2, "TAG"), (6, "D"), (7, "E"), (10, "G")]
    let file = file("web: x\n", others: [".env": lines.joined(separator: "\n")])
    #expect(
      try file.imported().warnings
        == differ.map {
          "\($0.0):1: foreman reads another value of \($0.1): put it into single quotes, which both read alike"
        })
  }

  @Test func theLastValueOfAVariableIsCompared() throws {
    let file = file("web: x\n", others: [".env": "A=1\nB=$$\nA=2\nB='3'\n"])
    #expect(try file.imported().warnings == [])
  }

  /// The end of its value is not known.
  @Test(arguments: ["x", "é"]) func aVariableOnALongLineIsNotCompared(_ character: String) throws {
    let value = String(repeating: character, count: 5000)
    #expect(try file("web: x\n", others: [".env": "AB=$$\nAB=\(value)\n"]).imported().warnings == [])
  }

  @Test(arguments: [("x", 4096 - 5), ("é", 2045)]) func aLongLineIsAFault(_ character: String, _ count: Int) throws {
    let line = "web: " + String(repeating: character, count: count)
    #expect(try file(line + "\n").graph().jobs.count == 1)
    #expect(
      file(line + "\(character)\n").faults
        == ["1:1: this line is longer than 4096 bytes: put the command into a script"])
  }

  @Test func formsOfTheShellReachTheShell() throws {
    let scripts = [
      "echo ${HOME} $$ `x`", "echo \"$${A}\" '${env.B}' # not: a comment", "'a' \"b\" : c", "a\tb \u{202E} é\u{301}",
    ]
    let text = scripts.enumerated().map { "p\($0): \($1)" }.joined(separator: "\n")
    #expect(try file(text).graph().jobs.map(\.script) == scripts)
    #expect(try file(text).imported().text.contains("run: echo ${HOME} $$ `x`\n") == false)
  }

  @Test(arguments: [
    (
      "web bin/web\n",
      ["1:1: this line is not a process: write 'NAME: COMMAND', NAME with letters, digits, '_' and '-'"]
    ),
    (
      "a: x\n  b.c: y\n",
      ["2:3: this line is not a process: write 'NAME: COMMAND', NAME with letters, digits, '_' and '-'"]
    ),
    ("a: x\na: y\n", ["2:1: 'a' is given at line 1, column 1 already: give one another name"]),
    ("# nothing\n", ["1:1: there is nothing to do in it: name a file that has something"]),
    ("a: \u{1B}[0m\n", ["1:4: control character U+001B: delete it"]),
  ])
  func aFaultHasItsPlace(_ text: String, _ faults: [String]) { #expect(file(text).faults == faults) }

  @Test func aFaultOfTheVariablesIsThatOfTheirFile() {
    #expect(
      file("a: x\n", others: [".env": "PORT=http\n"]).faults
        == ["1:1: PORT in .env is not a port: write a number from 1 to 65535"])
    #expect(
      file("a: x\n", others: [".env": "\nnonsense\n"]).faults
        == [".env:2:1: this line is no NAME=VALUE: write NAME=VALUE, or '#' before a comment"])
    #expect(
      file("a: x\nb: y\n", others: [".env": "PORT=65500\n"]).faults
        == ["2:1: the port of this process would be 65600: write a lower PORT into .env"])
  }
}
