import Foundation
import Operations
import Support
import Testing

@testable import Processes

@Suite struct CancellationTests {
  @Test func cancellingSendsTheStopSignalToTheWholeGroup() {
    let marker = ProcessTable.marker()
    let shell = Shell("sleep \(marker) & sleep \(marker) & echo up; wait").start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGTERM))
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func whatWasPausedAndCancelledStartsNothingWhenResumed() {
    let operation = ShellOperation(ProcessLaunch(script: "true"))
    operation.pause()
    operation.start()
    operation.cancel()
    #expect(operation.isFinished)
    operation.resume()
    #expect(operation.processIdentifier == nil)
  }

  @Test func aProcessThatCleansUpGetsTheStopSignalOnce() {
    // The leader obeys it at once; the other one needs some scans' time.
    let shell = Shell(
      "(trap 'echo got' TERM; echo up; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo done) & wait"
    ).start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGTERM))
    #expect(shell.text().split(separator: "\n") == ["up", "got", "done"])
  }

  @Test func aStopSignalRightAfterTheStartIsNotLost() {
    for _ in 0..<100 {
      let shell = Shell("exec sleep \(ProcessTable.marker())").start()
      #expect(eventually { shell.pid != 0 })
      shell.operation.cancel()
      #expect(shell.isOver())
      #expect(shell.exit == .signalled(SIGTERM))
    }
  }

  /// Cancels a script that ignores SIGTERM, with its descendants, and expects that all of them are killed.
  private func expectKill(_ descendant: String, grace: Duration, _ kill: (ShellOperation) -> Void = { _ in }) {
    let marker = ProcessTable.marker()
    let script = "trap '' TERM; \(descendant) \(marker) & echo up; while :; do sleep \(marker); done"
    let shell = Shell(script, grace: grace).start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    kill(shell.operation)
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGKILL))
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func processesThatIgnoreTheStopSignalAreKilledAfterTheGrace() {
    expectKill("sleep", grace: .milliseconds(50))
  }

  @Test func killingDoesNotWaitForTheGrace() {
    expectKill("setsid sleep", grace: ProcessLaunch.endlessGrace) { $0.kill() }
  }

  @Test func theStopSignalCanBeChosen() {
    let shell = Shell(
      ProcessLaunch(
        script: "trap 'exit 9' INT; echo up; while :; do sleep 0.01; done", stopSignal: SIGINT,
        grace: ProcessLaunch.endlessGrace)
    ).start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(9))
  }

  @Test func aProcessThatEndsWithinTheGraceIsNotKilled() {
    let shell = Shell("trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.01; done").start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(4))
    #expect(shell.text().hasSuffix("bye\n"))
  }

  @Test func anOperationCancelledBeforeItsStartLaunchesNothing() {
    let shell = Shell("echo never")
    shell.operation.cancel()
    _ = shell.run()
    #expect(shell.operation.isFinished)
    #expect(shell.pid == 0)
    #expect(shell.exit == nil)
  }

  @Test func pausingStopsTheGroupAndResumingContinuesIt() {
    let shell = Shell("echo up; sleep 600").start()
    #expect(shell.says("up"))
    shell.operation.pause()
    #expect(eventually { ProcessTable.isStopped(shell.pid) })
    shell.operation.resume()
    #expect(eventually { !ProcessTable.isStopped(shell.pid) })
    shell.operation.cancel()
    #expect(shell.isOver())
  }

  @Test func cancellingWhilePausedReachesTheProcess() {
    let shell = Shell("trap 'exit 6' TERM; echo up; while :; do sleep 0.01; done").start()
    #expect(shell.says("up"))
    shell.operation.pause()
    #expect(eventually { ProcessTable.isStopped(shell.pid) })
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(6))
  }

  @Test func killingWhilePausedEndsIt() {
    let shell = Shell("echo up; sleep 600").start()
    #expect(shell.says("up"))
    shell.operation.pause()
    #expect(eventually { ProcessTable.isStopped(shell.pid) })
    shell.operation.kill()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGKILL))
  }

  @Test func cancellingAtAnyMomentEndsEverything() {
    let marker = ProcessTable.marker()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    for round in 0..<1500 {
      // Some end at once, some never by themselves.
      let script = round % 3 == 0 ? "sleep \(marker)" : round % 3 == 1 ? "exit 0" : "sleep \(marker) & exit 1"
      let operation = ShellOperation(
        ProcessLaunch(script: script, grace: .milliseconds(20)), output: .chunks { $1() }, error: .chunks { $1() })
      queue.addOperation(operation)
      let delay = UInt32.random(in: 0..<3000)
      DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(Int(delay))) {
        switch round % 5 {
        case 0: operation.kill()
        case 1:
          operation.pause()
          operation.cancel()
        default: operation.cancel()
        }
        operation.cancel()
      }
    }
    #expect(eventually { queue.operationCount == 0 })
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }
}
