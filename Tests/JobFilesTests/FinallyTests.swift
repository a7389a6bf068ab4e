import JobFiles
import JobModel
import Testing

@Suite struct FinallyTests {
  @Test func jobsOfFinallyComeAfterTheOthersInTheSameGraph() throws {
    let graph = try graph(
      """
      finally:
        page: { when: failed, run: ./page }
        clean: { needs: [page], run: rm, matrix: { dir: [a, b] } }
        tell: { when: ok, needs: { clean: finished, page: not-ok }, run: ./tell }
      jobs:
        a: { run: ls }
        b: { needs: '*', run: ls }
      """)
    #expect(graph.jobs.map(\.finally) == [nil, nil, .failed, .always, .always, .ok])
    #expect(
      edges(graph) == [
        "a", "b: a", "page", "clean[a]: page", "clean[b]: page",
        "tell: clean[a] finished clean[b] finished page not-ok",
      ])
  }

  @Test func aPatternInFinallyMatchesItsJobsOnly() throws {
    #expect(
      try edges(graph("jobs: { ab: { run: ls } }\nfinally: { ac: { run: ls }, ad: { needs: 'a?', run: ls } }")) == [
        "ab", "ac", "ad: ac",
      ])
  }

  @Test func jobsOfFinallyNeedEachOtherByTheirNames() throws {
    // The job at the same place in 'jobs' is a service, which none of them could need so.
    #expect(
      try edges(
        graph(
          "jobs: { s: { run: ls, service: true } }\n"
            + "finally: { p: ls, q: ls, r: { needs: [q], run: ls },\n"
            + "  m: { matrix: { n: [1, 2] }, needs: [r], run: ls }, t: { needs: ['m[2]', 'p*'], run: ls } }")) == [
          "s", "p", "q", "r: q", "m[1]: r", "m[2]: r", "t: m[2] p",
        ])
  }

  @Test(arguments: [
    (
      "jobs: { a: { run: ls, needs: [z] } }\nfinally: { z: { matrix: { n: [1] }, run: ls } }",
      "1:31: 'z' is a job of 'finally', which runs after all others: delete this need, or move the job"
    ),
    (
      "jobs: { x: ls }\nfinally: { p: ls, a: { needs: [a], matrix: { os: [l, m] }, run: ls } }",
      "2:32: job 'a' needs its own instances: delete this need, or name one as in 'a[l]'"
    ),
    (
      "jobs: { x: ls }\nfinally: { z: { needs: ['c[onn]'], run: ls }, c: { matrix: { d: [one, two] }, run: ls } }",
      "2:25: unknown job 'c[onn]' in needs: did you mean 'c[one]'?"
    ),
    (
      "jobs: { x: ls, clean: ls }\nfinally: { z: { needs: [claen], run: ls } }",
      "2:25: unknown job 'claen' in needs: add the job, or delete the need"
    ),
    (
      "jobs: { a: { run: ls, needs: [z] } }\nfinally: { z: { run: ls } }",
      "1:31: 'z' is a job of 'finally', which runs after all others: delete this need, or move the job"
    ),
    (
      "jobs: { a: { run: ls } }\nfinally: { z: { run: ls, needs: [a] } }",
      "2:34: the jobs of 'finally' run after 'a' and all other jobs: delete this need"
    ),
    (
      "jobs: { a: { run: ls } }\nfinally: { z: { run: ls, needs: 'a*' } }",
      "2:33: no job matches 'a*' in needs: add such a job, or delete the need"
    ),
    (
      "jobs: { a: { run: ls } }\nfinally: { a: { run: ls } }",
      "2:12: 'a' is a job of 'jobs' already, line 1, column 9: give this one another name"
    ),
    ("jobs: { a: { run: ls } }\nfinally: {}", "2:1: finally is empty: add a job, or delete it"),
    (
      "jobs: { a: { run: ls } }\nfinally: [ls]",
      "2:10: finally takes a map of names to jobs; this is a list: write 'NAME:' before each instead of '-'"
    ),
    (
      "jobs: { a: { run: ls } }\nfinally: { z: { when: on_failure, run: ls } }",
      "2:23: when takes ok, failed or always; this is 'on_failure': write failed"
    ),
    (
      "jobs: { a: { when: failed, run: ls } }",
      "1:14: unknown key 'when': it is for the jobs below 'finally:'; after one job, write 'needs: { NAME: failed }'"
    ),
    (
      "jobs: { a: { when: always, run: ls } }",
      "1:14: unknown key 'when': it is for the jobs below 'finally:'; after one job, write 'needs: { NAME: finished }'"
    ),
    (
      "jobs: { a: { when: '$CI', run: ls } }",
      "1:14: unknown key 'when': write 'if' for a condition; 'when' is for the jobs below 'finally:'"
    ),
    (
      "jobs: { a: { run: ls, on_failure: ./page } }",
      "1:23: unknown key 'on_failure': write a job below 'finally:' with 'when: failed', or one that needs '{ NAME: failed }'"
    ),
    (
      "jobs: { a: { run: ls, after_script: rm } }",
      "1:23: unknown key 'after_script': write a job below 'finally:'"
    ),
    ("jobs: { a: { run: ls } }\ncleanup: { z: { run: ls } }", "2:1: unknown key 'cleanup': write 'finally'"),
    ("jobs: { a: { run: ls } }\nafter: { z: { run: ls } }", "2:1: unknown key 'after': write 'finally'"),
    (
      "jobs: { a: { run: ls } }\non_failure: { page: { run: ls } }",
      "2:15: unknown key 'page': write a job below 'finally:', with 'when: failed'"
    ),
    (
      "jobs: { a: { run: ls, finally: { z: ls } } }",
      "1:23: unknown key 'finally': write a job below 'finally:'"
    ),
  ])
  func aMisplacedFinallyIsRefused(text: String, fault: String) {
    #expect(faults(text) == [fault])
  }

  @Test func aJobThatIsATextIsItsCommand() throws {
    let graph = try graph(
      "jobs:\n  a: make all\n  b: |\n    one\n    two\n  c: env A=b make\nfinally: { d: rm -rf work }\n")
    let commands = graph.jobs.map { job -> ShellWork.Command? in
      if case .shell(let work) = job.work { work.command } else { nil }
    }
    #expect(commands == [.script("make all"), .script("one\ntwo\n"), .script("env A=b make"), .script("rm -rf work")])
  }

  @Test(arguments: [
    ("5", "2:6: a job is a map; this is '5': write '{ run: 5 }'"),
    ("true", "2:6: a job is a map; this is 'true': write '{ run: true }'"),
    ("run make", "2:6: a ':' is missing after 'run': write 'run: make'"),
    ("run:make", "2:6: a blank is missing after 'run:': write 'run: make'"),
    ("env:x", "2:6: a blank is missing after 'env:': write 'env: x'"),
    ("allow_failure x", "2:6: a ':' is missing after 'allow_failure': write 'allow_failure: x'"),
    ("1.5", "2:6: a job is a map; this is '1.5': write '{ run: 1.5 }'"),
    ("needs b", "2:6: a ':' is missing after 'needs': write 'needs: b'"),
    ("", "2:3: job 'a' has nothing to do: give it one of run, download, upload or simulate"),
    ("''", "2:6: run is empty: it takes a command for sh as text, or a program and its arguments as a list"),
  ])
  func aJobThatIsNoCommandIsRefused(job: String, fault: String) {
    #expect(faults("jobs:\n  a: \(job)\n") == [fault])
  }
}
