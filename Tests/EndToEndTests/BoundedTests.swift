import Foundation
import Support
import Testing

/// Jobs that write as fast as they can: opdash takes no more memory, descriptors and threads as time passes, and answers.
///
/// One after another, and with little priority, so that tests with short bounds find the machine free.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BoundedTests {
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
    let pty = try place.pty(
      words: ["run", file, "--ui", interface], redirection: interface == "plain" ? ">/dev/null" : "")
    setpriority(.init(PRIO_PGRP.rawValue), id_t(pty.child.pid), 19)
    return pty
  }

  /// Samples of several moments; the terminal is read meanwhile, and its output forgotten.
  private func samples(_ count: Int, of pty: Pty, every interval: Double = 0.25) throws -> [Holdings] {
    try (1...count).map { _ in
      _ = pty.waitUntil(within: interval) { _ in false }
      _ = pty.take()
      return try #require(Holdings(of: pty.child.pid))
    }
  }

  private func expectFlat(_ samples: [Holdings]) {
    let (early, late) = (samples.prefix(samples.count / 2), samples.suffix(samples.count / 2))
    func most(_ samples: ArraySlice<Holdings>, _ value: (Holdings) -> Int) -> Int { samples.map(value).max() ?? 0 }
    // A log that is opened, a launch or a flush of the record may be under way; a thread that dispatch has started waits some seconds for more work.
    #expect(most(late, \.descriptors) <= most(early, \.descriptors) + 8, "\(samples.map(\.descriptors))")
    #expect(most(late, \.threads) <= 24, "\(samples.map(\.threads))")
    // At most 20,000 lines wait for a reader, and the rest of a burst; and the logs of 200 jobs fill up at different times.
    // What grows with the lines adds hundreds of megabytes in this time. A sanitizer keeps what has been freed.
    let room = FaultHandling.isSanitized ? 600 << 20 : 128 << 20
    #expect(most(late, \.memory) <= most(early, \.memory) + room, "\(samples.map { $0.memory >> 20 }) MiB")
  }

  /// A key, its answer, and the end of the run by keys.
  private func expectAnswers(_ pty: Pty) {
    for (key, answer) in [("?", "one job; back; pane"), ("\u{1B}", "follow"), ("q", "cancels and quits")] {
      _ = pty.take()
      pty.send(key)
      #expect(pty.waitUntil(within: FaultHandling.isSanitized ? 60 : 10) { $0.text.contains(answer) }, "to \(key)")
    }
    pty.send("q")
    #expect(pty.waitUntil(within: Workplace.patience) { $0.ending == .exited(3) }, "\(String(describing: pty.ending))")
  }

  private func end(_ pty: Pty, _ interface: String) {
    if interface == "tui" {
      expectAnswers(pty)
    } else {
      kill(pty.child.pid, SIGTERM)
      #expect(pty.waitUntil(within: Workplace.patience) { $0.ending == .exited(143) })
    }
    #expect(eventually(within: Workplace.patience) { ProcessTable.processes(with: marker).isEmpty })
  }

  @Test(arguments: interfaces)
  func oneJobThatWritesAllTheTime(_ interface: String) throws {
    try place.write("jobs: { flood: { run: 'yes \(marker)' } }", to: "flood.yml")
    let pty = try start("flood.yml", interface)
    // The log is full at 256 MB, so that its size tells the pace from the beginning only.
    let began = DispatchTime.now().uptimeNanoseconds
    #expect(pty.waitUntil(within: Workplace.patience) { _ in logSize > 100_000 })
    _ = try samples(2, of: pty)
    let samples = try samples(8, of: pty)
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
    expectFlat(samples)
    let lines = logSize / (marker.utf8.count + 1)
    // A pace that no loop over the lines in the screen or the log would reach.
    #expect(Double(lines) / seconds > (FaultHandling.isSanitized ? 500 : 5000), "lines a second")
    end(pty, interface)
  }

  /// The bytes that the logs of the run hold.
  private var logSize: Int {
    let runs = place.folder.file("state/opdash/runs").path
    let files = FileManager.default.enumerator(atPath: runs)?.allObjects as? [String] ?? []
    return files.filter { $0.hasSuffix(".log") }.reduce(0) { sum, file in
      let size = try? FileManager.default.attributesOfItem(atPath: "\(runs)/\(file)")[.size] as? Int
      return sum + (size ?? 0)
    }
  }

  @Test(arguments: interfaces)
  func twoHundredJobsThatWriteAtOnce(_ interface: String) throws {
    let count = 200
    let jobs = (1...count).map { "  job\($0): { run: 'yes \(marker)' }\n" }.joined()
    try place.write("slots: \(count)\njobs:\n\(jobs)", to: "many.yml")
    let pty = try start("many.yml", interface)
    #expect(
      pty.waitUntil(within: Workplace.patience) { _ in ProcessTable.processes(with: "yes\0\(marker)").count == count })
    // Their logs are opened one after another.
    var (last, now) = (0, 1)
    while now > last { (last, now) = (now, try samples(4, of: pty)[3].descriptors) }
    let samples = try samples(8, of: pty)
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
    func attempts() -> Int {
      let runs = place.folder.names(in: "state/opdash/runs")
      return place.folder.names(in: "state/opdash/runs/\(runs.first ?? "")/logs").count
    }
    #expect(pty.waitUntil(within: Workplace.patience) { _ in attempts() > 50 })
    let early = try samples(4, of: pty)
    let before = attempts()
    #expect(pty.waitUntil(within: Workplace.patience) { _ in attempts() > before + 150 })
    let late = try samples(4, of: pty)
    expectFlat(early + late)
    end(pty, "tui")
  }
}
