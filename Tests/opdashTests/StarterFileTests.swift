import Foundation
import JobFiles
import JobModel
import Support
import Testing

@testable import Session
@testable import opdash

@Suite @MainActor struct StarterFileTests {
  private func jobs(_ text: String) throws -> [Job] {
    var warnings: [String] = []
    let graph = try JobFile.decode(Array(text.utf8), file: "opdash.yml", directory: "/w") { warnings.append("\($0)") }
    #expect(warnings == [])
    return graph.jobs
  }

  @Test func itsJobsAreGoodAlsoWithTheLinesThatAreComments() throws {
    let jobs = try jobs(StarterFile.text)
    #expect(jobs.map(\.name) == ["hello", "build", "test", "report"])
    let whole = ["slots: 4", "inputs: ", "creates: ", "sdk:", "  download: "].reduce(StarterFile.text) {
      $0.replacing("# \($1)", with: $1)
    }
    let more = try self.jobs(whole)
    #expect(more.map(\.name) == ["hello", "build", "test", "sdk", "report"])
    #expect(more[1].inputs.count == 1 && more[1].creates.count == 1)
  }

  @Test func initWritesItWhereNoFileIs() throws {
    let folder = try TemporaryFolder()
    func perform(_ line: String) -> ProgramWorld {
      let world = ProgramWorld()
      world.environment.currentDirectory = folder.url.path()
      world.perform(line)
      return world
    }
    let world = perform("init")
    #expect(world.output.text == "wrote opdash.yml: opdash run runs its jobs, opdash help jobs explains the keys\n")
    #expect(try String(contentsOf: folder.file("opdash.yml"), encoding: .utf8) == StarterFile.text)
    try "mine".write(to: folder.file("other.yml"), atomically: true, encoding: .utf8)
    let second = perform("init other.yml")
    #expect(second.errors.text == "opdash: other.yml is there already, and is left as it is\n")
    #expect(second.statuses == [2])
    #expect(try String(contentsOf: folder.file("other.yml"), encoding: .utf8) == "mine")
    #expect(perform("init no/a.yml").errors.text == "opdash: can't write no/a.yml: No such file or directory\n")
    #expect(perform("init new.yml").output.text.contains(": opdash run new.yml runs its jobs"))
    // A link is not followed, also where it leads nowhere.
    try FileManager.default.createSymbolicLink(atPath: folder.file("link.yml").path(), withDestinationPath: "nowhere")
    #expect(perform("init link.yml").statuses == [2] && folder.names().contains("nowhere") == false)
  }
}
