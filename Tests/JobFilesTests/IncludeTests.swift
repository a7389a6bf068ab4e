import Foundation
import JobFiles
import JobModel
import Support
import Testing

/// The key `include`, and what the files that it names may have.
struct IncludeTests {
  private let folder: TemporaryFolder
  private var directory: String { String(folder.url.path().dropLast(folder.url.path().hasSuffix("/") ? 1 : 0)) }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("ci/sub"), withIntermediateDirectories: true)
  }

  /// The graph of `main.yml`, which is loaded from the folder itself.
  private func graph(
    _ main: String, _ files: [String: String] = [:], vars: [String: String] = [:],
    warn: (JobFileFault) -> Void = { _ in }
  ) throws -> JobGraph {
    for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
    return try JobFile.decode(
      Array(main.utf8), file: "main.yml", directory: directory, environment: ["HOME": "/h", "TOKEN": "t0p"], vars: vars,
      warn: warn)
  }

  private func faults(_ main: String, _ files: [String: String] = [:]) -> [String] {
    do {
      _ = try graph(main, files)
      return []
    } catch {
      return "\(error)".components(separatedBy: "\n")
    }
  }

  private func work(_ graph: JobGraph, _ name: String) throws -> ShellWork {
    guard let job = graph.jobs.first(where: { $0.name == name }), case .shell(let work) = job.work else {
      throw UnexpectedWork()
    }
    return work
  }

  @Test func theJobsOfTheOtherFilesFollowThoseOfTheFile() throws {
    let graph = try graph(
      "include: [a.yml, b.yml]\njobs: { main: { run: ls, needs: [b1, a1] } }",
      [
        "a.yml": "jobs: { a1: { run: ls }, a2: { run: ls, needs: [main] } }",
        "b.yml": "version: 1\njobs: { b1: { run: ls } }",
      ])
    #expect(graph.name == "main")
    #expect(graph.jobs.map(\.name) == ["main", "a1", "a2", "b1"])
    #expect(graph.jobs[0].needs.map(\.job.index) == [3, 1])
    #expect(graph.jobs[2].needs.map(\.job.index) == [0])
  }

  @Test func filesWhoseNamesLookTheSameAreTwo() throws {
    try Data("jobs: { a: ls }".utf8).write(to: folder.file("\u{E9}.yml"))
    try Data("jobs: { b: ls }".utf8).write(to: folder.file("e\u{301}.yml"))
    #expect(try graph("include: ['\u{E9}.yml', 'e\u{301}.yml']").jobs.map(\.name) == ["a", "b"])
  }

  @Test func aFileNeedsNoJobsOfItsOwn() throws {
    #expect(try graph("include: a.yml", ["a.yml": "jobs: { a: { run: ls } }"]).jobs.map(\.name) == ["a"])
    #expect(try graph("include: a.yml\njobs: { b: { run: ls } }", ["a.yml": "# nothing\n"]).jobs.map(\.name) == ["b"])
  }

  @Test func keysOfTheFileWithoutAValueAreThoseOfTheIncludedFile() throws {
    let graph = try graph(
      "include: a.yml\nvars:\njobs:\n", ["a.yml": "vars: { v: 1 }\njobs: { a: { run: 'echo ${v}' } }"])
    #expect(graph.jobs.map(\.name) == ["a"])
    #expect(try work(graph, "a").command == .script("echo 1"))
  }

  @Test func theIncludingFileWins() throws {
    let graph = try graph(
      """
      include: [a.yml]
      vars: { ver: main, url: "${base}/x" }
      env: { LANG: main }
      pools: { net: 4 }
      jobs: { m: { run: "echo ${ver} ${url}", uses: { net: 3, cpu: 1 } } }
      """,
      [
        "a.yml": """
        vars: { ver: a, base: "http://${ver}" }
        env: { LANG: a, MODE: "${ver}" }
        pools: { net: 1, cpu: 2 }
        jobs: { a: { run: "echo ${ver}", uses: { net: 4 } } }
        """
      ])
    #expect(graph.pools == ["net": 4, "cpu": 2])
    #expect(try work(graph, "m").command == .script("echo main http://main/x"))
    #expect(try work(graph, "a").command == .script("echo main"))
    #expect(try work(graph, "a").environment == ["LANG": "main", "MODE": "main"])
    #expect(try work(graph, "m").environment == ["LANG": "main", "MODE": "main"])
  }

  @Test func aVarOfAnIncludedFileCanBeSet() throws {
    let graph = try graph(
      "include: a.yml", ["a.yml": "vars: { v: 1 }\njobs: { a: { run: 'echo ${v}' } }"], vars: ["v": "2"])
    #expect(try work(graph, "a").command == .script("echo 2"))
  }

  @Test func theFinalJobsOfAllFilesRunLast() throws {
    let graph = try graph(
      "include: a.yml\njobs: { m: { run: ls } }\nfinally: { page: { run: ls } }",
      ["a.yml": "defaults: { timeout: 2s }\njobs: { a: ls }\nfinally: { clean: { run: ls, when: ok } }"])
    #expect(graph.jobs.map(\.name) == ["m", "a", "page", "clean"])
    #expect(graph.jobs.map(\.finally) == [nil, nil, .always, .ok])
    #expect(graph.jobs.map(\.timeout) == [nil, .seconds(2), nil, .seconds(2)])
    #expect(
      faults(
        "include: a.yml\njobs: { m: ls }\nfinally: { a: ls }", ["a.yml": "jobs: { a: ls }"]) == [
          "main.yml:3:12: 'a' is a job of 'jobs' already, a.yml, line 1, column 9: give this one another name"
        ])
  }

  @Test func aMatrixOfAnIncludedFileIsExpanded() throws {
    let graph = try graph(
      "include: ci/a.yml\njobs: { m: { run: ls, needs: [b] } }",
      ["ci/a.yml": "jobs: { b: { matrix: { os: [x, y] }, run: 'echo ${matrix.os}', dir: '${matrix.os}' } }"])
    #expect(graph.jobs.map(\.name) == ["m", "b[x]", "b[y]"])
    #expect(try work(graph, "b[y]").directory == directory + "/ci/y")
  }

  @Test func theDefaultsAndTheShellOfAFileAreForItsOwnJobs() throws {
    let graph = try graph(
      "include: [a.yml, b.yml]\nshell: bash\ndefaults: { timeout: 1s, dir: x }\njobs: { m: { run: ls } }",
      [
        "a.yml": "shell: zsh\ndefaults: { timeout: 2s }\njobs: { a: { run: ls } }",
        "b.yml": "jobs: { b: { run: ls } }",
      ])
    #expect(graph.jobs.map(\.timeout) == [.seconds(1), .seconds(2), nil])
    #expect(try ["m", "a", "b"].map { try work(graph, $0).shell[0] } == ["bash", "zsh", "/bin/sh"])
    #expect(try ["m", "a", "b"].map { try work(graph, $0).directory } == [directory + "/x", directory, directory])
  }

  @Test func pathsAreRelativeToTheirOwnFile() throws {
    let graph = try graph(
      "include: ci/a.yml\njobs: { m: { run: ls, dir: d } }",
      [
        "ci/a.yml": """
        include: sub/b.yml
        dotenv: .env
        defaults: { stop: { grace: 1s } }
        jobs:
          a: { run: ls, dir: d, creates: out, inputs: "*.c" }
          get: { download: { url: http://h/x, to: y } }
          send: { upload: { url: http://h/x, file: z } }
        """, "ci/sub/b.yml": "include: ../../c.yml\njobs: { b: { run: ls } }",
        "c.yml": "jobs: { c: { run: ls, creates: o } }",
        "ci/.env": "SEEN=1",
      ])
    #expect(graph.jobs.map(\.name) == ["m", "a", "get", "send", "b", "c"])
    #expect(
      try ["m", "a", "b", "c"].map { try work(graph, $0).directory }
        == ["/d", "/ci/d", "/ci/sub", ""].map { directory + $0 })
    #expect(graph.jobs[1].creates == [directory + "/ci/out"])
    #expect(graph.jobs[1].inputs == [directory + "/ci/*.c"])
    #expect(graph.jobs[5].creates == [directory + "/o"])
    guard case .download(let get) = graph.jobs[2].work, case .upload(let send) = graph.jobs[3].work else {
      throw UnexpectedWork()
    }
    #expect(get.file == directory + "/ci/y")
    #expect(send.file == directory + "/ci/z")
    #expect(try work(graph, "m").environment == ["SEEN": "1"])
  }

  @Test func theDotenvOfTheIncludingFileWins() throws {
    let graph = try graph(
      "include: a.yml\ndotenv: m.env\njobs: { m: { run: 'echo ${env.X}' } }",
      ["a.yml": "dotenv: [a.env, b.env]", "a.env": "X=a\nY=a\nZ=a", "b.env": "Y=b", "m.env": "X=m"])
    #expect(try work(graph, "m").environment == ["X": "m", "Y": "b", "Z": "a"])
    #expect(try work(graph, "m").command == .script("echo m"))
  }

  @Test func secretsOfAllFilesAreKept() throws {
    let graph = try graph(
      "include: a.yml\nsecrets: [TOKEN]\njobs: { m: { run: ls } }", ["a.yml": "secrets: [HOME]"])
    #expect(graph.secrets == ["t0p", "/h"])
  }

  @Test func aFileThatIsIncludedTwiceIsReadOnce() throws {
    try FileManager.default.createSymbolicLink(
      atPath: directory + "/link.yml", withDestinationPath: directory + "/c.yml")
    let graph = try graph(
      "include: [a.yml, b.yml, ./c.yml, link.yml]",
      [
        "a.yml": "include: c.yml\njobs: { a: { run: ls } }", "b.yml": "include: c.yml\njobs: { b: { run: ls } }",
        "c.yml": "jobs: { c: { run: ls } }",
      ])
    #expect(graph.jobs.map(\.name) == ["a", "c", "b"])
  }

  /// As for the main file: `..` is the folder above the one that the link leads to.
  @Test func pathsInALinkedFolderBeginWhereTheLinkLeads() throws {
    let manager = FileManager.default
    try manager.createDirectory(at: folder.file("shared/jobs"), withIntermediateDirectories: true)
    try manager.createSymbolicLink(atPath: directory + "/linked", withDestinationPath: "shared/jobs")
    let graph = try graph(
      "include: linked/a.yml\njobs: { m: ls }",
      ["shared/jobs/a.yml": "include: ../b.yml\njobs: { a: { run: ls, dir: .. } }", "shared/b.yml": "jobs: { b: ls }"])
    #expect(graph.jobs.map(\.name) == ["m", "a", "b"])
    #expect(try work(graph, "a").directory == directory + "/shared")
  }

  @Test func filesThatIncludeEachOtherAreAFault() throws {
    try Data("include: main.yml".utf8).write(to: folder.file("a.yml"))
    #expect(
      faults("include: a.yml\njobs: { m: { run: ls } }", ["main.yml": ""]) == [
        "a.yml:1:10: files include each other: main.yml -> a.yml -> main.yml: delete one of these includes"
      ])
    #expect(
      faults(
        "include: [a.yml]\njobs: { m: { run: ls } }", ["a.yml": "include: b.yml", "b.yml": "include: [b.yml, a.yml]"])
        == [
          "b.yml:1:11: the file includes itself: delete this",
          "b.yml:1:18: files include each other: a.yml -> b.yml -> a.yml: delete one of these includes",
        ])
  }

  @Test func aFinalJobOfTwoFilesIsAFaultToo() {
    #expect(
      faults("include: a.yml\njobs: { m: ls }\nfinally: { x: ls }", ["a.yml": "finally: { x: ls }"]) == [
        "a.yml:1:12: job 'x' is given at main.yml, line 3, column 12 already: delete one of them, "
          + "or give one another name"
      ])
  }

  @Test func aJobOfTwoFilesIsAFaultThatNamesBothPlaces() {
    #expect(
      faults(
        "include: [ci/a.yml, b.yml]\njobs:\n  x: { run: ls }\n",
        ["ci/a.yml": "jobs: { x: { run: ls }, y: { run: ls } }", "b.yml": "jobs:\n  y: { run: ls }"]) == [
          "ci/a.yml:1:9: job 'x' is given at main.yml, line 3, column 3 already: delete one of them, or give one another name",
          "b.yml:2:3: job 'y' is given at ci/a.yml, line 1, column 25 already: delete one of them, or give one another name",
        ])
  }

  @Test func faultsOfAnIncludedFileHaveItsPathAndItsLine() throws {
    let error = #expect(throws: JobFileFaults.self) {
      try graph(
        "include: ci/a.yml\njobs:\n  m: { run: ls, needs: [b] }\n",
        [
          "ci/a.yml": """
          jobs:
            a:
              run: "echo ${env.NONE}"
              timeout: 5
              needs: [nowhere]
              progress: '(\\d+'
            a2: { run: "ls ${x", need: [a] }
          """
        ])
    }
    #expect(
      error?.faults.flatMap { $0.lines(width: 80) } == [
        "main.yml:3:25: unknown job 'b' in needs: add the job, or delete the need",
        "    3 |   m: { run: ls, needs: [b] }", "      |                         ^",
        "ci/a.yml:3:16: NONE is not set in the environment: set it, or write ${env.NONE:-default}",
        "    3 |     run: \"echo ${env.NONE}\"", "      |                ^~~~~~~~~~~",
        "ci/a.yml:4:14: '5' is not a duration: write 5s, or 5m for minutes", "    4 |     timeout: 5",
        "      |              ^",
        "ci/a.yml:5:13: unknown job 'nowhere' in needs: add the job, or delete the need",
        "    5 |     needs: [nowhere]", "      |             ^~~~~~~",
        "ci/a.yml:6:16: '(\\d+' is not a regular expression: this '(' is never closed: add ')', or write '\\(' for a bracket",
        "    6 |     progress: '(\\d+'", "      |                ^~~~~",
        "ci/a.yml:7:24: unknown key 'need': did you mean 'needs'?", "    7 |   a2: { run: \"ls ${x\", need: [a] }",
        "      |                        ^~~~",
      ])
  }

  @Test func whatIsNoYAMLIsReportedInItsFile() {
    #expect(
      faults("include: a.yml\njobs: { m: { run: ls } }", ["a.yml": "jobs:\n\ta: 1\n"]) == [
        "a.yml:2:1: a tab can't indent YAML: use blanks"
      ])
    #expect(
      faults("include: a.yml\njobs: { m: { run: ls } }", ["a.yml": "jobs: { a: { run: ls, run: x } }"]) == [
        "a.yml:1:23: duplicate key 'run', given at line 1, column 14 already: delete one of them"
      ])
    #expect(
      faults("include: a.yml\njobs: { m: { run: ls } }", ["a.yml": "[a"]) == [
        "a.yml:1:1: this '[' is never closed: add ']', or put text that begins with '[' in quotes"
      ])
    #expect(
      faults("include: a.yml\njobs: { m: { run: ls } }", ["a.yml": "just text"]) == [
        "a.yml:1:1: an included file is a map; this is 'just text': write 'jobs: { build: { run: make } }' or the like"
      ])
  }

  @Test func warningsOfAnIncludedFileHaveItsPath() throws {
    var found: [String] = []
    _ = try graph(
      "include: a.yml", ["a.yml": "vars: { ver: 1 }\njobs: { a: { run: 'echo ${vre}' } }"],
      warn: { found.append("\($0)") })
    #expect(
      found == [
        "a.yml:2:25: warning: '${vre}' is left to the shell, which doesn't know it: did you mean '${ver}'?"
      ])
  }

  @Test(arguments: [
    ("name: x", "name"), ("slots: 3", "slots"), ("timeout: 3s", "timeout"), ("on_failure: stop-now", "on_failure"),
    ("schedule: fifo", "schedule"),
  ])
  func whatIsOfTheWholeRunIsNoKeyOfAnIncludedFile(text: String, key: String) {
    #expect(
      faults("include: a.yml\njobs: { m: { run: ls } }", ["a.yml": text]) == [
        "a.yml:1:1: unknown key '\(key)': it is of the whole run: write it into the file that includes this one"
      ])
  }

  @Test func anIncludedFileMayHaveOtherKeysOfTheFormatOnly() {
    #expect(
      faults(
        "include: a.yml\njobs: { m: { run: ls } }",
        ["a.yml": "x-y: 1\nversion: 2\njobs: [a]\nenv: b\nbuild: { run: ls }\ntimeuot: 1"]) == [
          "a.yml:2:10: the format has only version 1; this is '2': write 'version: 1', or delete the line",
          "a.yml:3:7: jobs takes a map of names to jobs; this is a list",
          "a.yml:4:6: env takes a map of names to values; this is 'b'",
          "a.yml:5:1: unknown key 'build': it looks like a job: write it below 'jobs:', indented",
          "a.yml:6:1: unknown key 'timeuot': an included file can have version, shell, vars, secrets, env, dotenv, include, pools, defaults, jobs or finally, or x-… for what opdash ignores",
        ])
  }

  @Test(arguments: [
    ("none.yml", "1:10: include 'none.yml': there is no such file: create it, or correct the path"),
    ("'*.yml'", "1:10: include '*.yml': there is no such file: write each path, as patterns have no meaning here"),
    ("[]", "1:10: include is empty: it takes the path of a job file, or a list of paths; delete it if there is none"),
    (
      "[{ local: a }]",
      "1:11: include takes the path of a file; this is a map: quote text that holds ': ' or begins with '{'"
    ),
    (
      "'${v}.yml'", "1:10: include is read before vars, so it can't have '${v}': write the path out, or use ${env.NAME}"
    ),
    ("ci", "1:10: include 'ci': this is a folder: name a file in it"),
    ("~/a.yml", "1:10: include: '~' is not expanded here: write ${env.HOME}/a.yml"),
    ("${env.NONE}.yml", "1:10: NONE is not set in the environment: set it, or write ${env.NONE:-default}"),
  ])
  func aFileThatCantBeIncludedIsAFaultWhereItIsNamed(written: String, fault: String) {
    #expect(faults("include: \(written)\njobs: { m: { run: ls } }") == ["main.yml:" + fault])
  }

  @Test func downloadsOfTwoFilesMayNotWriteOneFile() {
    #expect(
      faults(
        "include: a.yml\njobs: { m: { download: http://h/x } }", ["a.yml": "jobs: { a: { download: http://i/x } }"])
        == [
          "a.yml:1:24: '\(directory)/x' is already the file of job 'm', main.yml, line 2, column 24: give one another 'to'"
        ].map { $0.replacing("'\(directory)/x'", with: Self.quoted(directory + "/x")) })
  }

  /// As a message quotes a text: at most 60 characters.
  private static func quoted(_ text: String) -> String { text.count > 60 ? "'\(text.prefix(60))…'" : "'\(text)'" }

  @Test func aCycleThroughTwoFilesIsAFault() {
    #expect(
      faults("include: a.yml\njobs: { m: { run: ls, needs: [a] } }", ["a.yml": "jobs: { a: { run: ls, needs: [m] } }"])
        == [
          "main.yml:2:31: jobs need each other: m -> a -> m: delete one of these needs"
        ])
  }

  @Test func manyFilesAreReadAndTooManyAreAFault() throws {
    var files: [String: String] = [:]
    for number in 0..<1200 {
      files["f\(number).yml"] = "include: f\(number + 1).yml\njobs: { j\(number): { run: ls } }"
    }
    files["f500.yml"] = "jobs: { end: { run: ls } }"
    #expect(try graph("include: f0.yml", files).jobs.count == 501)
    files["f500.yml"] = "include: f501.yml"
    #expect(
      faults("include: f0.yml", files) == ["f1022.yml:1:10: this is more than 1024 files: put some of them together"])
  }
}
