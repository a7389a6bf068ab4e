import Foundation
import JobModel
import Processes
import Slurm
import Support
import Testing

@testable import JobEngine

@Suite struct LaunchTermsTests {
  private let admission = Admission(ticket: 1, job: JobID(4), attempt: 2, priority: .normal)

  @Test func aProgramGetsWhatItsJobSaysAndTheMarksOfItsAttempt() {
    var terms = LaunchTerms(run: "r", folder: "/run", secrets: ["s3cret"])
    let work = ShellWork(
      .argv(["make", "all"]), directory: "/src", environment: ["A": "1", "OPDASH_JOB": "mine"],
      stop: ShellWork.Stop(signal: SIGINT, grace: .seconds(9)))
    let launch = terms.launch(work, of: admission, named: "build")
    #expect(launch.outputPath == "/run/output.4.2")
    #expect(launch.program.arguments == ["make", "all"])
    #expect(launch.program.directory == "/src")
    #expect(launch.program.stopSignal == SIGINT)
    #expect(launch.program.grace == .seconds(9))
    #expect(launch.program.terminal == nil)
    #expect(launch.program.secrets?.masked("a s3cret") == "a ***")
    #expect(
      launch.program.environment
        == .inherited(adding: [
          "A": "1", "OPDASH_RUN": "r", "OPDASH_JOB": "build", "OPDASH_ATTEMPT": "2",
          "OPDASH_OUTPUT": "/run/output.4.2",
        ]))
  }

  @Test func aScriptIsTheLastWordOfItsShellAndATerminalHasItsSize() {
    var terms = LaunchTerms(run: "r", folder: "/run", secrets: [])
    var work = ShellWork(.script("make"), shell: ["bash", "-c"])
    work.hasTerminal = true
    let first = terms.launch(work, of: admission, named: "build").program
    #expect(first.arguments == ["bash", "-c", "make"])
    #expect(first.terminal == TerminalSize(columns: 80, rows: 24))
    #expect(first.secrets == nil)
    terms.terminalSize = TerminalSize(columns: 100, rows: 30)
    #expect(terms.launch(work, of: admission, named: "build").program.terminal == TerminalSize(columns: 100, rows: 30))
  }

  @Test func bothStreamsGoIntoOnePipeUnlessTheyAreApart() {
    var terms = LaunchTerms(run: "r", folder: "/run", secrets: [])
    #expect(terms.launch(ShellWork(.script("x")), of: admission, named: "a").program.mergesError)
    #expect(!terms.launch(ShellWork(.script("x"), stderr: .apart), of: admission, named: "a").program.mergesError)
  }

  @Test func aFolderOfItsOwnIsMadeForTheOwnerAndRemoved() throws {
    let run = UUID().uuidString
    let path = NSTemporaryDirectory() + "/opdash-\(run)"
    var terms = LaunchTerms(run: run, folder: nil, secrets: [])
    #expect(!FileManager.default.fileExists(atPath: path))
    let launch = terms.launch(ShellWork(.script("x")), of: admission, named: "a")
    #expect(launch.outputPath == path + "/output.4.2")
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
    terms.removeFolder()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func theFolderOfARunIsNeitherMadeNorRemoved() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("run").path()
    var terms = LaunchTerms(run: "r", folder: path, secrets: [])
    _ = terms.launch(ShellWork(.script("x")), of: admission, named: "a")
    #expect(!FileManager.default.fileExists(atPath: path))
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    terms.removeFolder()
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(terms.clusterFolder == path + "/cluster")
  }

  @Test func aProgramForTheClusterWritesItsValuesIntoTheSharedFolder() {
    var terms = LaunchTerms(run: "r", folder: "/run", secrets: ["s3cret"])
    let files = SlurmFiles(folder: "/shared")
    let identity = SlurmIdentity(run: "r", job: "build", attempt: 2)
    let cluster = ClusterTerms(
      name: "n", cpus: 1, memory: 2, gpus: 3, nodes: 4, time: .seconds(5), partition: "p", account: "a", qos: "q",
      constraint: "c", options: ["--exclusive"])
    let work = ShellWork(.script("make"), directory: "/src", environment: ["A": "1"])
    let launch = terms.clusterLaunch(work, cluster, of: admission, named: "build", identity: identity, files: files)
    #expect(launch.outputPath == "/shared/build.2.values")
    #expect(launch.job.identity == identity)
    #expect(launch.job.name == "build")
    #expect(launch.job.arguments == ["/bin/sh", "-e", "-c", "make"])
    #expect(launch.job.directory == "/src")
    #expect(
      launch.job.environment == [
        "A": "1", "OPDASH_RUN": "r", "OPDASH_JOB": "build", "OPDASH_ATTEMPT": "2",
        "OPDASH_OUTPUT": "/shared/build.2.values",
      ])
    #expect(
      launch.job.resources
        == SlurmResources(
          name: "n", cpus: 1, memory: 2, gpus: 3, nodes: 4, time: .seconds(5), partition: "p", account: "a",
          qos: "q", constraint: "c", options: ["--exclusive"]))
    #expect(launch.job.stop == SlurmJob.Stop())
    #expect(launch.job.secrets?.masked("s3cret") == "***")
    let plain = terms.clusterLaunch(
      ShellWork(.argv(["make", "x"])), ClusterTerms(), of: admission, named: "build", identity: identity, files: files)
    #expect(plain.job.arguments == ["make", "x"])
    #expect(plain.job.directory == FileManager.default.currentDirectoryPath)
  }
}
