import JobModel
import Testing

@testable import Reports

@Suite struct HTMLTimelineTests {
  /// In milliseconds.
  @Test(arguments: [
    (0, 1), (12, 1), (13, 2), (1200, 100), (1201, 200), (12_000, 1000), (12_001, 2000), (24_000, 2000),
    (24_001, 5000), (60_000, 5000), (60_001, 10_000), (360_000, 30_000), (360_001, 60_000), (21_600_000, 1_800_000),
    (21_600_001, 3_600_000), (43_200_000, 3_600_000), (43_200_001, 7_200_000), (172_800_000, 14_400_000),
    (1_036_800_000, 86_400_000), (1_036_800_001, 172_800_000), (1_728_000_000, 172_800_000),
    (1_728_000_001, 259_200_000),
  ])
  func anAxisHasAtMostTwelveSteps(_ length: Int, _ step: Int) {
    #expect(HTMLTimeline.step(.milliseconds(length)) == .milliseconds(step))
  }

  /// The labels of the axis of a run that takes so many milliseconds.
  private func labels(_ length: Int) -> [String] {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false), after: .milliseconds(length))
    var page = ""
    HTMLTimeline(figures: RunFigures(facts.run), limit: 1).append(to: &page)
    return page.matches(of: #/<u [^>]*>(.*?)<\/u>/#).map { String($0.1) }
  }

  @Test func eachLabelOfTheAxisSaysItsTime() {
    #expect(labels(4) == ["0:00", "0:00.001", "0:00.002", "0:00.003"])
    #expect(labels(60).prefix(3) == ["0:00", "0:00.005", "0:00.01"])
    #expect(labels(600).suffix(3) == ["0:00.45", "0:00.5", "0:00.55"])
    #expect(labels(1200).suffix(3) == ["0:00.9", "0:01", "0:01.1"])
    #expect(labels(75_000).suffix(2) == ["1:00", "1:10"])
  }

  /// The classes of the bars of job 0 after these changes, a second apart.
  private func marks(_ states: [(JobState, attempt: Int)]) -> [String] {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    for (state, attempt) in states { facts.job(0, state, attempt: attempt, after: .seconds(1)) }
    let record = facts.run[JobID(0)]
    return (0..<record.phases.count).map { HTMLTimeline.mark(record, $0) }
  }

  private let failure = JobFailure(.exit(1), "exit 1")

  @Test func anAttemptHasTheClassOfItsEnd() {
    #expect(marks([(.executing, 1)]) == ["wn", "x running"])
    #expect(marks([(.executing, 1), (.succeeded(upToDate: false), 1)]) == ["wn", "x ok", ""])
    #expect(marks([(.executing, 1), (.failed(failure, allowed: false), 1)]) == ["wn", "x failed", ""])
    #expect(marks([(.executing, 1), (.failed(failure, allowed: true), 1)]) == ["wn", "x allowed-to-fail", ""])
    #expect(marks([(.executing, 1), (.cancelled(by: .person), 1)]) == ["wn", "x cancelled", ""])
    let restarted = marks([(.executing, 1), (.ready(for: .slot), 1), (.executing, 2)])
    #expect(restarted == ["wn", "x cancelled", "ws", "x running"])
  }

  @Test func eachWaitHasItsOwnClass() {
    let states: [(JobState, attempt: Int)] = [
      (.ready(for: .slot), 0), (.ready(for: .pool("net")), 0), (.ready(for: .person), 0),
      (.ready(for: .cluster(reason: nil)), 0), (.paused(started: false), 0), (.executing, 1),
      (.backingOff(until: .zero, number: 1, limit: 1, after: failure), 1), (.executing, 2),
    ]
    #expect(marks(states) == ["wn", "ws", "wp", "wa", "wc", "wz", "x failed", "wb", "x running"])
  }
}
