import JobModel
import Testing

@Suite struct StateClassTests {
  private let failure = JobFailure(.exit(1), "exit 1")

  @Test func everyStateHasItsClass() {
    let states: [(JobState, StateClass)] = [
      (.waiting, .waiting), (.ready(for: .slot), .ready), (.ready(for: .cluster(reason: nil)), .ready),
      (.executing, .executing), (.serving, .serving), (.paused(started: true), .paused),
      (.paused(started: false), .paused),
      (.backingOff(until: .zero, number: 1, limit: 1, after: failure), .backingOff),
      (.succeeded(upToDate: true), .upToDate), (.succeeded(upToDate: false), .succeeded),
      (.failed(failure, allowed: true), .allowedFailure), (.failed(failure, allowed: false), .failed),
      (.failed(JobFailure(.timedOut, "x"), allowed: false), .timedOut),
      (.failed(JobFailure(.timeLimit, "x"), allowed: false), .timedOut),
      (.failed(JobFailure(.timedOut, "x"), allowed: true), .allowedFailure),
      (.cancelled(by: .person), .cancelled), (.skipped(because: .condition), .skipped),
    ]
    for (state, expected) in states { #expect(StateClass(state) == expected, "\(state)") }
  }

  @Test func attentionGoesFromFailuresToSuccesses() {
    let order: [[StateClass]] = [
      [.failed, .timedOut], [.stopping], [.executing, .serving], [.paused, .backingOff], [.ready], [.waiting],
      [.cancelled], [.allowedFailure], [.skipped], [.succeeded, .upToDate],
    ]
    for (rank, states) in order.enumerated() {
      for state in states { #expect(state.attention == rank, "\(state)") }
    }
    #expect(order.joined().count == StateClass.allCases.count)
  }

  @Test func aClassIsTerminalWhereItsStateIs() {
    let terminal: Set<StateClass> = [
      .failed, .timedOut, .allowedFailure, .cancelled, .skipped, .succeeded, .upToDate,
    ]
    for state in StateClass.allCases {
      #expect(state.isTerminal == terminal.contains(state), "\(state)")
      #expect(state.isBad == (state == .failed || state == .timedOut), "\(state)")
    }
  }

  @Test(arguments: [
    (StateClass.failed, "✗", "!", "failed", "failed", "failed"),
    (.timedOut, "T", "T", "timed out", "failed", "timed out"),
    (.stopping, "■", "s", "stopping", "executing", "has not ended"),
    (.backingOff, "↻", "z", "retrying", "backing_off", "has not ended"),
    (.allowedFailure, "~", "~", "allowed to fail", "failed", "failed"),
    (.cancelled, "⊘", "c", "cancelled", "cancelled", "was cancelled"),
    (.upToDate, "=", "=", "up to date", "succeeded", "succeeded"),
  ])
  func aClassHasItsLettersAndWords(
    _ state: StateClass, _ letter: String, _ ascii: String, _ word: String, _ event: String, _ ending: String
  ) {
    #expect(state.letter(isASCII: false) == letter && state.letter(isASCII: true) == ascii)
    #expect(state.word == word && state.eventWord == event && state.ending == ending)
  }

  @Test func noTwoClassesHaveOneLetter() {
    for isASCII in [false, true] {
      #expect(Set(StateClass.allCases.map { $0.letter(isASCII: isASCII) }).count == StateClass.allCases.count)
    }
  }

  @Test func aFilterKnowsAClassByItsWordsInEachSpelling() {
    #expect(Set(StateClass.timedOut.names) == ["failed", "timed-out", "timed_out"])
    #expect(Set(StateClass.backingOff.names) == ["backing_off", "backing-off", "retrying"])
    #expect(Set(StateClass.upToDate.names) == ["succeeded", "up-to-date", "up_to_date", "ok"])
    #expect(Set(StateClass.succeeded.names) == ["succeeded", "ok"])
    #expect(Set(StateClass.executing.names) == ["executing", "running"])
    let manual = StateClass.skipped.names(in: .skipped(because: .manual))
    #expect(Set(manual) == ["skipped", "not-started", "not_started"])
    #expect(Set(StateClass.skipped.names(in: .skipped(because: .outcome))) == ["skipped"])
  }

  @Test func anAttemptWhoseEndWasAskedForIsStopping() {
    var recorder = Recorder([job("a")])
    #expect(StateClass(recorder[0]) == .waiting)
    recorder.move(0, to: .executing)
    #expect(StateClass(recorder[0]) == .executing)
    recorder.state(.cancelRequested(JobID(0), by: .person, kill: false))
    #expect(StateClass(recorder[0]) == .stopping)
    recorder.move(0, to: .paused(started: true))
    #expect(StateClass(recorder[0]) == .stopping)
    recorder.move(0, to: .cancelled(by: .person))
    #expect(StateClass(recorder[0]) == .cancelled)
  }
}
