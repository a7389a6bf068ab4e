import JobModel
import Testing

@testable import JobEngine

@Suite struct RehearsalTests {
  private func order(_ jobs: [Job], slots: Int) -> [String] {
    Rehearsal(JobGraph(name: "test", jobs: jobs), slots: slots).order.map { jobs[$0.index].name }
  }

  private func job(_ name: String, needs: [Int] = [], priority: JobPriority = .normal) -> Job {
    var job = Job(name: name, work: .simulate(SimulatedWork()), needs: needs.map { JobNeed(JobID($0)) })
    job.priority = priority
    return job
  }

  @Test func eachJobStartsAfterTheEndOfItsNeeds() {
    let jobs = [job("d", needs: [1, 2]), job("b", needs: [3]), job("c", needs: [3]), job("a")]
    #expect(order(jobs, slots: 1) == ["a", "b", "c", "d"])
    #expect(order(jobs, slots: 8) == ["a", "b", "c", "d"])
  }

  @Test func noMoreJobsExecuteThanThereAreSlots() {
    let jobs = [job("a"), job("b", needs: [0], priority: .high), job("c")]
    #expect(order(jobs, slots: 1) == ["a", "b", "c"])
    #expect(order(jobs, slots: 2) == ["a", "c", "b"])
  }
}
