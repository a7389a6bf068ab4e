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
    // The printed command finds the file, also below another one.
    for file in ["x.conf", "opdash.json", "d.yml"] {
      let text = perform("init \(file)").output.text
      let command = try #require(text.firstMatch(of: #/: opdash (run .*) runs its jobs/#)).1
      let next = perform("\(command) -n")
      #expect(next.statuses == [0])
      #expect(next.path.map { folder.file($0).standardizedFileURL } == folder.file(file).standardizedFileURL, "\(text)")
    }
    #expect(perform("init -").errors.text == "opdash: opdash init takes the name of a file; this is '-'\n")
    #expect(!folder.names().contains("-"))
    // A link is not followed, also where it leads nowhere.
    try FileManager.default.createSymbolicLink(atPath: folder.file("link.yml").path(), withDestinationPath: "nowhere")
    #expect(perform("init link.yml").statuses == [2] && folder.names().contains("nowhere") == false)
  }
}
