import JobModel
import Session
import Testing

@testable import opdash

struct ApprovalsTests {
  private func graph(_ change: (inout [Job]) -> Void = { _ in }) -> JobGraph {
    var jobs = ["build", "deploy[a]", "deploy[b]", "publish"].map {
      Job(name: $0, work: .simulate(SimulatedWork()))
    }
    jobs[1].matrix = "deploy"
    jobs[2].matrix = "deploy"
    for index in 1...3 { jobs[index].approval = "Go?" }
    change(&jobs)
    return JobGraph(name: "test", jobs: jobs)
  }

  private func refusal(_ names: [String], _ graph: JobGraph, canAsk: Bool = false) -> String? {
    do throws(UsageError) {
      _ = try Approvals.of(names, in: graph, canAsk: canAsk)
      return nil
    } catch { return error.message }
  }

  @Test func whereNobodyCanAnswerNothingStarts() {
    #expect(
      refusal([], graph())
        == "deploy[a] waits for a person's approval, and so do 2 more, for which the dashboard and --ui plain ask, in a terminal: "
        + "approve with --approve all, use one of these, or add --detach and answer with opdash approve")
    let one = graph { jobs in for index in 1...2 { jobs[index].approval = nil } }
    #expect(
      refusal([], one)
        == "publish waits for a person's approval, for which the dashboard and --ui plain ask, in a terminal: "
        + "approve with --approve publish, use one of these, or add --detach and answer with opdash approve")
    #expect(
      refusal(["publish"], graph())
        == "deploy[a] waits for a person's approval, and so does 1 more, for which the dashboard and --ui plain ask, in a terminal: "
        + "approve with --approve all, use one of these, or add --detach and answer with opdash approve")
    #expect(refusal([], graph(), canAsk: true) == nil)
  }

  @Test func namesPatternsAndAllAreApproved() throws {
    let graph = graph()
    #expect(try Approvals.of(["all"], in: graph, canAsk: false).count == 4)
    #expect(try Approvals.of(["deploy", "pub*"], in: graph, canAsk: false) == [JobID(1), JobID(2), JobID(3)])
    #expect(try Approvals.of(["deploy[b]"], in: graph, canAsk: true) == [JobID(2)])
    #expect(refusal(["deploy"], graph)?.hasPrefix("publish waits") == true)
  }

  @Test func anEarlierApprovalHoldsForTheSameQuestionAndWork() throws {
    let before = graph()
    let earlier = Set(try #require(Approvals.recorded([JobID(0), JobID(1), JobID(2), JobID(3)], in: before)))
    #expect(earlier.count == 3)
    #expect(try Approvals.of([], earlier: earlier, in: before, canAsk: false) == [JobID(1), JobID(2), JobID(3)])
    let changed = graph { jobs in
      jobs[1].approval = "Go to production?"
      jobs[2].work = .simulate(SimulatedWork(duration: .seconds(9)))
    }
    #expect(try Approvals.of([], earlier: earlier, in: changed, canAsk: true) == [JobID(3)])
    // What one job was approved for is no approval of another.
    #expect(try Approvals.of([], earlier: earlier, in: graph { $0[3].name = "other" }, canAsk: true).count == 2)
    #expect(Approvals.recorded([JobID(0)], in: before) == nil)
  }

  @Test func aNameThatIsNoJobIsSaidWithTheNearest() {
    #expect(
      refusal(["publsh"], graph(), canAsk: true) == "--approve: there is no job 'publsh': did you mean 'publish'?")
  }

  @Test func aJobThatAPersonStartsAndWhatNeedsItAskNobody() {
    let manual = graph { jobs in
      jobs[1].isManual = true
      jobs[2].needs = [JobNeed(JobID(1))]
      jobs[3].needs = [JobNeed(JobID(2))]
    }
    #expect(refusal([], manual) == nil)
    let after = graph { jobs in
      (jobs[1].isManual, jobs[2].isManual) = (true, true)
      jobs[3].needs = [JobNeed(JobID(1), when: .finished)]
    }
    #expect(refusal([], after)?.hasPrefix("publish waits for a person's approval, for which") == true)
  }

  @Test func aJobThatIsDoneAsksNobody() throws {
    let approved = try Approvals.of([], in: graph(), done: { $0 != JobID(0) }, canAsk: false)
    #expect(approved == [])
  }

  @Test func aJobOfTheFileThatDoesNotRunIsSaidToBeOne() {
    let all = graph()
    var part = all
    part.jobs.removeLast()
    #expect(throws: UsageError("--approve: job 'publish' does not run: it is not asked for, nor needed")) {
      try Approvals.of(["publish"], in: part, of: all, canAsk: true)
    }
    #expect(throws: UsageError("--approve: there is no job 'publis': did you mean 'publish'?")) {
      try Approvals.of(["publis"], in: part, of: all, canAsk: true)
    }
  }

  @Test func aJobWhoseConditionIsKnownToBeFalseAsksNobody() {
    let never = graph { jobs in for index in 1...3 { jobs[index].condition = JobCondition("no", [[.init("no")]]) } }
    #expect(refusal([], never) == nil)
    let maybe = graph { jobs in
      for index in 1...3 { jobs[index].condition = JobCondition("${jobs.build.x}", [[.init("${jobs.build.x}")]]) }
      for index in 1...3 { jobs[index].outputs = [OutputReference("${jobs.build.x}", job: JobID(0), name: "x")] }
    }
    #expect(refusal([], maybe) != nil)
    // The other part of the condition is known, and so is the approval's text no part of it.
    let beta = graph { jobs in
      for index in 1...3 {
        jobs[index].condition = JobCondition(
          "x", [[.init("${jobs.build.x}"), .init("beta", equals: "stable")]])
        jobs[index].outputs = [OutputReference("${jobs.build.x}", job: JobID(0), name: "x")]
      }
    }
    #expect(refusal([], beta) == nil)
  }
}
