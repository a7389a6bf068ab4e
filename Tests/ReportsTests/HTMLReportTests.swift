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
}
