import JobModel
import Support
import Testing

/// A job that is retried or paused for hours: the number of its attempts and phases is bounded, what they tell is not lost.
@Suite struct LongHistoryTests {
  private static let attempts = 2000
  private static let wait = Duration.seconds(3)

  /// Each attempt takes a second and fails; before the next one the job backs off.
  private func retried() -> Recorder {
    var recorder = Recorder([job("a")])
    for number in 1...Self.attempts {
      recorder.move(0, to: .executing, attempt: number, pid: Int32(number), after: number == 1 ? .zero : Self.wait)
      let failure = JobFailure(.exit(1), "exit \(number)")
      let state = JobState.backingOff(until: .zero, number: number, limit: Self.attempts, after: failure)
      recorder.move(0, to: state, attempt: number, after: .seconds(1))
    }
    return recorder
  }

  /// The instants of phases are rounded to nanoseconds.
  private func isNear(_ time: Duration, _ expected: Duration) -> Bool {
    abs((time - expected) / .microseconds(1)) < 10
  }

  @Test func theFirstAttemptAndTheNewestAreKept() {
    let attempts = retried()[0].attempts
    #expect(attempts.count == JobRecord.attemptLimit)
    #expect(attempts.first?.number == 1 && attempts.first?.startedAt == .zero)
    let newest = (Self.attempts - JobRecord.attemptLimit + 2)...Self.attempts
    #expect(attempts.dropFirst().map(\.number) == Array(newest))
    #expect(
      attempts.allSatisfy { $0.failure?.reason == "exit \($0.number)" && $0.endedAt == $0.startedAt + .seconds(1) })
  }

  @Test func mergedPhasesTellTheTimeOfEachKindAllTheSame() {
    let record = retried()[0]
    let now = Duration.seconds(4 * Self.attempts)
    #expect(record.phases.count <= Phases.limit)
    #expect(isNear(record.spent(.executing, until: now), .seconds(Self.attempts)))
    #expect(isNear(record.spent(.backingOff, until: now), Self.wait * Self.attempts))
    #expect(record.spent(.paused, until: now) == .zero)
  }

  @Test func thePhasesStayInOrderAndTheNewestAsTheyWere() {
    let phases = retried()[0].phases
    let all = (0..<phases.count).map { phases[$0] }
    #expect(all.first?.start == .zero)
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.start < $1.start })
    #expect(all.suffix(100).map(\.kind) == (0..<100).map { $0.isMultiple(of: 2) ? .executing : .backingOff })
  }

  @Test func aPauseIsNotMergedAway() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    for _ in 1...2000 {
      recorder.move(0, to: .paused(started: true), after: .seconds(9))
      recorder.move(0, to: .executing, after: .seconds(1))
    }
    let record = recorder[0]
    let kinds = (0..<record.phases.count).map { record.phases[$0].kind }
    // Two executions in a row would be two attempts, the first of which has failed.
    #expect(!zip(kinds, kinds.dropFirst()).contains { $0 == .executing && $1 == .executing })
    #expect(isNear(record.spent(.paused, until: .seconds(20_000)), .seconds(2000)))
    #expect(isNear(record.spent(.executing, until: .seconds(20_000)), .seconds(18_000)))
    #expect(record.attempts.first?.pausedFor == .seconds(2000))
  }
}
