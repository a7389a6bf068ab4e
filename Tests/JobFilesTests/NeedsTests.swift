import JobFiles
import JobModel
import Testing

@Suite struct NeedsTests {
  private let head = """
    jobs:
      build: { matrix: { os: [linux, mac], arch: [x64, arm] }, run: ls }
      test-a: { run: ls }
      test-b: { run: ls }

    """

  /// The needs of job `z` beside those jobs.
  private func needs(_ text: String) throws -> String {
    try edges(graph(head + "  z: { needs: \(text), run: ls }\n")).last ?? ""
  }

  private func fault(_ text: String) -> [String] { faults(head + "  z: { needs: \(text), run: ls }\n") }

  @Test(arguments: [
    ("['build[mac,arm]']", "build[mac,arm]"),
    ("[build]", "build[linux,x64] build[linux,arm] build[mac,x64] build[mac,arm]"),
    ("build", "build[linux,x64] build[linux,arm] build[mac,x64] build[mac,arm]"),
    ("['build[linux,*]']", "build[linux,x64] build[linux,arm]"),
    ("['build[*,?64]']", "build[linux,x64] build[mac,x64]"),
    ("test-*", "test-a test-b"), ("['*-b', test-a]", "test-b test-a"),
    ("{ test-*: finished }", "test-a finished test-b finished"),
    (
      "{ build: any-failed }",
      "build[linux,x64] any-failed build[linux,arm] any-failed build[mac,x64] any-failed build[mac,arm] any-failed"
    ),
    (
      "{ build: not-ok, test-a: failed }",
      "build[linux,x64] not-ok build[linux,arm] not-ok build[mac,x64] not-ok build[mac,arm] not-ok test-a failed"
    ),
    // A job that several patterns find counts once; its own name says most.
    ("[test-a, 'test-*', '*-a']", "test-a test-b"), ("{ test-*: finished, test-b: ok }", "test-a finished test-b"),
    ("{ test-b: ok, test-*: finished }", "test-b test-a finished"),
    ("{ test-*: finished, test-b: ok, '*-b': failed }", "test-a finished test-b"),
    (
      "{ 'build[mac,arm]': finished, build: ok }",
      "build[mac,arm] finished build[linux,x64] build[linux,arm] build[mac,x64]"
    ),
    // All but the job itself.
    ("['?*[lm]*', 'z*', 'test-?']", nil), ("'*-?'", "test-a test-b"),
    ("'*'", "build[linux,x64] build[linux,arm] build[mac,x64] build[mac,arm] test-a test-b"),
  ])
  func aNeedNamesAJobOrInstancesOrAPattern(text: String, expected: String?) throws {
    guard let expected else {
      #expect(fault(text).count == 2)
      return
    }
    #expect(try needs(text) == "z: " + expected)
  }

  @Test func anInstanceNeedsTheInstancesThatItsValuesName() throws {
    let graph = try graph(
      head + "  unit: { matrix: { os: [linux, mac] }, needs: { 'build[${matrix.os},*]': ok, test-a: ok }, run: ls }\n")
    #expect(
      edges(graph).suffix(2) == [
        "unit[linux]: build[linux,x64] build[linux,arm] test-a", "unit[mac]: build[mac,x64] build[mac,arm] test-a",
      ])
  }

  @Test func aJobWhoseNameHoldsAWildcardIsNamedByIt() throws {
    #expect(
      try edges(graph("jobs: { 'a*': { run: ls }, ab: { run: ls }, z: { needs: ['a*'], run: ls } }")).last == "z: a*")
  }

  @Test(arguments: [3, 16, 17, 100])
  func needsOfAnyNumberNameAJobOnce(count: Int) throws {
    let names = (1...count).map { "j\($0)" }
    let jobs = "vars: { v: j2 }\njobs:\n" + names.map { "  \($0): { run: ls }\n" }.joined()
    let list = names.joined(separator: ", ")
    #expect(
      try edges(graph(jobs + "  z: { needs: [\(list)], run: ls }\n")).last == "z: " + names.joined(separator: " "))
    func messages(_ needs: String) -> [String] {
      faults(jobs + "  z: { run: ls, needs: \(needs) }\n").map { String($0.drop { $0 != " " }.dropFirst()) }
    }
    let twice = "needs names 'j2' twice: delete one"
    #expect(messages("[\(list), j2, '*', '${v}', '*']") == [twice, twice, "needs names '*' twice: delete one"])
    // The keys of a map differ, but not with the values of their variables.
    let map = names.map { "\($0): ok" }.joined(separator: ", ")
    #expect(messages("{ \(map), '*': ok, '${v}': ok }") == [twice])
  }

  @Test(arguments: [
    ("['test-a', test-a]", "5:26: needs names 'test-a' twice: delete one"),
    ("[biuld]", "5:16: unknown job 'biuld' in needs: did you mean 'build'?"),
    ("['build[linux, x64]']", "5:16: unknown job 'build[linux, x64]' in needs: did you mean 'build[linux,x64]'?"),
    (
      "['build[win]']",
      "5:16: unknown job 'build[win]' in needs: write 'build' for all its instances, or one as 'build[linux,x64]'"
    ),
    ("['test-a[linux]']", "5:16: unknown job 'test-a[linux]' in needs: 'test-a' has no matrix: write 'test-a'"),
    ("['tset-*']", "5:16: no job matches 'tset-*' in needs: did you mean 'test-*'?"),
    ("['build[linx,*]']", "5:16: no job matches 'build[linx,*]' in needs: did you mean 'build[linux*]'?"),
    ("['nothing*']", "5:16: no job matches 'nothing*' in needs: add such a job, or delete the need"),
    ("['z*']", "5:16: no job but this one matches 'z*' in needs: delete the need"),
    (
      "{ test-*: ok, '*-a': failed }",
      "5:29: 'test-a' is to be 'failed' here and 'ok' above: name it above both, or change a pattern"
    ),
    (
      "{ test-a: ready }",
      "5:17: job 'test-a' is not a service, so it is never 'ready': write 'test-a: ok', or give it 'service'"
    ),
    (
      "{ build: ready }",
      "5:17: job 'build' is not a service, so it is never 'ready': write 'build: ok', or give it 'service'"
    ),
    (
      "{ test-*: ready }",
      "5:17: job 'test-a' is not a service, so it is never 'ready': write 'test-a: ok', or give it 'service'"
    ),
    (
      "{ test-a: { condition: service_healthy } }",
      "5:25: needs.test-a takes ok, finished, failed, not-ok, any-failed or ready; this is a map: write 'test-a: ready'"
    ),
    (
      "{ test-a: healthy }",
      "5:25: needs.test-a takes ok, finished, failed, not-ok, any-failed or ready; this is 'healthy': write ready"
    ),
    ("'test-a, test-b'", "5:15: unknown job 'test-a, test-b' in needs: write [test-a, test-b]"),
    ("'test-a, nope'", "5:15: unknown job 'test-a, nope' in needs: write [test-a, nope]"),
    ("'build test-a'", "5:15: unknown job 'build test-a' in needs: write [build, test-a]"),
    ("'test-a nope'", "5:15: unknown job 'test-a nope' in needs: add the job, or delete the need"),
    ("'build,'", "5:15: unknown job 'build,' in needs: did you mean 'build'?"),
  ])
  func aNeedThatCannotBeMetIsAFault(text: String, fault: String) {
    #expect(self.fault(text) == [fault])
  }

  @Test func aServiceThatNeedsItselfIsToldSoAtOnce() {
    #expect(
      faults("jobs: { s: { run: ls, service: true, needs: [s] } }") == ["1:46: job 's' needs itself: delete this need"])
  }

  private let services = """
    jobs:
      api-1: { run: ls, service: true }
      api-2: { matrix: { n: [x, y] }, run: ls, service: true }
      api-test: { run: ls }

    """

  @Test(arguments: [
    ("{ api-1: ready, api-2: ready }", "api-1 ready api-2[x] ready api-2[y] ready"),
    // A pattern leaves out what never meets its condition.
    ("{ api-*: ready }", "api-1 ready api-2[x] ready api-2[y] ready"), ("{ api-*: finished }", "api-test finished"),
    ("['api-*']", "api-test"),
  ])
  func aServiceIsNeededAsReady(text: String, expected: String) throws {
    #expect(try edges(graph(services + "  z: { needs: \(text), run: ls }\n")).last == "z: " + expected)
  }

  @Test(arguments: [
    (
      "[api-1]",
      "16: service 'api-1' ends only when no job needs it, so it is never 'ok': write 'needs: { api-1: ready }'"
    ),
    (
      "{ api-1: finished }",
      "17: service 'api-1' ends only when no job needs it, so it is never 'finished': write 'needs: { api-1: ready }'"
    ),
    (
      "{ api-1: failed }",
      "17: service 'api-1' ends only when no job needs it, so it is never 'failed': write 'needs: { api-1: ready }'"
    ),
    (
      "{ api-2: not-ok }",
      "17: service 'api-2' ends only when no job needs it, so it is never 'not-ok': write 'needs: { api-2: ready }'"
    ),
    (
      "['api-2*']",
      "16: service 'api-2' ends only when no job needs it, so it is never 'ok': write 'needs: { api-2: ready }'"
    ),
    (
      "{ api-test: ready }",
      "17: job 'api-test' is not a service, so it is never 'ready': write 'api-test: ok', or give it 'service'"
    ),
    (
      "{ api-t*: ready }",
      "17: job 'api-test' is not a service, so it is never 'ready': write 'api-test: ok', or give it 'service'"
    ),
  ])
  func aConditionThatAServiceOrJobNeverMeetsIsAFault(text: String, fault: String) {
    #expect(faults(services + "  z: { needs: \(text), run: ls }\n") == ["5:" + fault])
  }

  @Test(arguments: ["['a*']", "{ 'a*': finished }", "{ 'c*': ready }"])
  func aPatternWithAWrongConditionIsNoFaultOfTheValues(needs: String) {
    let name = needs.contains("c*") ? "c1" : "a1"
    let jobs = "jobs:\n  a1: { run: ls, service: { ready: notify } }\n  c1: { run: ls }\n"
    let faults = faults(jobs + "  b: { needs: \(needs), run: 'echo ${jobs.\(name).v}' }\n")
    #expect(faults.count == 1 && faults.first?.contains("so it is never") == true)
  }

  @Test func aPatternWithAWrongConditionClosesNoCycle() {
    let jobs = "jobs:\n  a: { needs: { 'b*': ready }, run: ls }\n  b1: { needs: [a], run: 'echo ${jobs.a.v}' }\n"
    #expect(
      faults(jobs) == ["2:17: job 'b1' is not a service, so it is never 'ready': write 'b1: ok', or give it 'service'"])
    // A name is meant.
    #expect(faults(jobs.replacing("'b*'", with: "b1")).count == 2)
  }

  @Test func aFaultInTheNeedsOfInstancesNamesTheValue() {
    #expect(
      faults(
        "jobs:\n  a: { matrix: { os: [x, y] }, run: ls }\n  b: { matrix: { os: [y, z] }, needs: 'a[${matrix.os}]', run: ls }\n"
      )
        == ["3:39: unknown job 'a[z]' in needs: did you mean 'a[x]'?"])
    #expect(
      faults(job: "matrix: { os: [x, y] }, needs: 'a[${matrix.os}]', run: ls") == [
        "2:39: job 'a[x]' needs itself: delete this need"
      ])
    #expect(
      faults(job: "matrix: { os: [x, y] }, needs: [a], run: ls") == [
        "2:40: job 'a' needs its own instances: delete this need, or name one as in 'a[x]'"
      ])
  }

  @Test func aCycleOverInstancesShowsTheirNames() {
    #expect(
      faults(
        "jobs:\n  a: { matrix: { os: [x, y] }, needs: 'b[${matrix.os}]', run: ls }\n"
          + "  b: { matrix: { os: [x, y] }, needs: ['a[x]'], run: ls }\n") == [
          "2:39: jobs need each other: a[x] -> b[x] -> a[x]: delete one of these needs"
        ])
    #expect(
      faults("jobs:\n  a: { matrix: { os: [x, y] }, needs: 'a*', run: ls }\n") == [
        "2:39: jobs need each other: a[x] -> a[y] -> a[x]: delete one of these needs"
      ])
  }

  @Test func aLargeFanInIsReadAndOneBeyondBoundsIsRefused() throws {
    let list = "[\((0..<1000).map(String.init).joined(separator: ","))]"
    let text =
      "jobs:\n  a: { matrix: { n: \(list) }, simulate: {} }\n  b: { matrix: { n: \(list) }, needs: 'a[${matrix.n}*', simulate: {} }\n  all: { needs: [a, 'b[*'], simulate: {} }\n"
    let graph = try graph(text)
    #expect(graph.jobs.last?.needs.count == 2000)
    let three = "\(list), m: [1, 2, 3]"
    #expect(
      faults(
        "jobs:\n  a: { matrix: { n: \(list) }, simulate: {} }\n  b: { matrix: { n: \(three) }, needs: a, simulate: {} }\n"
      )
      .map { $0.drop { $0 != " " } } == [
        " up to here, names of matrices and patterns stand for more than 2000000 needs: "
          + "write a job that needs these, and let others need that one"
      ])
  }

  @Test func ofManyUnknownNamesInALargeFileTheLastGetNoSuggestion() {
    let jobs = (0..<25_000).map { "  job\($0): { run: ls }\n" }.joined()
    let needs = (0..<100).map { "jobbb\($0)" }.joined(separator: ", ")
    let found = faults("jobs:\n" + jobs + "  z: { needs: [\(needs)], run: ls }\n")
    #expect(found.first?.hasSuffix("unknown job 'jobbb0' in needs: did you mean 'job0'?") == true)
    #expect(found.last?.hasSuffix("unknown job 'jobbb99' in needs: add the job, or delete the need") == true)
  }
}
