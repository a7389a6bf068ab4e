import Foundation
import Support
import Testing

/// Every signal that ends a program, in each interface that changes the terminal's modes.
struct SignalTests {
  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws {
    place = try Workplace.napping(with: marker)
  }

  /// Those that end the run in order before they end the program.
  private static let handled = [SIGINT, SIGTERM, SIGHUP]
  static let signals: [Int32] = {
    var signals = handled
    signals += [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
    signals += [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGKILL]
    // SIGSTKFLT, and two of the real-time ones.
    signals += [16, SIGPOLL, SIGPWR, 40, 64]
    return signals
  }()

  @Test(arguments: ["tui", "inline"], signals)
  func theTerminalIsRestoredAndNothingIsLeft(_ interface: String, _ signal: Int32) throws {
    // With the crash reporter of the language's runtime, as a person has it.
    let pty = try place.pty(
      words: ["run", "nap.yml", "--ui", interface],
      environment: FaultHandling.isSanitized ? [:] : ["SWIFT_BACKTRACE": ""])
    let modes = pty.initialModeNumbers
    let cursorOff = 25
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 1 })
    #expect(pty.waitUntil { $0.modeNumbers != modes && $0.leftModes.contains(cursorOff) })
    kill(pty.child.pid, signal)
    #expect(pty.waitUntil { $0.ending == .signalled(signal) }, "\(String(describing: pty.ending))")
    // After SIGKILL the guardian does it.
    #expect(pty.waitUntil { $0.leftModes == [] && $0.modeNumbers == modes }, "left on: \(pty.leftModes)")
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  /// The kernel sends the signal of a key to the program and to the process in front of it.
  @Test func aSignalAfterTheSameOneOfAKeyIsAnother() throws {
    let script = "trap '' TERM; while :; do sleep \(marker); done"
    try place.write("jobs: { deaf: { run: \"\(script)\", stop: { grace: 1h } } }", to: "deaf.yml")
    let pty = try place.pty("run", "deaf.yml")
    #expect(pty.waitUntil { $0.text.contains("━━━") && ProcessTable.sleepers(marker) == 1 })
    #expect(pty.program != pty.child.pid)
    pty.send("\u{3}")
    #expect(pty.waitUntil { $0.text.contains("Ctrl-C kills now") })
    kill(pty.child.pid, SIGINT)
    #expect(pty.waitUntil { $0.ending == .signalled(SIGINT) }, "\(pty.report)")
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  @Test(arguments: ["plain", "json", "quiet"], [SIGQUIT, SIGABRT, SIGSEGV, SIGUSR1])
  func aCrashEndsTheJobsWithoutAQuestion(_ interface: String, _ signal: Int32) throws {
    let pty = try place.pty(
      words: ["run", "nap.yml", "--ui", interface],
      environment: FaultHandling.isSanitized ? [:] : ["SWIFT_BACKTRACE": ""])
    #expect(pty.waitUntil { _ in ProcessTable.sleepers(marker) == 1 })
    kill(pty.child.pid, signal)
    #expect(pty.waitUntil { $0.ending == .signalled(signal) }, "\(pty.text.suffix(300))")
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  @Test(arguments: [SIGXFSZ, SIGPIPE])
  func aSignalThatOnlyReportsAFailedWriteEndsNothing(_ signal: Int32) throws {
    try place.write("jobs: { nap: { run: 'while [ ! -e go ]; do sleep 0.02; done; # \(marker)' } }", to: "go.yml")
    let run = try place.start("run", "go.yml")
    #expect(eventually { run.outputText.contains("> nap") })
    kill(run.child.pid, signal)
    #expect(eventually { run.checkEnding() != nil || !ProcessTable.hasPending(run.child.pid, signal) })
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0))
  }

  @Test(.enabled(if: !FaultHandling.isThreadSanitized, "the thread sanitizer's own files may not grow either"))
  func aLogThatMayNotGrowIsSaidAndTheRunGoesOn() throws {
    try place.write(
      """
      jobs:
        long: { run: "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo a line of some length; done" }
        next: { needs: [long], run: "touch next" }
      """, to: "long.yml")
    let run = try place.script("ulimit -f 8; exec $OPDASH run long.yml --ui quiet")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(place.has("next"))
  }

  @Test func jobsHaveTheDefaultActionOfEverySignal() throws {
    try place.write("jobs: { shown: { run: grep SigIgn /proc/self/status } }", to: "shown.yml")
    let run = try place.run("run", "shown.yml")
    #expect(run.outputText.contains("SigIgn:\t0000000000000000"), "\(run.outputText)")
  }

  @Test func aReplacedGuardianIsNoProcessOfAJob() throws {
    let wait = "while [ ! -e go ]; do sleep 0.02; done; # \(marker)"
    try place.write(
      "jobs: { wait: { run: '\(wait)' }, nap: { needs: [wait], run: [sleep, \"\(marker)\"] } }", to: "go.yml")
    let run = try place.start("run", "go.yml")
    let variable = "HOME=\(place.folder.url.path)"
    var first: [pid_t] = []
    #expect(
      eventually {
        first = ProcessTable.guardians(variable)
        return first.count == 1 && run.outputText.contains("> wait")
      })
    for guardian in first { kill(guardian, SIGKILL) }
    var second: [pid_t] = []
    #expect(
      eventually {
        second = ProcessTable.guardians(variable)
        return second.count == 1 && second != first
      })
    // The end of a job looks for what it has left, and opdash has adopted the new guardian.
    try place.write("", to: "go")
    #expect(eventually { ProcessTable.sleepers(marker) == 1 })
    #expect(ProcessTable.guardians(variable) == second)
    kill(run.child.pid, SIGTERM)
    #expect(run.ending() == .signalled(SIGTERM))
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  @Test func aKilledGuardianIsReplaced() throws {
    let run = try place.start("run", "nap.yml")
    #expect(eventually { ProcessTable.sleepers(marker) == 1 })
    let variable = "HOME=\(place.folder.url.path)"
    var known: [pid_t] = []
    for _ in 0...3 {
      for guardian in known { kill(guardian, SIGKILL) }
      let before = known
      #expect(
        eventually {
          known = ProcessTable.guardians(variable)
          return known.count == 1 && known != before
        })
    }
    kill(run.child.pid, SIGKILL)
    #expect(run.ending() == .signalled(SIGKILL))
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
    #expect(eventually { ProcessTable.guardians(variable).isEmpty })
  }
}
