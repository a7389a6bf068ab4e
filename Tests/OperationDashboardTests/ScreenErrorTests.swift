import Session
import Testing

@testable import OperationDashboard

struct ScreenErrorTests {
  @Test(arguments: [
    (
      "--ui tui needs a terminal as standard output, and one for its keys; --ui plain does without",
      "interface .terminal needs a terminal as standard output, and one for its keys; interface .plain does without"
    ),
    (
      "--ui tui can't draw with TERM='x'; set TERM to what the terminal is, or use --ui plain",
      "interface .terminal can't draw with TERM='x'; set TERM to what the terminal is, or use interface .plain"
    ),
  ])
  func theWordsAreThoseOfAProgramsOptions(message: String, description: String) {
    let error = Dashboard.ScreenError(UsageError(message))
    #expect(error.description == description)
    #expect(error.localizedDescription == description)
  }

  @Test func anotherErrorSpeaksForItself() {
    #expect(Dashboard.ScreenError(Trouble(description: "no terminal")).description == "no terminal")
  }
}
