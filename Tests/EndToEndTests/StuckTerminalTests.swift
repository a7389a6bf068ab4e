import Foundation
import Support
import Testing

/// Signals on a terminal that nobody reads, as that of a hung ssh or a stopped emulator.
@Suite(.serialized) struct StuckTerminalTests {
  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws {
    place = try Workplace(files: [
      "jobs.yml": """
      jobs:
        nap: { run: [sleep, "\(marker)"] }
        deaf: { run: "trap '' TERM; while :; do sleep \(marker); done", stop: { grace: 1s } }
        chatty: { run: "while :; do echo $0 talks and talks and talks; done # \(marker)" }
      slots: 3
      """,
      "deaf.yml": "jobs: { deaf: { run: \"trap '' TERM; while :; do sleep \(marker); done\", stop: { grace: 1h } } }",
    ])
  }

  /// Starts opdash on a terminal and stops reading once its jobs execute.
  private func clogged(_ file: String, sleepers: Int, _ words: String..., redirection: String = "") throws -> Pty {
    let pty = try place.pty(words: ["run", file] + words, redirection: redirection)
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == sleepers })
    pty.clog()
    return pty
  }

  private func isStuck(_ pty: Pty) -> Bool {
    eventually { ProcessTable.isBlockedByTerminal(pty.program) }
  }

  private func expectEnd(_ pty: Pty, by signal: Int32, at place: SourceLocation = #_sourceLocation) {
    #expect(
      eventually { ProcessTable.processes(with: marker).isEmpty }, "the jobs have ended", sourceLocation: place)
    #expect(eventually { pty.checkEnding() == .signalled(signal) }, "opdash has ended", sourceLocation: place)
  }

  @Test(arguments: ["tui", "inline", "plain", "json", "quiet"], [SIGTERM, SIGHUP])
  func aSignalEndsTheJobsAndTheProgram(_ interface: String, _ signal: Int32) throws {
    let pty = try clogged("jobs.yml", sleepers: 2, "--ui", interface)
    if interface != "quiet" { #expect(isStuck(pty)) }
    kill(pty.child.pid, signal)
    expectEnd(pty, by: signal)
  }

  /// The kernel discards unread output when ^C is typed, and leaves the writer waiting with nothing to be read.
  @Test(arguments: ["tui", "inline", "plain"])
  func ctrlCOnAFullTerminalThatIsReadAgainEndsTheRun(_ interface: String) throws {
    let pty = try clogged("jobs.yml", sleepers: 2, "--ui", interface)
    #expect(isStuck(pty))
    pty.send("\u{3}")
    #expect(pty.waitUntil { $0.ending == .signalled(SIGINT) })
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  /// As after a minute or an hour, when so much output waits that no more is taken from the jobs.
  @Test(arguments: ["tui", "inline", "plain"])
  func outputThatWaitsDoesNotKeepTheRunFromEnding(_ interface: String) throws {
    // Its grace is longer than the test waits: only its end can end the run.
    try place.write("jobs: { loud: { run: [yes, \"\(marker)\"], stop: { grace: 1h } } }", to: "loud.yml")
    let pty = try place.pty(words: ["run", "loud.yml", "--ui", interface, "--trace", "trace.json"])
    #expect(pty.waitUntil { _ in !ProcessTable.processes(with: marker).isEmpty })
    pty.clog()
    #expect(
      eventually {
        ProcessTable.processes(with: marker).contains { ProcessTable.waits($0, in: "pipe_write") }
      })
    kill(pty.child.pid, SIGTERM)
    expectEnd(pty, by: SIGTERM)
    // The session has left in order, in place of being abandoned.
    #expect(place.contents("trace.json").map { String(decoding: $0, as: UTF8.self).hasSuffix("]\n") } == true)
  }

  @Test func aScreenThatCannotBeOpenedEndsToo() throws {
    let pty = try place.pty(words: ["run", "jobs.yml"])
    pty.clog()
    #expect(isStuck(pty))
    kill(pty.child.pid, SIGTERM)
    expectEnd(pty, by: SIGTERM)
    #expect(pty.modes.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO))
  }

  @Test(arguments: ["tui", "inline", "plain"])
  func theThirdInterruptLeaves(_ interface: String) throws {
    let pty = try clogged("deaf.yml", sleepers: 1, "--ui", interface)
    // Not through the process in front: two that come at once are one to the kernel, in each of the two processes.
    let program = pty.program
    for _ in 1...3 {
      kill(program, SIGINT)
      #expect(eventually { !ProcessTable.hasPending(program, SIGINT) })
    }
    expectEnd(pty, by: SIGINT)
  }

  @Test(arguments: ["tui", "inline"])
  func theTerminalIsRestoredForWhoReadsItLater(_ interface: String) throws {
    let pty = try place.pty(words: ["run", "jobs.yml", "--ui", interface])
    let modes = pty.initialModeNumbers
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 2 })
    #expect(pty.waitUntil { $0.modeNumbers != modes })
    pty.clog()
    #expect(isStuck(pty))
    kill(pty.child.pid, SIGTERM)
    expectEnd(pty, by: SIGTERM)
    #expect(pty.modeNumbers == modes)
    pty.pump()
    #expect(pty.leftModes == [])
  }

  @Test func noDrawGoesOnAfterACrashHasRestoredTheTerminal() throws {
    let pty = try clogged("jobs.yml", sleepers: 2, "--ui", "inline")
    #expect(isStuck(pty))
    kill(pty.child.pid, SIGABRT)
    expectEnd(pty, by: SIGABRT)
    pty.pump()
    // The end of what a crash writes.
    let cursorOn = "\u{1B}[?25h"
    #expect(pty.text.hasSuffix(cursorOn), "\(pty.text.suffix(300).debugDescription)")
  }

  @Test func theTraceAndTheEventsAreWhole() throws {
    let pty = try clogged("jobs.yml", sleepers: 2, "--ui", "plain", "--trace", "trace.json")
    #expect(isStuck(pty))
    kill(pty.child.pid, SIGTERM)
    expectEnd(pty, by: SIGTERM)
    let trace = try #require(place.contents("trace.json"))
    #expect((try JSONSerialization.jsonObject(with: trace) as? [Any])?.isEmpty == false)
    #expect(String(decoding: trace, as: UTF8.self).hasSuffix("]\n"))
  }

  @Test func theEventsInAFileAreWholeThoughTheMessagesWait() throws {
    let pty = try clogged("jobs.yml", sleepers: 2, "--ui", "json", redirection: ">events.json")
    kill(pty.child.pid, SIGTERM)
    expectEnd(pty, by: SIGTERM)
    let lines = String(decoding: place.contents("events.json") ?? Data(), as: UTF8.self).split(separator: "\n")
    #expect(lines.last?.contains("\"run_finished\"") == true, "\(lines.last ?? "")")
    #expect(lines.count > 10)
  }
}
