import JobModel
import Testing

@Suite struct LateJobTests {
  private func job(_ name: String, needs: [Int] = []) -> Job {
    Job(
      name: name, work: .operation(OperationWork(className: "Op", visibility: .whole)),
      needs: needs.map { JobNeed(JobID($0), when: .finished) })
  }

  @Test func aJobThatComesLateIsLinkedToWhatIsThere() {
    var recorder = Recorder([job("a")])
    recorder.state(.jobAdded(JobID(1), job("b", needs: [0])))
    #expect(recorder[0].dependents == [JobID(1)])
    #expect(recorder[1].unmetNeeds == 1)
    recorder.move(0, to: .executing)
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(recorder[1].unmetNeeds == 0)
  }

  @Test func aLateJobLinksNoOthersAgain() {
    var recorder = Recorder([job("a"), job("b", needs: [0])])
    recorder.state(.jobAdded(JobID(2), job("c")))
    #expect(recorder[0].edges.count == 1 && recorder[0].dependents == [JobID(1)])
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(recorder[1].unmetNeeds == 0)
  }

  @Test func aNeedThatHasEndedAlreadyIsMet() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .succeeded(upToDate: false))
    recorder.state(.jobAdded(JobID(1), job("b", needs: [0])))
    #expect(recorder[1].unmetNeeds == 0)
  }

  @Test func aLateJobMayNeedOneThatComesAfterIt() {
    var recorder = Recorder([])
    recorder.state(.jobAdded(JobID(0), job("a", needs: [1])))
    #expect(recorder[0].unmetNeeds == 1)
    recorder.state(.jobAdded(JobID(1), job("b")))
    #expect(recorder[1].dependents == [JobID(0)])
    recorder.move(1, to: .succeeded(upToDate: false))
    #expect(recorder[0].unmetNeeds == 0)
  }

  @Test func aJobMayReferToOneThatIsNotAddedYet() {
    let text = "${jobs.b.URL}"
    var first = job("a", needs: [1])
    first.approval = "Open \(text)?"
    first.outputs = [OutputReference(text, job: JobID(1), name: "URL")]
    var recorder = Recorder([])
    recorder.state(.jobAdded(JobID(0), first))
    #expect(recorder.run.knownNeeds(of: JobID(0)).isEmpty && recorder.run.question(of: JobID(0)) == "Open \(text)?")
    #expect(StatusText(JobID(0), recorder.run, now: .zero).whole == "waiting")
    recorder.state(.jobAdded(JobID(1), job("b")))
    recorder.state(.jobOutputs(JobID(1), ["URL": "http://b"]))
    #expect(recorder.run.knownNeeds(of: JobID(0)) == first.needs)
    #expect(recorder.run.question(of: JobID(0)) == "Open http://b?")
    #expect(StatusText(JobID(0), recorder.run, now: .zero).whole == "waits for b to finish")
  }

  @Test func aRunIsCompleteAgainOnceLateJobsHaveEnded() {
    var recorder = Recorder([])
    #expect(recorder.run.isComplete)
    recorder.state(.jobAdded(JobID(0), job("a")))
    #expect(!recorder.run.isComplete)
    recorder.move(0, to: .failed(JobFailure(.error, "no"), allowed: false))
    #expect(recorder.run.isComplete)
  }

  @Test func aChildIsAPartOfItsParentAndUsesNoSlot() {
    var child = job("child")
    child.parent = JobID(0)
    var recorder = Recorder([job("group"), child])
    recorder.state(.jobAdded(JobID(2), child))
    #expect(recorder[0].children == [JobID(1), JobID(2)])
    for id in 0..<3 { recorder.move(id, to: .executing) }
    #expect(recorder.run.counts.active == 3 && recorder.run.counts.usedSlots == 1)
    recorder.move(1, to: .succeeded(upToDate: false))
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(recorder.run.counts.active == 1 && recorder.run.counts.usedSlots == 0)
    #expect(!recorder.run.isComplete)
  }
}
