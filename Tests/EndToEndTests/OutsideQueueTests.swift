import Foundation
import Support
import Testing

/// Programs whose operations enter the queue by every door, and their groups and retries.
@Suite(
  .enabled(if: Outside.folder != nil, "Tests/run builds the packages that this needs"))
struct OutsideQueueTests {
  @Test func anOperationAddedToTheQueueBeforeTheRunIsWaitedFor() throws {
    let program = try OutsideProgram("late")
    let window = try program.shell()
    try window.sees("late", "▶")
    try program.tell("GO")
    try window.sees("1 ok, 0 failed, 0 cancelled, 0 left, status 0")
  }

  @Test func anOperationAddedToTheQueueDuringTheRunIsWaitedFor() throws {
    let program = try OutsideProgram("door")
    let window = try program.shell()
    try window.sees("by-dashboard", "▶")
    try program.tell("START")
    try window.sees("by-dashboard", "✓")
    try window.sees("by-queue", "▶")
    try program.tell("GO")
    try window.sees("2 ok, 0 failed, 0 cancelled, 0 left, status 0")
  }

  @Test func oneOfOursAddedToTheQueueIsShownAndCounted() throws {
    let program = try OutsideProgram("ours-late")
    let window = try program.shell()
    try window.sees("first", "▶")
    try program.tell("GO")
    try window.sees("2 ok, 0 failed, 0 cancelled, 0 left, status 0")
  }

  @Test func theChildrenOfAGroupStandUnderIt() throws {
    let window = try OutsideProgram("group").window()
    try window.sees("the group") { $0.text.contains("group") }
    try window.press("t")
    try window.sees("the children in the tree") { screen in
      let rows = ["group", "child-1", "child-2"].map { name in screen.lines.firstIndex { $0.contains(name) } }
      guard let group = rows[0], let one = rows[1], let two = rows[2] else { return false }
      return group < one && group < two
    }
    try window.sees("the end of all") { $0.text.contains("child-2") && $0.text.contains("3 ok") }
    try window.press("q")
    #expect(try window.exitStatus() == 0)
  }

  @Test func aFactoryMakesAnotherAttempt() throws {
    let window = try OutsideProgram("retry").window()
    try window.sees("flaky", "✗")
    try window.press("r")
    try window.sees("flaky", "✓")
    try window.press("q")
    #expect(try window.exitStatus() == 0)
  }
}
