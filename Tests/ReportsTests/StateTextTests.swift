import JobModel
import Screen
import Testing

@testable import Reports

@Suite struct StateTextTests {
  private let failure = JobFailure(.exit(1), "exit 1")

  /// The phrase of job 0 once it has gone through these states, a second each, in attempts of these numbers.
  private func phrase(_ states: [(JobState, attempt: Int)], job: Job? = nil) -> TerminalText {
    var facts = Facts()
    facts.begin([job ?? Job(name: "a", work: .simulate(SimulatedWork()))])
    var before = JobState.waiting
    for (place, (state, attempt)) in states.enumerated() {
      before = place == 0 ? .waiting : states[place - 1].0
      facts.job(0, state, attempt: attempt, after: .seconds(1))
    }
    return StateText.phrase(JobID(0), before: before, at: facts.now, in: facts.run)
  }

  @Test func aChangeSaysWhatIsNew() {
    #expect(phrase([(.ready(for: .slot), 0)]) == "" && phrase([(.executing, 1)]) == "started")
    #expect(phrase([(.executing, 2)]) == "started, attempt 2")
    #expect(phrase([(.executing, 1), (.executing, 1)]) == "")
    #expect(phrase([(.executing, 1), (.serving, 1)]) == "serving")
    #expect(phrase([(.executing, 1), (.serving, 1), (.serving, 1)]) == "")
    #expect(phrase([(.executing, 1), (.paused(started: true), 1)]) == "paused")
    #expect(phrase([(.executing, 1), (.paused(started: true), 1), (.paused(started: true), 1)]) == "")
    #expect(phrase([(.executing, 1), (.paused(started: true), 1), (.executing, 1)]) == "resumed")
    #expect(phrase([(.executing, 1), (.cancelled(by: .person), 1), (.ready(for: .slot), 1)]) == "to be run again")
    let wait = JobState.backingOff(until: .seconds(9), number: 1, limit: 3, after: failure)
    #expect(phrase([(.executing, 1), (wait, 1)]) == "exit 1, retry 1 of 3 in 7.0s")
  }

  @Test(arguments: [(JobState.Canceller.restart, "restarting"), (.person, "no longer serving")])
  func aServiceThatIsEndedSaysWhetherItStartsAgain(canceller: JobState.Canceller, words: String) {
    var facts = Facts()
    facts.begin([Job(name: "db", work: .simulate(SimulatedWork()))])
    for state in [JobState.executing, .serving] { facts.job(0, state) }
    facts.state(.cancelRequested(JobID(0), by: canceller, kill: false))
    facts.job(0, .executing)
    #expect(StateText.phrase(JobID(0), before: .serving, at: facts.now, in: facts.run).text == words)
  }

  @Test func anEndSaysHowLongItTook() {
    #expect(phrase([(.executing, 1), (.succeeded(upToDate: false), 1)]) == "ok in 1.0s")
    #expect(phrase([(.succeeded(upToDate: true), 0)]) == "up to date")
    #expect(
      phrase([(.executing, 1), (.failed(failure, allowed: true), 1)]) == "failed: exit 1 in 1.0s, allowed to fail")
    #expect(
      phrase([(.executing, 1), (.executing, 2), (.failed(failure, allowed: false), 2)])
        == "failed: exit 1 in 1.0s, after 2 tries")
    #expect(phrase([(.failed(failure, allowed: false), 0)]) == "failed: exit 1")
    #expect(phrase([(.executing, 1), (.cancelled(by: .person), 1)]) == "cancelled by you in 1.0s")
    #expect(phrase([(.cancelled(by: .signal), 0)]) == "cancelled by a signal")
    let wait = JobState.backingOff(until: .seconds(9), number: 1, limit: 3, after: failure)
    #expect(
      phrase([(.executing, 1), (wait, 1), (.cancelled(by: .policy), 1)]) == "cancelled by on_failure, after exit 1")
  }

  @Test func aSkipNamesItsCause() {
    var job = Job(name: "a", work: .simulate(SimulatedWork()))
    job.condition = JobCondition("os == linux")
    #expect(
      phrase([(.skipped(because: .condition), 0)], job: job) == "skipped because its condition is false: os == linux")
    #expect(phrase([(.skipped(because: .outcome), 0)]) == "skipped because no job failed")
    for (end, words) in [
      (JobState.failed(JobFailure(.timedOut, "timed out"), allowed: false), "need failed"),
      (.failed(failure, allowed: true), "need failed"), (.cancelled(by: .person), "need was cancelled"),
      (.succeeded(upToDate: false), "need succeeded"),
    ] {
      var facts = Facts()
      facts.begin(["need", "b"].map { Job(name: $0, work: .simulate(SimulatedWork())) })
      facts.job(0, end)
      facts.job(1, .skipped(because: .job(JobID(0))), attempt: 0)
      #expect(StateText.phrase(JobID(1), before: .waiting, at: .zero, in: facts.run) == "skipped because \(words)")
    }
  }
}
