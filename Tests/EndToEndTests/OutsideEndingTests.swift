import Foundation
import Support
import Testing

/// Programs that end the dashboard themselves, or want two.
@Suite(
  .enabled(if: Outside.folder != nil, "Tests/run builds the packages that this needs"))
struct OutsideEndingTests {
  @Test func aSecondDashboardOnTheTerminalIsRefusedWithWords() throws {
    let program = try OutsideProgram("two")
    let window = try program.window(columns: 120)
    try window.sees("waiting", "▶")
    try program.tell("START")
    try program.tell("GO")
    #expect(try window.exitStatus() == 0)
    try window.sees("second: another dashboard of this process has the terminal")
    try window.sees("first: 1 ok, 0 failed, 0 cancelled, 0 left, status 0")
    try window.sees("third: 1 ok, 0 failed, 0 cancelled, 0 left, status 0")
    #expect(try window.session.value("alternate_on") == "0")
  }

  @Test func twoDashboardsWithoutATerminalBothWriteLines() throws {
    let program = try OutsideProgram("two")
    try program.tell("START")
    try program.tell("GO")
    let run = try program.background()
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains("second: not refused"))
    #expect(run.outputText.contains("first: 1 ok"))
  }

  @Test func aStopWithWorkLeftGivesStatus3() throws {
    let program = try OutsideProgram("stop")
    let window = try program.window()
    try window.sees("a", "▶")
    try program.tell("GO")
    #expect(try window.exitStatus() == 3)
    try window.sees("0 ok, 0 failed, 0 cancelled, 2 left, status 3")
  }
}
