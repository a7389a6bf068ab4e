import Foundation
import RunStore
import Testing

@Suite struct RunOriginTests {
  @Test func anOriginIsReadBackAsItWasWritten() throws {
    var origin = RunOrigin(
      command: "run", words: ["--set", "a=b"], file: "/w/opdash.yml", directory: "/w", slots: 3, onFailure: "stop-now")
    #expect(try JSONDecoder().decode(RunOrigin.self, from: JSONEncoder().encode(origin)) == origin)
    origin.approvals = ["aa", "bb"]
    #expect(try JSONDecoder().decode(RunOrigin.self, from: JSONEncoder().encode(origin)) == origin)
  }
}
