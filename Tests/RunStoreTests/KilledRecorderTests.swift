import Basics
import Foundation
import JobModel
import RunStore
import Support
import Testing

@Suite(.timeLimit(.minutes(10))) struct KilledRecorderTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }

  init() throws { folder = try TemporaryFolder() }

  @Test func programsThatRecordAtOnceRecordWholeRuns() throws {
    let output = open(folder.file("output").path(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(output) }
    let probes = try (0..<8).map { try RunStore.probe(state, run: "run\($0)", jobs: 200, pause: 2000, output: output) }
    for probe in probes { #expect(probe.ending(waiting: true) == .exited(0)) }
    let said = try String(contentsOf: folder.file("output"), encoding: .utf8).split(separator: "\n")
    #expect(said.filter { !$0.hasPrefix("ended") } == Array(repeating: "recorded", count: 8))
    let store = try RunStore(folder: state)
    #expect(try store.check() == [])
    #expect(try store.runs().map(\.id).sorted() == (0..<8).map { "run\($0)" })
    for run in try store.runs() {
      let recorded = try RecordedRun(run, in: store)
      #expect(recorded.lines.count == 2 + 200 * 8)
      #expect(recorded.ended.count == 200)
      #expect(run.summary?.succeeded == 200)
    }
  }

  /// The moments are the same in each run of the test, what executes at them is not.
  @Test func whatIsCommittedWhenARecorderIsKilledIsWhole() throws {
    var random = SplitMix(seed: 13)
    for round in 0..<50 {
      let path = folder.file("output\(round)").path()
      let output = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(output) }
      let probe = try RunStore.probe(state, run: "run\(round)", jobs: 5000, pause: 500, output: output)
      // Most are killed while they write; each tenth one late, so that some of its jobs ended more than a second ago.
      let moment = Duration.milliseconds(Int.random(in: 20...(round % 10 == 0 ? 1800 : 500), using: &random))
      let end = ContinuousClock.now + moment
      while ContinuousClock.now < end { _ = poll(nil, 0, 1) }
      let killed = Date().timeIntervalSince1970
      kill(probe.pid, SIGKILL)
      #expect(probe.ending(waiting: true) == .signalled(SIGKILL))

      let store = try RunStore(folder: state)
      #expect(try store.check() == [])
      // A very early kill comes before the first commit.
      guard let run = try store.runs(1).first, run.id == "run\(round)" else { continue }
      #expect(run.endedAt == nil)
      #expect(!store.isGoingOn(run))
      let recorded = try RecordedRun(run, in: store)
      #expect(recorded.isConsistent)
      let due = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap { line -> Int? in
        let words = line.split(separator: " ")
        guard words.count == 3, let time = Double(words[2]), time < killed - 1 else { return nil }
        return Int(words[1])
      }
      #expect(Set(due).isSubset(of: recorded.ended.map(\.job.index)), "run \(round), killed after \(moment)")
    }
    #expect(try RunStore(folder: state).runs().count > 10)
  }
}
