import Foundation
import Support
import Testing

/// The scenarios with real operations, as a person plays them.
struct ScenarioTests {
  private let place: Workplace

  init() throws { place = try Workplace() }

  @Test func wrongQueueNamesTheCallThatTouchedTheScreen() throws {
    // The check is at work in a release build too, because the scenario asks for it.
    let run = try place.run("demo", "wrong-queue", "--ui", "plain")
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains("UIQueue.check() caught 1 of the 2:"))
    #expect(run.outputText.contains("UI state touched off the UI queue: show(_:)"))
    #expect(run.outputText.contains("ran on the queue 'background'"))
  }

  @Test func aScenarioPlaysInTheDashboardAndTellsWhatItShowed() throws {
    let window = try place.window(columns: 120, rows: 40, "demo", "early-finish", "--keep-open=always")
    try window.sees("forgetful", "✓")
    try window.sees("careful", "✓")
    try window.sees("Ended after")
    try window.press("G")
    try window.sees("tracked  no AsyncOperation: its start")
    try window.press("q")
    #expect(try window.exitStatus() == 0)
    try window.sees("too early. Its reader began")
  }

  @Test func aScenarioOfRealOperationsSpeaksJSON() throws {
    let run = try place.run("demo", "cancel-before-start", "--ui", "json")
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains(#""kind":"operation""#) && run.outputText.contains(#""seen":"whole""#))
    #expect(run.outputLines.count { $0.contains(#""state":"cancelled","attempt":0,"by":"program""#) } == 2)
  }
}
