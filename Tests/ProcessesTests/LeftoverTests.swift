import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// No descendant process outlives its operation.
@Suite struct LeftoverTests {
  /// Starts a script, in which each % is a marker, and waits until it has written "up" and so many of it sleep.
  private func start(_ script: String, sleepers: Int) -> (shell: Shell, marker: String) {
    let marker = ProcessTable.marker()
    let shell = Shell(script.replacingOccurrences(of: "%", with: marker)).start()
    #expect(shell.says("up"))
    #expect(eventually { ProcessTable.processes(with: "sleep\0\(marker)").count == sleepers })
    return (shell, marker)
  }

  @Test(arguments: [
    "sleep % & exit 3",  // holds the output
    "sleep % >/dev/null 2>&1 & exit 3",
    "set -m; sleep % & exit 3",  // a group of its own
    "setsid sleep % & exit 3",
    "setsid sleep % >/dev/null 2>&1 & exit 3",
    "setsid sh -c 'setsid sleep % >/dev/null 2>&1 & exit' & sleep 0.05; exit 3",  // a daemon
    "trap '' TERM; setsid sleep % & exit 3",  // ignores the stop signal
    "(trap '' TERM; while :; do sleep %; done) & exit 3",
  ])
  func descendantsThatOutliveTheLeaderAreEnded(script: String) {
    let marker = ProcessTable.marker()
    let shell = Shell(script.replacingOccurrences(of: "%", with: marker), grace: .milliseconds(100)).run()
    #expect(shell.exit == .exited(3))
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func anOrphanWithoutSessionAndCookieIsEnded() {
    let marker = ProcessTable.marker()
    let script = "env -i setsid sleep \(marker) >/dev/null 2>&1 & sleep 0.02; exit 3"
    // In the probe, because only a program that adopts orphans can find it, and the tests' process must not adopt.
    let shell = Shell(ProcessLaunch([Shell.probe, "run", script])).start()
    #expect(shell.says("exited(3)\n"))
    #expect(ProcessTable.processes(with: "sleep\0\(marker)").isEmpty)
  }

  @Test func outputOfDescendantsAfterTheLeadersEndIsDelivered() {
    // The time for it is short, and a loaded machine may give that to other processes.
    let isDelivered = eventually {
      let shell = Shell("(while [ -e /proc/$$/exe ]; do :; done; echo last words) & exit 0").run()
      #expect(shell.exit == .exited(0))
      return shell.text() == "last words\n"
    }
    #expect(isDelivered)
  }

  @Test func cancellingEndsProcessesThatHaveLeftTheSession() {
    let (shell, marker) = start("setsid setsid sleep % >/dev/null 2>&1 & echo up; exec sleep %", sleepers: 2)
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func noScanMissesAChainOfProcessesThatForkAndExit() {
    // With process numbers of its own where this user may have them: it has them wrap around, and a process that another
    // test starts then would be missed.
    let script = """
      unshare --pid --fork --mount-proc true 2>/dev/null || exec "$0" chain 40
      exec unshare --pid --fork --kill-child --mount-proc sh -c '"$0" chain 40; exit $?' "$0"
      """
    let shell = Shell(ProcessLaunch(["sh", "-c", script, Shell.probe])).start()
    #expect(shell.isOver())
    #expect(shell.text() == "left in []\n", "\(shell.text(.stderr))")
  }

  @Test func pausingStopsProcessesThatHaveLeftTheSession() {
    let (shell, marker) = start("setsid sleep % & echo up; wait", sleepers: 1)
    shell.operation.pause()
    #expect(eventually { ProcessTable.processes(with: marker).allSatisfy { ProcessTable.isStopped($0) } })
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func theEndOfALaunchDoesNotAffectAnother() {
    let (neighbour, marker) = start("setsid sleep % & echo up; wait", sleepers: 1)
    let other = Shell("setsid sleep 1\(marker) & exit 0").run()
    #expect(other.exit == .exited(0))
    #expect(ProcessTable.processes(with: "sleep\01\(marker)").isEmpty)
    #expect(ProcessTable.processes(with: "sleep\0\(marker)").count == 1)
    neighbour.operation.cancel()
    #expect(neighbour.isOver())
  }

  // MARK: What the program itself has started in a session of its own

  @Test func aProgramsOlderChildSurvivesItsJobs() {
    let shell = Shell(ProcessLaunch([Shell.probe, "own"])).run()
    #expect(
      shell.text() == """
        job paused: untouched
        job cancelled: untouched
        job ended: untouched
        child killed: signalled(9)
        all ended: untouched

        """, "\(shell.text(.stderr))")
  }

  @Test func manyProcessesLeaveNeitherDescriptorsNorZombies() {
    let shell = Shell(ProcessLaunch([Shell.probe, "many", "1000"])).start()
    #expect(shell.isOver())
    let words = shell.text().split { " \n".contains($0) }
    #expect(words.count == 6, "\(shell.text()) \(shell.text(.stderr))")
    guard words.count == 6 else { return }
    #expect(words[1] == words[3])
    #expect(words[5] == "false")
  }

  @Test(arguments: [
    ("exit 0", "all gone without a look"),
    // Of a session of its own, without its environment.
    ("env -i setsid sleep MARK >/dev/null 2>&1 & exit 0", "all gone"),
  ])
  func whereNothingIsLeftNobodyLooksForIt(_ script: String, _ said: String) {
    let marker = ProcessTable.marker()
    let shell = Shell(ProcessLaunch([Shell.probe, "over", script.replacing("MARK", with: marker)])).start()
    #expect(shell.isOver())
    #expect(shell.text().hasPrefix(said), "\(shell.text()) \(shell.text(.stderr))")
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }
}
