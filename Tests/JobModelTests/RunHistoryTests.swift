import Basics
import JobModel
import Support
import Testing

@Suite struct RunHistoryTests {
  @Test func anyInstantIsTheFoldOfTheEventsUntilThen() {
    // More events than two snapshots are apart.
    let run = RandomRun(seed: 3, jobs: 20, facts: 40_000)
    var history = RunHistory()
    for start in stride(from: 0, to: run.events.count, by: 999) {
      history.append(contentsOf: run.events[start..<min(start + 999, run.events.count)])
    }
    #expect(history.run(at: history.end) == run.run)
    var random = SplitMix(seed: 4)
    let times =
      (0..<5).map { _ in history.end * random.unit() } + [.zero, .seconds(-1), history.end, .seconds(1 << 30)]
    for time in times {
      let count = run.events.firstIndex { $0.time > max(.zero, time) } ?? run.events.count
      let got = history.run(at: time)
      #expect(got.nextSeq == count)
      #expect(got == Array(run.events[..<count]).folded)
    }
  }

  /// A history whose events come at these seconds, each with its number as the number of slots.
  private func history(_ seconds: [Double]) -> RunHistory {
    RunHistory(
      seconds.enumerated().map { JobEvent(seq: $0, time: .seconds($1), fact: .slotsChanged($0)) })
  }

  @Test func anInstantHasAllOfItsEvents() {
    var history = history([0, 1, 1, 2])
    #expect(history.end == .seconds(2) && RunHistory().end == .zero)
    #expect(history.run(at: .milliseconds(999)).slots == 0)
    #expect(history.run(at: .seconds(1)).slots == 2)
    #expect(history.run(at: .milliseconds(1999)).slots == 2)
    #expect(history.run(at: .seconds(2)).slots == 3)
    // Back again, from a later instant.
    #expect(history.run(at: .milliseconds(500)).slots == 0)
    #expect(history.run(at: .seconds(-1)).slots == 0)
  }

  @Test func eventsThatComeLaterAreFoldedToo() {
    var history = history([0, 1])
    #expect(history.run(at: .seconds(5)).slots == 1)
    history.append(contentsOf: [JobEvent(seq: 2, time: .seconds(3), fact: .slotsChanged(2))])
    #expect(history.events.count == 3 && history.end == .seconds(3))
    #expect(history.run(at: .seconds(5)).slots == 2 && history.run(at: .seconds(2)).slots == 1)
  }
}
