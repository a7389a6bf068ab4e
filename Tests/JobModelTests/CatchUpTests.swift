import Support
import Testing

@testable import JobModel

@Suite struct CatchUpTests {
  @Test(arguments: 0..<24)
  func theEventsToALaterRunLeadToIt(_ seed: UInt64) throws {
    let all = RandomRun(seed: seed, jobs: 12, facts: 300).events
    for (first, last) in [(0, all.count), (0, 1), (13, 14), (40, 200), (100, all.count), (all.count, all.count)] {
      let (early, late) = (Array(all.prefix(first)).folded, Array(all.prefix(last)).folded)
      let events = try #require(early.events(to: late))
      var run = early
      for event in events { run.apply(event) }
      #expect(run == late)
    }
  }

  @Test func aRunThatIsNotALaterStateIsRefused() {
    let (early, late) = (Recorder([job("a")]).run, Recorder([job("a"), job("b")]).run)
    #expect(late.events(to: early) == nil)
    #expect(Recorder([job("b")]).run.events(to: late) == nil)
  }

  @Test func anAttemptThatHasEndedIsBegunFirst() throws {
    var recorder = Recorder([job("a")])
    let early = recorder.run
    recorder.move(0, to: .executing, after: .seconds(1))
    recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(2))
    let events = try #require(early.events(to: recorder.run))
    #expect(events.map(\.time) == [.seconds(1), .seconds(3)])
    #expect(events.map(\.seq) == [2, 3])
  }
}
