import Foundation
import JobModel
import Support
import Testing

/// Jobs that write as fast as they can: opdash takes no more memory, descriptors and threads as time passes, and answers.
///
/// One after another, because each takes what the machine has.
@Suite(.serialized) struct BoundedTests {
  private static let interfaces: [String] = ["tui", "plain", "quiet"]

  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws { place = try Workplace() }

  /// What opdash holds at one moment.
  private struct Holdings {
    var memory: Int
    var descriptors: Int
    var threads: Int

    init?(of pid: pid_t) {
      guard let memory = ProcessTable.memory(of: pid) else { return nil }
      self.memory = memory
      descriptors = ProcessTable.descriptors(of: pid)
      threads = ProcessTable.threads(of: pid)
    }
  }

  private func start(_ file: String, _ interface: String) throws -> Pty {
    // The lines of a flood are too many to be kept in a file.
    try place.pty(words: ["run", file, "--ui", interface], redirection: interface == "plain" ? ">/dev/null" : "")
  }

  /// Samples, each after `amount` has grown by `step`, at most to `limit`; the terminal is read meanwhile, and its output
  /// forgotten.
  private func samples(
    _ count: Int, of pty: Pty, each step: Int, of amount: () -> Int, limit: Int = .max
  ) throws -> [Holdings] {
    try (1...count).map { _ in
      let next = min(amount() + step, limit)
      try #require(pty.waitUntil { _ in amount() >= next })
      _ = pty.take()
      return try #require(Holdings(of: pty.program))
    }
  }

  /// Samples while the logs grow by `step` bytes each, of which a line has 12.
  private func samplesOfFlood(_ count: Int, of pty: Pty, each step: Int) throws -> [Holdings] {
    // One log is full at 256 MB.
    try samples(count, of: pty, each: step, of: { place.logSize }, limit: 200 << 20)
  }

  private func expectFlat(_ samples: [Holdings]) {
    let (early, late) = (samples.prefix(samples.count / 2), samples.suffix(samples.count / 2))
    func most(_ samples: ArraySlice<Holdings>, _ value: (Holdings) -> Int) -> Int { samples.map(value).max() ?? 0 }
    // A log that is opened, a launch or a flush of the record may be under way; a thread that dispatch has started waits some seconds for more work.
    #expect(most(late, \.descriptors) <= most(early, \.descriptors) + 8, "\(samples.map(\.descriptors))")
    #expect(most(late, \.threads) <= 24, "\(samples.map(\.threads))")
    // At most 20,000 lines wait for a reader, and the rest of a burst. A kilobyte kept of each line is more. A sanitizer keeps
    // what has been freed.
    let room = FaultHandling.isSanitized ? 600 << 20 : 128 << 20
    #expect(most(late, \.memory) <= most(early, \.memory) + room, "\(samples.map { $0.memory >> 20 }) MiB")
  }

  /// A key, its answer, and the end of the run by keys.
  private func expectAnswers(_ pty: Pty) {
    for (key, answer) in [("?", "one job; back; pane"), ("\u{1B}", "follow"), ("q", "cancels and quits")] {
      _ = pty.take()
      pty.send(key)
      #expect(pty.waitUntil { $0.text.contains(answer) }, "to \(key)")
    }
    pty.send("q")
    #expect(pty.waitUntil { $0.ending == .exited(3) }, "\(String(describing: pty.ending))")
  }

  private func end(_ pty: Pty, _ interface: String) {
    if interface == "tui" {
      expectAnswers(pty)
    } else {
      kill(pty.child.pid, SIGTERM)
      #expect(pty.waitUntil { $0.ending == .signalled(SIGTERM) })
    }
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  @Test(arguments: interfaces)
  func oneJobThatWritesAllTheTime(_ interface: String) throws {
    try place.write("jobs: { flood: { run: 'yes \(marker)' } }", to: "flood.yml")
    let pty = try start("flood.yml", interface)
    _ = try samplesOfFlood(2, of: pty, each: 1 << 19)
    expectFlat(try samplesOfFlood(8, of: pty, each: 1 << 19))
    end(pty, interface)
  }

  @Test(arguments: interfaces)
  func twentyJobsThatWriteAtOnce(_ interface: String) throws {
    let count = 20
    // Of the least weight: programs that never wait would leave nothing to the tests beside this one.
    let jobs = (1...count).map { "  job\($0): { run: 'exec nice -n 19 yes \(marker)' }\n" }.joined()
    try place.write("slots: \(count)\njobs:\n\(jobs)", to: "many.yml")
    let pty = try start("many.yml", interface)
    #expect(pty.waitUntil { _ in ProcessTable.processes(with: "yes\0\(marker)").count == count })
    // From then on each drops a line for each that it takes.
    let full = 2 * LogRing.capacity * (marker.utf8.count + 1)
    let areFull = pty.waitUntil {
      _ = $0.take()
      let sizes = place.logSizes
      return sizes.count == count && sizes.allSatisfy { $0 >= full }
    }
    #expect(areFull, "\(place.logSizes)")
    let samples = try samplesOfFlood(8, of: pty, each: 1 << 19)
    expectFlat(samples)
    // Two pipes with both ends, the process and the log.
    #expect(samples.allSatisfy { $0.descriptors < count * 6 + 50 }, "\(samples.map(\.descriptors))")
    end(pty, interface)
  }

  @Test func aJobThatIsRetriedAllTheTime() throws {
    try place.write(
      """
      jobs:
        again: { run: "echo a; exit 1 # \(marker)", retry: { max: 1000000, initial: 1ms, cap: 1ms, jitter: false } }
        watch: { run: [sleep, "\(marker)"] }
      """, to: "again.yml")
    let pty = try start("again.yml", "tui")
    func attempts() -> Int { place.logs.count }
    let early = try samples(4, of: pty, each: 20, of: attempts)
    _ = try samples(1, of: pty, each: 150, of: attempts)
    let late = try samples(4, of: pty, each: 20, of: attempts)
    expectFlat(early + late)
    end(pty, "tui")
  }
}
