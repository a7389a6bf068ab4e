import Foundation
import Support
import Testing

@testable import Session
@testable import opdash

/// The commands about recorded runs.
@Suite @MainActor struct RecordCommandsTests {
  private let world = ProgramWorld()
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    world.environment.currentDirectory = folder.url.path()
    world.environment.variables["XDG_STATE_HOME"] = folder.file("state").path()
  }

  @Test func anEmptyStoreHasNoRuns() {
    world.perform("history")
    world.perform("history --prune")
    #expect(world.output.text == "No run is recorded.\n0 runs removed, 0 B\n")
    #expect(world.statuses == [0, 0])
  }

  @Test func aFileWithoutRunsIsNamed() throws {
    try Data().write(to: folder.file("b.yml"))
    world.perform("history b.yml")
    #expect(world.output.text == "No run of b.yml is recorded.\n")
  }

  @Test func theHistoryOfAFileThatIsNotThereIsRefused() {
    world.perform("history b.yml")
    #expect(world.errors.text == "opdash: there is no job file b.yml\n")
    #expect(world.statuses == [2])
  }

  @Test func aReportOfNoRunEmptiesNoFile() throws {
    try Data("kept".utf8).write(to: folder.file("page"))
    world.perform("report nosuch --html page")
    world.perform("report nosuch --junit page")
    #expect(world.statuses == [2, 2])
    #expect(try String(contentsOf: folder.file("page"), encoding: .utf8) == "kept")
  }

  @Test func aRecordingWithoutEventsIsNotPlayed() throws {
    try Data().write(to: folder.file("events"))
    world.perform("replay events")
    #expect(world.errors.text.hasPrefix("opdash: events:1: there are no events"))
    try Data("{\n".utf8).write(to: folder.file("events"))
    world.perform("replay events")
    #expect(world.errors.text.matches(of: #/opdash: events:1: /#).count == 2)
    #expect(world.statuses == [2, 2] && world.session == nil)
  }
}
