import Basics
import Testing

struct ProgrammerErrorTests {
  @Test func aRequirementThatDoesNotHoldEndsTheProgram() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      require([1].isEmpty, "the list is not empty")
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("the list is not empty"))
  }

  @Test func aRequirementThatHoldsMakesNoReason() {
    var reasons = 0
    func reason() -> String {
      reasons += 1
      return "none"
    }
    require(![1].isEmpty, reason())
    #expect(reasons == 0)
  }
}
