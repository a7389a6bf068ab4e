import JobFiles
import JobModel
import Testing

@Suite struct JobOutputTests {
  @Test func aReferenceStaysInTheTextsAndIsListedOnce() throws {
    let graph = try graph(
      """
      vars: { x: y }
      jobs:
        a: { run: ls }
        b: { needs: [a], run: ls }
        c:
          needs: [b]
          if: ${jobs.b.ok} == ${x}
          run: "echo ${jobs.a.path} ${jobs.b.v_1} ${jobs.a.path} ${HOME} ${x}"
          dir: ${jobs.a.path}
          env: { P: "${jobs.a.path}" }
        d: { needs: [c], download: { url: "http://${jobs.a.host}:${jobs.a.port}/x", to: x, headers: { T: "${jobs.a.t}" } } }
        e: { needs: [c], upload: { url: "${jobs.a.url}", file: "out/${jobs.b.file}" } }
        f: { needs: [c], run: [echo, "-${jobs.c.v}-"] }
      """)
    let c = graph.jobs[2]
    #expect(
      c.work
        == .shell(
          ShellWork(
            .script("echo ${jobs.a.path} ${jobs.b.v_1} ${jobs.a.path} ${HOME} y"), directory: "/jobs/${jobs.a.path}",
            environment: ["P": "${jobs.a.path}"])))
    #expect(c.condition == JobCondition("${jobs.b.ok} == ${x}", [[.init("${jobs.b.ok}", equals: "y")]]))
    #expect(
      c.outputs == [
        OutputReference("${jobs.a.path}", job: JobID(0), name: "path"),
        OutputReference("${jobs.b.ok}", job: JobID(1), name: "ok"),
        OutputReference("${jobs.b.v_1}", job: JobID(1), name: "v_1"),
      ])
    #expect(
      graph.jobs[3].work
        == .download(
          DownloadWork(
            url: "http://${jobs.a.host}:${jobs.a.port}/x", file: "/jobs/x", headers: ["T": "${jobs.a.t}"])))
    #expect(graph.jobs[4].work == .upload(UploadWork(file: "/jobs/out/${jobs.b.file}", url: "${jobs.a.url}")))
    #expect(graph.jobs[5].work == .shell(ShellWork(.argv(["echo", "-${jobs.c.v}-"]), directory: "/jobs")))
    #expect(graph.jobs.map(\.outputs.count) == [0, 0, 3, 3, 2, 1])
  }

  @Test func aValueOfAnInstanceIsNamedByIt() throws {
    let graph = try graph(
      """
      jobs:
        build: { matrix: { v: [3.1, 3.2] }, run: ls }
        unit:
          matrix: { v: [3.2] }
          needs: "build[${matrix.v}]"
          run: "echo ${jobs.build[${matrix.v}].path} ${jobs.build[3.2].path}"
      """)
    #expect(graph.jobs[2].outputs == [OutputReference("${jobs.build[3.2].path}", job: JobID(1), name: "path")])
    #expect(
      graph.jobs[2].work
        == .shell(ShellWork(.script("echo ${jobs.build[3.2].path} ${jobs.build[3.2].path}"), directory: "/jobs")))
  }

  @Test func finallyReadsTheValuesOfAnyOrdinaryJob() throws {
    let graph = try graph(
      "jobs: { a: { run: ls } }\nfinally: { y: { run: ls }, z: { needs: [y], run: 'echo ${jobs.a.v} ${jobs.y.v}' } }")
    #expect(graph.jobs[2].outputs.map(\.job) == [JobID(0), JobID(1)])
    #expect(
      faults("jobs: { a: { run: ls } }\nfinally: { y: { run: ls }, z: { run: 'echo ${jobs.y.v}' } }") == [
        "2:44: '${jobs.y.v}' is a value of a job that this one doesn't need: add 'y' to its needs"
      ])
  }

  @Test(arguments: [
    "run: 'echo ${jobs.o.v}'\n    env: { A: '${jobs.o.v}' }", "env: { A: '${jobs.o.v}' }\n    run: 'echo ${jobs.o.v}'",
    "approve: 'a ${jobs.o.v}?'\n    dir: '${jobs.o.v}'\n    run: ls",
  ])
  func aWrongReferenceIsReportedWhereItStandsFirst(body: String) {
    let faults = faults("jobs:\n  o: { run: ls }\n  a:\n    \(body)\n")
    #expect(faults.count == 1 && faults[0].hasPrefix("4:"))
  }

  private let head =
    "jobs:\n  m: { matrix: { os: [x, y] }, run: ls }\n  other: { run: ls }\n  b: { needs: [m], run: ls }\n"
    + "  s: { run: ls, service: true }\n"

  @Test(arguments: [
    ("${jobs.other.v}", "'${jobs.other.v}' is a value of a job that this one doesn't need: add 'other' to its needs"),
    ("${jobs.m.v}", "'${jobs.m.v}': 'm' has a matrix: name one instance, as in '${jobs.m[x].v}'"),
    ("${jobs.ohter.v}", "'${jobs.ohter.v}': there is no job 'ohter': did you mean 'other'?"),
    ("${jobs.nothing.v}", "'${jobs.nothing.v}': there is no job 'nothing': add it, or write the value"),
    ("${jobs.b.outputs.v}", "'${jobs.b.outputs.v}': there is no job 'b.outputs': write '${jobs.b.v}'"),
    (
      "${jobs.a.v}",
      "'${jobs.a.v}' is a value of this job itself: a job reads only values of jobs that it needs"
    ),
    (
      "${jobs.fin.v}",
      "'${jobs.fin.v}' is a value of a job of 'finally', which runs after all others: use it in 'finally' only"
    ),
    (
      "${jobs.s.v}",
      "'${jobs.s.v}' is a value of a service that counts as ready before it can have written it: give it 'service.ready'"
    ),
    ("${jobs.b}", "'${jobs.b}' is not understood: write ${jobs.NAME.VALUE}, and VALUE with letters, digits and '_'"),
    (
      "${jobs..v}",
      "'${jobs..v}' is not understood: write ${jobs.NAME.VALUE}, and VALUE with letters, digits and '_'"
    ),
    (
      "${jobs.b.v-1}",
      "'${jobs.b.v-1}' is not understood: write ${jobs.NAME.VALUE}, and VALUE with letters, digits and '_'"
    ),
    (
      "${jobs.b.}",
      "'${jobs.b.}' is not understood: write ${jobs.NAME.VALUE}, and VALUE with letters, digits and '_'"
    ),
    ("${needs.b.outputs.v}", "'${needs.b.outputs.v}' is a form of GitHub Actions: write ${jobs.b.v}"),
    (
      "${jobs.m[${matrix.os}].v}",
      "'${matrix.os}' is known only beside a matrix: give the job 'matrix: { os: [ … ] }', or write the value"
    ),
  ])
  func aReferenceThatHasNoValueIsAFault(written: String, fault: String) {
    let file = head + "  a: { needs: [b], run: 'echo é \(written)' }\nfinally: { fin: { run: ls } }\n"
    let column = written.hasPrefix("${jobs.m[$") ? 42 : 33
    #expect(faults(file) == ["6:\(column): \(fault)"])
  }

  @Test(arguments: [("", "a"), ("matrix: { v: [x] }, ", "a[x]")])
  func aNeedWithTheWrongConditionIsANeed(matrix: String, name: String) {
    let found = faults(
      "jobs:\n  a: { \(matrix)run: ls, service: { ready: notify } }\n"
        + "  b: { needs: [a], run: 'echo ${jobs.\(name).v}' }\n")
    #expect(found.count == 1 && found[0].hasPrefix("3:16: service 'a' ends only when no job needs it"), "\(found)")
  }

  @Test func whileJobsNeedEachOtherNothingIsSaidOfTheirValues() {
    #expect(
      faults(
        "jobs:\n  a: { needs: [b], run: ls }\n  b: { needs: [a], run: ls }\n  c: { run: 'echo ${jobs.d.v}' }\n"
          + "  d: { run: ls }\n") == ["2:16: jobs need each other: a -> b -> a: delete one of these needs"])
  }

  @Test func aReferenceThroughOtherJobsIsGood() throws {
    #expect(faults(head + "  a: { needs: [b], run: 'echo ${jobs.m[y].v}' }\n").isEmpty)
  }

  @Test(arguments: [
    "description: '${jobs.b.v}', run: ls", "run: ls, timeout: '${jobs.b.v}'", "run: ls, retry: '${jobs.b.v}'",
    "run: ls, creates: '${jobs.b.v}'", "run: ls, inputs: ['${jobs.b.v}']", "run: ls, uses: { p: '${jobs.b.v}' }",
    "run: ls, priority: '${jobs.b.v}'", "download: { url: 'http://h/x', to: '${jobs.b.v}' }",
    "download: { url: 'http://h/x', sha256: '${jobs.b.v}' }", "simulate: { steps: '${jobs.b.v}' }",
    "matrix: { os: '${jobs.b.v}' }, run: ls", "needs: ['b${jobs.b.v}'], run: ls",
  ])
  func aValueThatIsKnownTooLateIsAFault(body: String) {
    let found = faults("pools: { p: 1 }\njobs:\n  b: { run: ls }\n  a: { \(body) }\n")
    #expect(found.count == 1)
    #expect(
      found.first?.hasSuffix(
        ": '${jobs.b.v}' is known only once the other job has run: it can stand in run, env, dir, url, headers, file, "
          + "approve and if of a job") == true, "\(found)")
  }

  @Test func varsAndTheKeysOfTheFileHaveNoValuesOfJobs() {
    #expect(
      faults(
        "name: '${jobs.a.v}'\nvars: { v: '${jobs.a.v}' }\nenv: { E: '${jobs.a.v}' }\ndefaults: { dir: '${jobs.a.v}' }\n"
          + "jobs: { a: { run: ls } }\n") == [
          "1:8: '${jobs.a.v}' is known only once the other job has run: it can stand in run, env, dir, url, headers, file, "
            + "approve and if of a job (and 3 more like it, the next on line 2)"
        ])
  }

  @Test func aFileNameThatIsKnownTooLateMustBeGiven() {
    for url in ["http://h/${jobs.b.v}", "http://h/${jobs.b.v}.gz", "${jobs.b.v}"] {
      #expect(
        faults("jobs:\n  b: { run: ls }\n  a: { needs: b, download: '\(url)' }\n") == [
          "3:28: the URL ends in no file name: give the file's name with 'to'"
        ])
    }
  }

  @Test func aQuestionToAPersonMayHoldAValue() throws {
    let graph = try graph("jobs: { b: ls, a: { needs: b, run: ls, approve: 'publish ${jobs.b.v}?' } }")
    #expect(graph.jobs[1].approval == "publish ${jobs.b.v}?")
    #expect(graph.jobs[1].outputs == [OutputReference("${jobs.b.v}", job: JobID(0), name: "v")])
  }

  @Test func referencesAlongALongChainAreCheckedInOneRead() throws {
    var text = "jobs:\n  j0: { simulate: {} }\n"
    for number in 1..<3000 {
      text += "  j\(number): { needs: [j\(number - 1)], run: 'echo ${jobs.j\(number / 2).v} ${jobs.j0.v}' }\n"
    }
    #expect(try graph(text).jobs[2999].outputs.map(\.job) == [JobID(0), JobID(1499)])
    #expect(
      faults(text + "  z: { run: 'echo ${jobs.j7.v}' }\n") == [
        "3002:19: '${jobs.j7.v}' is a value of a job that this one doesn't need: add 'j7' to its needs"
      ])
  }
}
