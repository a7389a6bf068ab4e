import Testing

@testable import JobModel

@Suite struct CriticalPathTests {
  private func job(_ seconds: Double, _ needs: Int...) -> Job {
    Job(
      name: "\(seconds)", work: .simulate(SimulatedWork(duration: .seconds(seconds))),
      needs: needs.map { JobNeed(JobID($0)) })
  }

  private func graph(_ jobs: Job...) -> JobGraph { JobGraph(name: "g", jobs: jobs) }

  private func seconds(_ values: Double...) -> [Duration] { values.map { .seconds($0) } }

  @Test func theRankOfAJobIsTheLongestWayToTheEnd() {
    #expect(CriticalPath.ranks(of: graph(job(4), job(10), job(6, 0, 1), job(3))) == seconds(10, 16, 6, 3))
    // Whatever the order of the file, and with two ways.
    #expect(CriticalPath.ranks(of: graph(job(6, 2), job(1, 2), job(4), job(9, 1))) == seconds(6, 10, 14, 9))
  }

  @Test func aJobWithoutATimeCountsTheMeanOfItsMatrix() {
    func instance(_ matrix: String?, _ usual: Double?) -> Job {
      let usual = usual.map { UsualTime(median: .seconds($0), ninetieth: .seconds($0 * 2), count: 1) }
      return Job(name: "x", work: .shell(ShellWork(.script("x"))), usual: usual, matrix: matrix)
    }
    #expect(
      CriticalPath.ranks(
        of: graph(
          instance("m", 4), instance("m", nil), instance("m", 8), instance("n", nil), instance(nil, nil),
          instance(nil, 20)))
        == seconds(4, 6, 8, 1, 1, 20))
  }

  // MARK: Slots

  @Test func aRunIsAsLongAsItsSlotsAndItsNeedsMakeIt() {
    let free = graph(job(3), job(2), job(2))
    let zero = seconds(0, 0, 0)
    #expect([1, 2, 3].map { CriticalPath.length(of: free, zero, slots: $0) } == seconds(7, 4, 3))
    // The ready job of the highest rank goes first.
    #expect(CriticalPath.length(of: free, seconds(0, 1, 1), slots: 2) == .seconds(5))
    let both = graph(job(1), job(2), job(1, 0, 1), job(5, 2))
    #expect(CriticalPath.length(of: both, seconds(0, 0, 0, 0), slots: 2) == .seconds(8))
    #expect(CriticalPath.length(of: both, seconds(0, 0, 0, 0), slots: 1) == .seconds(9))
    #expect(CriticalPath.length(of: graph(), [], slots: 1) == .zero)
  }

  /// Five jobs that two slots execute in 6 s in the order of the file and in 7 s the longest first, after another job.
  private func graph(after first: Double) -> JobGraph {
    graph(job(first), job(3, 0), job(2, 0), job(2, 0), job(3, 0), job(2, 0))
  }

  @Test func theOrderOfTheFileIsKeptWhereTheRanksLoseMoreThanTwoPerCent() {
    #expect(CriticalPath.ranks(of: graph(after: 10), slots: 2) == seconds(0, 0, 0, 0, 0, 0))
    // 67 s are little more than 66 s, and one slot has the same length in any order.
    #expect(CriticalPath.ranks(of: graph(after: 60), slots: 2) == seconds(63, 3, 2, 2, 3, 2))
    #expect(CriticalPath.ranks(of: graph(after: 10), slots: 1) == seconds(13, 3, 2, 2, 3, 2))
  }

  @Test func ordersAreComparedOnlyWhereNothingElseDecides() {
    func ranks(_ change: (inout Job) -> Void) -> [Duration] {
      var graph = graph(after: 10)
      change(&graph.jobs[5])
      return CriticalPath.ranks(of: graph, slots: 2)
    }
    let kept = seconds(13, 3, 2, 2, 3, 2)
    #expect(ranks { $0.description = "another" } == seconds(0, 0, 0, 0, 0, 0))
    #expect(ranks { $0.uses = ["net": 1] } == kept)
    #expect(ranks { $0.priority = .high } == kept)
    #expect(ranks { $0.finally = .always } == kept)
    #expect(ranks { $0.parent = JobID(0) } == kept)
    #expect(ranks { $0.work = .shell(ShellWork(.script("x"))) } == seconds(13, 3, 2, 2, 3, 1))
  }

  @Test func ordersOfMoreThanTenThousandJobsAreNotCompared() {
    func ranks(_ count: Int) -> [Duration] {
      var graph = graph(after: 10)
      graph.jobs += (0..<(count - 6)).map { _ in job(0) }
      return Array(CriticalPath.ranks(of: graph, slots: 2).prefix(6))
    }
    #expect(ranks(10_000) == seconds(0, 0, 0, 0, 0, 0))
    #expect(ranks(10_001) == seconds(13, 3, 2, 2, 3, 2))
  }
}
