import JobModel
import Testing

@Suite struct JobTests {
  @Test func aCopyThatIsChangedLeavesTheOtherAsItWas() {
    let job = Job(
      name: "a", work: .simulate(SimulatedWork()),
      usual: UsualTime(median: .seconds(2), ninetieth: .seconds(2), count: 1))
    var copy = job
    copy.name = "b"
    copy.needs.append(JobNeed(JobID(3)))
    copy.usual = nil
    #expect(job.name == "a" && job.needs.isEmpty && job.usual != nil)
    #expect(copy.name == "b" && copy.needs == [JobNeed(JobID(3))] && copy.usual == nil)
  }

  @Test func everyPartIsTheOneThatWasGiven() {
    let job = Job(
      name: "a", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(1))], priority: .high, uses: ["p": 2],
      timeout: .seconds(3), retry: RetryPolicy(max: 4), allowFailure: true, description: "d", parent: JobID(5),
      creates: ["c"], inputs: ["i"], usual: UsualTime(median: .seconds(6), ninetieth: .seconds(6), count: 1),
      matrix: "m", condition: JobCondition("if"),
      approval: "ask", finally: .failed, outputs: [OutputReference("t", job: JobID(7), name: "o")], isManual: true)
    #expect(job.name == "a" && job.work.kind == "simulate" && job.needs.map(\.job) == [JobID(1)])
    #expect(job.priority == .high && job.uses == ["p": 2] && job.timeout == .seconds(3) && job.retry.max == 4)
    #expect(job.allowFailure && job.description == "d" && job.parent == JobID(5))
    #expect(job.creates == ["c"] && job.inputs == ["i"] && job.usual?.count == 1 && job.matrix == "m")
    #expect(job.condition?.text == "if" && job.approval == "ask" && job.finally == .failed)
    #expect(job.outputs.map(\.name) == ["o"] && job.isManual)
  }

  @Test func jobsThatDifferOnlyInTheUsualTimeDiffer() {
    let job = Job(name: "a", work: .simulate(SimulatedWork()))
    var other = job
    #expect(job == other)
    other.usual = UsualTime(median: .seconds(2), ninetieth: .seconds(2), count: 1)
    #expect(job != other)
  }
}
