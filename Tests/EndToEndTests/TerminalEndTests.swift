import Foundation
import Support
import Testing

/// Every way out that a person takes: the terminal's modes, of `stty -g` and of the emulator, are as they were.
///
/// Signals are tested by `SignalTests`, ^Z by `BackgroundTests`, a terminal that nobody reads by `StuckTerminalTests`.
struct TerminalEndTests {
  struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var interface = "tui"
    /// The file of the run.
    let run: String
    /// What is typed, each after its text has been seen.
    var keys: [(after: String, key: String)] = []
    let status: Int32

    static func inline(_ name: String, _ run: String, _ keys: [(after: String, key: String)], _ status: Int32)
      -> Way
    {
      Way(testDescription: name, interface: "inline", run: run, keys: keys, status: status)
    }
  }

  private static let interrupt = "\u{3}"

  static let ways: [Way] = [
    Way(testDescription: "the end of a run that succeeds", run: "short", status: 0),
    Way(testDescription: "q after a failure", run: "bad", keys: [("Ended after", "q")], status: 1),
    Way(testDescription: "F10 after a failure", run: "bad", keys: [("Ended after", "\u{1B}[21~")], status: 1),
    Way(
      testDescription: "q while a job runs, and q", run: "nap", keys: [("━━━", "q"), ("cancels and quits", "q")],
      status: 3),
    Way(testDescription: "Ctrl-C", run: "nap", keys: [("━━━", interrupt)], status: 130),
    Way(
      testDescription: "Ctrl-C twice, where a job ignores its stop signal", run: "deaf",
      keys: [("━━━", interrupt), ("Ctrl-C kills now", interrupt)], status: 130),
    Way(
      testDescription: "Ctrl-C after a failure", run: "bad", keys: [("Ended after", interrupt)], status: 1),
    .inline("the end of a run that succeeds", "short", [], 0),
    .inline("the end of a run that fails", "bad", [], 1),
    .inline("Ctrl-C", "nap", [("RUN", interrupt)], 130),
    .inline(
      "Ctrl-C twice, where a job ignores its stop signal", "deaf",
      [("RUN", interrupt), ("Ctrl-C again kills", interrupt)],
      130),
  ]

  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws {
    place = try Workplace(files: [
      "short.yml": "jobs: { good: { run: echo said } }",
      "bad.yml": "jobs: { bad: { run: exit 4 } }",
      "nap.yml": "jobs: { nap: { run: [sleep, \"\(marker)\"] } }",
      "deaf.yml": "jobs: { deaf: { run: \"trap '' TERM; while :; do sleep \(marker); done\", stop: { grace: 1h } } }",
    ])
  }

  @Test(arguments: ways)
  func theTerminalIsAsBefore(_ way: Way) throws {
    let pty = try place.pty(words: ["run", "\(way.run).yml", "--ui", way.interface])
    let modes = pty.initialModeNumbers
    if ["nap", "deaf"].contains(way.run) {
      #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 1 })
    }
    var from = 0
    for (text, key) in way.keys {
      let isSeen = pty.waitUntil {
        String(decoding: $0.output[min(from, $0.output.count)...], as: UTF8.self).contains(text)
      }
      #expect(isSeen, "never seen: \(text)")
      from = pty.output.count
      pty.send(key)
    }
    let ending = way.status > 128 ? ChildProcess.Ending.signalled(way.status - 128) : .exited(way.status)
    #expect(pty.waitUntil { $0.ending == ending }, "\(String(describing: pty.ending))")
    pty.pump()
    #expect(pty.modeNumbers == modes)
    #expect(pty.leftModes == [])
    // The dashboard and the block were there at all.
    #expect(pty.text.contains(way.interface == "tui" ? "\u{1B}[?1049h" : "\u{1B}[?25l"))
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  // MARK: The reference

  private static let names: [Int32: String] = [
    SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
    SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS", SIGUSR1: "SIGUSR1",
    SIGUSR2: "SIGUSR2", SIGALRM: "SIGALRM", SIGVTALRM: "SIGVTALRM", SIGPROF: "SIGPROF", SIGXCPU: "SIGXCPU",
    SIGKILL: "SIGKILL", 16: "SIGSTKFLT", 29: "SIGIO", 30: "SIGPWR",
  ]

  static var table: String {
    let rows = ways.map { [$0.testDescription, $0.interface, "\($0.status)"] }
    let signals = SignalTests.signals.map { signal in
      // A shell says so of a program that a signal has ended too.
      [names[signal] ?? "signal \(signal)", "tui, inline", "\(128 + signal)"]
    }
    return articleTable("Ways out", columns: ["Way", "`--ui`", "Status"], rows + signals)
  }
}
