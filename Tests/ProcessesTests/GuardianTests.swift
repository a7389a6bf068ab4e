import CProcess
import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// The probe is not started by the supervisor of this process, so that its own guardian ends its jobs.
@Suite struct GuardianTests {
  private static let scripts = [
    "sleep %",
    "sleep % & sleep % & wait",
    "trap '' TERM HUP INT; while :; do sleep %; done",
    "setsid sleep % & wait",
    "setsid sh -c 'trap \"\" TERM; setsid sleep % >/dev/null 2>&1 & exit' & sleep %",
    "set -m; sleep % & wait",
  ]

  private func probe(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Shell.probe)
    process.arguments = arguments
    // Without the backtrace of a crash, which takes longer than the test.
    process.environment = ProcessInfo.processInfo.environment.merging(FaultHandling.environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }

  @Test(arguments: [SIGKILL, SIGTERM, SIGABRT, SIGSEGV])
  func noProcessOutlivesAKilledProgram(signal: Int32) throws {
    let marker = ProcessTable.marker()
    let scripts = Self.scripts.map { $0.replacingOccurrences(of: "%", with: marker) }
    let (process, _) = try probe(["run"] + scripts)
    #expect(eventually { ProcessTable.processes(with: "sleep\0\(marker)").count == 8 })
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  /// The sanitizer may call a handler while the thread holds a lock that the handler needs.
  @Test(
    .enabled(if: !FaultHandling.isThreadSanitized, "the thread sanitizer delays signals"),
    arguments: [SIGQUIT, SIGSEGV, SIGABRT, SIGBUS, SIGUSR1, SIGALRM, SIGXCPU, SIGTERM])
  func noAdoptedProcessOutlivesASignal(signal: Int32) throws {
    let marker = ProcessTable.marker()
    // Out of the session, without the cookie, and its parent has ended.
    let (process, _) = try probe(["run", "(setsid env -i sleep \(marker) >/dev/null 2>&1 &); exec sleep \(marker)"])
    #expect(eventually { ProcessTable.processes(with: "sleep\0\(marker)").count == 2 })
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
    #expect(ProcessTable.processes(with: "sleep\0\(marker)").isEmpty)
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func aProgramsOlderChildOutlivesIt(signal: Int32) throws {
    let (mine, marker) = (ProcessTable.marker(), ProcessTable.marker())
    let (process, _) = try probe(["run-own", mine, "(setsid sleep \(marker) &); exec sleep \(marker)"])
    #expect(eventually { ProcessTable.sleepers(marker) == 2 })
    kill(process.processIdentifier, signal)
    // Foundation waits for the child too, which inherits a socket.
    #expect(eventually { !ProcessTable.isAlive(process.processIdentifier) && ProcessTable.sleepers(marker) == 0 })
    let children = ProcessTable.processes(with: "sleep\0\(mine)")
    #expect(children.count == 1)
    for child in children { kill(child, SIGKILL) }
  }

  @Test func aReplacedGuardianThatIsKilledIsReaped() async {
    await #expect(processExitsWith: .success) {
      ProcessSupervisor.shared.start()
      // The first one is no child of its program.
      for _ in 0..<2 {
        let killed = cprocess_guardian()
        guard killed > 0, kill(killed, SIGKILL) == 0 else { exit(EXIT_FAILURE) }
        guard eventually({ ![0, killed].contains(cprocess_guardian()) }) else { exit(EXIT_FAILURE) }
      }
      guard eventually({ ChildStatus.endedChild() == nil }) else { exit(EXIT_FAILURE) }
    }
  }

  @Test func endAllLeavesNoProcess() throws {
    for script in Self.scripts {
      let marker = ProcessTable.marker()
      let (process, output) = try probe(["end", "echo up; " + script.replacingOccurrences(of: "%", with: marker)])
      // The pipe ends only if the guardian has closed it.
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      #expect(text == "all gone\n")
      #expect(ProcessTable.processes(with: "sleep\0\(marker)").isEmpty)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
  }

  @Test func endAllLetsAProgramEndItsWorkElsewhere() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("told").path()
    let script = "trap 'echo told >\(file); exit' TERM; echo up; while :; do sleep 0.02; done"
    let (process, output) = try probe(["end-remote", script])
    #expect(String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "all gone\n")
    process.waitUntilExit()
    #expect(ProcessTable.text(file) == "told\n")
  }
}
