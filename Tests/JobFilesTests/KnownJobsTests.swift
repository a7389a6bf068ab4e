import JobModel
import Testing

@testable import JobFiles

/// Files whose jobs are added to those of a run.
@Suite struct KnownJobsTests {
  private let run: KnownJobs

  init() throws {
    run = KnownJobs(
      try graph(
        """
        pools: { net: 2 }
        jobs:
          fetch: { download: { url: "http://h/a", to: a.bin } }
          build: { matrix: { os: [linux, mac] }, run: make }
          api: { run: ./api, service: { ready: { port: 80 } } }
        finally: { clean: rm -rf x }
        """))
  }

  private func added(_ text: String, warnings: (String) -> Void = { _ in }) throws -> JobGraph {
    try JobFile.decode(
      Array(text.utf8), file: "more.yml", directory: "/more", environment: environment, addingTo: run
    ) { warnings("\($0.line):\($0.column): \($0.message)") }
  }

  private func faults(_ text: String) -> [String] {
    do {
      _ = try added(text)
      return []
    } catch let faults as JobFileFaults {
      return faults.faults.map { "\($0.line):\($0.column): \($0.message)" }
    } catch {
      return ["\(error)"]
    }
  }

  @Test func aFileIsKnownByItsBytes() throws {
    let known = KnownJobs(try graph("jobs: { a: { download: { url: 'http://h/x', to: '\u{e9}' } } }"))
    #expect(known.writer(of: "/jobs/\u{e9}") == "a" && known.writer(of: "/jobs/e\u{301}") == nil)
  }

  @Test func newJobsFollowTheKnownOnesAndNeedThemByTheirNumbers() throws {
    let graph = try added(
      """
      jobs:
        pack: { needs: [fetch, build, later], run: tar c . }
        test: { needs: { "build[*]": finished, api: ready }, run: ./test, dir: sub }
        later: { run: sleep 1 }
      finally: { page: { needs: [clean], run: ./page } }
      """)
    #expect(graph.jobs.map(\.name) == ["pack", "test", "later", "page"])
    #expect(graph.jobs[0].needs.map(\.job.index) == [0, 1, 2, 7])
    #expect(graph.jobs[1].needs.map(\.job.index) == [1, 2, 3])
    #expect(graph.jobs[1].needs.map(\.when) == [.finished, .finished, .ready])
    #expect(graph.jobs[3].needs.map(\.job.index) == [4] && graph.jobs[3].finally == .always)
    guard case .shell(let work) = graph.jobs[1].work else { throw JobFileFaults("", .start, "") }
    #expect(work.directory == "/more/sub")
  }

  @Test func aValueOfAKnownJobIsRead() throws {
    let graph = try added(
      "jobs: { next: { needs: [api: ready, fetch: ok], run: 'echo ${jobs.fetch.sum}' } }".replacing(
        "[api: ready, fetch: ok]", with: "{ api: ready, fetch: ok }"))
    #expect(graph.jobs[0].outputs == [OutputReference("${jobs.fetch.sum}", job: JobID(0), name: "sum")])
    #expect(
      faults("jobs: { next: 'echo ${jobs.fetch.sum}' }") == [
        "1:21: '${jobs.fetch.sum}' is a value of a job that this one doesn't need: add 'fetch' to its needs"
      ])
  }

  @Test func aValueIsReadThroughKnownJobs() throws {
    let run = KnownJobs(
      try graph("jobs: { a: ls, b: { needs: [a], run: ls }, c: { needs: [b], run: ls } }\nfinally: { f: ls }"))
    let text = "jobs: { d: { needs: [c], run: 'echo ${jobs.a.x}' }, e: { needs: [d], run: 'echo ${jobs.b.x}' } }"
    let added = try JobFile.decode(
      Array(text.utf8), file: "more.yml", directory: "/more", environment: environment, addingTo: run
    ) { _ in }
    #expect(added.jobs.map { $0.outputs.map(\.job.index) } == [[0], [1]])
    #expect(added.jobs.map { $0.needs.map(\.job.index) } == [[2], [4]])
  }

  @Test(arguments: [
    ("jobs: { fetch: ls }", "1:9: 'fetch' is a job of the run already: give this one another name"),
    ("jobs: { build: ls }", "1:9: 'build' is a job of the run already: give this one another name"),
    ("jobs: { a: ls }\nfinally: { api: ls }", "2:12: 'api' is a job of the run already: give this one another name"),
    ("jobs: { a: { needs: [fetsh], run: ls } }", "1:22: unknown job 'fetsh' in needs: did you mean 'fetch'?"),
    (
      "jobs: { a: { needs: ['nope*'], run: ls } }",
      "1:22: no job matches 'nope*' in needs: add such a job, or delete the need"
    ),
    (
      "jobs: { a: { needs: [api], run: ls } }",
      "1:22: service 'api' ends only when no job needs it, so it is never 'ok': write 'needs: { api: ready }'"
    ),
    (
      "jobs: { a: { needs: [clean], run: ls } }",
      "1:22: 'clean' is a job of 'finally', which runs after all others: delete this need, or move the job"
    ),
    (
      "jobs: { a: { uses: { net: 3 }, run: ls } }",
      "1:22: takes 3 of pool 'net', which has 2, so it would never start: enlarge the pool or take less"
    ),
    (
      "slurm: { allocation: { nodes: 1 } }\njobs: { a: ls }",
      "1:1: an allocation is requested by the file that starts the run: delete 'allocation' from this one"
    ),
    (
      "jobs: { a: { download: { url: 'http://h/b', to: /jobs/a.bin } } }",
      "1:49: '/jobs/a.bin' is already the file of job 'fetch' of the run: give it another 'to'"
    ),
  ])
  func aFaultHasItsPlace(_ text: String, _ fault: String) { #expect(faults(text) == [fault]) }

  @Test func settingsOfTheWholeRunAreNamedAsWithoutEffect() throws {
    var warnings: [String] = []
    let graph = try added(
      """
      name: other
      slots: 3
      timeout: 1h
      on_failure: stop-now
      schedule: fifo
      pools: { net: 5, disk: 1 }
      jobs: { a: { uses: { net: 2, disk: 1 }, run: ls } }
      """
    ) { warnings.append($0) }
    #expect(
      warnings == [
        "2:1: 'slots' has no effect on a run that is going on: opdash slots changes them",
        "3:1: 'timeout' has no effect on a run that is going on: give the jobs one",
        "4:1: 'on_failure' has no effect on a run that is going on",
        "5:1: 'schedule' has no effect on a run that is going on",
        "6:10: pool 'net' has 2 in the run, and keeps that size",
      ])
    #expect(graph.pools == ["disk": 1])
  }
}
