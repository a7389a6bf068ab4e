import JobModel
import Operations
import Testing

@testable import JobEngine

@Suite struct RunJournalTests {
  private let journal = RunJournal()

  @Test func eachFactIsNumberedFoldedAndGivenOutOnce() {
    journal.state(.slotsChanged(3))
    journal.advance(to: .seconds(1))
    journal.state(.drainChanged(true))
    #expect(journal.run.slots == 3 && journal.run.isDraining)
    let events = [
      JobEvent(seq: 0, time: .zero, fact: .slotsChanged(3)),
      JobEvent(seq: 1, time: .seconds(1), fact: .drainChanged(true)),
    ]
    #expect(journal.takeEvents() == events)
    #expect(journal.takeEvents() == [])
    journal.state(.slotsChanged(4))
    #expect(journal.takeEvents().map(\.seq) == [2])
  }

  @Test func theRoomForTheFactsOfALargeStartIsNotKept() {
    for slots in 0..<10_000 { journal.state(.slotsChanged(slots)) }
    #expect(journal.takeEvents().count == 10_000)
    #expect(journal.events.capacity < 1000)
  }

  @Test func timeNeverGoesBackAndHasWholeMicroseconds() {
    journal.advance(to: .nanoseconds(2_000_999))
    #expect(journal.now == .microseconds(2000))
    journal.advance(to: .microseconds(1999))
    #expect(journal.now == .microseconds(2000))
    journal.advance(to: .microseconds(2001))
    #expect(journal.now == .microseconds(2001))
  }

  @Test func aSecretIsNeitherInTheRunNorInTheEvent() {
    journal.secrets = SecretMask(["s3cret"])
    journal.state(.jobAdded(JobID(0), Job(name: "a", work: .simulate(SimulatedWork()))))
    let failure = JobFailure(.error, "no s3cret")
    journal.state(.jobState(JobID(0), .failed(failure, allowed: false), attempt: 1, pid: nil))
    let state = JobState.failed(JobFailure(.error, "no ***"), allowed: false)
    #expect(journal.run[JobID(0)].state == state)
    #expect(journal.takeEvents().last?.fact == .jobState(JobID(0), state, attempt: 1, pid: nil))
  }
}
