import JobModel
import Testing

/// A job that does nothing and needs those numbers.
func job(_ name: String, _ needs: Int..., when: JobNeed.Condition = .ok) -> Job {
  Job(name: name, work: .simulate(SimulatedWork()), needs: needs.map { JobNeed(JobID($0), when: when) })
}

@Suite struct JobGraphTests {
  @Test func restrictedKeepsTheWantedAndAllThatTheyNeedInTheirOldOrder() {
    let graph = JobGraph(
      name: "g",
      jobs: [job("top", 1, 3), job("mid", 2, when: .finished), job("base"), job("side", 2), job("other", 0)],
      slots: 3, pools: ["net": 1])
    let part = graph.restricted(to: [JobID(1), JobID(3), JobID(1)])
    #expect(part.jobs.map(\.name) == ["mid", "base", "side"])
    #expect(part.jobs[0].needs == [JobNeed(JobID(1), when: .finished)])
    #expect(part.jobs[2].needs == [JobNeed(JobID(1))])
    #expect(part.slots == 3)
    #expect(part.pools == ["net": 1])
    #expect(graph.restricted(to: graph.jobs.indices.map { JobID($0) }) == graph)
    #expect(graph.restricted(to: []).jobs.isEmpty)
  }

  @Test func restrictedKeepsAJobOfFinallyOnlyIfItIsNamed() {
    var page = job("page")
    page.finally = .failed
    var clean = job("clean", 2)
    clean.finally = .always
    let graph = JobGraph(name: "g", jobs: [job("a"), job("b", 0), page, clean])
    #expect(graph.restricted(to: [JobID(1)]).jobs.map(\.name) == ["a", "b"])
    #expect(graph.restricted(to: [JobID(0), JobID(3)]).jobs.map(\.name) == ["a", "page", "clean"])
  }

  @Test func restrictedKeepsTheJobsWhoseValuesAreRead() {
    var clean = job("clean")
    clean.finally = .always
    clean.outputs = [OutputReference("${jobs.b.id}", job: JobID(1), name: "id")]
    let part = JobGraph(name: "g", jobs: [job("a"), job("b"), clean]).restricted(to: [JobID(2)])
    #expect(part.jobs.map(\.name) == ["b", "clean"])
    #expect(part.jobs[1].outputs.map(\.job) == [JobID(0)])
  }

  @Test func restrictingALongChainNeedsNoRecursion() {
    let jobs = (0..<100_000).map { $0 == 0 ? job("0") : job("\($0)", $0 - 1) }
    #expect(JobGraph(name: "g", jobs: jobs).restricted(to: [JobID(99_998)]).jobs.count == 99_999)
  }

  @Test func everyNeedIsAnEdgeInOrder() {
    var twice = job("twice", 0, 0)
    twice.needs[1].when = .finished
    let graph = JobGraph(name: "g", jobs: [job("base"), job("one", 0), twice])
    #expect(graph.dependents[0].map(\.job) == [JobID(1), JobID(2), JobID(2)])
    #expect(graph.dependents[0].map(\.when) == [.ok, .ok, .finished])
  }

  @Test func aJobIsFoundByItsName() {
    let graph = JobGraph(name: "g", jobs: [job("a"), job("b")])
    #expect(graph.id(named: "b") == JobID(1))
    #expect(graph.id(named: "c") == nil)
  }

  @Test func prioritiesRiseAndFallByOneLevelAndStopAtTheEnds() {
    #expect(JobPriority.allCases.map(\.raised) == [.low, .normal, .high, .veryHigh, .veryHigh])
    #expect(JobPriority.allCases.map(\.lowered) == [.veryLow, .veryLow, .low, .normal, .high])
    #expect(JobPriority.allCases.sorted() == JobPriority.allCases)
  }

  @Test func theJobsWhoseValuesAreReadAreKnown() {
    var (left, right) = (job("left"), job("right", 0))
    left.outputs = [OutputReference("${jobs.a.id}", job: JobID(0), name: "id")]
    left.work = .shell(ShellWork(.argv(["use", "${jobs.a.id}"])))
    right.outputs = [
      OutputReference("${jobs.a.tag}", job: JobID(0), name: "tag"),
      OutputReference("${jobs.left.x}", job: JobID(1), name: "x"),
    ]
    right.approval = "Publish ${jobs.a.tag}?"
    let graph = JobGraph(name: "g", jobs: [job("a"), left, right])
    #expect(graph.readJobs == [JobID(0), JobID(1)])
    // A condition, which alone reads `x`, can do without it.
    #expect(graph.readValues == [JobID(0): ["id", "tag"], JobID(1): []])
    #expect(graph.needed(by: [JobID(1)]) == [JobID(0), JobID(1)] && graph[JobID(2)].name == "right")
    #expect(JobGraph(name: "g", jobs: [job("a"), job("b", 0)]).readJobs.isEmpty)
  }
}
