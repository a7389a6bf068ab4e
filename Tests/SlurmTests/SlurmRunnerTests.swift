import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// Calls of programs that stand in for Slurm's.
@Suite struct SlurmRunnerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func answer(
    _ script: String, _ command: SlurmCommand = SlurmCommand(["squeue", "a b"]), limit: Duration = .seconds(3600)
  ) throws -> SlurmAnswer? {
    try folder.addProgram("squeue", "#!/bin/sh\n\(script)\n")
    let runner = SystemSlurmRunner(environment: ["PATH": "\(folder.url.path()):/usr/bin:/bin"], limit: limit)
    let answer = Lock<SlurmAnswer?>(nil)
    runner.run(command) { given in answer.withLock { $0 = given } }
    _ = eventually { answer.withLock { $0 != nil } }
    return answer.withLock(\.self)
  }

  @Test func aCallGivesOutputErrorAndStatus() throws {
    let answer = try answer("echo \"$1\"; cat; echo no >&2; exit 3", SlurmCommand(["squeue", "a b"], input: "in"))
    #expect(answer == SlurmAnswer(.exited(3), output: "a b\nin", error: "no\n"))
  }

  @Test func aJobDoesNotGetTheMarkOfThisProgramsProcesses() throws {
    let answer = try answer("echo \"${OPDASH_RUN-none}\"")
    #expect(answer?.output == "none\n")
  }

  @Test func aCallThatTakesTooLongIsKilled() throws {
    var limit = Duration.milliseconds(250)
    var answer: SlurmAnswer?
    // Until the program has come as far as its first words.
    repeat {
      limit *= 2
      answer = try self.answer("echo waiting >&2; sleep 600", limit: limit)
      #expect(answer?.end == .timedOut)
    } while answer?.error.isEmpty == true && limit < .seconds(Patience.seconds)
    #expect(answer?.error == "waiting\n")
    #expect(answer?.isWithoutController == true)
    #expect(answer?.fault == "the Slurm controller does not answer")
  }

  /// A controller that is busy answers late each time.
  @Test(arguments: [("squeue", true), ("sbatch", false)])
  func aQueryThatTookTooLongHasMoreTime(program: String, hasMore: Bool) throws {
    try folder.addProgram(program, "#!/bin/sh\nsleep 600\n")
    let runner = SystemSlurmRunner(
      environment: ["PATH": "\(folder.url.path()):/usr/bin:/bin"], limit: .milliseconds(100))
    #expect(runner.limit(of: program) == .milliseconds(100))
    for limit in [200, 400, 800, 800] as [Int64] {
      let answer = Lock<SlurmAnswer?>(nil)
      runner.run(SlurmCommand([program])) { given in answer.withLock { $0 = given } }
      #expect(eventually { answer.withLock { $0 != nil } })
      #expect(answer.withLock { $0?.end } == .timedOut)
      #expect(runner.limit(of: program) == .milliseconds(hasMore ? limit : 100))
    }
  }

  @Test func aProgramThatIsNotThereIsNamed() throws {
    let answer = try answer("true", SlurmCommand(["sno-such-program"]))
    #expect(answer?.end == .absent("sno-such-program: no such program in PATH: is Slurm installed here?"))
    #expect(answer?.isWithoutController == false)
  }

  @Test func aProgramThatIsKilledHasTheStatusOfAShell() throws {
    #expect(try answer("kill -9 $$")?.end == .exited(128 + SIGKILL))
  }

  @Test func aProgramThatCannotBeStartedIsNoAnswer() throws {
    let runner = SystemSlurmRunner(environment: ["PATH": folder.file("none").path()])
    let answer = Lock<SlurmAnswer?>(nil)
    runner.run(SlurmCommand(["squeue"])) { given in answer.withLock { $0 = given } }
    #expect(eventually { answer.withLock { $0 != nil } })
    let given = try #require(answer.withLock { $0 })
    #expect(given.fault.hasPrefix("squeue can't be started: "))
    #expect(given.isWithoutController)
  }

  @Test func aMachineWithoutSlurmSaysWhatIsMissing() {
    let missing = SystemSlurmRunner.missingPrograms()
    #expect(
      SystemSlurmRunner.absence()
        == (missing.isEmpty
          ? nil
          : "Slurm is not on this machine: there is no \(missing.joined(separator: ", ")) in PATH; "
            + "start the run on a login node of the cluster, or install Slurm's programs"))
  }
}
