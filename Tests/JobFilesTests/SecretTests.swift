import JobFiles
import JobModel
import Testing

/// The key `secrets`.
struct SecretTests {
  private static let long = String(repeating: "k3y-", count: 40)
  private let environment = [
    "TOKEN": "t0p-s3cret", "EMPTY": "", "LONG": SecretTests.long, "LINES": "one-l1ne\ntwo-l1ne", "HOME": "/h",
    "PIN": "e",
  ]

  private func decode(_ text: String, warn: (JobFileFault) -> Void = { _ in }) throws(JobFileFaults) -> JobGraph {
    try JobFile.decode(
      Array(text.utf8), file: "ci.yml", directory: "/jobs", environment: environment, warn: warn)
  }

  private func faults(_ text: String) -> [JobFileFault] {
    do throws(JobFileFaults) {
      _ = try decode(text)
      return []
    } catch {
      return error.faults
    }
  }

  private func warnings(_ text: String) throws -> [String] {
    var found: [String] = []
    _ = try decode(text) { found.append("\($0.line):\($0.column): \($0.message)") }
    return found
  }

  @Test func theValuesOfTheNamedVariablesAreSecret() throws {
    let end = "\njobs: { a: { run: ls } }"
    #expect(try decode("secrets: [TOKEN, LONG, TOKEN, EMPTY, NONE]" + end).secrets == ["t0p-s3cret", Self.long])
    #expect(try decode("secrets: TOKEN" + end).secrets == ["t0p-s3cret"])
    #expect(try decode(end).secrets.isEmpty)
  }

  @Test(arguments: [
    "env: { KEY: '${env.TOKEN}' }\njobs: { a: { run: ls } }", "vars: { KEY: '${env.TOKEN}' }\njobs: { a: { run: ls } }",
    "defaults: { env: { KEY: '${env.TOKEN}' } }\njobs: { a: { run: ls } }",
    "jobs: { a: { run: ls, env: { KEY: '${env.TOKEN}' } } }",
    "jobs: { a: { run: ls, env: { KEY: '${matrix.k}' }, matrix: { k: ['${env.TOKEN}'] } } }",
    "jobs: { b: { run: ls } }\nfinally: { a: { run: ls, env: { KEY: '${env.TOKEN}' } } }",
  ]) func aSecretIsMaskedWhereverItsValueComesFrom(body: String) throws {
    #expect(try decode("secrets: KEY\n" + body).secrets == ["t0p-s3cret"])
  }

  @Test func eachValueThatTheFileGivesASecretIsMasked() throws {
    let jobs = "jobs:\n  a: { run: ls, env: { KEY: two } }\n  b: { run: ls, env: { KEY: '' } }"
    #expect(try decode("secrets: KEY\nenv: { KEY: one }\n" + jobs).secrets == ["one", "two"])
  }

  @Test func noValueOfACommandLineIsASecret() {
    do throws(JobFileFaults) {
      _ = try JobFile.decode(
        Array("secrets: [KEY]\nvars: { KEY: '' }\njobs: { a: { run: 'echo ${KEY}' } }".utf8), file: "ci.yml",
        directory: "/", vars: ["KEY": "s3cret"])
      Issue.record("the file was taken")
    } catch {
      let message =
        "KEY is a secret, and a command line is shown and kept: instead of --set, write KEY: ${env.KEY} under vars, and "
        + "set KEY in the environment"
      #expect(error.faults.map { "\($0.line):\($0.column): \($0.message)" } == ["1:11: \(message)"])
    }
  }

  @Test func noNameHoldsASecret() throws {
    let graph = try decode(
      """
      name: to ${env.HOME}/t0p-s3cret
      secrets: [TOKEN, LONG]
      jobs:
        a: { run: "echo ${matrix.k}", matrix: { k: ["${env.TOKEN}", x, "${env.LONG}", "x${env.TOKEN}"] } }
        t0p-s3cret: { needs: "a[x]", run: ls }
      """)
    #expect(graph.name == "to /h/***")
    #expect(graph.jobs.map(\.name) == ["a[***]", "a[x]", "a[***2]", "a[x***]", "***"])
    #expect(graph.jobs[4].needs == [JobNeed(JobID(1))])
  }

  @Test func aShortSecretIsWarnedOfInPlainWords() throws {
    let fault = "the value of PIN is so short that *** also replaces other text that has it: use a longer value"
    #expect(try warnings("secrets: [PIN]\njobs: { a: { run: ls } }") == ["1:11: \(fault)"])
    #expect(try warnings("secrets: PIN\njobs: { a: { run: ls, env: { PIN: xyz } } }") == ["1:10: \(fault)"])
    #expect(try warnings("secrets: KEY\nenv: { KEY: xy }\njobs: { a: { run: ls } }").count == 1)
    #expect(try warnings("secrets: KEY\nenv: { KEY: xyz }\njobs: { a: { run: ls } }").isEmpty)
  }

  @Test func aValueOfAnotherJobIsNoSecret() throws {
    let text = "secrets: KEY\njobs:\n  b: { run: ls }\n  a: { needs: b, run: ls, env: { KEY: \"${jobs.b.v}\" } }"
    #expect(try decode(text).secrets.isEmpty)
    #expect(
      try warnings(text) == [
        "4:39: KEY is a secret, but the value of another job is shown: give it to the job by the environment"
      ])
  }

  @Test func aMissingSecretIsToldOnceWhereTheFileAsksForIt() throws {
    let head = "secrets: [TOKEN, NONE, EMPTY]\njobs: { a: { run: 'echo "
    #expect(try warnings(head + "${env.TOKEN}' } }").isEmpty)
    #expect(
      try warnings(head + "${env.NONE:-x} ${env.NONE:-y} ${env.EMPTY}' } }") == [
        "1:18: NONE has no value in the environment, so the file's text in its place is shown: set NONE",
        "1:24: EMPTY has no value in the environment, so the file's text in its place is shown: set EMPTY",
      ])
  }

  @Test(arguments: [
    (
      "[A-B]",
      "1:11: secrets takes names of environment variables, and this is none: write the name, and give the variable its value outside of the file"
    ),
    ("['${env.TOKEN}']", "1:11: secrets takes names of environment variables; this is '${env.TOKEN}': write TOKEN"),
    ("[$TOKEN]", "1:11: secrets takes names of environment variables; this is '$TOKEN': write TOKEN"),
    ("[[A]]", "1:11: secrets takes names of environment variables; this item is a list: write a name, as in [TOKEN]"),
    ("{ A: b }", "1:10: secrets takes a name of an environment variable, or a list of names; this is a map"),
  ])
  func whatIsNoNameIsRefused(text: String, fault: String) {
    #expect(
      faults("secrets: \(text)\njobs: { a: { run: ls } }").map { "\($0.line):\($0.column): \($0.message)" } == [fault])
  }

  @Test(arguments: [
    ("download: '${env.TOKEN}'", "download: '***' is no URL: write it with http:// or https:// at its beginning"),
    (
      "run: [ls], dir: '~/${env.TOKEN}'", "dir: '~' is not expanded here: write ${env.HOME}/***"
    ),
    // A message shows the first 60 characters.
    ("download: 'x ${env.LONG}'", "download: 'x ***…' is no URL: write it with http:// or https:// at its beginning"),
    ("download: '${env.LINES}'", "download holds the control character \\n: delete it"),
    ("run: ls, timeout: '${env.LINES}'", "'***' is not a duration: write 500ms, 8s, 10m or 1h30m"),
  ])
  func noMessageShowsASecret(body: String, message: String) {
    let found = faults("secrets: [TOKEN, LONG, LINES]\njobs:\n  a: { \(body) }\n")
    #expect(found.map(\.message) == [message])
    let lines = found.flatMap { $0.lines(width: 200) }.joined()
    #expect(!lines.contains("s3cret") && !lines.contains("k3y-") && !lines.contains("l1ne"))
  }

  @Test func theLineOfTheFileShowsNoSecretEvenAroundTheMark() {
    // The place of the fault is inside of the value.
    let found = faults("secrets: [TOKEN]\njobs:\n  a: { run: ls, progress: 't0p-s3cret(' }\n")
    #expect(found.map(\.column) == [38])
    #expect(
      found.flatMap { $0.lines(width: 200) } == [
        "ci.yml:3:38: '***(' is not a regular expression: this '(' is never closed: add ')', or write '\\(' for a bracket",
        "    3 |   a: { run: ls, progress: '***(' }", "      |                               ^~",
      ])
    let unknown = faults("secrets: [TOKEN]\njobs:\n  a: { run: [\"${env.HOME}t0p-s3cret${x}\"] }\n")
    #expect(unknown.count == 1)
    #expect(!unknown.flatMap { $0.lines(width: 200) }.joined().contains("s3cret"))
  }

  @Test func aPlaceInsideOfASecretMovesToItsBeginning() {
    let found = faults("secrets: [TOKEN]\nvars: { x: 'T' }\njobs:\n  a: { run: ls, progress: 'a)t0p-s3cret' }\n")
    let lines = found.flatMap { $0.lines(width: 200) }
    #expect(lines.count == 3)
    #expect(lines.dropFirst().first == "    4 |   a: { run: ls, progress: 'a)***' }")
  }

  @Test func aWarningShowsNoSecret() throws {
    let found = try warnings("secrets: [TOKEN]\njobs:\n  a: { run: ['my t0p-s3cret', x] }\n")
    #expect(found.count == 1)
    #expect(found.first?.contains("'my ***' is the name of a program") == true)
  }
}
