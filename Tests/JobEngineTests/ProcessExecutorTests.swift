import Foundation
import JobModel
import Processes
import Support
import Testing

@testable import JobEngine

@Suite struct ProcessExecutorTests {
  private let admission = Admission(ticket: 1, job: JobID(4), attempt: 2, priority: .normal)

  @Test func aProgramGetsWhatItsJobSaysAndTheMarksOfItsAttempt() {
    let programs = ProcessExecutor(run: "r", folder: "/run", secrets: ["s3cret"])
    let work = ShellWork(
      .argv(["make", "all"]), directory: "/src", environment: ["A": "1", "OPDASH_JOB": "mine"],
      stop: ShellWork.Stop(signal: SIGINT, grace: .seconds(9)))
    let launch = programs.launch(work, of: admission, named: "build")
    #expect(launch.valuesPath == "/run/output.4.2")
    #expect(launch.program.arguments == ["make", "all"])
    #expect(launch.program.directory == "/src")
    #expect(launch.program.stopSignal == SIGINT)
    #expect(launch.program.grace == .seconds(9))
    #expect(launch.program.terminal == nil)
    #expect(launch.program.secrets?.masked("a s3cret") == "a ***")
    #expect(
      launch.program.environment
        == .inherited(
          adding: [
            "A": "1", "OPDASH_RUN": "r", "OPDASH_JOB": "build", "OPDASH_ATTEMPT": "2",
            "OPDASH_OUTPUT": "/run/output.4.2",
          ], removing: ["NOTIFY_SOCKET"]))
  }

  @Test func aScriptIsTheLastWordOfItsShellAndATerminalHasItsSize() {
    let programs = ProcessExecutor(run: "r", folder: "/run", secrets: [])
    var work = ShellWork(.script("make"), shell: ["bash", "-c"])
    work.hasTerminal = true
    let first = programs.launch(work, of: admission, named: "build").program
    #expect(first.arguments == ["bash", "-c", "make"])
    #expect(first.terminal == TerminalSize(columns: 80, rows: 24))
    #expect(first.secrets == nil)
    programs.terminalSize = TerminalSize(columns: 100, rows: 30)
    let second = programs.launch(work, of: admission, named: "build").program
    #expect(second.terminal == TerminalSize(columns: 100, rows: 30))
  }

  @Test func bothStreamsGoIntoOnePipeUnlessTheyAreApart() {
    let programs = ProcessExecutor(run: "r", folder: "/run", secrets: [])
    #expect(programs.launch(ShellWork(.script("x")), of: admission, named: "a").program.mergesError)
    #expect(!programs.launch(ShellWork(.script("x"), stderr: .apart), of: admission, named: "a").program.mergesError)
  }

  @Test func aFolderOfItsOwnIsMadeForTheOwnerAndRemoved() throws {
    let run = UUID().uuidString
    let path = NSTemporaryDirectory() + "/opdash-\(run)"
    let programs = ProcessExecutor(run: run, folder: nil, secrets: [])
    #expect(!FileManager.default.fileExists(atPath: path))
    let launch = programs.launch(ShellWork(.script("x")), of: admission, named: "a")
    #expect(launch.valuesPath == path + "/output.4.2")
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
    programs.removeFolder()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func theFolderOfARunIsNeitherMadeNorRemoved() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("run").path()
    let programs = ProcessExecutor(run: "r", folder: path, secrets: [])
    _ = programs.launch(ShellWork(.script("x")), of: admission, named: "a")
    #expect(!FileManager.default.fileExists(atPath: path))
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    programs.removeFolder()
    #expect(FileManager.default.fileExists(atPath: path))
  }
}
