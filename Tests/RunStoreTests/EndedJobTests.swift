import JobModel
import Testing

@testable import RunStore

struct EndedJobTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  @Test(
    arguments: [
      (.succeeded(upToDate: false), .ok), (.succeeded(upToDate: true), .upToDate),
      (.failed(failure, allowed: false), .failed), (.failed(failure, allowed: true), .allowed),
      (.cancelled(by: .person), .cancelled), (.skipped(because: .condition), .skipped), (.waiting, nil),
      (.ready(for: .slot), nil), (.executing, nil), (.serving, nil), (.paused(started: true), nil),
      (.backingOff(until: .zero, number: 1, limit: 1, after: failure), nil),
    ] as [(JobState, EndedJob.Outcome?)])
  func onlyAJobThatHasEndedHasAnOutcome(state: JobState, outcome: EndedJob.Outcome?) {
    #expect(EndedJob.Outcome(state) == outcome)
  }
}
