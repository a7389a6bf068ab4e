import Foundation
import JobFiles
import JobModel
import Screen
import Support
import Testing

@testable import Session
@testable import opdash

/// What the program prints for each command that starts nothing.
@Suite @MainActor struct ProgramTests {
  private let world = ProgramWorld()

  @Test func helpAndVersionGoToStandardOutput() {
    world.perform("--version")
    #expect(world.output.text == Version.text + "\n")
    #expect(world.errors.text == "")
    #expect(world.statuses == [0])
  }

  @Test(arguments: [
    ("run a.yml", 1), ("get http://h/f", 1), ("resume", 1), ("replay last", 1), ("attach 1", 1), ("ps", 0),
    ("run -n a.yml", 0), ("check a.yml", 0),
    ("list", 0), ("--version", 0), ("help run", 0), ("demo", 0), ("run --slot 3", 0),
  ])
  func aGuardianIsStartedForWhatExecutesJobsOrShowsThem(_ line: String, _ count: Int) {
    world.perform(line)
    #expect(world.supervisions == count)
  }

  @Test func badUsageIsOneLineOnStandardErrorAndStatusTwo() {
    world.perform("run a.yml --slot 3")
    #expect(world.errors.text == "opdash: unknown option '--slot': did you mean '--slots'? See opdash run --help\n")
    #expect(world.output.text == "")
    #expect(world.statuses == [2])
  }

  @Test func checkTellsFaultsOnStandardOutput() {
    world.loaded = .failure(Faults(lines: ["a.yml:1:2: one", "a.yml:3:4: two"]))
    world.perform("check dir/a.yml")
    #expect(world.output.text == "a.yml:1:2: one\na.yml:3:4: two\n")
    #expect(world.statuses == [2])
  }

  @Test func aFaultIsFollowedByItsLineAndAMark() {
    world.text = "jobs:\n  a: { rnu: ls }\n"
    world.perform("check a.yml")
    #expect(
      world.output.text
        == "a.yml:2:8: unknown key 'rnu': did you mean 'run'?\n    2 |   a: { rnu: ls }\n      |        ^~~\n")
    #expect(world.statuses == [2])
  }

  @Test func aWarningLeavesAFileGood() {
    world.text = "vars: { ver: 1 }\njobs: { a: { run: 'echo ${vre}' } }\n"
    let warning =
      "a.yml:2:25: warning: '${vre}' is left to the shell, which doesn't know it: did you mean '${ver}'?\n"
      + "    2 | jobs: { a: { run: 'echo ${vre}' } }\n      |                         ^~~~~~\n"
    world.perform("check a.yml")
    #expect(world.output.text == warning + "a.yml: 1 job, no faults, 1 warning\n")
    #expect(world.errors.text == "")
    #expect(world.statuses == [0])
    world.perform("run a.yml")
    #expect(world.errors.text.hasPrefix(warning))
    #expect(world.graph?.jobs.count == 1)
  }

  @Test func checkOfAGoodFileSaysHowManyJobs() {
    world.perform("check dir/a.yml")
    #expect(world.output.text == "a.yml: 1 job, no faults\n")
    #expect(world.statuses == [0])
  }

  @Test(arguments: [
    ("run a.yml --\u{1B}[31m", #"opdash: unknown option '--\u{1B}[31m'; see opdash run --help"#),
    ("\u{9B}2J", #"opdash: unknown command '\u{009B}2J'; see opdash --help"#),
    ("run a.yml b\ro\u{202E}b", #"opdash: a.yml has no job 'b\ro\u{202E}b'"#),
    ("get http:\u{1B}]0;x\u{7}", #"'http:\u{1B}]0;x\u{07}' is no URL to download: write http://… or https://…"#),
  ])
  func nothingInAMessageIsObeyedByATerminal(_ line: String, _ message: String) {
    world.perform(line)
    #expect(world.errors.text == message + "\n")
    #expect(world.statuses == [2])
  }

  @Test func nothingInAFaultIsObeyedByATerminal() {
    world.loaded = .failure(Faults(lines: ["\u{1B}c.yml:1:2: one\rok"]))
    world.perform("check \u{1B}c.yml")
    #expect(world.output.text == #"\u{1B}c.yml:1:2: one\rok"# + "\n")
  }

  @Test func keysPrintsEveryActionAndMarksTheChanged() {
    world.own { $0.keys = ["kill": [.character("x"), .control("k")], "log": []] }
    world.perform("keys")
    let lines = world.output.text.split(separator: "\n").map(String.init)
    #expect(lines.contains("* x ^K       kill              kill now, without grace"))
    #expect(lines.contains("* F9         cancel            cancel"))
    #expect(lines.contains("* none       log               log: half, full, off"))
    #expect(lines.contains("  q F10      quit              quit; asks while jobs run"))
    #expect(lines.last == "* changed by /h/.config/opdash/config.yaml")
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(world.statuses == [0])
  }

  @Test func faultySettingsStartNothing() {
    world.settings = .failure(Faults(lines: ["c.yaml:1:2: one", "c.yaml:3:4: two"]))
    for line in ["run a.yml", "get http://a/x", "demo diamond", "keys"] { world.perform(line) }
    #expect(world.errors.text == String(repeating: "c.yaml:1:2: one\nc.yaml:3:4: two\n", count: 4))
    #expect(world.output.text == "")
    #expect(world.graph == nil)
    #expect(world.statuses == [2, 2, 2, 2])
  }

  @Test func theScenariosAreListedOnStandardOutput() {
    world.perform("demo")
    #expect(world.output.text.contains("collect              content creation"))
    #expect(world.statuses == [0])
  }

  @Test func jobsAreListedWithTheirWork() {
    world.perform("list a.yml")
    #expect(world.output.text == "job0  simulate 0s\n")
    #expect(world.path == "a.yml")
    #expect(world.statuses == [0])
  }

  @Test func aGraphIsPrintedAndItsFaultsAreThoseOfTheFile() {
    world.perform("graph a.yml")
    #expect(world.output.text == "g: 1 job, 0 needs\njob0  simulate\n")
    world.perform("graph a.yml job0 --format mermaid")
    #expect(world.output.text.hasSuffix("flowchart LR\n  j0(\"job0\")\n"))
    #expect(world.statuses == [0, 0])
    world.perform("graph a.yml jbo0")
    #expect(world.errors.text == "opdash: a.yml has no job 'jbo0': did you mean 'job0'?\n")
    world.loaded = .failure(Faults(lines: ["a.yml:1:2: one"]))
    world.perform("graph a.yml")
    #expect(world.errors.text.hasSuffix("\na.yml:1:2: one\n"))
    #expect(world.statuses == [0, 0, 2, 2])
  }

  @Test func anImportIsPrintedAndWhatItLeavesOutIsSaid() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("pc.yaml").path
    try Data("processes:\n  a: { command: echo $HOME, namespace: n }\n".utf8).write(to: folder.file("pc.yaml"))
    world.perform("import compose \(file)")
    #expect(world.statuses == [0])
    #expect(world.output.text.contains("\n  a:\n    # 'namespace' has no equal"))
    #expect(world.output.text.hasSuffix("\n    run: echo ${env.HOME:-}\n"))
    #expect(world.errors.text.hasPrefix("\(file):2:29: warning: 'namespace' has no equal in a job file: "))
    try Data("processes: { a: {} }\n".utf8).write(to: folder.file("pc.yaml"))
    world.perform("import compose \(file)")
    #expect(world.statuses == [0, 2])
    #expect(world.errors.text.contains("pc.yaml:1:14: process 'a' has no command: write 'command: …'\n"))
  }

  @Test func theSchemaIsPrintedAsJSON() throws {
    world.perform("schema")
    let schema = try JSONSerialization.jsonObject(with: Data(world.output.text.utf8)) as? [String: Any]
    #expect(schema?["title"] as? String == "opdash job file")
    #expect(world.output.text == JobFileSchema.json() + "\n")
    #expect(world.statuses == [0])
  }

  @Test(arguments: [
    "--help", "--version", "schema", "completion bash", "list a.yml", "graph a.yml", "check a.yml", "keys",
  ])
  func aReaderThatHasGoneEndsACommandAsSIGPIPEWould(_ line: String) {
    world.output.replaceWithClosedPipe()
    world.perform(line)
    #expect(world.errors.text == "")
    #expect(world.statuses == [141])
  }

  @Test func aReaderThatHasGoneLeavesFaultsTheirStatus() {
    world.loaded = .failure(Faults(lines: ["a.yml:1:2: one"]))
    world.output.replaceWithClosedPipe()
    world.perform("check a.yml")
    #expect(world.errors.text == "")
    #expect(world.statuses == [2])
  }

  @Test func aFoundFileIsReadAndSaidWhereItIsAbove() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("a"), withIntermediateDirectories: false)
    try Data().write(to: folder.file("opdash.yml"))
    world.environment.currentDirectory = folder.url.path()
    world.perform("check")
    #expect(world.output.text == "opdash.yml: 1 job, no faults\n")
    #expect(world.errors.text == "")
    world.environment.currentDirectory = folder.file("a").path()
    world.perform("run job0 -n")
    #expect(world.path == "../opdash.yml")
    #expect(world.errors.text == "opdash: the job file is ../opdash.yml\n")
    world.perform("run jbo0")
    #expect(world.errors.text.hasSuffix("opdash: ../opdash.yml has no job 'jbo0': did you mean 'job0'?\n"))
  }

  @Test func listAndCheckReadTheNamedFileBesideAnOpdashFile() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file("opdash.yml"))
    world.environment.currentDirectory = folder.url.path()
    world.perform("check ci.conf")
    #expect(world.path == "ci.conf" && world.output.text == "ci.conf: 1 job, no faults\n")
    world.perform("list ci")
    #expect(world.path == "ci" && world.statuses == [0, 0])
  }

  @Test func aCompletionScriptGetsTheJobsAndNoFault() {
    world.perform("__complete run a.yml jo")
    #expect(world.output.text == "job0\tsimulate 0s\n")
    let faulty = ProgramWorld()
    faulty.loaded = .failure(Faults(lines: ["a.yml:1:2: one"]))
    faulty.perform("__complete run a.yml jo")
    #expect(faulty.output.text == "" && faulty.errors.text == "")
    #expect(faulty.statuses == [0])
  }
}
