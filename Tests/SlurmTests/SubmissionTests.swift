import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// Submissions in doubt, refusals, and jobs that another process has submitted.
@Suite struct SubmissionTests {
  @Test func aSubmissionWithoutAnAnswerIsFoundByItsComment() throws {
    let bench = try Bench()
    let comment = bench.identity("a").comment
    bench.slurm.change {
      $0.canned["sbatch"] = [FakeSlurm.slow]
      $0.jobs = [FakeSlurm.Job(id: SlurmJobID(7), comment: comment)]
    }
    bench.follow("a")
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.statuses("a") == [.pending(SlurmJobID(7), SlurmReason("Resources"))])
  }

  @Test func whatIsSubmittedIsInTheFolderBefore() throws {
    let bench = try Bench()
    bench.follow("a", SlurmResources(cpus: 2))
    for number in 0..<3 { bench.follow("b\(number)") }
    bench.advance(.milliseconds(500))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    let submitted = bench.observer.files.submissions(run: bench.observer.run)
    #expect(submitted == Dictionary(uniqueKeysWithValues: ["a", "b0", "b1", "b2"].map { (bench.identity($0), false) }))
  }

  @Test func aSubmissionThatDidNotReachTheControllerIsMadeAgain() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [FakeSlurm.slow] }
    for number in 0..<3 { bench.follow("a\(number)") }
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    #expect(bench.slurm.state.withLock(\.jobs).count == 3)
  }

  /// An sbatch of the site's own may write more than the number.
  @Test(arguments: [
    ("1\n", true), ("127 jobs are yours at present\n1\n", true), ("127\n\n1;cluster\n \n", true), ("1;", false),
    ("127 jobs are yours at present\n", false), ("1\nThank you\n", false), ("0\n", false), ("-1\n", false),
    ("+1\n", false), ("1 2\n", false), ("", false),
  ])
  func aNumberIsTheLastLineOfSbatch(output: String, isNumber: Bool) throws {
    let bench = try Bench()
    bench.slurm.change { $0.lostAnswers = [SlurmAnswer(.exited(0), output: output)] }
    bench.follow("a")
    bench.advance(.milliseconds(100))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(.seconds(2))
    let id = SlurmJobID(1)
    #expect(bench.statuses("a").first == (isNumber ? .submitted(id) : .pending(id, SlurmReason("Resources"))))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func ofTwoJobsOfOneAttemptTheOneThatExecutesItCounts() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let comment = bench.identity("a").comment
    bench.slurm.change {
      $0.jobs[0].state = "FAILED"
      $0.jobs[0].reason = "NonZeroExitCode"
      $0.jobs[0].status = BatchScript.duplicateStatus << 8
      $0.jobs.append(
        FakeSlurm.Job(id: SlurmJobID(8), comment: comment, state: "RUNNING", reason: "None", node: "node3"))
    }
    try bench.write("8 node3\n", to: "a", ".claim")
    bench.advance(.seconds(2))
    #expect(bench.statuses("a").last == .running(SlurmJobID(8), nodes: "node3"))
    bench.slurm.change { $0.jobs[1].state = "COMPLETED" }
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .exited(0))
  }

  @Test func aSecondJobOfAnAttemptThatHasNotBegunIsCancelledWhileItWaits() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let comment = bench.identity("a").comment
    bench.slurm.change { $0.jobs.append(FakeSlurm.Job(id: SlurmJobID(8), comment: comment)) }
    bench.advance(.seconds(2))
    #expect(bench.slurm.calls(of: "scancel").first == ["scancel", "--state=PENDING", "8"])
  }

  @Test func aRefusalEndsTheJobWithSlurmsSentence() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["sbatch"] = [SlurmAnswer(.exited(1), error: "sbatch: error: invalid partition specified: nope\n")]
    }
    bench.follow("a")
    bench.advance(.seconds(2))
    #expect(bench.end("a") == .refused("invalid partition specified: nope"))
  }

  @Test func anArrayThatIsTooLargeIsDivided() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["sbatch"] = [
        SlurmAnswer(.exited(1), error: "sbatch: error: Batch job submission failed: Invalid job array specification\n")
      ]
    }
    for number in 0..<10 { bench.follow("a\(number)") }
    bench.advance(.seconds(1))
    #expect(
      bench.slurm.calls(of: "sbatch").dropFirst().map { $0.filter { $0.hasPrefix("--array") } } == [
        ["--array=0-4"], ["--array=0-4"],
      ])
  }

  @Test func aClusterThatTakesNoMoreJobsIsAskedAgainLater() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["sbatch"] = [
        SlurmAnswer(
          .exited(1),
          error: "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: "
            + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n")
      ]
    }
    bench.follow("a")
    bench.advance(.seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    let fault =
      "AssocMaxSubmitJobLimit (Batch job submission failed: "
      + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits))"
    #expect(bench.statuses("a") == [.full(fault)])
    // It has not been tried, and waits for the same.
    bench.follow("b", SlurmResources(cpus: 2))
    #expect(bench.statuses("b") == [.full(fault)])
    bench.advance(.seconds(7))
    #expect(bench.slurm.calls(of: "sbatch").count == 3)
  }

  private static let mostJobs = "Slurm temporarily unable to accept job, sleeping and retrying."

  /// Nothing else names the cause: a cluster without an accounting does not say which limit it is.
  @Test(arguments: [
    SlurmAnswer(
      .exited(1),
      error: "sbatch: error: Batch job submission failed: "
        + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n"),
    SlurmAnswer(.exited(1), error: "sbatch: error: Batch job submission failed: Resource temporarily unavailable\n"),
    SlurmAnswer(.timedOut, error: "sbatch: error: \(mostJobs)\n"),
  ])
  func whatIsFullForNowIsAskedAgainAndSaysSo(answer: SlurmAnswer) throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [answer, answer] }
    bench.follow("a")
    bench.advance(.seconds(15))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
    #expect(bench.statuses("a") == [.full(answer.errors ?? "")])
    bench.advance(.seconds(10))
    #expect(bench.statuses("a").last == .pending(SlurmJobID(1), SlurmReason("Resources")))
    #expect(bench.controller.withLock(\.self) == [.answers])
  }

  private static func refusal(_ reason: String) -> SlurmAnswer {
    SlurmAnswer(
      .exited(1),
      error: "sbatch: error: \(reason)\nsbatch: error: Batch job submission failed: "
        + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n")
  }

  @Test func aJobBeyondALimitOfItsOwnIsRefused() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [Self.refusal("QOSMaxWallDurationPerJobLimit")] }
    bench.follow("a")
    bench.advance(.seconds(2))
    guard case .refused(let sentence) = bench.end("a") else { return #expect(Bool(false), "\(bench.statuses("a"))") }
    #expect(sentence.contains("QOSMaxWallDurationPerJobLimit"))
  }

  /// Slurm counts all jobs of an array before it takes one.
  @Test func anArrayThatTheClusterDoesNotTakeBecomesSmaller() throws {
    let bench = try Bench()
    let full = Self.refusal("QOSMaxSubmitJobPerUserLimit")
    bench.slurm.change { $0.canned["sbatch"] = [full, full] }
    for number in 0..<12 { bench.follow("a\(number)") }
    bench.advance(.seconds(2))
    let arrays = bench.slurm.calls(of: "sbatch").map { $0.first { $0.hasPrefix("--array") } }
    #expect(arrays == ["--array=0-11", "--array=0-5", "--array=0-2", "--array=0-5", "--array=0-2"])
    #expect(bench.slurm.state.withLock(\.jobs).count == 12)
  }

  @Test func aFullQueueIsNoControllerThatIsDown() throws {
    let bench = try Bench()
    // sbatch tries for minutes, and is killed by the limit of a call.
    let full = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\n"
    bench.slurm.change { $0.canned["sbatch"] = [SlurmAnswer](repeating: SlurmAnswer(.timedOut, error: full), count: 5) }
    bench.follow("a")
    bench.advance(.seconds(55))
    #expect(bench.controller.withLock(\.self) == [.answers])
    #expect((4...6).contains(bench.slurm.calls(of: "sbatch").count))
    bench.advance(.seconds(20))
    #expect(bench.statuses("a").last == .pending(SlurmJobID(1), SlurmReason("Resources")))
  }

  @Test func aFaultInTheResourcesIsToldWithoutACall() throws {
    let bench = try Bench()
    bench.follow("a", SlurmResources(cpus: 0))
    bench.advance(.seconds(1))
    #expect(bench.end("a") == .refused("slurm.cpus: 0 is too little: 1 is the least; leave it out to ask for nothing"))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
  }

  @Test func anAttemptIsNotFollowedTwice() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(.seconds(1))
    let refused = Lock<SlurmStatus?>(nil)
    bench.observer.follow(bench.job("a"), mayExist: false, isPaused: false) { status in
      refused.withLock { $0 = status }
    }
    bench.settle()
    #expect(refused.withLock(\.self) == .ended(SlurmOutcome(.refused("this attempt was submitted before in this run"))))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func jobsOfAnotherProcessAreFollowedAndNoneIsSubmittedTwice() throws {
    let first = try Bench()
    for number in 0..<4 { first.follow("a\(number)") }
    first.follow("b", SlurmResources(cpus: 2))
    first.advance(.seconds(1))
    #expect(first.slurm.calls(of: "sbatch").count == 2)
    let second = Bench(after: first)
    for name in ["a0", "a1", "a2", "a3", "b", "c"] { second.follow(name, mayExist: true) }
    second.advance(.seconds(2))
    #expect(second.slurm.calls(of: "sbatch").count == 3, "the one that was not submitted is")
    #expect(second.statuses("a2") == [.pending(SlurmJobID(1, index: 2), SlurmReason("Resources"))])
    second.slurm.setAll("COMPLETED")
    second.advance(.seconds(2))
    for name in ["a0", "a1", "a2", "a3", "b", "c"] { #expect(second.end(name) == .exited(0)) }
  }

  @Test func aJobThatEndedWhileNobodyFollowedItIsCounted() throws {
    let bench = try Bench()
    try bench.write("5 node1\n", to: "a", ".claim")
    try bench.write("0 5\n", to: "a", ".exit")
    try bench.write("6 node1\n", to: "b", ".claim")
    bench.follow("a", mayExist: true)
    bench.follow("b", mayExist: true)
    bench.advance(.seconds(40))
    #expect(bench.end("a") == .exited(0))
    #expect(bench.end("b") == .lost(hasBegun: true))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
  }

  @Test func theJobsOfARunAreListed() throws {
    let bench = try Bench()
    for number in 0..<3 { bench.follow("a\(number)") }
    bench.advance(.seconds(1))
    bench.slurm.change {
      $0.jobs[0].state = "COMPLETED"
      $0.jobs.append(FakeSlurm.Job(id: SlurmJobID(9), comment: "opdash/other/a0/1"))
    }
    let found = Lock<[FoundSlurmJob]>([])
    bench.observer.find { result in found.withLock { $0 = (try? result.get()) ?? [] } }
    bench.settle()
    #expect(found.withLock { $0.map(\.identity) } == ["a0", "a1", "a2"].map(bench.identity))
  }

  // MARK: Lost answers

  private static let lostAnswers = [
    SlurmAnswer(.exited(1)), SlurmAnswer(.exited(128 + SIGKILL)),
    SlurmAnswer(.exited(1), error: "sbatch-wrapper: Disk quota exceeded\n"),
    SlurmAnswer(.exited(1), error: "sbatch: error: Batch job submission failed: Interrupted system call\n"),
  ]

  @Test(arguments: lostAnswers, ["opdash/r/a/1", "project42"])
  func aJobThatWasTakenIsFollowedWhateverSbatchSays(answer: SlurmAnswer, comment: String) throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.lostAnswers = [answer]
      $0.siteComment = comment
    }
    for name in ["a1", "a2"] { bench.follow(name) }
    bench.advance(exactly: .seconds(2))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.statuses("a2") == [.pending(SlurmJobID(1, index: 1), SlurmReason("Resources"))])
    bench.slurm.setAll("COMPLETED")
    bench.advance(exactly: .seconds(2))
    for name in ["a1", "a2"] { #expect(bench.end(name) == .exited(0)) }
  }

  @Test func aRefusedAttemptIsWithdrawnBeforeItsEnd() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [SlurmAnswer(.exited(1), error: "sbatch: error: no\n")] }
    bench.follow("a")
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == .refused("no"))
    #expect(bench.slurm.queries > 0)
    #expect(bench.observer.files.isWithdrawn(bench.identity("a")))
  }

  /// It had begun before squeue named it.
  @Test func aRefusedAttemptThatHasBegunIsFollowed() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [SlurmAnswer(.exited(1), error: "sbatch: error: no\n")] }
    try bench.write("9 node1\n", to: "a", ".claim")
    bench.follow("a")
    bench.advance(exactly: .seconds(5))
    #expect(bench.end("a") == nil)
    try bench.write("4 9\n", to: "a", ".exit")
    bench.advance(exactly: .seconds(5))
    #expect(bench.end("a") == .exited(4))
  }

  @Test func aJobIsNotRefusedWhileTheControllerIsDown() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.canned["sbatch"] = [SlurmAnswer(.exited(1), error: "sbatch: error: no\n")]
      $0.canned["squeue"] = [FakeSlurm.down]
    }
    bench.follow("a")
    bench.advance(exactly: .milliseconds(1500))
    #expect(bench.end("a") == nil)
    bench.advance(exactly: .seconds(5))
    #expect(bench.end("a") == .refused("no"))
  }

  @Test func whatIsNotThereIsNotAskedFor() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [SlurmAnswer(.absent("sbatch: no such program"))] }
    bench.follow("a")
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .refused("sbatch: no such program"))
    #expect(bench.slurm.queries == 0)
  }

  // MARK: Arrays

  private func arrays(_ bench: Bench) -> [String?] {
    bench.slurm.calls(of: "sbatch").map { $0.first { $0.hasPrefix("--array") } }
  }

  private func comments(_ bench: Bench) -> [String?] {
    bench.slurm.calls(of: "sbatch").map { $0.first { $0.hasPrefix("--comment") } }
  }

  private func names(_ bench: Bench) -> [String?] {
    bench.slurm.calls(of: "sbatch").map { $0.first { $0.hasPrefix("--job-name") } }
  }

  /// Each is recognized in the queue of the cluster.
  @Test func jobsOfUnlikeNamesAreSubmittedByThemselves() throws {
    let bench = try Bench()
    for name in ["build[a]", "test", "build[b]", "part2", "7", "part10", "8"] { bench.follow(name) }
    bench.advance(exactly: .milliseconds(500))
    #expect(names(bench) == ["build", "test", "part", "7", "8"].map { "--job-name=\($0)" })
    #expect(arrays(bench) == ["--array=0-1", nil, "--array=0-1", nil, nil])
  }

  @Test func aNameOfTheUsersChoiceIsTheNameOfTheArray() throws {
    let bench = try Bench()
    for name in ["build", "test"] { bench.follow(name, SlurmResources(name: "mine")) }
    bench.advance(exactly: .milliseconds(500))
    #expect(names(bench) == ["--job-name=mine"])
    #expect(arrays(bench) == ["--array=0-1"])
  }

  @Test func eachJobOfAnArrayHasAScriptOfItsOwn() throws {
    let bench = try Bench()
    for name in ["a1", "a2"] { bench.follow(name) }
    bench.advance(exactly: .milliseconds(100))
    let comment = try #require(bench.slurm.state.withLock { $0.jobs.first?.comment })
    guard case .batch(_, let name)? = SlurmIdentity.Comment(comment) else { return #expect(Bool(false), "\(comment)") }
    let files = bench.observer.files
    #expect(files.batch(named: name, run: bench.observer.run) == ["a1", "a2"].map(bench.identity))
    for (index, job) in ["a1", "a2"].enumerated() {
      let text = try String(contentsOfFile: files.path(ofScript: index, batch: name), encoding: .utf8)
      #expect(text == BatchScript.text(of: bench.job(job), isInArray: true, files: files))
    }
    let input = bench.slurm.state.withLock { $0.calls.first { $0.arguments[0] == "sbatch" }?.input }
    #expect(input == BatchScript.text(ofBatch: name, files: files))
  }

  @Test func aJobByItselfIsSubmittedWithItsScript() throws {
    let bench = try Bench()
    bench.follow("a", SlurmResources(cpus: 2))
    bench.advance(exactly: .milliseconds(100))
    let call = bench.slurm.state.withLock { $0.calls.first }
    #expect(
      call
        == SlurmCommand(
          [
            "sbatch", "--parsable", "--no-requeue", "--output=/dev/null", "--chdir=/", "--comment=opdash/run%201/a/1",
            "--job-name=a", "--cpus-per-task=2", "/dev/stdin", "opdash/run%201/a/1",
          ], input: BatchScript.text(of: bench.job("a"), files: bench.observer.files)))
  }

  @Test func aClusterThatIsAlmostFullGetsOneJobAndThenTwo() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [Self.refusal("QOSMaxSubmitJobPerUserLimit")] }
    for number in 0..<3 { bench.follow("a\(number)") }
    bench.advance(exactly: .seconds(1))
    #expect(arrays(bench) == ["--array=0-2", nil, "--array=0-1"])
  }

  private static let noArrays = SlurmAnswer(
    .exited(1), error: "sbatch: error: Batch job submission failed: Invalid job array specification\n")

  @Test func whereNoArrayIsTakenEachJobIsSubmittedByItself() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [Self.noArrays] }
    for number in 0..<3 { bench.follow("a\(number)") }
    bench.advance(exactly: .seconds(1))
    #expect(arrays(bench) == ["--array=0-2", nil, nil, nil])
  }

  @Test func aJobByItselfIsNotDivided() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [Self.noArrays] }
    bench.follow("a")
    bench.advance(exactly: .seconds(2))
    #expect(bench.end("a") == .refused("Batch job submission failed: Invalid job array specification"))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  // MARK: Answers of sbatch

  @Test func whatAFullClusterRefusesIsNotSearchedFor() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [Self.refusal("AssocMaxSubmitJobLimit")] }
    bench.follow("a")
    bench.advance(exactly: .seconds(5))
    #expect(bench.slurm.queries == 0)
    bench.observer.cancel(bench.identity("a"))
    bench.settle()
    #expect(bench.end("a") == .cancelled)
    bench.advance(exactly: .seconds(10))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func aFullClusterIsAskedAgainAfterTenSeconds() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [Self.refusal("AssocMaxSubmitJobLimit")] }
    bench.follow("a")
    bench.advance(exactly: .milliseconds(10_019))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    bench.advance(exactly: .milliseconds(1))
    #expect(bench.slurm.calls(of: "sbatch").count == 2)
  }

  @Test(arguments: [
    SlurmAnswer(.timedOut, error: "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\n"),
    SlurmAnswer(.timedOut), SlurmAnswer(.exited(0), output: "no number\n"),
  ])
  func aJobThatWasPerhapsTakenIsSearchedFor(answer: SlurmAnswer) throws {
    let bench = try Bench()
    let comment = bench.identity("a").comment
    bench.slurm.change {
      $0.canned["sbatch"] = [answer]
      $0.jobs = [FakeSlurm.Job(id: SlurmJobID(7), comment: comment)]
    }
    bench.follow("a")
    bench.advance(exactly: .seconds(5))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    #expect(bench.statuses("a").last == .pending(SlurmJobID(7), SlurmReason("Resources")))
    let wasDown = bench.controller.withLock { $0.count > 1 }
    #expect(wasDown == (answer == SlurmAnswer(.timedOut)))
  }

  /// The request has not come to the controller, so that the job was not lost.
  @Test func callsThatDoNotReachTheControllerDoNotCount() throws {
    let bench = try Bench()
    bench.slurm.change { $0.canned["sbatch"] = [SlurmAnswer](repeating: FakeSlurm.down, count: 4) }
    bench.follow("a")
    bench.advance(exactly: .seconds(20))
    #expect(bench.slurm.calls(of: "sbatch").count == 5)
    #expect(bench.statuses("a").last == .pending(SlurmJobID(1), SlurmReason("Resources")))
  }

  @Test(arguments: [
    refusal("AssocMaxSubmitJobLimit"), SlurmAnswer(.exited(1), error: "sbatch: error: no\n"),
  ])
  func aJobThatIsCancelledDuringARefusalIsCancelled(answer: SlurmAnswer) throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.held = ["sbatch"]
      $0.canned["sbatch"] = [answer]
    }
    bench.follow("a")
    bench.advance(exactly: .milliseconds(100))
    bench.observer.cancel(bench.identity("a"))
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.end("a") == nil)
    bench.slurm.release()
    bench.advance(exactly: .seconds(15))
    #expect(bench.statuses("a") == [.ended(SlurmOutcome(.cancelled))])
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
  }

  @Test func whatWasNotTakenComesBeforeWhatWaits() throws {
    let bench = try Bench()
    bench.slurm.change {
      $0.held = ["sbatch"]
      $0.canned["sbatch"] = [Self.refusal("AssocMaxSubmitJobLimit")]
    }
    bench.follow("a")
    bench.advance(exactly: .milliseconds(100))
    bench.follow("b", SlurmResources(cpus: 2))
    bench.slurm.release()
    bench.advance(exactly: .seconds(12))
    #expect(comments(bench) == ["a", "a", "b"].map { "--comment=opdash/run%201/\($0)/1" })
  }

  // MARK: What is not submitted

  private static func job(
    _ name: String = "a", _ arguments: [String] = ["true"], in directory: String = "/",
    environment: [String: String] = [:]
  ) -> SlurmJob {
    SlurmJob(
      SlurmIdentity(run: "run 1", job: "a", attempt: 1), name: name, arguments: arguments, directory: directory,
      environment: environment)
  }

  private static let zeroByte = "a zero byte, which no program can be given, is in its command"

  @Test(
    arguments: [
      (job("a", []), "there is no program"),
      (job(environment: ["B": "", "1A": ""]), "'1A' is not a name of an environment variable"),
      (job("a", ["true", "a\0b"]), zeroByte), (job(in: "/a\0"), zeroByte), (job("a\0"), zeroByte),
      (job(environment: ["A": "\0"]), zeroByte),
    ] as [(SlurmJob, String)])
  func whatNoNodeCanExecuteIsRefused(job: SlurmJob, sentence: String) throws {
    let bench = try Bench()
    let told = Lock<[SlurmStatus]>([])
    bench.observer.follow(job, mayExist: false, isPaused: false) { status in told.withLock { $0.append(status) } }
    bench.advance(exactly: .milliseconds(100))
    #expect(told.withLock(\.self) == [.ended(SlurmOutcome(.refused(sentence)))])
    #expect(bench.slurm.state.withLock(\.calls).isEmpty)
  }

  @Test func withoutTheFolderNothingIsSubmitted() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file("file"))
    let path = folder.file("file").path() + "/jobs"
    let (slurm, clock) = (FakeSlurm(), ManualOperationClock())
    let observer = SlurmObserver(run: "r", folder: path, runner: slurm, clock: clock)
    let sentences = Lock<[String]>([])
    for (number, name) in ["a", "b"].enumerated() {
      let job = SlurmJob(
        observer.identity(job: name, attempt: 1), name: name, arguments: ["true"], directory: "/",
        resources: SlurmResources(cpus: number + 1))
      observer.follow(job, mayExist: false, isPaused: false) { status in
        guard case .ended(let outcome) = status, case .refused(let sentence) = outcome.end else { return }
        sentences.withLock { $0.append(sentence) }
      }
    }
    for _ in 0..<30 {
      observer.queue.sync {}
      clock.advance(by: .milliseconds(10))
    }
    observer.queue.sync {}
    #expect(sentences.withLock(\.count) == 2)
    #expect(
      sentences.withLock(\.self).allSatisfy { $0.hasPrefix("the folder of the cluster jobs can't be made: \(path): ") })
    #expect(slurm.state.withLock(\.calls).isEmpty)
  }

  // MARK: The same attempt

  @Test func aSecondJobOfAnAttemptDoesNotEndTheFirst() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(500))
    bench.observer.follow(bench.job("a"), mayExist: false, isPaused: false) { _ in }
    bench.slurm.setAll("COMPLETED")
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(0))
  }

  @Test func anAttemptThatHasEndedMayBeFollowedAnew() throws {
    let bench = try Bench()
    bench.follow("a")
    bench.advance(exactly: .milliseconds(500))
    bench.slurm.setAll("COMPLETED")
    bench.advance(exactly: .seconds(1))
    #expect(bench.end("a") == .exited(0))
    bench.slurm.change { $0.jobs = [] }
    bench.follow("a")
    bench.advance(exactly: .milliseconds(500))
    #expect(bench.statuses("a").last == .submitted(SlurmJobID(2)))
  }
}
