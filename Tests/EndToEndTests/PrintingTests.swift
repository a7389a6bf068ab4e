import Foundation
import Support
import Testing

/// Programs that write to their standard streams while the dashboard has the terminal.
@Suite(
  .enabled(if: Outside.folder != nil, "Tests/run builds the packages that this needs"))
struct PrintingTests {
  private static let lines = [
    "one to standard output", "two to standard error", "three, in two parts", "four by", "five by the C library",
  ]

  /// Whether these lines are on the screen in this order.
  private func shows(_ lines: [String], _ screen: ScreenText) -> Bool {
    var rest = screen.lines[...]
    return lines.allSatisfy { line in
      guard let index = rest.firstIndex(where: { $0.contains(line) }) else { return false }
      rest = rest[(index + 1)...]
      return true
    }
  }

  @Test(arguments: [(80, 24), (120, 40)])
  func whatTheProgramPrintsIsALogOfItsOwn(_ columns: Int, _ rows: Int) throws {
    let program = try OutsideProgram("print")
    let window = try program.window(columns: columns, rows: rows)
    try window.sees("talk", "▶")
    try program.tell("START")
    try window.sees("the program has printed: L shows it")
    #expect(try !window.screen().text.contains("to standard"))
    try window.press("L")
    try window.sees("the program's lines among those of all jobs") {
      $0.text.contains("log: 1 job") && shows(Self.lines.map { "\($0)" }, $0) && $0.text.contains("program  one")
    }
    try window.press("L")
    try window.sees("the program's lines alone") {
      $0.text.contains("log: output of the program") && shows(Self.lines, $0) && !$0.text.contains("program  one")
    }
    try window.press("L")
    try window.sees("log: talk")
    try program.tell("GO")
    #expect(try window.exitStatus() == 0)
    try window.sees("the lines on the terminal, then the summary") {
      shows(Self.lines + ["shapes: 1 ok", "after the dashboard"], $0)
    }
    #expect(try window.session.value("alternate_on") == "0")
  }

  @Test func printedLinesReachTheTerminalByteForByte() throws {
    let program = try OutsideProgram("print-many")
    let pty = try program.pty()
    #expect(pty.waitUntil { $0.text.contains("talk") })
    try program.tell("START")
    #expect(pty.waitForEnding() == .exited(0))
    let lines = (0..<10_000).map { "line \($0)\r\n" }.joined()
    let after = try #require(pty.textAfterScreen)
    #expect(after.contains(lines + "shapes: 1 ok"))
    #expect(pty.modeNumbers == pty.initialModeNumbers)
  }

  @Test func aRedirectedStreamStaysAsItIs() throws {
    let program = try OutsideProgram("print-many")
    let pty = try program.pty("2>'\(program.file("errors").path)'")
    #expect(pty.waitUntil { $0.text.contains("talk") })
    try program.tell("START")
    #expect(pty.waitForEnding() == .exited(0))
    let after = try #require(pty.textAfterScreen)
    #expect(after == stride(from: 0, to: 10_000, by: 2).map { "line \($0)\r\n" }.joined())
    let errors = String(
      decoding: FileManager.default.contents(atPath: program.file("errors").path) ?? Data(), as: UTF8.self)
    #expect(errors.hasPrefix(stride(from: 1, to: 10_000, by: 2).map { "line \($0)\n" }.joined() + "shapes: 1 ok"))
  }

  @Test func outputIsOnTheTerminalWhileTheProgramIsStoppedAndComesOnce() throws {
    let program = try OutsideProgram("suspend")
    let window = try program.shell(rows: 40)
    try window.session.record(to: program.file("bytes").path)
    try window.sees("talk", "▶")
    try program.tell("START")
    try window.sees("the program has printed")
    try window.press("C-z")
    try window.sees("what was printed, and the shell") { $0.text.contains("tick 0.") && $0.text.contains("Stopped") }
    #expect(try window.session.value("alternate_on") == "0")
    try window.session.type("fg; echo end $?\n")
    try window.sees("the dashboard again") { $0.row("talk") != nil && !$0.text.contains("Stopped") }
    try program.tell("GO")
    try window.sees("end 0")
    let bytes = FileManager.default.contents(atPath: program.file("bytes").path) ?? Data()
    let ticks = String(decoding: bytes, as: UTF8.self).matches(of: /tick ([0-9]+)\.\r\n/).compactMap {
      Int($0.output.1)
    }
    #expect(!ticks.isEmpty && ticks == Array(0..<ticks.count))
  }

  @Test func aCrashLeavesItsReasonOnTheRestoredTerminal() throws {
    let program = try OutsideProgram("print-crash")
    let pty = try program.pty()
    #expect(pty.waitUntil { $0.text.contains("talk") })
    try program.tell("START")
    #expect(pty.waitUntil { $0.text.contains("has printed") })
    try program.tell("GO")
    let ending = try #require(pty.waitForEnding())
    if case .exited = ending { Issue.record("it has not crashed: \(ending)") }
    let after = try #require(pty.textAfterScreen)
    let printed = try #require(after.range(of: "printed before the crash\r\n"))
    #expect(after[printed.upperBound...].contains("the reason of the crash"))
    #expect(pty.modeNumbers == pty.initialModeNumbers)
    #expect(pty.leftModes.isEmpty)
  }

  @Test func anExitWhileTheDashboardIsOpenLeavesTheOutput() throws {
    let program = try OutsideProgram("print-exit")
    let pty = try program.pty()
    #expect(pty.waitUntil { $0.text.contains("talk") })
    try program.tell("START")
    #expect(pty.waitUntil { $0.text.contains("has printed") })
    try program.tell("GO")
    #expect(pty.waitForEnding() == .exited(7))
    #expect(try #require(pty.textAfterScreen) == "printed before the exit\r\nand half a line")
    #expect(pty.modeNumbers == pty.initialModeNumbers)
  }

  @Test func ctrlCLeavesTheOutput() throws {
    let program = try OutsideProgram("suspend")
    let window = try program.shell()
    try window.sees("talk", "▶")
    try program.tell("START")
    try window.sees("the program has printed")
    try window.press("C-c")
    try window.sees("STOPPING")
    try window.press("C-c")
    try window.sees("Killing")
    try window.press("C-c")
    try window.sees("the output and the status") { $0.text.contains("tick 0.") && $0.text.contains("status 130") }
    #expect(try window.session.value("alternate_on") == "0")
  }

  @Test func aChildThatKeepsTheStreamsHoldsNothingUp() throws {
    let program = try OutsideProgram("print-child")
    let pty = try program.pty()
    #expect(pty.waitUntil { $0.text.contains("talk") })
    try program.tell("START")
    #expect(pty.waitUntil { $0.text.contains("has printed") })
    try program.tell("GO")
    #expect(pty.waitUntil { $0.text.contains("the dashboard has ended") })
    #expect(pty.textAfterScreen?.hasPrefix("early from the child\r\nshapes: 1 ok") == true)
    try program.tell("END")
    #expect(pty.waitUntil { $0.textAfterScreen?.contains("late from the child\r\n") == true })
    try program.tell("LEAVE")
    #expect(pty.waitForEnding() == .exited(0))
  }

  @Test func aTerminalThatNobodyReadsDoesNotKeepTheProgramFromASignal() throws {
    let program = try OutsideProgram("print-many")
    let pty = try program.pty()
    #expect(pty.waitUntil { $0.text.contains("talk") })
    // The output is more than the terminal takes, and nothing is read from now on.
    try program.tell("START")
    let pid = pty.child.pid
    // Once it has ended the dashboard, it writes.
    #expect(eventually { Self.isReplaced(pid) == false })
    kill(pid, SIGTERM)
    #expect(eventually { pty.checkEnding() != nil })
    #expect(pty.ending != .exited(0))
  }

  /// Whether standard output is a pipe now; nil once the process has gone.
  private static func isReplaced(_ pid: pid_t) -> Bool? {
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/1")
    return link.map { $0.hasPrefix("pipe:") }
  }

  // MARK: Without the dashboard

  @Test func printedLinesScrollWholeAboveTheInlineBlock() throws {
    let program = try OutsideProgram("print-many", ["INTERFACE": "inline"])
    let pty = try program.pty()
    try program.tell("START")
    #expect(pty.waitForEnding() == .exited(0))
    let lines = pty.text.matches(of: /line ([0-9]+)\r\n/).compactMap { Int($0.output.1) }
    #expect(lines == Array(0..<10_000))
    #expect(pty.leftModes.isEmpty)
  }

  @Test func theInlineBlockStandsBelowWhatIsPrinted() throws {
    let program = try OutsideProgram("print", ["INTERFACE": "inline"])
    let window = try program.window()
    try program.tell("START")
    try window.sees("the lines above the block") { screen in
      shows(["before the dashboard"] + Self.lines + ["1 running"], screen)
        || shows(["before the dashboard"] + Self.lines + ["talk"], screen)
    }
    try program.tell("GO")
    #expect(try window.exitStatus() == 0)
    try window.sees("after the dashboard")
  }

  @Test func linesOfAPipeStayWhole() throws {
    let program = try OutsideProgram("print-many")
    try program.tell("START")
    let run = try program.background()
    #expect(run.ending() == .exited(0))
    let lines = run.outputLines.filter { $0.hasPrefix("line ") }
    #expect(lines == stride(from: 0, to: 10_000, by: 2).map { "line \($0)" })
    #expect(run.outputText.contains("1 ok in"))
  }
}
