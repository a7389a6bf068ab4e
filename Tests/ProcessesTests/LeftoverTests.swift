import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// No child process outlives its job.
@Suite struct LeftoverTests {
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
  func whatTheLeaderLeavesIsEnded(script: String) {
    let marker = System.marker()
    let shell = Shell(script.replacingOccurrences(of: "%", with: marker), grace: .milliseconds(100)).run()
    #expect(shell.exit == .exited(3))
    #expect(System.processes(with: marker).isEmpty)
  }

  @Test func whatHidInEveryWayIsEnded() {
    let marker = System.marker()
    let script = "env -i setsid sleep \(marker) >/dev/null 2>&1 & sleep 0.02; exit 3"
    // Only a program that adopts orphans can know; the tests' own would take in those of the others.
    let shell = Shell(ProcessLaunch([System.probe, "run", script])).start()
    #expect(shell.says("exited(3)\n"))
    #expect(System.processes(with: "sleep\0\(marker)").isEmpty)
  }

  @Test func theLastWordsOfWhatTheLeaderLeftAreHeard() {
    // It has little time to say them, and a loaded machine may give that to others.
    let isHeard = (0..<10).contains { _ in
      let shell = Shell("(sleep 0.05; echo last words) & exit 0").run()
      #expect(shell.exit == .exited(0))
      return shell.text() == "last words\n"
    }
    #expect(isHeard)
  }

  @Test func cancellingEndsWhatLeftTheSession() {
    let marker = System.marker()
    let shell = Shell("setsid setsid sleep \(marker) >/dev/null 2>&1 & echo up; exec sleep \(marker)").start()
    #expect(shell.says("up"))
    #expect(eventually { System.processes(with: "sleep\0\(marker)").count == 2 })
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(System.processes(with: marker).isEmpty)
  }

  @Test func nothingOfAChainThatForksAndExitsSlipsThroughALook() {
    // Each link ends as soon as it has started the next, so that a look which counts the last one may miss its successor.
    let link = "setsid sh -c 'setsid sh -c \"setsid setsid sleep $0 & exit\" $0 & exit' $0"
    for round in 0..<40 {
      let marker = System.marker()
      let script =
        link.replacingOccurrences(of: "$0", with: marker) + " >/dev/null 2>&1 & echo up; exec sleep \(marker)"
      let shell = Shell(script).start()
      #expect(shell.says("up"))
      for _ in 0..<round % 8 { _ = poll(nil, 0, 1) }  // at another link each time
      shell.operation.cancel()
      #expect(shell.isOver())
      #expect(System.processes(with: marker).isEmpty, "round \(round)")
    }
  }

  @Test func pausingStopsWhatLeftTheSession() {
    let marker = System.marker()
    let shell = Shell("setsid sleep \(marker) & echo up; wait").start()
    #expect(shell.says("up"))
    #expect(eventually { System.processes(with: "sleep\0\(marker)").count == 1 })
    shell.operation.pause()
    #expect(eventually { System.processes(with: marker).allSatisfy { System.isStopped($0) } })
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(System.processes(with: marker).isEmpty)
  }

  @Test func aJobLeavesItsNeighboursAlone() {
    let marker = System.marker()
    let neighbour = Shell("setsid sleep \(marker) & echo up; wait").start()
    #expect(neighbour.says("up"))
    #expect(eventually { System.processes(with: "sleep\0\(marker)").count == 1 })
    let other = Shell("setsid sleep 1\(marker) & exit 0").run()
    #expect(other.exit == .exited(0))
    #expect(System.processes(with: "sleep\01\(marker)").isEmpty)
    #expect(System.processes(with: "sleep\0\(marker)").count == 1)
    neighbour.operation.cancel()
    #expect(neighbour.isOver())
  }

  @Test func afterManyProcessesNeitherDescriptorsNorZombiesAreLeft() {
    let shell = Shell(ProcessLaunch([System.probe, "many", "1000"])).start()
    #expect(shell.isOver(within: 120))
    let words = shell.text().split { " \n".contains($0) }
    #expect(words.count == 6, "\(shell.text()) \(shell.text(.stderr))")
    guard words.count == 6 else { return }
    #expect(words[1] == words[3])
    #expect(words[5] == "false")
  }
}
