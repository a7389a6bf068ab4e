import Foundation
import Support
import Testing

@testable import Processes

struct ChildStatusTests {
  @Test func anEndIsSeenUntilTheChildIsReaped() throws {
    let child = try Support.ChildProcess(["/bin/sh", "-c", "exit 3"])
    #expect(eventually { ChildStatus.exit(of: child.pid) == .exited(3) })
    #expect(ChildStatus.exit(of: child.pid) == .exited(3))
    ChildStatus.reap(child.pid)
    // Other code may have reaped it.
    #expect(ChildStatus.exit(of: child.pid) == .exited(-1))
  }

  // In another process: the action of a signal is the whole process's.

  @Test func anIgnoredSignalOfEndedChildrenCostsNoStatus() {
    let launch = ProcessLaunch(["env", "--ignore-signal=CHLD", Shell.probe, "run", "exit 3", "kill -9 $$"])
    let shell = Shell(launch).run()
    #expect(shell.text().split(separator: "\n").sorted() == ["exited(3)", "signalled(9)"])
  }

  @Test(arguments: [
    ("ignored", "exited(3) by default"), ("unwaited", "exited(3) by default"),
    ("unwaited-handler", "exited(3) handled"), ("handler", "exited(3) handled"),
  ])
  func anActionThatDiscardsStatusesIsReplaced(_ action: String, _ said: String) {
    let shell = Shell(ProcessLaunch([Shell.probe, "discard", action])).run()
    #expect(shell.text() == said + "\n", "\(shell.text(.stderr))")
  }

  @Test func aStopIsToldOnceAndALivingChildHasNoEnd() throws {
    let child = try Support.ChildProcess(["sleep", "3600"])
    #expect(ChildStatus.exit(of: child.pid) == nil)
    #expect(ChildStatus.stop(of: child.pid) == nil)
    kill(child.pid, SIGSTOP)
    #expect(eventually { ChildStatus.stop(of: child.pid) == SIGSTOP })
    #expect(ChildStatus.stop(of: child.pid) == nil)
    kill(child.pid, SIGCONT)
    #expect(eventually { ChildStatus.stop(of: child.pid) == 0 })
    kill(child.pid, SIGKILL)
    #expect(eventually { ChildStatus.exit(of: child.pid) == .signalled(SIGKILL) })
    _ = child.ending(waiting: true)
  }
}
