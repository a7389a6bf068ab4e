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
}
