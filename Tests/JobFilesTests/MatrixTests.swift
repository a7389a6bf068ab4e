import JobFiles
import JobModel
import Testing

/// The names of a graph's jobs, each with those that it needs: `unit[mac]: build[mac,arm]`.
func edges(_ graph: JobGraph) -> [String] {
  graph.jobs.map { job in
    let needs = job.needs.map { need in
      graph[need.job].name + (need.when == .ok ? "" : " \(need.when.rawValue)")
    }
    return job.name + (needs.isEmpty ? "" : ": " + needs.joined(separator: " "))
  }
}

@Suite struct MatrixTests {
  @Test func eachCombinationIsOneInstanceInTheOrderOfTheKeys() throws {
    let graph = try graph(
      """
      jobs:
        first: { run: ls }
        build:
          matrix: { os: [linux, mac], arch: [x64, arm], exclude: [{ os: mac, arch: x64 }] }
          run: make
        last: { run: ls }
      """)
    #expect(
      graph.jobs.map(\.name) == [
        "first", "build[linux,x64]", "build[linux,arm]", "build[mac,arm]", "last",
      ])
    #expect(graph.jobs.map(\.matrix) == [nil, "build", "build", "build", nil])
  }

  @Test func numbersAndBooleansAreTheirTextAndASingleValueIsAListOfOne() throws {
    let graph = try graph(
      "vars: { next: '3.13' }\njobs: { a: { matrix: { v: [3.10, 010, true, '${next}'], d: one }, run: 'echo ${matrix.v}' } }"
    )
    #expect(graph.jobs.map(\.name) == ["a[3.10,one]", "a[010,one]", "a[true,one]", "a[3.13,one]"])
    #expect(graph.jobs[0].work == .shell(ShellWork(.script("echo 3.10"), directory: "/jobs")))
  }

  @Test func theNameOfAnAxisMayHaveHyphens() throws {
    let graph = try graph("jobs: { a: { matrix: { node-version: [20, 22] }, run: [echo, '${matrix.node-version}'] } }")
    #expect(graph.jobs.map(\.name) == ["a[20]", "a[22]"])
    #expect(graph.jobs[1].work == .shell(ShellWork(.argv(["echo", "22"]), directory: "/jobs")))
  }

  @Test func includeAddsCombinationsAndFurtherValues() throws {
    let graph = try graph(
      """
      jobs:
        build:
          matrix:
            os: [linux, mac]
            arch: [x64]
            include:
              - { os: mac, flags: -O2 }
              - { os: linux, arch: arm, flags: -O1 }
              - { arch: x64, level: 3 }
              - { os: linux, arch: arm, level: 4 }
          run: [echo, "${matrix.os}", "${matrix.arch}", "${matrix.flags}", "${matrix.level}"]
      """)
    let commands = graph.jobs.map { job -> [String] in
      guard case .shell(let work) = job.work, case .argv(let words) = work.command else { return [] }
      return Array(words.dropFirst())
    }
    #expect(graph.jobs.map(\.name) == ["build[linux,x64]", "build[mac,x64]", "build[linux,arm]"])
    #expect(commands == [["linux", "x64", "", "3"], ["mac", "x64", "-O2", "3"], ["linux", "arm", "-O1", "4"]])
  }

  @Test func whatExcludeLeavesOutIncludeCanAdd() throws {
    let matrix = "{ os: [a, b], exclude: { os: b }, include: { os: b, x: 1 } }"
    #expect(
      try self.graph("jobs: { j: { matrix: \(matrix), run: 'echo ${matrix.x}' } }").jobs.map(\.name) == [
        "j[a]", "j[b]",
      ])
  }

  private func graph(_ text: String) throws -> JobGraph { try JobFilesTests.graph(text) }

  @Test func aValueMayBeginWithAMinus() throws {
    #expect(
      try graph("jobs: { a: { matrix: { v: [-1, -O2] }, run: ls } }").jobs.map(\.name) == ["a[-1]", "a[-O2]"])
  }

  @Test func theValuesStandInEveryKeyOfTheJob() throws {
    let graph = try graph(
      """
      pools: { net: 9 }
      jobs:
        base: { matrix: { os: [a, b] }, run: ls }
        build:
          matrix: { os: [a, b], n: [3] }
          description: for ${matrix.os}
          needs: { "base[${matrix.os}]": ok }
          if: "${matrix.os} == b"
          run: [make, "${matrix.os}"]
          dir: src-${matrix.os}
          env: { OS: "${matrix.os}" }
          creates: out-${matrix.os}
          inputs: "${matrix.os}/*"
          uses: { net: "${matrix.n}" }
          timeout: ${matrix.n}s
          retry: "${matrix.n}"
          priority: high
        get:
          matrix: { os: [a] }
          needs: base[${matrix.os}]
          download: { url: "http://h/${matrix.os}", to: "${matrix.os}.bin", headers: { X: "${matrix.os}" } }
        sim: { matrix: { n: [4] }, simulate: { steps: "${matrix.n}" } }
      """)
    let build = try #require(graph.jobs.first { $0.name == "build[b,3]" })
    #expect(build.description == "for b")
    #expect(build.needs == [JobNeed(JobID(1))])
    #expect(build.condition == JobCondition("b == b", [[.init("b", equals: "b")]]))
    #expect(
      build.work
        == .shell(ShellWork(.argv(["make", "b"]), directory: "/jobs/src-b", environment: ["OS": "b"])))
    #expect(build.creates == ["/jobs/out-b"])
    #expect(build.inputs == ["/jobs/b/*"])
    #expect(build.uses == ["net": 3])
    #expect(build.timeout == .seconds(3))
    #expect(build.retry.max == 3)
    let get = try #require(graph.jobs.first { $0.name == "get[a]" })
    #expect(get.needs == [JobNeed(JobID(0))])
    #expect(get.work == .download(DownloadWork(url: "http://h/a", file: "/jobs/a.bin", headers: ["X": "a"])))
    #expect(graph.jobs.last?.work == .simulate(SimulatedWork(steps: 4)))
  }

  @Test(arguments: [
    (
      "matrix: [a, b]",
      "16: matrix takes a map of names to values, as in 'matrix: { os: [linux, mac] }'; this is a list"
    ),
    (
      "matrix: linux",
      "16: matrix takes a map of names to values, as in 'matrix: { os: [linux, mac] }'; this is 'linux'"
    ),
    ("matrix: ", "16: matrix takes a map of names to values, as in 'matrix: { os: [linux, mac] }'; this is empty"),
    (
      "matrix: {}",
      "16: matrix has no values: it takes a map of names to values, as in 'matrix: { os: [linux, mac] }'"
    ),
    ("matrix: { os: [a, a] }", "26: matrix.os has 'a' twice: delete one"),
    ("matrix: { os: [1, '1'] }", "26: matrix.os has '1' twice: delete one"),
    (
      "matrix: { os: [] }",
      "22: matrix.os has no values, so there would be no instances: it takes a value, or a list of values"
    ),
    ("matrix: { os: { a: b } }", "22: matrix.os takes a value, or a list of values; this is a map"),
    ("matrix: { os: [[a]] }", "23: matrix.os takes text or numbers as values; this is a list"),
    ("matrix: { os: [~] }", "23: matrix.os takes text or numbers as values; this is empty"),
    ("matrix: { os: [''] }", "23: matrix.os: the value '' is empty: give it one"),
    ("matrix: { os: [' a'] }", "23: matrix.os: the value ' a' begins or ends with a blank: delete that"),
    (
      "matrix: { os: 'a, b' }",
      "22: matrix.os: the value 'a, b' holds ',', which stands between the values in an instance's name: "
        + "write a list as [a, b], or another character"
    ),
    (
      "matrix: { os: ['a]'] }",
      "23: matrix.os: the value 'a]' holds a bracket, which encloses the values in an instance's name: delete it"
    ),
    ("matrix: { os: [\"a\\tb\"] }", "23: matrix.os: the value 'a\\tb' holds the control character \\t: delete it"),
    (
      "matrix: { o.s: [a] }",
      "18: 'o.s' can't name values of a matrix: use letters, digits, '_' and '-', no digit first"
    ),
    (
      "matrix: { os: [a], include: b }",
      "36: matrix.include takes a list of combinations, as in 'include: [{ os: a, NAME: … }]'; this is 'b'"
    ),
    (
      "matrix: { os: [a], include: [b] }",
      "37: matrix.include takes a list of combinations, as in 'include: [{ os: a, NAME: … }]'; this item is 'b'"
    ),
    (
      "matrix: { os: [a], n: [1], include: { os: b } }",
      "44: no combination has these values, and a new one needs all names: add n"
    ),
    (
      "matrix: { os: [a], include: { o.s: b } }",
      "38: 'o.s' can't name values of a matrix: use letters, digits, '_' and '-', no digit first"
    ),
    (
      "matrix: { os: [a], exclude: b }",
      "36: matrix.exclude takes a list of combinations, as in 'exclude: [{ os: a }]'; this is 'b'"
    ),
    (
      "matrix: { os: [a], exclude: [b] }",
      "37: matrix.exclude takes a list of combinations, as in 'exclude: [{ os: a }]'; this item is 'b'"
    ),
    (
      "matrix: { os: [a], exclude: [{}] }",
      "37: this item of matrix.exclude names nothing, so it would leave out everything: delete it"
    ),
    ("matrix: { os: [a], exclude: { so: a } }", "38: this matrix has no 'so': did you mean 'os'?"),
    ("matrix: { os: [a], exclude: { arch: a } }", "38: this matrix has no 'arch': it has os"),
    (
      "matrix: { os: [a, b], exclude: { os: [a, b] } }",
      "45: matrix.exclude.os takes one value; write an item for each; this is a list"
    ),
    (
      "matrix: { os: [a], exclude: { os: a } }",
      "16: exclude leaves out every combination: delete the job, or exclude fewer"
    ),
    (
      "matrix: { os: ['${matrix.n}'], n: 1 }",
      "24: '${matrix.n}' is known only beside a matrix: give the job 'matrix: { n: [ … ] }', or write the value"
    ),
  ])
  func aMatrixThatMakesNoInstancesIsRefused(matrix: String, fault: String) {
    #expect(faults(job: "\(matrix), run: 'echo ${matrix.os} ${matrix.no}'").first == "2:\(fault)")
    // What follows from the fault is not reported.
    #expect(faults("jobs:\n  a: { \(matrix), run: ls }\n  b: { needs: ['a[x]', 'a*'], run: ls }\n") == ["2:\(fault)"])
  }

  @Test(arguments: [
    ("run: 'echo ${matrix.so}'", "52: the matrix of this job has no 'so': did you mean '${matrix.os}'?"),
    ("run: 'echo ${matrix.x}'", "52: the matrix of this job has no 'x': it has arch and os"),
  ])
  func aNameThatTheMatrixLacksIsAFaultOnce(run: String, fault: String) {
    #expect(faults(job: "matrix: { os: [a, b], arch: c }, \(run)") == ["2:\(fault)"])
  }

  @Test func theNamesOfAMatrixWithAFaultElsewhereAreKnown() {
    #expect(
      faults(job: "matrix: { os: [a], exclude: b }, run: 'echo ${matrix.no}'") == [
        "2:36: matrix.exclude takes a list of combinations, as in 'exclude: [{ os: a }]'; this is 'b'",
        "2:52: the matrix of this job has no 'no': it has os",
      ])
  }

  @Test func matrixValuesOutsideOfAMatrixAreAFault() {
    let message =
      "'${matrix.os}' is known only beside a matrix: give the job 'matrix: { os: [ … ] }', or write the value"
    #expect(
      faults(
        "vars: { a: '${matrix.os}' }\ndefaults: { dir: '${matrix.os}' }\njobs:\n  a: { matrix: { os: x }, run: ls }\n"
          + "  b: { run: 'echo ${matrix.os}', needs: ['a[${matrix.os}]'] }\n") == [
          "1:13: \(message) (and 3 more like it, the next on line 2)"
        ])
  }

  @Test func aFaultOfAJobWithInstancesIsReportedOnce() {
    #expect(
      faults(job: "matrix: { n: [1, 2, 3] }, rnu: ls, timeout: 5, needs: [b], uses: { p: 1 }") == [
        "2:34: unknown key 'rnu': did you mean 'run'?", "2:52: '5' is not a duration: write 5s, or 5m for minutes",
        "2:63: unknown job 'b' in needs: add the job, or delete the need",
        "2:75: unknown pool 'p': declare it under pools, as in 'pools: { p: 1 }'",
      ])
  }

  @Test func instancesMayNotDownloadToOneFile() {
    #expect(
      faults(job: "matrix: { n: [1, 2, 3] }, download: 'http://h/x'") == [
        "2:44: '/jobs/x' is the file of several instances: write 'to' with ${matrix.NAME} in it"
      ])
  }

  @Test func anExcludeThatLeavesOutNothingIsAWarning() throws {
    var warnings: [String] = []
    let text = """
      jobs:
        a:
          matrix: { os: [linux, mac], exclude: [{ os: win }, { os: linx }, { os: mac }, { os: mac }] }
          run: ls
      """
    let graph = try JobFile.decode(Array(text.utf8), file: "ci.yml", directory: "/jobs") { warnings.append("\($0)") }
    #expect(graph.jobs.map(\.name) == ["a[linux]"])
    #expect(
      warnings == [
        "ci.yml:3:49: warning: this leaves out nothing, because matrix.os has no 'win': delete this item",
        "ci.yml:3:62: warning: this leaves out nothing, because matrix.os has no 'linx': did you mean 'linux'?",
      ])
  }

  @Test func moreInstancesThanThereShouldBeAreRefused() throws {
    func list(_ count: Int) -> String { "[\((0..<count).map(String.init).joined(separator: ","))]" }
    #expect(try graph("jobs: { a: { matrix: { x: \(list(100)), y: \(list(100)) }, run: ls } }").jobs.count == 10_000)
    #expect(
      faults(job: "matrix: { x: \(list(101)), y: \(list(100)) }, run: ls") == [
        "2:16: matrix has more than 10000 combinations: write fewer values, or several jobs"
      ])
    // A hundred thousand, and one more.
    let many = (0..<10).map { "  a\($0): { matrix: { x: \(list(100)), y: \(list(100)) }, simulate: {} }\n" }.joined()
    #expect(
      faults("jobs:\n\(many)  a10: { matrix: { x: 1 }, simulate: {} }\n") == [
        "12:18: up to here, the matrices of this file make too many jobs: write fewer values, or several files"
      ])
    let long = String(repeating: "x", count: 120)
    #expect(
      faults(job: "matrix: { x: \(long), y: \(long) }, run: ls") == [
        "2:16: the name of instance 'a[\(String(repeating: "x", count: 58))…' is longer than 200 characters: shorten its values"
      ])
  }

  @Test func theCombinationsOfAllNamesCount() {
    func list(_ count: Int) -> String { "[\((0..<count).map(String.init).joined(separator: ","))]" }
    let fault = "2:16: matrix has more than 10000 combinations: write fewer values, or several jobs"
    #expect(faults(job: "matrix: { x: \(list(100)), y: \(list(100)), z: [1, 2] }, run: ls") == [fault])
    #expect(faults(job: "matrix: { x: \(list(10_000)), y: [1, 2] }, run: ls") == [fault])
    #expect(
      faults(job: "matrix: { x: \(list(10_001)), y: [1, 2] }, run: ls") == [
        "2:21: matrix.x has more than 10000 values: write fewer"
      ])
  }

  @Test func theValuesBelowAJobCountOncePerCombination() {
    func list(_ count: Int, _ item: String) -> String {
      "[\(Array(repeating: item, count: count).joined(separator: ","))]"
    }
    let axis = "[\((0..<100).map(String.init).joined(separator: ","))]"
    #expect(
      faults(job: "matrix: { x: \(axis), y: \(axis) }, run: \(list(497, "a"))") == [
        "2:16: up to here, the matrices of this file make too many jobs: write fewer values, or several files"
      ])
  }

  @Test func aMatrixHasFiftyNamesAtMost() throws {
    func names(_ count: Int) -> String { (0..<count).map { "n\($0): 1" }.joined(separator: ", ") }
    #expect(
      try job("run: ls\nmatrix: { \(names(50)) }").name
        == "a[\(Array(repeating: "1", count: 50).joined(separator: ","))]")
    #expect(
      faults(job: "matrix: { \(names(51)) }, run: ls") == ["2:16: matrix has more than 50 names: write fewer"])
    // What is left out is not a name.
    #expect(try job("run: ls\nmatrix: { \(names(50)), exclude: [] }").matrix == "a")
  }

  @Test func aThousandCombinationsMayBeLeftOut() throws {
    func items(_ count: Int) -> String { Array(repeating: "{ x: 0 }", count: count).joined(separator: ", ") }
    #expect(try job("run: ls\nmatrix: { x: [0, 1], exclude: [\(items(1000))] }").name == "a[1]")
    #expect(
      faults(job: "matrix: { x: [0, 1], exclude: [\(items(1001))] }, run: ls") == [
        "2:38: matrix.exclude has more than 1000 items: name fewer keys in each, or write two jobs"
      ])
  }

  @Test func theNameOfAnInstanceHasTwoHundredCharactersAtMost() throws {
    let long = String(repeating: "x", count: 98)
    #expect(try job("run: ls\nmatrix: { x: \(long), y: \(long) }").name.count == 200)
    #expect(faults(job: "matrix: { x: \(long), y: \(long)x }, run: ls").count == 1)
  }
}
