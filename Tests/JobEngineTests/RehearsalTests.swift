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

  @Test func aConditionThatNoValueCanMakeTrueSkipsItsJob() {
    let tag = OutputReference("${jobs.version.tag}", job: JobID(0), name: "tag")
    let (known, read) = (JobCondition.Term("beta", equals: "stable"), JobCondition.Term(tag.text))
    var jobs = [
      job("version"), job("publish", needs: [0]), job("announce", needs: [1]), job("both", needs: [0]),
      job("either", needs: [0]),
    ]
    for (index, condition) in [1: [[known]], 3: [[known, read]], 4: [[known], [read]]] {
      jobs[index].outputs = [tag]
      jobs[index].condition = JobCondition("", condition)
    }
    #expect(order(jobs, slots: 1) == ["version", "either"])
    // The value of an earlier success is known.
    let old = EarlierSuccess(run: "before", at: .distantPast, took: .zero, outputs: ["tag": "no"])
    let resumed = Rehearsal(JobGraph(name: "test", jobs: jobs), slots: 1, restored: [JobID(0): old])
    #expect(resumed.order.isEmpty && resumed.skipped.count == 4)
  }

  @Test(arguments: [false, true])
  func finallyFollowsTheEndOfServicesThatNothingElseEnds(isKept: Bool) {
    var jobs = [job("web"), job("clean"), job("page"), job("build", priority: .high)]
    if !isKept { jobs.removeLast() }
    jobs[0].work = .shell(ShellWork(.script("serve"), service: Service(limit: .seconds(30))))
    (jobs[1].finally, jobs[2].finally) = (.always, .failed)
    // The service that clean needs ends after it.
    jobs.append(jobs[0])
    jobs[1].needs = [JobNeed(JobID(jobs.count - 1), when: .ready)]
    let rehearsal = Rehearsal(JobGraph(name: "test", jobs: jobs, keepsServices: isKept), slots: 1)
    #expect(rehearsal.order.last == JobID(1) && rehearsal.order.count == jobs.count - 1)
    #expect(rehearsal.skipped.map(\.job) == [JobID(2)])
  }
}
