import Foundation
import RunStore
import Support
import Testing

/// `opdash resume` after a run that was killed, cancelled or failed.
struct ResumeTests {
  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws { place = try Workplace() }

  private func lines(_ name: String) -> [Substring] {
    String(decoding: place.contents(name) ?? Data(), as: UTF8.self).split(separator: "\n")
  }

  /// Writes the job file: `first` succeeds, `nap` sleeps until there is a file `go`, `last` needs both.
  private func writeFile(first: String = "echo 1 >>first", more: String = "") throws {
    let nap = "echo 1 >>nap; [ -e go ] || exec sleep \(marker)"
    try place.write(
      """
      jobs:
        first: { run: "\(first)" }
        nap: { needs: [first], run: "\(nap)" }
        last: { needs: [nap], run: "echo 1 >>last" }
      \(more)
      """, to: "opdash.yml")
  }

  /// Waits until the newest run is recorded, and in it the ends that `text` tells: `first done, nap executing`.
  private func expectRecorded(_ text: String = "") throws {
    let isRecorded = try eventually {
      let store = try RunStore(folder: place.folder.file("state/opdash").path)
      guard let run = try store.runs(1).first else { return false }
      let ends = try EarlierJob.of(store.past(of: run)).map { "\($0.name) \("\($0.end)".prefix { $0 != "(" })" }
      return text.isEmpty || Set(text.split(separator: ", ").map(String.init)).isSubset(of: ends)
    }
    #expect(isRecorded, "\(text)")
  }

  /// Starts the run and waits until `nap` sleeps and that and the end of `first` are on disk.
  private func startNapping() throws -> Background {
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { ProcessTable.sleepers(marker) == 1 })
    try expectRecorded("first done, nap executing")
    return run
  }

  private func kill(_ run: Background) {
    Foundation.kill(run.child.pid, SIGKILL)
    #expect(run.ending() == .signalled(SIGKILL))
  }

  @Test func anApprovalHoldsForTheQuestionAndTheWorkThatWereApproved() throws {
    let work = "echo staging >>done; test -e go"
    func write(_ question: String = "Publish to staging?", _ command: String = work) throws {
      try place.write("jobs: { p: { approve: '\(question)', run: '\(command)' } }", to: "opdash.yml")
    }
    try write()
    #expect(try place.run("run", "--approve", "p", "--ui", "quiet").ending() == .exited(1))
    try write("Publish to production?")
    let asked = try place.run("resume", "--ui", "plain")
    #expect(asked.ending() == .exited(2))
    #expect(asked.errorText.contains("p waits for a person's approval"))
    try write("Publish to staging?", "echo production >>done")
    #expect(try place.run("resume", "--ui", "plain").ending() == .exited(2))
    #expect(lines("done") == ["staging"])
    try place.write("", to: "go")
    try write()
    #expect(try place.run("resume", "--ui", "plain").ending() == .exited(0))
    #expect(lines("done") == ["staging", "staging"])
  }

  @Test func aKillLosesNoSuccessWhoseValuesAreRead() throws {
    try place.write(
      """
      jobs:
        a: { run: "echo a >> log; echo v=1 >> $OPDASH_OUTPUT" }
        plain: { needs: [a], run: "echo plain >> log" }
        b: { needs: [plain], run: "echo b ${jobs.a.v} >> log; test -e second || { touch second; kill -9 $PPID; }" }
      """, to: "killed.yml")
    #expect(try place.run("run", "killed.yml", "--ui", "quiet").ending() == .signalled(SIGKILL))
    #expect(try place.run("resume", "--ui", "quiet").ending() == .exited(0))
    #expect(place.contents("log") == Data("a\nplain\nb 1\nb 1\n".utf8))
  }

  @Test func aRunWithWorkLeftNamesTheCommandThatResumesIt() throws {
    try place.write("jobs: { a: { run: test -e go } }", to: "opdash.yml")
    for interface in ["plain", "quiet", "json"] {
      let run = try place.run("run", "--ui", interface)
      #expect(run.ending() == .exited(1))
      let id = try RunStore(folder: place.folder.file("state/opdash").path).run(named: "last").id
      let line = "resume it with: opdash resume \(id)\n"
      #expect(run.outputText.hasSuffix(line) == (interface == "plain"))
      #expect(run.errorText.hasSuffix(line) == (interface == "quiet"), "\(run.errorText)")
    }
    // A dry run says that it has failed: no check of files does.
    let dry = try place.run("run", "-n", "--explain")
    #expect(dry.outputText.contains("because the last attempt did not succeed"))
    // Standard input can't be read again.
    let piped = try place.script("echo 'jobs: { a: { run: exit 1 } }' | \"$OPDASH\" run - --ui plain")
    #expect(piped.ending() == .exited(1) && !piped.outputText.contains("resume"))
    let apart = try place.run("run", "--ui", "plain", "--state", "other state")
    let other = try RunStore(folder: place.folder.file("other state").path).run(named: "last").id
    #expect(apart.outputText.hasSuffix("resume it with: opdash resume --state 'other state' \(other)\n"))
    try place.write("", to: "go")
    #expect(try place.run("resume", "--state", "other state", other, "--ui", "plain").ending() == .exited(0))
    #expect(try !place.run("run", "--ui", "plain").outputText.contains("resume"))
    #expect(try place.run("run", "-n", "--explain").outputText.contains("because it has neither inputs nor creates"))
  }

  @Test func aServiceServesAgainAndWhatWasSkippedIsNoWork() throws {
    try place.write(
      """
      jobs:
        db: { run: exec sleep \(marker), service: true }
        migrate: { needs: { db: ready }, run: test -e ok }
        last: { needs: [migrate], run: echo 1 >>last }
        never: { if: "${env.NOPE}", run: echo never }
        after: { needs: { never: not-ok }, run: echo 1 >>after }
      finally: { clean: echo 1 >>clean }
      """, to: "opdash.yml")
    #expect(try place.run("run", "--ui", "quiet").ending() == .exited(1))
    try place.write("", to: "ok")
    let resume = try place.run("resume", "--ui", "quiet")
    #expect(resume.ending() == .exited(0) && resume.errorText.contains("needed again: db"), "\(resume.errorText)")
    let idle = try place.run("resume", "--ui", "quiet")
    #expect((idle.outputText + idle.errorText).contains("nothing is left to do"))
    #expect(lines("last").count == 1 && lines("after").count == 1 && lines("clean").count == 2)
  }

  @Test func theJobsOfFinallyRunAfterAResumedRunToo() throws {
    try place.write(
      """
      jobs:
        first: echo 1 >>first
        last: { needs: [first], run: test -e go }
      finally:
        page: { when: failed, run: echo 1 >>page }
        clean: echo 1 >>clean
      """, to: "opdash.yml")
    #expect(try place.run("run", "--ui", "quiet").ending() == .exited(1))
    #expect(try place.run("resume", "--ui", "quiet").ending() == .exited(1))
    #expect(lines("first").count == 1 && lines("page").count == 2 && lines("clean").count == 2)
    try place.write("", to: "go")
    #expect(try place.run("resume", "--ui", "quiet").ending() == .exited(0))
    #expect(lines("first").count == 1 && lines("page").count == 2 && lines("clean").count == 3)
    #expect(try place.run("resume", "--ui", "quiet").outputText.hasPrefix("nothing is left to do"))
  }

  @Test func aJobThatIsUpToDateHasTheValuesOfItsLastSuccess() throws {
    try place.write(
      """
      jobs:
        p: { run: 'echo "v=one" >> "$OPDASH_OUTPUT"; echo 1 >>runs; touch made', inputs: s.txt, creates: made }
        c: { needs: [p], run: "echo got ${jobs.p.v}" }
      """, to: "opdash.yml")
    try place.write("1", to: "s.txt")
    for upToDate in [false, true, true] {
      let run = try place.run("run", "--ui", "plain")
      #expect(run.ending() == .exited(0))
      #expect(run.outputText.contains("up to date: the inputs have not changed") == upToDate)
      #expect(run.outputText.contains("got one"))
    }
    #expect(lines("runs").count == 1)
    try place.write("2", to: "s.txt")
    #expect(try place.run("run", "--ui", "plain").ending() == .exited(0))
    #expect(lines("runs").count == 2)
  }

  @Test func aJobThatIsResumedReadsTheValuesOfTheOneThatSucceeded() throws {
    try place.write(
      """
      jobs:
        version: echo 1 >>made; echo "tag=v7 beta" >> "$OPDASH_OUTPUT"
        publish: { needs: [version], run: 'test -e go && printf %s "${jobs.version.tag}" > published' }
      """, to: "opdash.yml")
    #expect(try place.run("run", "--ui", "plain").ending() == .exited(1))
    try place.write("", to: "go")
    let run = try place.run("resume", "--ui", "plain")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(lines("made") == ["1"])
    #expect(lines("published") == ["v7 beta"])
  }

  @Test func aKilledRunGoesOnWithoutTheJobsThatSucceeded() throws {
    try writeFile()
    kill(try startNapping())
    try place.write("", to: "go")
    let run = try place.run("resume", "--ui", "plain")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(run.errorText.contains(": 1 job is done, 2 to do"), "\(run.errorText)")
    #expect(run.errorText.contains("running when it ended: nap"), "\(run.errorText)")
    #expect(run.outputText.contains("ok in an earlier run, took "), "\(run.outputText)")
    #expect(lines("first").count == 1)
    #expect(lines("nap").count == 2)
    #expect(lines("last").count == 1)
    #expect(ProcessTable.processes(with: marker).isEmpty)
    let again = try place.run("resume", "--ui", "plain")
    #expect(again.ending() == .exited(0))
    #expect((again.outputText + again.errorText).contains("nothing is left to do"), "\(again.errorText)")
    #expect(lines("last").count == 1)
  }

  @Test func aRunThatWasCancelledGoesOnToo() throws {
    try writeFile()
    let run = try startNapping()
    Foundation.kill(run.child.pid, SIGTERM)
    #expect(run.ending() == .signalled(SIGTERM))
    try place.write("", to: "go")
    let next = try place.run("resume", "--ui", "quiet")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(next.errorText.contains("cancelled: nap, last"), "\(next.errorText)")
    #expect(lines("first").count == 1)
    #expect(lines("last").count == 1)
  }

  @Test func aRunThatGoesOnIsNotResumed() throws {
    try writeFile()
    let run = try startNapping()
    let next = try place.run("resume")
    #expect(next.ending() == .exited(2))
    #expect(next.errorText.contains("is going on, process \(run.child.pid)"), "\(next.errorText)")
    #expect(ProcessTable.sleepers(marker) == 1)
    #expect(lines("nap").count == 1)
    Foundation.kill(run.child.pid, SIGTERM)
    #expect(run.ending() == .signalled(SIGTERM))
  }

  @Test func aRunIsResumedAsItsNewestResumptionAndOnce() throws {
    func newest() throws -> RunEntry? {
      try RunStore(folder: place.folder.file("state/opdash").path).runs(1).first
    }
    func resumeNapping(_ run: String, time: Int) throws -> Background {
      let resume = try place.start("resume", run, "--ui", "plain")
      #expect(try eventually { try newest()?.resumes == run })
      #expect(eventually { lines("nap").count == time && ProcessTable.sleepers(marker) == 1 })
      return resume
    }
    try writeFile()
    kill(try startNapping())
    let first = try #require(try newest()).id
    kill(try resumeNapping(first, time: 2))
    let third = try resumeNapping(try #require(try newest()).id, time: 3)
    let refused = try place.run("resume", first)
    #expect(refused.ending() == .exited(2))
    #expect(refused.errorText.contains("is going on, process \(third.child.pid)"), "\(refused.errorText)")
    #expect(lines("nap").count == 3 && ProcessTable.sleepers(marker) == 1)
    kill(third)
    try place.write("", to: "go")
    let last = try #require(try newest()).id
    for _ in 0..<2 {
      let resume = try place.run("resume", first, "--ui", "plain")
      #expect(resume.ending() == .exited(0), "\(resume.errorText)")
      #expect(resume.errorText.contains("run \(first) was resumed already: its newest resumption, run "))
    }
    #expect(try newest()?.resumes == last)
    #expect(lines("first").count == 1 && lines("nap").count == 4 && lines("last").count == 1)
  }

  @Test func aJobThatHasChangedInTheFileRunsAgainWithThoseThatNeedIt() throws {
    try place.write(
      "jobs: { a: { run: echo 1 >>a }, b: { needs: [a], run: echo 1 >>b }, c: { run: echo 1 >>c }, d: { run: exit 1 } }",
      to: "opdash.yml")
    #expect(try place.run("run", "--ui", "quiet").ending() == .exited(1))
    try place.write(
      "jobs: { a: { run: echo 2 >>a }, b: { needs: [a], run: echo 1 >>b }, c: { run: echo 1 >>c }, e: { run: echo 1 >>e } }",
      to: "opdash.yml")
    let run = try place.run("resume", "--ui", "quiet")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    for text in [
      "1 job is done, 3 to do", "changed in the file: a", "needs a job that has changed: b", "new in the file: e",
      "no longer in the file: d",
    ] {
      #expect(run.errorText.contains(text), "\(text): \(run.errorText)")
    }
    #expect(lines("a") == ["1", "2"])
    #expect(lines("b").count == 2)
    #expect(lines("c").count == 1)
    #expect(lines("e").count == 1)
  }

  @Test func onlyFailedJobsRunAgainWithWhatWasSkippedBecauseOfThem() throws {
    let nap = "quit: { run: [sleep, \"\(marker)\"] }"
    try place.write(
      "jobs: { bad: { run: '[ -e go ] && echo 1 >>bad' }, after: { needs: [bad], run: echo 1 >>after }, \(nap) }",
      to: "opdash.yml")
    let run = try place.start("run", "--ui", "quiet")
    #expect(eventually { ProcessTable.sleepers(marker) == 1 })
    try expectRecorded("bad failed, after skipped")
    Foundation.kill(run.child.pid, SIGTERM)
    #expect(run.ending() == .signalled(SIGTERM))
    try place.write("", to: "go")
    let next = try place.run("resume", "--failed", "--ui", "plain")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(next.errorText.contains("not failed, so left out: quit"), "\(next.errorText)")
    #expect(lines("bad").count == 1)
    #expect(lines("after").count == 1)
    #expect(ProcessTable.sleepers(marker) == 0)
  }

  @Test func processesThatTheKilledRunHasLeftEndBeforeAJobStarts() throws {
    // Every process of an attempt holds its lock.
    let lock = "exec 9>>lock; if flock -n 9; then echo free >>locks; else echo held >>locks; fi"
    try place.write(
      """
      jobs:
        nap: { run: "\(lock); [ -e go ] && exit 0; setsid sleep \(marker) & exec sleep \(marker)" }
      """, to: "opdash.yml")
    let run = try place.start("run", "--ui", "quiet", environment: ["RESUME_TEST": marker])
    #expect(eventually { ProcessTable.sleepers(marker) == 2 })
    try expectRecorded("nap executing")
    // Stopped, it starts no other guardian.
    Foundation.kill(run.child.pid, SIGSTOP)
    let guardians = ProcessTable.guardians("RESUME_TEST=\(marker)")
    #expect(!guardians.isEmpty)
    for pid in guardians { Foundation.kill(pid, SIGKILL) }
    #expect(eventually { ProcessTable.guardians("RESUME_TEST=\(marker)").isEmpty })
    kill(run)
    #expect(ProcessTable.sleepers(marker) == 2)
    try place.write("", to: "go")
    let next = try place.run("resume", "--ui", "quiet")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(lines("locks") == ["free", "free"])
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func aPartialDownloadGoesOnFromItsByte() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
    let sent = Lock(false)
    let server = try RawServer { request in
      let start = request.rangeStart ?? 0
      let range = start > 0 ? "Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)\r\n" : ""
      let head =
        "HTTP/1.1 \(start > 0 ? 206 : 200) -\r\nContent-Length: \(bytes.count - start)\r\nETag: \"1\"\r\n\(range)\r\n"
      if request.number == 0 {
        return [.send(head), .sendBytes(Array(bytes[..<100_000])), .run { sent.withLock { $0 = true } }, .hold]
      }
      return [.send(head), .sendBytes(Array(bytes[start...])), .next]
    }
    defer { server.stop() }
    try place.write("jobs: { get: { download: \"\(server.url("/big"))\" } }", to: "opdash.yml")
    let run = try place.start("run", "--ui", "quiet")
    #expect(eventually { sent.withLock { $0 } && (place.contents("big.part")?.count ?? 0) == 100_000 })
    try expectRecorded()
    kill(run)
    let next = try place.run("resume", "--ui", "quiet")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
    #expect(place.contents("big") == Data(bytes))
  }

  @Test func aRunOfGetGoesOnToo() throws {
    let server = try RawServer { request in
      if request.path == "/a" || request.number > 2 {
        return [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"), .next]
      }
      return [.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    let first = try place.run("get", server.url("/a").absoluteString, server.url("/b").absoluteString, "--ui", "quiet")
    #expect(first.ending() == .exited(1))
    _ = try place.run("resume", "--ui", "quiet")
    let next = try place.run("resume", "--ui", "quiet")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(server.requests.filter { $0.path == "/a" }.count == 1)
    #expect(place.contents("b")?.count == 10)
  }
}
