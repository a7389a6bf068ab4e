import Foundation
import JobFiles
import JobModel
import Support
import Testing

/// The key `dotenv`, and the files that it names.
struct DotenvTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func graph(
    _ files: [String: String], head: String = "dotenv: .env", body: String = "run: ls"
  ) throws -> JobGraph {
    for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
    return try JobFile.decode(
      Array("\(head)\njobs:\n  a: { \(body) }\n".utf8), file: "ci.yml", directory: folder.url.path(),
      environment: ["HOME": "/h", "LEVEL": "outer", "EMPTY": ""])
  }

  private func variables(_ text: String) throws -> [String: String] {
    guard case .shell(let work) = try graph([".env": text]).jobs[0].work else { throw UnexpectedWork() }
    return work.environment
  }

  private func faults(_ files: [String: String], head: String = "dotenv: .env") -> [String] {
    do {
      _ = try graph(files, head: head)
      return []
    } catch let error as JobFileFaults {
      return error.faults.flatMap { $0.lines(width: 100) }
    } catch {
      return ["\(error)"]
    }
  }

  @Test(arguments: [
    ("A=1\nB=two words \n", ["A": "1", "B": "two words"]), ("", [:]), ("\n# a comment\n  # another\n\n", [:]),
    ("export A=1\nexport  B = x\nexport=y", ["A": "1", "B": "x", "export": "y"]),
    ("A=1\r\nB=2\r\n", ["A": "1", "B": "2"]),
    ("A=x # comment\nB=x#no\nC=#no\nD= # comment\nE=", ["A": "x", "B": "x#no", "C": "#no", "D": "", "E": ""]),
    ("A='x # $HOME ${HOME} \\n \"' # c\nB=''", ["A": "x # $HOME ${HOME} \\n \"", "B": ""]),
    (#"A="x # \n\t\"\\\$ \d '${HOME}' \${HOME}"  "#, ["A": "x # \n\t\"\\$ \\d '/h' ${HOME}"]),
    ("A=\"one\ntwo\\\nthree\"\nB=2", ["A": "one\ntwo\\\nthree", "B": "2"]), ("A=\"one\r\ntwo\"", ["A": "one\ntwo"]),
    ("A=1\nB=${A}2\nC=\"${B}${HOME}\"\nA=3", ["A": "3", "B": "12", "C": "12/h"]),
    ("A=${NONE:-x y} ${EMPTY:-z}${EMPTY}", ["A": "x y z"]), ("A=$HOME/${HOME}/$", ["A": "/h//h/$"]),
    ("A='p$ss=w{}rd'", ["A": "p$ss=w{}rd"]),
    ("A='one\r\ntwo'\r\nB=2\r", ["A": "one\ntwo", "B": "2"]), ("\u{FEFF}A=é😀", ["A": "é😀"]),
  ])
  func aLineGivesAVariableItsValue(text: String, variables: [String: String]) throws {
    #expect(try self.variables(text) == variables)
  }

  @Test func itIsBetweenTheEnvironmentsOfTheFileAndOfOpdash() throws {
    let graph = try graph(
      [".env": "LEVEL=inner\nLANG=de\nOWN=dotenv"], head: "dotenv: .env\nenv: { LANG: C, SEEN: '${env.LEVEL}' }",
      body: "run: ls, env: { OWN: job }")
    guard case .shell(let work) = graph.jobs[0].work else { throw UnexpectedWork() }
    #expect(work.environment == ["LEVEL": "inner", "LANG": "C", "SEEN": "inner", "OWN": "job"])
  }

  @Test func ofSeveralFilesTheLaterIsStronger() throws {
    let graph = try graph(
      ["a.env": "A=1\nB=1", "b.env": "B=${A}2"], head: "dotenv: [a.env, '${env.NONE:-b}.env']")
    guard case .shell(let work) = graph.jobs[0].work else { throw UnexpectedWork() }
    #expect(work.environment == ["A": "1", "B": "12"])
  }

  @Test func aSecretMayComeFromIt() throws {
    #expect(try graph([".env": "TOKEN=abcdef"], head: "dotenv: .env\nsecrets: [TOKEN]").secrets == ["abcdef"])
  }

  @Test func aValueOfASecretThatALaterOneReplacesIsSecretToo() throws {
    let files = ["a.env": "TOKEN=first-one\nURL=u:${TOKEN}@h\nTOKEN=second-one", "b.env": "TOKEN=third-one"]
    let graph = try graph(files, head: "dotenv: [a.env, b.env]\nsecrets: [TOKEN]")
    #expect(graph.secrets == ["first-one", "second-one", "third-one"])
  }

  @Test(arguments: [
    ("A=1\nnothing\nB=2", "2:1: this line is no NAME=VALUE: write NAME=VALUE, or '#' before a comment"),
    ("A: s3cret", "1:1: this line is no NAME=VALUE: write NAME=VALUE, or '#' before a comment"),
    ("=s3cret", "1:1: this line is no NAME=VALUE: write NAME=VALUE, or '#' before a comment"),
    (
      "  2A=s3cret",
      "1:3: the text before '=' can't name an environment variable: use letters, digits and '_', no digit first"
    ),
    (
      "s3cret+x==",
      "1:1: the text before '=' can't name an environment variable: use letters, digits and '_', no digit first"
    ),
    ("A='s3cret", "1:3: the quote before the value of A is never closed: add the closing quote"),
    ("A='s3cret\nB=2", "1:3: the quote before the value of A is never closed: add the closing quote"),
    ("A=\"s3cret\nB=2", "1:3: the quote before the value of A is never closed: add the closing quote"),
    ("A=\"s3cret\\", "1:3: the quote before the value of A is never closed: add the closing quote"),
    (
      "A='s3cret' more",
      "1:12: text follows the closing quote of A: delete it, or write a blank and '#' before a comment"
    ),
    ("A=s3cret${B}", "1:9: B has no value before this line: set it, or write ${B:-default}"),
    (
      "A=s3cret$hunter2",
      "1:9: a '$' in the value of A stands before a name without a value: use single quotes for a plain '$', or set the "
        + "name before this line"
    ),
    ("A=s3cret${B?set it in ${HOME}}", "1:9: B has no value: set it in ${HOME}"),
    ("A=s3cret${B", "1:9: '${' in the value of A has no closing '}': add it, or use single quotes for a plain '${'"),
    (
      "A=s3cret${B%x}",
      "1:9: a '${…}' in the value of A is not understood: write ${NAME} or ${NAME:-default}, or use single quotes for a "
        + "plain '${'"
    ),
  ])
  func aBrokenLineIsAFaultAtItsPlaceWithoutItsValue(text: String, fault: String) {
    // No line of the file is shown: it may hold a secret.
    #expect(faults([".env": text]) == [".env:" + fault])
  }

  @Test func everyBrokenLineIsTold() {
    #expect(faults([".env": "a\nb\nC=1\nD='\n"]).map { $0.prefix(8) } == [".env:1:1", ".env:2:1", ".env:4:3"])
  }

  @Test(arguments: [
    ("[.env, none.env]", "1:16: dotenv 'none.env': there is no such file: create it, or correct the path"),
    ("[]", "1:9: dotenv is empty: it takes the path of a file, or a list of paths; delete it if there is none"),
    ("{ A: b }", "1:9: dotenv takes the path of a file, or a list of paths; this is a map"),
    ("'${x}.env'", "1:9: dotenv is read before vars, so it can't have '${x}': write the path out, or use ${env.NAME}"),
    (".", "1:9: dotenv '.': this is a folder: name a file in it"),
    ("bad.env", "1:9: dotenv 'bad.env', line 2, column 3: the file is not UTF-8 here (byte 0xFF): save it as UTF-8"),
  ])
  func aFileThatCantBeReadIsAFaultWhereItIsNamed(written: String, fault: String) throws {
    try Data(Array("A=1\nB=".utf8) + [0xFF]).write(to: folder.file("bad.env"))
    #expect(faults([".env": ""], head: "dotenv: \(written)").first == "ci.yml:" + fault)
  }
}
