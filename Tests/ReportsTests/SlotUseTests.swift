import JobModel
import Testing

@testable import Reports

@Suite struct SlotUseTests {
  private let failure = JobFailure(.exit(1), "exit 1")

  private func begin(_ count: Int) -> Facts {
    var facts = Facts()
    facts.begin((0..<count).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    return facts
  }

  /// Two attempts of four seconds, of which two overlap; they begin at `start`.
  private func overlap(from start: Double = 0) -> Facts {
    var facts = begin(2)
    facts.job(0, .executing, after: .seconds(start))
    facts.job(1, .executing, after: .seconds(2))
    facts.job(0, .succeeded(upToDate: false), after: .seconds(2))
    facts.job(1, .succeeded(upToDate: false), after: .seconds(2))
    return facts
  }

  @Test func eachChangeIsAStep() {
    let use = SlotUse(overlap().run, until: .seconds(6))
    #expect(use.steps.map(\.time) == [0, 2, 4, 6].map { .seconds($0) })
    #expect(use.steps.map(\.busy) == [1, 2, 1, 0])
    #expect(use.peak == 2 && use.busyTime == .seconds(8))
    #expect((0...3).map { use.time(with: $0) } == [6, 6, 2, 0].map { .seconds($0) })
  }

  @Test func aCurveIsTheMeanOfEachPart() {
    let use = SlotUse(overlap().run, until: .seconds(6))
    #expect(use.curve(3, until: .seconds(6)) == [1, 2, 1])
    #expect(use.curve(1, until: .seconds(8)) == [1])
    #expect(use.curve(2, until: .seconds(8)) == [1.5, 0.5])
    #expect(SlotUse(overlap(from: 2).run, until: .seconds(8)).curve(4, until: .seconds(8)) == [0, 1, 2, 1])
    #expect(use.curve(2, until: .zero) == [0, 0])
  }

  @Test func anAttemptThatFollowsAtOnceIsNoSecondSlot() {
    var facts = begin(2)
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false), after: .seconds(3))
    facts.job(1, .executing)
    facts.job(1, .succeeded(upToDate: false), after: .seconds(3))
    let use = SlotUse(facts.run, until: .seconds(6))
    #expect(use.peak == 1 && use.steps.map(\.busy) == [1, 1, 0] && use.time(with: 1) == .seconds(6))
  }

  @Test func aPauseTakesTheSlotAndABackOffDoesNot() {
    var facts = begin(1)
    facts.job(0, .paused(started: false), attempt: 0)
    facts.job(0, .executing, after: .seconds(1))
    facts.job(0, .paused(started: true), after: .seconds(1))
    facts.job(0, .executing, after: .seconds(2))
    facts.job(0, .backingOff(until: .zero, number: 1, limit: 1, after: failure), after: .seconds(1))
    facts.job(0, .executing, attempt: 2, after: .seconds(5))
    let use = SlotUse(facts.run, until: .seconds(13))
    #expect(use.steps.map(\.time) == [1, 5, 10, 13].map { .seconds($0) } && use.steps.map(\.busy) == [1, 0, 1, 0])
    #expect(use.busyTime == .seconds(7))
  }

  @Test func anAttemptThatBeginsAtTheEndTakesNoTime() {
    var facts = begin(1)
    facts.job(0, .executing, after: .seconds(2))
    let use = SlotUse(facts.run, until: .seconds(2))
    #expect(use.steps.isEmpty && use.peak == 0 && use.busyTime == .zero)
  }
}
