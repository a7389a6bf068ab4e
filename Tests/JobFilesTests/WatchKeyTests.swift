import JobFiles
import JobModel
import Testing

/// The keys `watch`, `stay`, `start` and `on_failure` as a map.
struct WatchKeyTests {
  @Test func changesAreNoticedAfterThreeTenthsUnlessTheFileSaysOtherwise() throws {
    #expect(try graph("jobs: { a: ls }").watch == WatchRules())
    var rules = WatchRules()
    rules.debounce = .seconds(2)
    rules.ignored = ["*.tmp", "/jobs/out/*", ".git"]
    #expect(try graph("watch: { debounce: 2s, ignore: ['*.tmp', out/*, .git] }\njobs: { a: ls }").watch == rules)
    #expect(try graph("watch: { ignore: x }\njobs: { a: ls }").watch.ignored == ["x"])
  }

  @Test func servicesStayWhereTheFileSaysSoOrHasNothingElse() throws {
    let services = "jobs: { a: { run: x, service: true }, b: { run: x, service: true, needs: { a: ready } } }"
    #expect(try graph(services).staysUp)
    #expect(try graph(services + "\nfinally: { c: ls }").staysUp)
    #expect(try graph("jobs: { a: { run: x, service: true }, b: { run: x, start: manual } }").staysUp)
    #expect(try !graph("jobs: { a: { run: x, service: true }, b: ls }").staysUp)
    #expect(try graph("stay: true\njobs: { a: { run: x, service: true }, b: ls }").staysUp)
    #expect(try !graph("jobs: { b: { run: x, start: manual } }").staysUp)
  }

  @Test func aJobMayWaitForAPersonToStartIt() throws {
    #expect(try job("run: ls\nstart: manual").isManual)
    #expect(try !job("run: ls\nstart: auto").isManual)
    #expect(try !job("run: ls").isManual)
  }

  @Test func aNumberOfFailuresMayBeToleratedFirst() throws {
    func policy(_ text: String) throws -> (JobGraph.Failure, Int) {
      let graph = try graph("on_failure: \(text)\njobs: { a: ls }")
      return (graph.onFailure, graph.failureLimit)
    }
    #expect(try policy("stop-now") == (.stopNow, 1))
    #expect(try policy("{ stop_after: 3 }") == (.finishRunning, 3))
    #expect(try policy("{ stop_after: 2, then: stop-now }") == (.stopNow, 2))
  }

  @Test(arguments: [
    ("watch: true", "1:8: watch is a map; this is 'true': write '{ debounce: 300ms }' or the like"),
    (
      "watch: { paths: [a] }",
      "1:10: unknown key 'paths': opdash watches the 'inputs' of the jobs: write them there"
    ),
    ("watch: { exclude: [a] }", "1:10: unknown key 'exclude': write 'ignore'"),
    (
      "watch: { ignore: [] }",
      "1:18: watch.ignore is empty: it takes a name as '*.tmp', a path, or a list of these; delete it if there is none"
    ),
    (
      "on_failure: { then: stop-now }",
      "1:13: on_failure has no stop_after: say how many failures are too many, as in 'stop_after: 3'"
    ),
    ("on_failure: { stop_after: 0 }", "1:27: on_failure.stop_after takes a whole number, 1 to 1000000; this is '0'"),
  ])
  func faultsHaveTheirPlaceAndTheMend(text: String, fault: String) {
    #expect(faults(text + "\njobs: { a: ls }").first == fault)
  }

  @Test func theStartIsOneOfTwoWords() {
    #expect(faults(job: "run: ls, start: later") == ["2:24: start takes auto or manual; this is 'later'"])
    #expect(
      faults(job: "run: ls, start: disabled") == ["2:24: start takes auto or manual; this is 'disabled': write manual"])
  }
}
