import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct PastTimeTests {
  @Test(arguments: [
    (0, 100), (10_000, 100), (10_001, 200), (20_000, 200), (20_001, 500), (100_000, 1000), (100_001, 2000),
    (8_640_000_000, 86_400_000), (9_000_000_000, 86_400_000),
  ])
  func aStepIsAHundredthOfTheRunRoundedUp(_ end: Int, _ step: Int) {
    #expect(PastTime.step(.milliseconds(end)) == .milliseconds(step))
  }

  /// A run of 100 s that goes on, whose past can be asked for.
  private func bench() -> Bench {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.at(100)
    builder.state(.slotsChanged(2))
    var bench = Bench(builder)
    bench.model.hasPast = true
    return bench
  }

  private func finds(_ bench: Bench) -> [Duration] {
    bench.effects.compactMap { if case .find(let time) = $0 { time } else { nil } }
  }

  @Test func aStepIsToTheNextWholeOne() {
    var bench = bench()
    bench.press(.character(","))
    #expect(finds(bench) == [.seconds(99)] && bench.model.wantedPast == .seconds(99))
    bench.send(.past(bench.builder.run, at: .milliseconds(40_500)))
    #expect(finds(bench) == [.seconds(99), .seconds(99)])
    bench.send(.past(bench.builder.run, at: .seconds(99)))
    #expect(bench.model.isPast && bench.model.wantedPast == nil && finds(bench).count == 2)
    bench.model.show(bench.builder.run, at: .milliseconds(50_500))
    bench.press(.character(","))
    #expect(bench.model.wantedPast == .seconds(50))
    bench.model.wantedPast = nil
    bench.press(.character("."))
    #expect(bench.model.wantedPast == .seconds(51))
    bench.model.wantedPast = nil
    bench.model.show(bench.builder.run, at: .seconds(50))
    bench.press(.character("."))
    #expect(bench.model.wantedPast == .seconds(51))
  }

  @Test func fromTheLastStepForwardTheRunIsLive() {
    var bench = bench()
    bench.model.show(bench.builder.run, at: .seconds(98))
    bench.press(.character("."))
    #expect(finds(bench) == [.seconds(99)] && bench.model.isPast)
    bench.press(.character("."))
    #expect(!bench.model.isPast && !bench.model.isFrozen && bench.model.wantedPast == nil)
  }

  @Test(arguments: [(",", 98), (".", 102)] as [(Character, Int)])
  func aFrozenDisplayIsLeftFromItsOwnInstant(_ key: Character, _ instant: Int) {
    var bench = bench()
    bench.press(.character("Z"))
    bench.now = .seconds(150)
    bench.press(.character(key))
    #expect(finds(bench) == [.seconds(instant)])
    bench = self.bench()
    bench.play { $0.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    bench.now = .seconds(400)
    bench.press(.character("Z"), .character(key))
    // Its run has ended before.
    #expect(finds(bench) == (key == "," ? [.seconds(99)] : []) && bench.model.isFrozen == (key == ","))
  }

  @Test func aFrozenDisplayIsNotThePresent() {
    var bench = bench()
    bench.model.hasPast = false
    bench.press(.character("Z"), .character("."))
    #expect(bench.model.notice?.text == "the run is not recorded: there is no past to show")
  }

  @Test func theBeginIsTheFarthestInstant() {
    var bench = bench()
    bench.model.show(bench.builder.run, at: .milliseconds(500))
    bench.press(.character(","))
    #expect(finds(bench) == [.zero])
    bench.send(.past(bench.builder.run, at: .zero))
    bench.press(.character(","))
    #expect(finds(bench) == [.zero, .zero] && bench.model.wantedPast == .zero)
  }

  @Test func thePresentIsTheEndUnlessTheRunIsOver() {
    var bench = bench()
    #expect(PastTime.end(bench.model, .seconds(130)) == .seconds(130))
    #expect(PastTime.end(bench.model, .seconds(90)) == .seconds(100))
    bench.play { $0.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    #expect(PastTime.end(bench.model, .seconds(130)) == .seconds(100))
  }

  @Test func anAnswerThatNobodyWaitsForIsDropped() {
    var bench = bench()
    bench.send(.past(bench.builder.run, at: .seconds(3)))
    #expect(!bench.model.isPast && bench.effects.isEmpty)
  }
}
