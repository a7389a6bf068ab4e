import Foundation
import JobModel
import Reports
import Screen
import Testing

struct RunReportTextTests {
  private let utc = TimeZone(secondsFromGMT: 0) ?? .current

  private func lines(_ facts: Facts) -> [String] {
    RunReportText(Run(recorded: facts.events), paint: Paint(isColoured: false), zone: utc).lines
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
      Job(name: "a", work: .shell(ShellWork(.script("a"), cluster: ClusterTerms()))),
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
    let lines = RunReportText(Run(recorded: cut), paint: Paint(isColoured: false), zone: utc).lines
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
}
