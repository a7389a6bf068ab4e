import Foundation
import JobModel
import Support
import Testing

/// Jobs that are added to a run that is going on, by a person and by its own jobs.
struct AddProgramTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "jobs.yml": """
      name: site
      jobs:
        done: echo done
        broken: { run: "exit 3", allow_failure: true }
        nap: { run: "while [ ! -e go ]; do sleep 0.02; done" }
      finally: { last: echo last }
      """,
      "more.yml": """
      slots: 9
      jobs:
        after: { needs: [done, nap], run: pwd }
        mend: { needs: { broken: failed }, run: echo mended }
        never: { needs: [mend, unmet], run: echo never }
        unmet: { needs: { done: failed }, run: echo unmet }
      """,
    ])
  }

  /// The states in which jobs of the last run have ended, by name, and the order of the ends.
  private func ends() throws -> [String] {
    let recording = try Recording(place.run("events").outputBytes)
    var run = Run()
    for event in recording.events { run.apply(event) }
    return recording.events.compactMap { [run] event in
      guard case .jobState(let id, let state, _, _) = event.fact, state.isTerminal else { return nil }
      return "\(run[id].job.name) \(state.word)"
    }
  }

  private func output(_ job: String) throws -> String { try place.run("logs", "last", job).outputText }

  private func begins() throws -> Background {
    let run = try place.start("run", "jobs.yml")
    #expect(try eventually { try place.run("ps").outputText.contains("2 of 4 done, 1 running") })
    return run
  }

  @Test func jobsNeedEndedAndExecutingOnesAndFinallyFollowsThem() throws {
    let run = try begins()
    let add = try place.run("add", "more.yml")
    #expect(add.ending() == .exited(0), "\(add.errorText)")
    #expect(add.outputText.hasSuffix(": after, mend, never, unmet\n") && add.outputText.hasPrefix("added 4 jobs to 2"))
    #expect(add.errorText.contains("more.yml:1:1: warning: 'slots' has no effect"))
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    let ends = try ends()
    #expect(
      Set(ends) == [
        "done succeeded", "broken failed", "nap succeeded", "after succeeded", "mend succeeded", "unmet skipped",
        "never skipped", "last succeeded",
      ])
    #expect(ends.last == "last succeeded")
    #expect(try output("after") == place.folder.url.path + "\n")
    #expect(try place.run("report").outputText.contains(", 8 jobs, "))
  }

  @Test func aFileWithAFaultAddsNothing() throws {
    let run = try begins()
    try place.write("jobs: { one: echo 1, nap: echo 2, two: { needs: [dome], run: echo 3 } }", to: "bad.yml")
    let bad = try place.run("add", "last", "bad.yml")
    #expect(bad.ending() == .exited(2) && bad.outputText.isEmpty)
    #expect(bad.errorText.contains("bad.yml:1:22: 'nap' is a job of the run already: give this one another name"))
    #expect(bad.errorText.contains("unknown job 'dome' in needs: did you mean 'done'?"))
    #expect(bad.errorText.contains("^~~"))
    let none = try place.run("add", "none.yml")
    #expect(none.ending() == .exited(2) && none.errorText.contains("none.yml:1:1: there is no such file"))
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0))
    #expect(try ends().count == 4)
  }

  @Test func aRunThatHasEndedTakesNoJobs() throws {
    let window = try place.window("run", "jobs.yml", "--keep-open", "always")
    try window.sees("nap", "▶")
    try place.write("", to: "go")
    try window.sees("Ended after")
    let late = try place.run("add", "more.yml")
    #expect(late.ending() == .exited(2))
    #expect(
      late.errorText.contains("no job can be added to run") && late.errorText.contains("all of its jobs have ended"))
    try window.press("q")
    #expect(try window.exitStatus() == 0)
    let gone = try place.run("add", "more.yml")
    #expect(gone.ending() == .exited(2) && gone.errorText.contains("nothing is going on"))
  }

  @Test func aDashboardShowsJobsThatAreAdded() throws {
    let window = try place.window("run", "jobs.yml", "--keep-open", "always")
    try window.sees("nap", "▶")
    let attached = try place.window("attach", "--keep-open", "always")
    try attached.sees("nap", "▶")
    #expect(try place.run("add", "more.yml").ending() == .exited(0))
    for window in [window, attached] { try window.sees("waits for nap") }
    try place.write("", to: "go")
    // The end of the run's program is the end of the other one.
    for window in [attached, window] {
      try window.sees("Ended after")
      try window.press("q")
      #expect(try window.exitStatus() == 0)
    }
  }

  @Test func jobsAddJobsThatAddJobs() throws {
    try place.write(
      """
      jobs:
        plan:
          dir: sub
          run: |
            cat > $OPDASH_ADD <<'END'
            jobs:
              part:
                matrix: { n: [1, 2] }
                run: |
                  echo "jobs: { deep$${matrix.n}: 'pwd' }" > $OPDASH_ADD
            END
      finally: { last: echo last }
      """, to: "plan.yml")
    try FileManager.default.createDirectory(at: place.folder.file("sub"), withIntermediateDirectories: true)
    let run = try place.run("run", "plan.yml")
    #expect(run.ending() == .exited(0), "\(run.outputText)\(run.errorText)")
    let ends = try ends()
    #expect(ends.first == "plan succeeded" && ends.last == "last succeeded")
    #expect(Set(ends).isSuperset(of: ["part[1] succeeded", "part[2] succeeded", "deep1 succeeded", "deep2 succeeded"]))
    #expect(try output("deep2") == place.folder.url.path + "/sub\n")
  }

  @Test(arguments: [
    ("echo 'jobs: { a: { runn: x } }' > $OPDASH_ADD", "$OPDASH_ADD:1:14: unknown key 'runn'"),
    ("echo 'jobs: { plan: ls }' > $OPDASH_ADD", "'plan' is a job of the run already"),
    (#"printf '\377x' > $OPDASH_ADD"#, "$OPDASH_ADD:1:1: the file is not UTF-8 here"),
    ("mkfifo $OPDASH_ADD", "it is a named pipe"),
    ("ln -s /etc/passwd $OPDASH_ADD", "it is a symbolic link"),
    ("mkdir $OPDASH_ADD", "it is a folder"),
    ("truncate -s 17M $OPDASH_ADD", "larger than 16 MiB"),
  ])
  func whatCanNotBeReadFailsTheJob(_ script: String, _ words: String) throws {
    try place.write("jobs:\n  plan:\n    run: |\n      \(script)\n", to: "plan.yml")
    let run = try place.run("run", "plan.yml")
    #expect(run.ending() == .exited(1))
    #expect(run.outputText.contains(words), "\(run.outputText)")
    #expect(try ends() == ["plan failed"])
  }

  @Test func aFailedAttemptAddsNothingAndARetriedOneAddsOnce() throws {
    try place.write(
      """
      jobs:
        plan:
          run: 'echo "jobs: { a: echo a }" > $OPDASH_ADD; test $OPDASH_ATTEMPT = 2'
          retry: { max: 1, initial: 1ms }
        fails: { run: 'echo "jobs: { b: echo b }" > $OPDASH_ADD; exit 1', allow_failure: true }
      """, to: "plan.yml")
    let run = try place.run("run", "plan.yml")
    #expect(run.ending() == .exited(0), "\(run.outputText)")
    #expect(try Set(ends()) == ["plan succeeded", "fails failed", "a succeeded"])
  }

  @Test func aJobThatAddsJobsIsNotUpToDateInTheNextRun() throws {
    let plan = #"jobs: { plan: { inputs: more.yml, run: 'echo "jobs: { made: echo made }" > $OPDASH_ADD' } }"#
    try place.write(plan, to: "plan.yml")
    for _ in 0..<2 {
      #expect(try place.run("run", "plan.yml").ending() == .exited(0))
      // They need not end in this order: what was added begins at once.
      #expect(try ends().sorted() == ["made succeeded", "plan succeeded"])
    }
  }

  @Test func aRunThatIsResumedHasTheJobsThatWereAdded() throws {
    try place.write(
      """
      jobs:
        plan: 'echo "jobs: { made: echo made, unmade: { needs: [made, nap], run: echo unmade } }" > $OPDASH_ADD'
        nap: { run: "while [ ! -e go ]; do sleep 0.02; done" }
      """, to: "plan.yml")
    let run = try place.start("run", "plan.yml")
    #expect(try eventually { try place.run("ps").outputText.contains("2 of 4 done, 1 running") })
    try place.write("jobs: { late: { needs: [nap, made], run: echo late } }", to: "late.yml")
    #expect(try place.run("add", "late.yml").ending() == .exited(0))
    #expect(try eventually { try place.run("events").outputText.contains(#""job":"late""#) })
    run.child.stop()
    try place.write("", to: "go")
    // What was added is kept, whatever becomes of its file.
    try FileManager.default.removeItem(at: place.folder.file("late.yml"))
    let resume = try place.run("resume")
    #expect(resume.ending() == .exited(0), "\(resume.outputText)\(resume.errorText)")
    #expect(resume.errorText.contains("2 jobs are done, 3 to do"), "\(resume.errorText)")
    #expect(
      try Set(ends()) == [
        "plan succeeded", "made succeeded", "nap succeeded", "unmade succeeded", "late succeeded",
      ])
  }
}
