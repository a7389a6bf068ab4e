import Basics
import Foundation
import JobModel
import RunStore
import Support
import Testing

struct KilledRecorderTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }

  init() throws { folder = try TemporaryFolder() }

  @Test func programsThatRecordAtOnceRecordWholeRuns() throws {
    let output = open(folder.file("output").path(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(output) }
    let probes = try (0..<8).map { try RunStore.probe(state, run: "run\($0)", jobs: 200, pause: 2000, output: output) }
    for probe in probes { #expect(probe.ending(waiting: true) == .exited(0)) }
    let said = try String(contentsOf: folder.file("output"), encoding: .utf8).split(separator: "\n")
    #expect(said == Array(repeating: "recorded", count: 8))
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
      let id = "run\(round)"
      // Most are killed at a random moment; each third one, which is slower, when a reader has found so many ends of jobs.
      let isRead = round % 3 == 0
      let probe = try RunStore.probe(state, run: id, jobs: 5000, pause: isRead ? 5000 : 1000)
      var seen: RecordedRun?
      if isRead {
        let count = Int.random(in: 1...200, using: &random)
        #expect(try eventually { try newest(id).map { try $0.ended(in: $1).count } ?? 0 >= count }, "round \(round)")
        seen = try newest(id).map { try RecordedRun($1, in: $0) }
        #expect(seen != nil)
      } else {
        _ = poll(nil, 0, .random(in: 20...500, using: &random))
      }
      kill(probe.pid, SIGKILL)
      #expect(probe.ending(waiting: true) == .signalled(SIGKILL))

      #expect(try RunStore(folder: state).check() == [])
      // A very early kill comes before the first commit.
      guard let (store, run) = try newest(id) else { continue }
      #expect(run.endedAt == nil)
      #expect(!store.isGoingOn(run))
      let recorded = try RecordedRun(run, in: store)
      #expect(recorded.isConsistent)
      // What a reader has found stays.
      if let seen {
        #expect(recorded.lines.starts(with: seen.lines), "round \(round)")
        #expect(recorded.ended.starts(with: seen.ended), "round \(round)")
      }
    }
    #expect(try RunStore(folder: state).runs().count >= 17)
  }

  /// The newest run of the store, if it has this identifier.
  private func newest(_ id: String) throws -> (store: RunStore, run: RunEntry)? {
    let store = try RunStore(folder: state)
    return try store.runs(1).first { $0.id == id }.map { (store, $0) }
  }
}
