import Foundation
import JobModel
import Reports
import Screen
import Testing

struct RunReportTextTests {
  private let utc = TimeZone(secondsFromGMT: 0) ?? .current

  private func lines(_ facts: Facts) -> [String] {
    RunReportText(Run(recorded: facts.events), paint: Paint(isColoured: false), zone: utc).lines.texts
  }

  @Test func aReleaseWithAFailure() {
    expectGolden(lines(.release).joined(separator: "\n") + "\n", "release.report.txt")
  }

  @Test func aRunInWhichEverythingHappens() {
    expectGolden(lines(.everything).joined(separator: "\n") + "\n", "everything.report.txt")
  }

  @Test func jobsOfTheClusterAndServicesTakeNoSlots() {
    var facts = Facts()
    facts.begin([
      Job(name: "a", work: .shell(ShellWork(.script("a"), cluster: ClusterRequest()))),
      Job(name: "b", work: .shell(ShellWork(.script("b"), service: Service()))),
      Job(name: "c", work: .shell(ShellWork(.script("c")))),
    ])
    for job in 0...2 { facts.job(job, .executing) }
    for job in [2, 0, 1] { facts.job(job, .succeeded(upToDate: false), after: .seconds(2)) }
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let lines = lines(facts)
    #expect(lines.contains { $0.contains("at most 1 in use") }, "\(lines)")
  }

  @Test func aLargeRunTakesOnePageToo() {
    #expect(lines(.layered(3000, width: 100, slots: 16)).count <= 60)
    // Every part at its longest.
    var jobs = (0..<100).map { index -> (Job, SimulatedRun.Plan) in
      let usual = UsualTime(median: .seconds(1), ninetieth: .seconds(2), count: 9, failures: 2)
      let job = Job(
        name: String(repeating: "long-name-", count: 9) + "\(index)", work: .shell(ShellWork(.script("a"))),
        needs: index % 10 == 0 ? [] : [JobNeed(JobID(index - 1), when: .finished)], uses: ["net": 1],
        retry: RetryPolicy(max: 3), usual: usual)
      return (job, SimulatedRun.Plan(took: [.seconds(index)], failures: index % 5 == 0 ? 9 : index % 4))
    }
    jobs[0].1.isUpToDate = true
    let lines = lines(SimulatedRun.facts(jobs, slots: 3, pools: ["net": 2]))
    #expect((50...60).contains(lines.count), "\(lines.count)")
    for line in lines { #expect(TextWidth.of(line) <= 80 || line.hasPrefix("    log: "), "\(line)") }
  }

  @Test func noTextOfAJobReachesTheTerminalAsAControl() {
    var facts = Facts()
    facts.begin([Job(name: "a\u{1B}[2Jb\u{202E}c", work: .simulate(SimulatedWork()))], name: "\u{1B}]0;x\u{7}run")
    facts.job(0, .executing)
    facts.log(0, "\u{1B}[2Jwiped \u{1B}[31mred\u{1B}[0m \u{202E}")
    facts.finish(failing: 0, "bad\u{1B}[2J")
    for line in lines(facts) { #expect(line.unicodeScalars.allSatisfy { TextWidth.isPrintable($0) }, "\(line)") }
  }

  @Test func aRunThatWasKilledIsSaidToBeUnfinished() {
    let all = Facts.release
    let cut = all.events.prefix { $0.time < .seconds(60) }
    let lines = RunReportText(Run(recorded: cut), paint: Paint(isColoured: false), zone: utc).lines.texts
    #expect(lines.contains { $0.hasPrefix("not finished: the recording ends after ") })
    // The path ends where the recording does: nothing is estimated.
    #expect(lines.contains { $0.hasPrefix("Critical path: 2 jobs, 54.7s") }, "\(lines)")
  }

  @Test func everyPrefixOfARunHasAReport() {
    let all = Facts.everything.events
    for count in 0...all.count {
      let run = Run(recorded: all.prefix(count))
      #expect(!RunReportText(run, paint: Paint(isColoured: true), zone: utc).lines.isEmpty)
      #expect(HTMLReport(run, zone: utc).text.hasSuffix("</html>\n"))
      #expect(JUnitReport.document(run).hasSuffix("</testsuite>\n"))
    }
  }

  /// Jobs that follow each other and take these seconds.
  private func chain(_ seconds: [Double], failing: Bool = false) -> Facts {
    var facts = Facts()
    facts.begin(
      seconds.indices.map {
        Job(
          name: "j\($0)", work: .shell(ShellWork(.script("x"))),
          needs: $0 == 0 ? [] : [JobNeed(JobID($0 - 1), when: .finished)])
      })
    for (id, seconds) in seconds.enumerated() {
      facts.job(id, .executing)
      for line in 0..<6 { facts.log(id, "line \(line)") }
      let failure = JobFailure(.exit(1), "exit 1")
      facts.job(
        id, failing ? .failed(failure, allowed: false) : .succeeded(upToDate: false), after: .seconds(seconds))
    }
    facts.state(.runFinished(RunSummary(of: facts.run)))
    return facts
  }

  @Test func thePathHasSevenRowsAndTheSlowestFive() {
    let lines = lines(chain([10, 20, 1, 20, 20, 3, 10, 10, 6]))
    let start = lines.firstIndex { $0.hasPrefix("Critical path: ") } ?? 0
    #expect(
      lines[start..<(start + 10)] == [
        "Critical path: 9 jobs, 1m40s, of which 1m40s running", "    SHARE  RUNNING   WAITED  JOB",
        "      10%    10.0s           j0", "      20%    20.0s           j1", "      20%    20.0s           j3",
        "      20%    20.0s           j4", "      10%    10.0s           j6", "      10%    10.0s           j7",
        "       6%     6.0s           j8", "       4%                    and 2 shorter jobs",
      ])
    let slow = lines.firstIndex(of: "Slowest jobs") ?? 0
    #expect(
      Array(lines[(slow + 1)...]) == [
        "  RUNNING                    JOB", "    20.0s                    j1", "    20.0s                    j3",
        "    20.0s                    j4", "    10.0s                    j0", "    10.0s                    j6",
      ])
  }

  @Test func sixFailuresAreNamedAndThreeWithTheirLastFourLines() {
    let lines = lines(chain(Array(repeating: 1, count: 8), failing: true))
    let start = lines.firstIndex(of: "Failures") ?? 0
    let detailed = (0..<3).flatMap { id in
      ["  ! j\(id)  failed: exit 1 in 1.0s"] + (2..<6).map { "    | line \($0)" }
        + ["    log: /state/run-1/logs/j\(id).\(id).1.log"]
    }
    #expect(
      Array(lines[(start + 1)...]) == detailed + (3..<6).map { "  ! j\($0)  failed: exit 1 in 1.0s" }
        + ["  and 2 more"])
  }

  @Test func slotsWithoutALimitHaveOnlyTheirMean() {
    var facts = Facts()
    facts.begin(
      ["a", "b"].map { Job(name: $0, work: .simulate(SimulatedWork())) }, slots: Run.unlimited)
    for id in 0..<2 { facts.job(id, .executing) }
    for id in 0..<2 { facts.job(id, .succeeded(upToDate: false), after: .seconds(2)) }
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let lines = lines(facts)
    #expect(lines.contains("Slots: 1.5 in use on average, at most 2"))
    #expect(lines[1] == "run 20260101-000000-1, begun 2026-01-01 00:00:00, 2 jobs, any slots")
    #expect(!lines.contains { $0.contains("at the start") || $0.hasPrefix("exit status") })
  }

  @Test func theHeadSaysWhatWasDoneBefore() {
    var facts = Facts()
    facts.state(
      .runStarted(
        RunStart(
          id: "r2", name: "release", slots: 1, at: Date(timeIntervalSince1970: 86_399), jobs: 3, resumes: "r1")))
    for id in 0..<3 { facts.state(.jobAdded(JobID(id), Job(name: "j\(id)", work: .simulate(SimulatedWork())))) }
    for id in 0..<2 {
      facts.state(.jobRestored(JobID(id), EarlierSuccess(run: "r1", at: .distantPast, took: .seconds(1))))
    }
    for id in 0..<3 { facts.job(id, .succeeded(upToDate: true), attempt: 0) }
    #expect(
      lines(facts) == [
        "release: 2 ok, 1 up to date in 0.0s",
        "run r2, begun 1970-01-01 23:59:59, 3 jobs, 1 slot", "resumes run r1",
        "not finished: the recording ends after 0.0s",
        "of the jobs that are ok: 2 done in an earlier run",
      ])
  }
}
