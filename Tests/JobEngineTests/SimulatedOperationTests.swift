import JobModel
import Operations
import Support
import Testing

@testable import JobEngine

@Suite struct SimulatedOperationTests {
  private let clock = ManualOperationClock()

  private func started(_ work: SimulatedWork, attempt: Int = 1) -> SimulatedOperation {
    let operation = SimulatedOperation(work, attempt: attempt, clock: clock)
    operation.start()
    return operation
  }

  private func progress(_ completed: Int64, _ total: Int64?) -> OperationProgress {
    OperationProgress(completed: completed, total: total)
  }

  @Test func stepsAreEven() {
    let operation = started(SimulatedWork(duration: .seconds(1), steps: 4))
    for step in 0..<4 {
      #expect(operation.progress == progress(Int64(step), 4))
      #expect(clock.due == [.milliseconds(250 * (step + 1))])
      clock.advance(by: .milliseconds(249))
      #expect(operation.progress == progress(Int64(step), 4))
      clock.advance(by: .milliseconds(1))
    }
    #expect(operation.isFinished)
    #expect(operation.failure == nil)
    #expect(operation.progress == progress(4, 4))
    #expect(clock.due.isEmpty)
  }

  @Test func aPauseKeepsWhatIsLeftOfAStep() {
    let operation = started(SimulatedWork(duration: .seconds(1), steps: 4))
    clock.advance(by: .milliseconds(350))
    operation.pause()
    #expect(clock.due.isEmpty)
    clock.advance(by: .seconds(5))
    operation.pause()
    clock.advance(by: .seconds(5))
    #expect(operation.progress == progress(1, 4))
    operation.resume()
    operation.resume()
    #expect(clock.due == [.milliseconds(10_500)])
    clock.advance(by: .milliseconds(150))
    #expect(operation.progress == progress(2, 4))
    #expect(clock.due == [.milliseconds(10_750)])
    clock.advance(by: .milliseconds(500))
    #expect(operation.isFinished)
  }

  @Test func aCancelledOneTakesNoMoreSteps() {
    let operation = started(SimulatedWork(duration: .seconds(1), steps: 4))
    clock.advance(by: .milliseconds(300))
    operation.cancel()
    #expect(operation.isFinished)
    #expect(clock.due.isEmpty)
    operation.pause()
    operation.resume()
    #expect(clock.due.isEmpty)
    #expect(operation.progress == progress(1, 4))
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func workWithoutADurationEndsAtOnce(duration: Duration) {
    let several = started(SimulatedWork(duration: duration, steps: 3))
    #expect(several.isFinished)
    #expect(several.progress == progress(3, 3))
    let one = started(SimulatedWork(duration: duration, steps: 1))
    #expect(one.isFinished)
    #expect(one.progress == progress(0, nil))
    #expect(clock.due.isEmpty)
  }

  @Test(arguments: [0, -3])
  func workHasOneStepAtLeast(steps: Int) {
    let operation = started(SimulatedWork(duration: .seconds(2), steps: steps))
    #expect(operation.progress == progress(0, 1))
    #expect(clock.due == [.seconds(2)])
    clock.advance(by: .seconds(2))
    #expect(operation.isFinished)
  }

  @Test(arguments: [Duration.zero, .seconds(3)])
  func whatFailsDoesSoAtOneOfItsSteps(duration: Duration) throws {
    var reached: Set<Int> = []
    for seed in 0..<60 as Range<UInt64> {
      let operation = started(SimulatedWork(duration: duration, steps: 3, failRate: 1, seed: seed))
      clock.advance(by: .seconds(3))
      #expect(operation.isFinished)
      let failure = try #require(operation.failure as? SimulatedFailure)
      #expect(operation.progress == progress(Int64(failure.step), 3))
      #expect("\(failure)" == "failed at step \(failure.step) of 3")
      reached.insert(failure.step)
    }
    #expect(reached == [1, 2, 3])
  }

  @Test func theSameAttemptTakesTheSameCourseAndAnotherOneItsOwn() {
    func course(_ attempt: Int) -> [Bool] {
      (0..<64 as Range<UInt64>).map { started(SimulatedWork(failRate: 0.5, seed: $0), attempt: attempt).failure == nil }
    }
    let first = course(1)
    #expect(course(1) == first)
    #expect(course(2) != first)
    #expect(Set(first) == [true, false])
  }
}
