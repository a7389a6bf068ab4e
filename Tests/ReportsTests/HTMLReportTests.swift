import Foundation
import JobModel
import Reports
import Testing

struct HTMLReportTests {
  private func page(_ facts: Facts) -> String { HTMLReport(Run(recorded: facts.events), zone: .gmt).text }

  private var small: Facts {
    var facts = Facts()
    facts.begin([
      Job(name: "fetch", work: .simulate(SimulatedWork()), retry: RetryPolicy(max: 1)),
      Job(name: "build <all>", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(0))]),
      Job(name: "publish", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(1))]),
    ])
    facts.job(0, .ready(for: .slot), attempt: 0)
    facts.job(0, .executing, after: .milliseconds(500))
    facts.job(
      0, .backingOff(until: .seconds(3), number: 1, limit: 1, after: JobFailure(.network, "no route")),
      after: .seconds(1))
    facts.job(0, .executing, attempt: 2, after: .seconds(2))
    facts.job(0, .succeeded(upToDate: false), attempt: 2, after: .seconds(4))
    facts.job(1, .ready(for: .pool("heavy")), attempt: 0)
    facts.job(1, .executing, after: .seconds(1))
    facts.log(1, "cc \u{1B}[1;31merror\u{1B}[0m: <x> & \"y\"")
    facts.job(1, .failed(JobFailure(.exit(1), "exit 1"), allowed: false), after: .seconds(2))
    facts.job(2, .skipped(because: .job(JobID(1))), attempt: 0)
    facts.state(.runFinished(RunSummary(of: facts.run)))
    return facts
  }

  @Test func aSmallRun() { expectGolden(page(small), "small.html") }

  @Test func whatNobodyStartedIsToldFromWhatWasSkipped() {
    var facts = Facts()
    facts.begin((0..<4).map { Job(name: "deploy[\($0)]", work: .simulate(SimulatedWork())) })
    for place in 0..<3 { facts.job(place, .skipped(because: .manual), attempt: 0) }
    facts.job(3, .skipped(because: .condition), attempt: 0)
    let text = page(facts)
    #expect(text.contains("</b> 3 not started</span>") && text.contains("</b> 1 skipped</span>"))
    #expect(text.contains("title=\"not started\"") && !text.contains("4 skipped"))
  }

  @Test(arguments: [
    ("wn", Phase.Kind.waiting), ("ws", .forSlot), ("wp", .forPool), ("wa", .forPerson), ("wc", .forCluster),
    ("wb", .backingOff), ("wz", .paused),
  ])
  func eachWaitHasAPatternAndWords(_ css: String, _ kind: Phase.Kind) {
    let text = page(small)
    #expect(text.contains(".\(css){background:"))
    #expect(text.contains("\(css):'\(kind.phrase)'"))
  }

  @Test func thePageOfAnEventListIsAlwaysTheSame() {
    let isSame = page(.release) == page(.release)
    #expect(isSame)
  }

  /// Every text of a run that comes from outside, with everything that HTML, CSS and a line of text could obey.
  @Test func noTextOfARunBecomesMarkup() throws {
    let evil = "</title><script>alert(1)</script><img src=x onerror=\"a\" b='c'>&amp;\u{202E}\u{200B}\u{1B}[2J\n\u{0}"
    var facts = Facts()
    let work = JobWork.simulate(SimulatedWork())
    let start = RunStart(
      id: evil, name: evil, slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 2, pools: [:], folder: evil,
      resumes: evil)
    facts.state(.runStarted(start))
    facts.state(.jobAdded(JobID(0), Job(name: evil, work: work, description: evil)))
    facts.state(.jobAdded(JobID(1), Job(name: evil + "[1]", work: work, needs: [JobNeed(JobID(0))])))
    facts.job(0, .executing)
    facts.log(0, evil)
    facts.log(0, "\u{1B}[31m" + evil)
    facts.job(0, .failed(JobFailure(.error, evil), allowed: false), after: .seconds(1))
    facts.job(1, .skipped(because: .job(JobID(0))), attempt: 0)
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let page = page(facts)
    #expect(page.components(separatedBy: "<script").count == 2)
    #expect(!page.contains("<img") && !page.contains("b='c'") && !page.contains("onerror=\""))
    let hidden = page.unicodeScalars.filter {
      $0 != "\n" && ($0.value < 32 || "\u{202E}\u{200B}".unicodeScalars.contains($0))
    }
    #expect(hidden.isEmpty, "\(hidden.map(\.value))")
  }

  @Test func thePageLoadsNothing() {
    let page = page(.release)
    let hasPolicy = page.contains("default-src 'none'")
    #expect(hasPolicy)
    let loads = ["http:", "https:", "//", "src=", "url(", "@import"].filter(page.contains)
    #expect(loads.isEmpty)
  }

  @Test func aRunOfTenThousandJobsIsAPageOfAFewMegabytes() {
    let page = page(.layered(10_000, width: 250, slots: 32))
    #expect((1_000_000..<10_000_000).contains(page.utf8.count), "\(page.utf8.count)")
    #expect(page.components(separatedBy: " id=\"j").count == 10_001)
  }

  @Test func theShortestJobsOfAHugeRunHaveNoRow() {
    var facts = Facts()
    facts.begin((0..<300).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    for job in 0..<300 where job.isMultiple(of: 2) {
      facts.job(job, .executing)
      facts.job(job, .succeeded(upToDate: false), after: .milliseconds(1))
    }
    let page = HTMLReport(Run(recorded: facts.events), zone: .gmt, rows: 200).text
    #expect(page.components(separatedBy: " id=\"j").count == 201)
    #expect(page.contains("100 shorter jobs not shown") && page.contains(" id=\"j298\""))
    #expect(!page.contains(" id=\"j299\""))
  }

  @Test func aLargeGraphIsCollapsed() {
    func boxes(_ facts: Facts) -> Int { page(facts).components(separatedBy: "<a class=\"n ").count - 1 }
    #expect(boxes(.release) == 20)
    #expect((2...150).contains(boxes(.layered(5000, width: 100, slots: 32))))
    // A chain, of which every job is a layer.
    #expect((2...150).contains(boxes(.layered(2000, width: 1, slots: 2))))
    #expect((2...150).contains(boxes(.layered(2000, width: 1000, slots: 64))))
  }

  /// Jobs that fail one after the other, each after the one before.
  private func failing(_ count: Int) -> Facts {
    var facts = Facts()
    facts.begin(
      (0..<count).map {
        Job(
          name: "j\($0)", work: .simulate(SimulatedWork()),
          needs: $0 == 0 ? [] : [JobNeed(JobID($0 - 1), when: .finished)])
      })
    for id in 0..<count {
      facts.job(id, .executing)
      facts.job(id, .failed(JobFailure(.exit(1), "exit 1"), allowed: false), after: .seconds(1))
    }
    facts.state(.runFinished(RunSummary(of: facts.run)))
    return facts
  }

  private func count(_ part: String, in page: String) -> Int { page.components(separatedBy: part).count - 1 }

  @Test func eachTableHasItsMostRows() throws {
    let page = page(failing(25))
    #expect(count("<details class=\"fail\"", in: page) == 20 && count("<details class=\"fail\" open>", in: page) == 5)
    #expect(count("<p class=\"fail\">", in: page) == 5)
    let path = try #require(page.firstRange(of: "<h2>Critical path</h2>"))
    let slow = try #require(page.firstRange(of: "<h2>Slowest jobs</h2>"))
    let graph = try #require(page.firstRange(of: "<h2>Graph</h2>"))
    #expect(count("<tr><td>", in: String(page[path.lowerBound..<graph.lowerBound])) == 20)
    #expect(page[path.lowerBound..<graph.lowerBound].contains("<p class=\"note\">and 5 more jobs</p>"))
    let end = try #require(page[slow.upperBound...].firstRange(of: "</section>"))
    #expect(count("<tr><td>", in: String(page[slow.lowerBound..<end.lowerBound])) == 15)
  }

  @Test func fiveHundredFailuresAreNamed() {
    let page = page(failing(501))
    #expect(count("<p class=\"fail\">", in: page) == 480 && page.contains("<p class=\"note\">and 1 more failure</p>"))
    let isWhole = !self.page(failing(500)).contains("more failure")
    #expect(isWhole)
  }

  /// The badge of a run whose jobs are in these states.
  private func badge(_ states: [JobState], isFinished: Bool = true) -> String? {
    var facts = Facts()
    facts.begin(states.indices.map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    for (id, state) in states.enumerated() where state != .waiting { facts.job(id, state) }
    if isFinished { facts.state(.runFinished(RunSummary(of: facts.run))) }
    return page(facts).firstMatch(of: #/<span class="badge (.*?)<\/span>/#).map { String($0.1) }
  }

  @Test func theBadgeSaysHowTheRunEnded() {
    let (ok, failure) = (JobState.succeeded(upToDate: false), JobFailure(.exit(1), "exit 1"))
    #expect(badge([ok, .failed(failure, allowed: true)]) == "ok\"><b>✓</b> ok")
    #expect(badge([ok, .failed(failure, allowed: false), .waiting]) == "failed\"><b>✗</b> 1 of 3 failed")
    #expect(badge([ok, .cancelled(by: .person)]) == "cancelled\"><b>⊘</b> stopped")
    #expect(badge([ok, .cancelled(by: .program)]) == "ok\"><b>✓</b> ok")
    #expect(badge([ok, .waiting]) == "cancelled\"><b>⊘</b> stopped")
    #expect(badge([ok], isFinished: false) == "cancelled\"><b>⊘</b> not finished")
  }

  @Test func aHeadNamesTheRunItGoesOnWithAndItsExitStatus() {
    var facts = Facts()
    facts.state(
      .runStarted(
        RunStart(id: "r2", name: "n", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 0, resumes: "r1")))
    #expect(
      page(facts).contains(
        "<p>1970-01-01 00:00:00 · run <code>r2</code> · resumes <code>r1</code> · the recording ends after 0.0s</p>"
      ))
    var summary = RunSummary()
    summary.exit = 130
    facts.state(.runFinished(summary))
    #expect(page(facts).contains("resumes <code>r1</code> · exit status 130</p>"))
  }

  @Test func jobsThatAreLeftOutOfTheGraphAreCounted() {
    var facts = Facts()
    facts.begin(
      [[], [0], [], []].map { needs in
        Job(name: "a", work: .simulate(SimulatedWork()), needs: needs.map { JobNeed(JobID($0)) })
      })
    let note = "needs that follow from others are left out; 2 jobs without needs and dependents not shown"
    #expect(page(facts).contains("<p class=\"note\">\(note)</p>"))
  }

  @Test func rowsAreInTheOrderOfTheStartsAndInBlocks() {
    var facts = Facts()
    facts.begin((0..<101).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) }, slots: Run.unlimited)
    for id in [2, 0] {
      facts.job(id, .executing, after: .seconds(1))
      facts.job(id, .backingOff(until: .zero, number: 1, limit: 1, after: JobFailure(.network, "no route")))
    }
    facts.job(2, .executing, attempt: 2, after: .seconds(1))
    facts.state(.programLog(LogLine(.stdout, "own")), after: .seconds(1))
    let page = page(facts)
    let rows = page.matches(of: #/ id="j([0-9]+)"/#).map { String($0.1) }
    #expect(rows == (["2", "0", "1"] + (3..<101).map { "\($0)" }))
    #expect(count("--rows:100\"", in: page) == 1 && count("--rows:1\"", in: page) == 1)
    #expect(page.contains("aria-label=\"slots in use, at most 1\""))
  }

  @Test func anAxisEndsBeforeItsLane() {
    func labels(_ milliseconds: Int) -> [String] {
      var facts = Facts()
      facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
      facts.job(0, .executing)
      facts.job(0, .succeeded(upToDate: false), after: .milliseconds(milliseconds))
      return page(facts).matches(of: #/<u style="left:[^"]*">(.*?)<\/u>/#).map { String($0.1) }
    }
    let whole = (0..<10).map { "0:0\($0)" }
    #expect(labels(10_000) == whole && labels(10_300) == whole && labels(10_500) == whole + ["0:10"])
    #expect(labels(0) == ["0:00"])
  }

  @Test func jobsThatWereDoneBeforeAreCounted() {
    var facts = Facts()
    facts.begin((0..<3).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    for id in 0..<2 {
      facts.state(.jobRestored(JobID(id), EarlierSuccess(run: "r1", at: .distantPast, took: .seconds(1))))
    }
    for id in 0..<3 { facts.job(id, .succeeded(upToDate: true), attempt: 0) }
    let page = page(facts)
    #expect(
      page.contains("<h3>Jobs</h3><strong>3</strong>") && page.contains("<p>2 of them done in an earlier run</p>"))
    #expect(page.contains("<span class=\"chip up-to-date\"><b>=</b> 3 up to date</span>"))
  }
}
