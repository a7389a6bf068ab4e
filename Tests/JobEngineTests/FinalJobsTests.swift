import JobModel
import Testing

@testable import JobEngine

/// The counts of the jobs that those of `finally` wait for.
@Suite struct FinalJobsTests {
  private func jobs(_ names: KeyValuePairs<String, [String]>) -> FinalJobs {
    FinalJobs(graph(names) { job in if job.name.hasPrefix("last") { job.finally = .always } })
  }

  @Test func whatIsOpenFollowsTheStatesOfTheOtherJobs() {
    var jobs = jobs(["a": [], "last": [], "b": []])
    #expect(jobs.jobs == [JobID(1)])
    #expect(jobs.services.isEmpty)
    #expect(jobs.hasOrdinary)
    #expect(!jobs.haveBegun)
    #expect([jobs.open, jobs.openOrdinary] == [2, 2])
    jobs.moved(JobID(0), from: .waiting, to: .executing)
    #expect([jobs.open, jobs.openOrdinary] == [2, 2])
    jobs.moved(JobID(0), from: .executing, to: .succeeded(upToDate: false))
    #expect([jobs.open, jobs.openOrdinary] == [1, 1])
    jobs.moved(JobID(0), from: .succeeded(upToDate: false), to: .cancelled(by: .person))
    #expect([jobs.open, jobs.openOrdinary] == [1, 1])
    jobs.moved(JobID(1), from: .executing, to: .succeeded(upToDate: false))
    #expect([jobs.open, jobs.openOrdinary] == [1, 1])
    jobs.moved(JobID(0), from: .cancelled(by: .person), to: .waiting)
    #expect([jobs.open, jobs.openOrdinary] == [2, 2])
  }

  @Test func aJobThatJoinsIsWaitedFor() {
    var jobs = jobs(["last": []])
    #expect(!jobs.hasOrdinary)
    #expect([jobs.open, jobs.openOrdinary] == [0, 0])
    jobs.append(Job(name: "new", work: .simulate(SimulatedWork())))
    #expect(jobs.hasOrdinary)
    #expect([jobs.open, jobs.openOrdinary] == [1, 1])
    jobs.moved(JobID(1), from: .waiting, to: .cancelled(by: .person))
    #expect([jobs.open, jobs.openOrdinary] == [0, 0])
    #expect(jobs.jobs == [JobID(0)])
  }
}
