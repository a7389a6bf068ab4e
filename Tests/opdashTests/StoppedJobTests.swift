import Foundation
import Support
import Testing

/// A job whose program is stopped by a signal, in the built program, whose children are all its jobs.
struct StoppedJobTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aProgramThatStopsItselfIsPausedWithANoteAndContinues() throws {
    let script = "echo $$ > pid; kill -STOP $$; until [ -e go ]; do sleep 0.01; done"
    try Data("jobs: { a: { run: '\(script)' } }".utf8).write(to: folder.file("a.yml"))
    let output = open(folder.file("output").path(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(output) }
    let program = try ChildProcess(
      [
        Built.product("opdash"), "run", folder.file("a.yml").path(), "--ui", "plain", "--state",
        folder.file("state").path(),
      ], descriptors: [0, output, output])
    func said() -> String { (try? String(contentsOf: folder.file("output"), encoding: .utf8)) ?? "" }

    #expect(eventually { said().contains("paused\n") }, "\(said())")
    #expect(eventually { said().contains("a : the program was stopped by SIGSTOP: resuming the job continues it\n") })
    let pid = Int32(try String(contentsOf: folder.file("pid"), encoding: .utf8).dropLast())
    #expect(kill(try #require(pid), SIGCONT) == 0)
    #expect(eventually { said().contains("resumed\n") }, "\(said())")
    #expect(eventually { said().contains("a : the program continues\n") })
    try Data().write(to: folder.file("go"))
    var ending: ChildProcess.Ending?
    #expect(
      eventually {
        ending = ending ?? program.ending()
        return ending != nil
      })
    if ending == nil { kill(program.pid, SIGKILL) }
    #expect(ending == .exited(0))
  }
}
