import Basics
import Foundation
import JobModel
import Support
import Testing

@testable import Session
@testable import opdash

/// The jobs of a command line.
@Suite @MainActor struct RunPlannerTests {
  private let world = ProgramWorld()

  @Test func theCommandLineDecidesWhatExecutesTheJobs() {
    world.text = "jobs: { a: { run: ls, slurm: { cpus: 2 } }, b: { download: http://h/x } }"
    world.perform("run a.yml --on slurm")
    #expect(world.graph?.jobs.map(\.cluster) == [ClusterRequest(cpus: 2), nil])
    #expect(world.checked == world.graph)
    let second = ProgramWorld()
    second.text = "on: slurm\njobs: { a: { run: ls } }"
    second.perform("run a.yml --on=local")
    #expect(second.graph?.jobs.map(\.cluster) == [nil])
    let third = ProgramWorld()
    third.text = second.text
    third.perform("run a.yml")
    #expect(third.graph?.jobs.map(\.cluster) == [ClusterRequest()])
  }

  @Test func jobsAreNamedWithoutACommandWhereAJobFileIsFound() throws {
    let folder = try TemporaryFolder()
    world.environment.currentDirectory = folder.url.path()
    world.text = "jobs: { build: ls, test: { run: ls, needs: [build] }, page: ls }"
    world.perform("test")
    #expect(world.errors.text == "opdash: unknown command 'test'; see opdash --help\n" && world.statuses == [2])
    try Data().write(to: folder.file("opdash.yml"))
    let second = ProgramWorld()
    (second.environment.currentDirectory, second.text) = (folder.url.path(), world.text)
    second.perform("test")
    #expect(second.graph?.jobs.map(\.name) == ["build", "test"])
    #expect(second.options?.origin.words == ["test"])
  }

  /// A resumed run reads it again from another folder.
  @Test func aListIsReadFromTheFolderOfTheCommand() {
    for (word, path) in [("urls.txt", "/w/urls.txt"), ("../l", "/w/../l"), ("/tmp/l", "/tmp/l"), ("-", "-")] {
      let world = ProgramWorld()
      world.perform("get -i \(word)")
      #expect(world.listPath == path)
    }
  }

  @Test func aFileHasOnePathForItsRecordsHoweverItIsNamed() throws {
    let folder = try TemporaryFolder()
    let place = folder.file("x").path()
    try FileManager.default.createDirectory(atPath: "\(place)/sub", withIntermediateDirectories: true)
    try Data("jobs: {}".utf8).write(to: folder.file("x/opdash.yml"))
    #expect(symlink("x", folder.file("link").path()) == 0)
    for (here, word) in [("", "link/opdash.yml"), ("", "x/sub/../opdash.yml"), ("x", "./opdash.yml"), ("x/sub", "")] {
      let world = ProgramWorld()
      world.environment.currentDirectory = folder.file(here).path()
      world.perform("run \(word)")
      #expect(world.options?.origin.file == BytePath(place).resolved.map { "\($0.text)/opdash.yml" })
    }
  }

  /// Its records would be those of every file that is passed so.
  @Test(arguments: ["-", "/dev/stdin", "/dev/fd/63"])
  func aFileThatIsReadOnceHasNoRecords(word: String) {
    world.perform("run \(word)")
    #expect(world.options != nil && world.options?.origin.file == nil)
  }

  @Test func forceIsForAllJobsOfTheRun() {
    world.perform("run a.yml --force")
    #expect(world.options?.queue.executesAll == true)
    #expect(world.options?.queue.keepsShortLogs == true)
    let second = ProgramWorld()
    second.perform("run a.yml")
    #expect(second.options?.queue.executesAll == false)
  }

  @Test func getMakesAJobOfEachURLOnTheLineAndInTheList() throws {
    let folder = NSTemporaryDirectory() + "opdash-get-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    world.perform("get http://h/a -i list -d \(folder)/new")
    #expect(world.graph?.jobs.map(\.name) == ["a", "listed"])
    #expect(world.options?.queue.keepsShortLogs == false)
    // By the first download that writes into it.
    #expect(!FileManager.default.fileExists(atPath: "\(folder)/new"))
  }

  @Test func getsFolderIsNoFile() {
    world.perform("get http://h/a -d /dev/null")
    #expect(world.errors.text == "opdash: --dir takes a folder; /dev/null is a file\n")
    #expect(world.statuses == [2])
  }

  @Test func eachMakesAJobOfEachArgument() {
    world.perform("each -j3 --on-failure stop-now echo a b")
    #expect(world.graph?.jobs.map(\.name) == ["a", "b"])
    #expect(
      world.graph?.jobs.map(\.work)
        == ["echo 'a'", "echo 'b'"].map { .shell(ShellWork(.script($0), stderr: .apart)) })
    #expect(world.options?.queue.slots == 3 && world.options?.queue.onFailure == .stopNow)
    #expect(world.options?.origin.command == "each")
    #expect(world.options?.queue.isOpen == false && world.arriving == nil)
    let second = ProgramWorld()
    second.perform("each -n2 echo")
    #expect(second.graph?.jobs.isEmpty == true && second.options?.queue.isOpen == true)
    #expect(second.arriving?.request == EachRequest(command: "echo", perJob: 2))
    #expect(second.options?.queue.slots == 7 && second.options?.queue.keepsShortLogs == false)
  }

  @Test func aRehearsalReadsTheWholeList() {
    world.list.write("x y\n\nz\n")
    world.perform("each --dry-run -j2 echo")
    #expect(world.output.text.contains("x y") && world.output.text.contains("z"))
    #expect(world.statuses == [0] && world.arriving == nil && world.graph == nil)
  }

  @Test func eachSaysWhatIsWrongWithItsArgumentsAndStartsNothing() {
    world.list.write("a\0b\n\nc\nd\0\n")
    world.perform("each --dry-run echo")
    let fault = "of standard input has a NUL byte, which no command can take: --null splits standard input there"
    #expect(world.errors.text == "opdash: line 1 \(fault)\nopdash: line 4 \(fault)\n")
    #expect(world.graph == nil)
    let others = ProgramWorld()
    others.environment.inputIsTerminal = true
    for line in ["each echo", "each echo \u{FFFD}", "each --order --ui json x a", "each --order --output grouped x a"] {
      others.perform(line)
    }
    #expect(
      others.errors.text == """
        opdash: opdash each needs arguments after the command, or a list of them on standard input
        opdash: '\u{FFFD}' is no UTF-8 text: give the list on standard input, where any bytes may stand
        opdash: --order prints what the commands print, and --ui json does not: leave one out
        opdash: --order and --output grouped exclude each other: leave one out

        """)
    #expect(world.statuses == [2] && others.statuses == [2, 2, 2, 2])
    #expect(others.graph == nil)
  }
}
