import Foundation
import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct JobDescriptionTests {
  private static let failure = JobFailure(.exit(1), "exit 1")
  private static let traits = ScreenTraits(isASCII: true, palette: .none)

  /// The lines of the first job.
  private func lines(_ builder: RunBuilder, at seconds: Double = 0, width: Int = 60, id: Int = 0) -> [String] {
    var model = Model(run: builder.run, size: Size(width: 80, height: 24))
    let now = Duration.milliseconds(Int64(seconds * 1000))
    FramePreparation.prepare(&model, now: now)
    let description = JobDescription(id: JobID(id), model: model, theme: Theme(Self.traits), now: now)
    return description.lines(width: width).map { line in
      var text = line.map(\.text).joined()
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  /// The lines under a heading, up to the next blank line.
  private func part(_ heading: String, _ lines: [String]) -> [String] {
    Array(lines.drop { !$0.hasPrefix(heading) }.prefix { !$0.isEmpty })
  }

  // MARK: Warnings

  @Test func aWarningHasItsEvidenceItsAdviceAndItsName() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.state(.warningRaised(RunWarning(.slowAndSilent, [JobID(0)], "executes for 16.0s", since: .zero)))
    let lines = lines(builder, width: 76)
    #expect(lines[2] == "  ! executes for 16.0s")
    #expect(lines[3] == "    find out why, or cancel it (slow-and-silent)")
  }

  // MARK: Work

  @Test func anExecutingJobHasItsWorkItsAttemptAndItsTimes() {
    let work = ShellWork(.argv(["make", "all"]), directory: "/src")
    var builder = RunBuilder([
      Job(
        name: "a", work: .shell(work), priority: .high, uses: ["net": 2, "cpu": 1], timeout: .seconds(90),
        allowFailure: true)
    ])
    builder.at(1)
    builder.move("a", .executing, pid: 7)
    #expect(
      lines(builder, at: 6) == [
        "> a", "  running, for 0:05", "  * critical: the run waits for it", "", "run      make all", "in       /src",
        "with     priority high, cpu 1, net 2, timeout 1:30, may", "         fail, pid 7", "", "Attempts",
        "  1  at 0:01      5.0s  running", "", "Time",
        "  waited for needs      1.0s ======", "  running               5.0s " + String(repeating: "=", count: 30),
      ])
  }

  @Test(arguments: [
    (JobWork.simulate(SimulatedWork(duration: .seconds(5), steps: 3)), ["simulate 5.0s in 3 steps"]),
    (.download(DownloadWork(url: "http://h/f", file: "/f")), ["get      http://h/f", "to       /f"]),
    (.upload(UploadWork(file: "/f", url: "http://h/f")), ["put      /f", "to       http://h/f"]),
    (
      .operation(OperationWork(className: "Parse", visibility: .whole)),
      ["class    Parse", "tracked  an AsyncOperation, seen whole"]
    ),
    (
      .operation(OperationWork(className: "Parse", visibility: .wrapped)),
      ["class    Parse", "tracked  no AsyncOperation: its start and its end are seen"]
    ),
  ])
  func theWorkIsOfItsKind(_ work: JobWork, _ expected: [String]) {
    let lines = lines(RunBuilder([Job(name: "a", work: work), .shell("b")]), id: 0)
    let first = lines.firstIndex(of: "").map { $0 + 1 } ?? 0
    #expect(Array(lines[first...].prefix(expected.count)) == expected)
  }

  @Test func termsAreNamedOnlyWhereTheyAreUnusual() {
    #expect(part("with", lines(RunBuilder([.shell("a")]))).isEmpty)
    let retried = Job.shell("a", retry: RetryPolicy(max: 1))
    #expect(part("with", lines(RunBuilder([retried]))) == ["with     up to 2 tries"])
    var ended = RunBuilder([.shell("a")])
    ended.move("a", .executing, pid: 7)
    ended.move("a", .succeeded(upToDate: false))
    #expect(part("with", lines(ended)).isEmpty)
  }

  @Test func aClusterJobHasItsTerms() {
    func slurm(_ terms: ClusterRequest) -> RunBuilder {
      RunBuilder([Job(name: "a", work: .shell(ShellWork(.script("true"), cluster: terms)))])
    }
    #expect(part("slurm", lines(slurm(ClusterRequest()))) == ["slurm    not submitted yet"])
    let terms = ClusterRequest(
      name: "n", cpus: 1, memory: 512, gpus: 2, nodes: 1, time: .seconds(60), partition: "p", account: "c",
      qos: "q", constraint: "x", options: ["--exclusive"])
    let text =
      "1 CPU, 512 MiB, 2 GPUs, 1 node, at most 1:00, name n, partition p, account c, qos q, constraint x, --exclusive"
    let rows = part("slurm", lines(slurm(terms)))
    #expect(rows.map { $0.dropFirst(9) }.joined(separator: " ") == text && rows[0].hasPrefix("slurm    1 CPU"))
    let whole = slurm(ClusterRequest(memory: 0))
    #expect(part("slurm", lines(whole)) == ["slurm    all memory of the node"])
    var placed = slurm(ClusterRequest(cpus: 2))
    placed.state(.jobPlaced(JobID(0), ClusterPlace(id: "9")))
    #expect(part("slurm", lines(placed)) == ["slurm    job 9, 2 CPUs"])
  }

  @Test func aJobOfAnEarlierRunNamesIt() {
    var builder = RunBuilder([.shell("a")])
    let start = Date(timeIntervalSince1970: 1_767_225_600)
    builder.state(
      .jobRestored(JobID(0), EarlierSuccess(run: "r0", at: start.addingTimeInterval(-90), took: .seconds(3))))
    builder.move("a", .succeeded(upToDate: true))
    #expect(part("done", lines(builder)) == ["done     in run r0, 1:30 before this run"])
    #expect(lines(builder)[1] == "  ok in an earlier run, took 3.0s")
  }

  // MARK: Status

  @Test func anEndedJobSaysHowLongItTook() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    builder.at(12)
    builder.move("a", .failed(Self.failure, allowed: false))
    builder.move("b", .skipped(because: .job(JobID(0))))
    #expect(Array(lines(builder, at: 40).prefix(3)) == ["! a", "  exit 1, took 0:12", ""])
    #expect(Array(lines(builder, at: 40, id: 1).prefix(2)) == ["x b", "  skipped, a failed"])
  }

  @Test func aLongFailureIsWhole() {
    let words = (1...300).map { "word\($0)" }.joined(separator: " ")
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.move("a", .failed(JobFailure(.error, words), allowed: false))
    let status = lines(builder, at: 0).dropFirst().prefix { !$0.isEmpty }
    #expect(status.joined().split(separator: " ").joined(separator: " ") == words + ", took 0.0s")
  }

  @Test func aMeasuredJobHasABarAndItsRate() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    builder.progress("a", 0, of: 100, .steps)
    builder.at(2)
    builder.progress("a", 20, of: 100, .steps)
    let shown = lines(builder, at: 2)
    #expect(shown[1] == "  running, 20 of 100, 10/s, for 0:02")
    #expect(shown[2] == "  [" + String(repeating: "#", count: 10) + ">" + String(repeating: ".", count: 39) + "] 20%")
    #expect(shown[3] == "  10/s ** 0:08 left")
    #expect(!lines(builder, at: 2, width: 20).contains { $0.contains("]") })
    builder.move("a", .succeeded(upToDate: false))
    #expect(lines(builder, at: 2)[2] == "  at most 10/s **")
  }

  @Test func aFlakyJobWithAUsualTimeSaysSo() {
    var job = Job.shell("a")
    job.usual = UsualTime(median: .seconds(20), ninetieth: .seconds(30), count: 4, failures: 2, attempts: 6)
    var builder = RunBuilder([job, .shell("b")])
    #expect(
      Array(lines(builder, width: 70)[2...3]) == [
        "  usually 0:20, 9 of 10 within 0:30 (4 runs)", "  failed 2 of its last 6 attempts",
      ])
    builder.move("a", .executing)
    #expect(lines(builder, at: 5, width: 70)[2] == "  usually 0:20, 9 of 10 within 0:30 (4 runs), 0:15 to 0:25 left")
  }

  // MARK: History

  @Test func theLastSixAttemptsAreListedAndAllAreCounted() {
    var builder = RunBuilder([.shell("a")])
    for number in 0..<8 {
      builder.at(Double(number * 10))
      builder.move("a", .executing)
      builder.at(Double(number * 10 + 2))
      if number < 7 {
        builder.move("a", .backingOff(until: .zero, number: 1, limit: 9, after: Self.failure))
      } else {
        builder.move("a", .cancelled(by: .person))
      }
    }
    let shown = part("Attempts", lines(builder, at: 99))
    #expect(shown.count == 7 && shown[0] == "Attempts 8")
    #expect(shown[1] == "  3  at 0:20      2.0s  exit 1" && shown[6] == "  8  at 1:10      2.0s  cancelled")
    var ok = RunBuilder([.shell("a")])
    ok.move("a", .executing)
    ok.move("a", .succeeded(upToDate: false))
    #expect(part("Attempts", lines(ok)) == ["Attempts", "  1  at 0:00      0.0s  ok"])
  }

  @Test func anAttemptThatWasEndedForAnotherIsNotCalledOK() {
    var builder = RunBuilder([.shell("a")])
    for end: JobState in [.ready(for: .slot), .cancelled(by: .person), .succeeded(upToDate: false)] {
      builder.move("a", .executing)
      builder.move("a", end)
    }
    let words = part("Attempts", lines(builder)).dropFirst().compactMap { $0.split(separator: " ").last }
    #expect(words == ["restarted", "cancelled", "ok"])
  }

  @Test func kindsOfWaitingAreTimedFromATwentiethOfASecondOn() {
    var builder = RunBuilder([.shell("a")])
    for (time, state) in [
      (49, JobState.ready(for: .slot)), (99, .ready(for: .pool("net"))), (10_099, .ready(for: .person)),
      (30_099, .executing),
    ] {
      builder.time = .milliseconds(time)
      builder.move("a", state)
    }
    let shown = part("Time", lines(builder, at: 35.1)).dropFirst()
    #expect(
      shown.map { String($0.prefix(29)) } == [
        "  waited for a slot      0.0s", "  waited for a pool      0:10", "  waited for approval    0:20",
        "  running                5.0s",
      ])
    #expect(shown.map { line in line.count { $0 == "=" } } == [1, 14, 29, 7])
  }

  // MARK: Links

  @Test func ofManyNeedsTheUnmetComeFirstAndTwelveAreListed() {
    let needs = (0..<14).map { JobNeed(JobID($0)) }
    var builder = RunBuilder((0..<14).map { .shell("n\($0)") } + [.shell("top", needs: needs)])
    builder.move("n0", .succeeded(upToDate: false))
    let shown = part("Needs", lines(builder, id: 14))
    #expect(shown.count == 14 && shown[0] == "Needs 14" && shown[1] == "  . n1  waiting")
    #expect(shown.last == "    and 2 more")
    let twelve = RunBuilder((0..<12).map { .shell("n\($0)") } + [.shell("top", needs: Array(needs.prefix(12)))])
    var met = twelve
    met.move("n0", .succeeded(upToDate: false))
    let listed = part("Needs", lines(met, id: 12))
    #expect(listed.count == 13 && listed[1] == "  + n0  ok")
  }

  @Test func oneLinkIsNotCountedAndAConditionIsSaid() {
    let need = JobNeed(JobID(0), when: .failed)
    let builder = RunBuilder([.shell("a"), .shell("b", needs: [need])])
    #expect(part("Needs", lines(builder, id: 1)) == ["Needs", "  . a  to fail, waiting"])
    #expect(part("Needed by", lines(builder)) == ["Needed by", "  . b  waiting"])
    var manual = builder
    manual.move("a", .skipped(because: .manual))
    #expect(part("Needs", lines(manual, id: 1)) == ["Needs", "  x a  to fail, not started"])
  }

  @Test func eightLossesAreNamedAndTheOthersCounted() {
    for (count, names) in [(8, "  b1, b2, b3, b4, b5, b6, b7, b8"), (9, "  b1, b2, b3, b4, b5, b6, b7, b8 and 1 more")]
    {
      let builder = RunBuilder([.shell("a")] + (1...count).map { .shell("b\($0)", needs: [JobNeed(JobID(0))]) })
      #expect(part("Cancelling", lines(builder)) == ["Cancelling it skips \(count)", names])
    }
  }

  @Test func workAndLinksStandBesideEachOtherFrom76Columns() {
    let builder = RunBuilder([.shell("a"), .shell("b", needs: [JobNeed(JobID(0))])])
    let wide = lines(builder, width: 76, id: 1)
    #expect(wide.contains("run      true" + String(repeating: " ", count: 39 - 13) + "Needs"))
    #expect(lines(builder, width: 75, id: 1).contains("Needs"))
  }

  // MARK: Text

  @Test func longTextIsBrokenBetweenWordsAndClippedAfterFourRows() {
    let script = (0..<40).map { "word\($0)" }.joined(separator: " ")
    let shown = part("run", lines(RunBuilder([.shell("a", script), .shell("b")]), width: 39))
    #expect(shown.count == 4 && shown[0] == "run      word0 word1 word2 word3 word4")
    #expect(shown[1].hasPrefix("         word5") && shown[3].hasSuffix(".."))
    #expect(shown.allSatisfy { $0.count <= 39 })
    let lines = self.lines(RunBuilder([.shell("a", "one\ntwo"), .shell("b")]))
    #expect(part("run", lines) == ["run      one ; two"])
    let long = self.lines(RunBuilder([.shell("a", String(repeating: "x", count: 70)), .shell("b")]), width: 39)
    #expect(part("run", long).map(\.count) == [39, 39, 19])
  }
}
