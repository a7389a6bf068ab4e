import Foundation
import Operations
import Support
import Testing

@testable import Processes

@Suite struct CancellationTests {
  @Test func cancellingAsksTheWholeGroupToEnd() {
    let marker = System.marker()
    let shell = Shell("sleep \(marker) & sleep \(marker) & echo up; wait").start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGTERM))
    #expect(System.processes(with: marker).isEmpty)
  }

  @Test func aStopSignalSentBeforeTheProgramHasBegunIsNotLost() {
    for _ in 0..<100 {
      let shell = Shell("exec sleep \(System.marker())", grace: .seconds(60)).start()
      #expect(eventually { shell.pid != 0 })
      shell.operation.cancel()
      #expect(shell.isOver())
      #expect(shell.exit == .signalled(SIGTERM))
    }
  }

  @Test func whatIgnoresTheStopSignalIsKilledAfterTheGrace() {
    let marker = System.marker()
    let shell = Shell(
      "trap '' TERM; sleep \(marker) & echo up; while :; do sleep \(marker); done", grace: .milliseconds(50)
    )
    .start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGKILL))
    #expect(System.processes(with: marker).isEmpty)
  }

  @Test func theStopSignalCanBeAnother() {
    let shell = Shell(
      ProcessLaunch(script: "trap 'exit 9' INT; echo up; while :; do sleep 0.01; done", stopSignal: SIGINT)
    )
    .start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(9))
  }

  @Test func whatEndsInItsOwnWayInTheGraceIsNotKilled() {
    let shell = Shell("trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.01; done").start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(4))
    #expect(shell.text().hasSuffix("bye\n"))
  }

  @Test func cancelledBeforeItsStartItNeverLaunches() {
    let shell = Shell("echo never")
    shell.operation.cancel()
    _ = shell.run()
    #expect(shell.operation.isFinished)
    #expect(shell.pid == 0)
    #expect(shell.exit == nil)
  }

  @Test func killingDoesNotWaitForTheGrace() {
    let marker = System.marker()
    let shell = Shell(
      "trap '' TERM; setsid sleep \(marker) & echo up; while :; do sleep \(marker); done", grace: .seconds(600)
    )
    .start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    shell.operation.kill()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGKILL))
    #expect(System.processes(with: marker).isEmpty)
  }

  @Test func pausingStopsTheGroupAndResumingLetsItGoOn() {
    let shell = Shell("echo up; sleep 600").start()
    #expect(shell.says("up"))
    shell.operation.pause()
    #expect(eventually { System.isStopped(shell.pid) })
    shell.operation.resume()
    #expect(eventually { !System.isStopped(shell.pid) })
    shell.operation.cancel()
    #expect(shell.isOver())
  }

  @Test func cancellingWhilePausedReachesTheProcess() {
    let shell = Shell("trap 'exit 6' TERM; echo up; while :; do sleep 0.01; done", grace: .seconds(600)).start()
    #expect(shell.says("up"))
    shell.operation.pause()
    #expect(eventually { System.isStopped(shell.pid) })
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(6))
  }

  @Test func killingWhilePausedEndsIt() {
    let shell = Shell("echo up; sleep 600").start()
    #expect(shell.says("up"))
    shell.operation.pause()
    #expect(eventually { System.isStopped(shell.pid) })
    shell.operation.kill()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGKILL))
  }

  @Test func cancellingAtAnyMomentEndsEverything() {
    let marker = System.marker()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    for round in 0..<1500 {
      // Some end at once, some never do by themselves.
      let script = round % 3 == 0 ? "sleep \(marker)" : round % 3 == 1 ? "exit 0" : "sleep \(marker) & exit 1"
      let operation = ShellOperation(ProcessLaunch(script: script, grace: .milliseconds(20))) { _, _, consumed in
        consumed()
      }
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
    #expect(eventually(within: 120) { queue.operationCount == 0 })
    #expect(System.processes(with: marker).isEmpty)
  }
}
