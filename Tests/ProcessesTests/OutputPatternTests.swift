import Foundation
import Operations
import Support
import Testing

@testable import Processes

struct OutputPatternTests {
  private static let endless = "(a|aa)+$"
  private static let victim = String(repeating: "a", count: 47) + "!"

  private func watch(_ patterns: String...) throws -> OutputWatch {
    OutputWatch("retry.only", try patterns.map { try #require(OutputPattern($0)) }) { _ in }
  }

  private func finds(_ pattern: String, _ lines: String...) throws -> Bool {
    try watch(pattern).finds(lines.map { OperationLogLine(text: $0) })
  }

  @Test(arguments: [
    ("^ready$", "\u{1B}[32mready\u{1B}[0m"), ("listening on 80", "listening \u{1B}[1mon\u{1B}[22m 80"),
    ("ready", "ready"),
  ]) func aPatternIsSearchedInALineWithoutItsColors(_ pattern: String, _ line: String) throws {
    #expect(try finds(pattern, line))
  }

  @Test func anEscapeSequenceIsNoTextOfALine() throws {
    #expect(try !finds("32m", "\u{1B}[32mready"))
  }

  @Test func aPatternIsSearchedInTheFirst1024UnitsOfALine() throws {
    #expect(try finds("end$", String(repeating: "x", count: 1021) + "end"))
    #expect(try !finds("end$", String(repeating: "x", count: 1022) + "end"))
    #expect(OutputPattern("(") == nil)
  }

  @Test func aSearchThatGrowsWithoutBoundIsGivenUp() throws {
    let watch = try watch(Self.endless)
    #expect(throws: OutputPattern.BudgetExceeded.self) { try watch.finds([OperationLogLine(text: Self.victim)]) }
  }

  @Test func theFirstMatchEndsTheSearch() throws {
    // The rest of the line would be searched without end.
    #expect(try finds("ready|\(Self.endless)", "ready " + Self.victim))
    #expect(try finds("ready|\(Self.endless)", "ready", Self.victim))
  }

  @Test func notesAreNoOutput() throws {
    #expect(try !watch("note").finds([OperationLogLine(text: "a note", source: .note)]))
  }

  @Test func anyOfThePatternsCounts() throws {
    #expect(try watch("x", "y").finds([OperationLogLine(text: "only y")]))
  }

  // MARK: In an output

  private let operation = ShellOperation(ProcessLaunch(["true"]))

  /// The lines of an output of these pieces, and what the watch was told.
  private func output(_ pieces: [String], _ pattern: String) throws -> (lines: [String], told: [Bool]) {
    let (lines, told) = (Lock<[String]>([]), Lock<[Bool]>([]))
    let queue = DispatchQueue(label: "test")
    let token = operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line.text) } }
    let watch = OutputWatch("service.ready", [try #require(OutputPattern(pattern))]) { isFound in
      told.withLock { $0.append(isFound) }
    }
    let output = ShellOutput(file: nil, progress: nil, watches: [watch], clock: ManualOperationClock())
    for piece in pieces { output.take(Array(piece.utf8), from: .stdout, for: operation) {} }
    output.queue.sync {}
    queue.sync {}
    withExtendedLifetime(token) {}
    return (lines.withLock(\.self), told.withLock(\.self))
  }

  @Test func aWatchIsToldOnce() throws {
    let (_, told) = try output(["no\n", "up\nup\n", "up\n"], "^up$")
    #expect(told == [true])
  }

  @Test func aWatchWithoutAMatchIsToldNothing() throws {
    #expect(try output(["no\n", "nothing\n"], "^up$").told.isEmpty)
  }

  @Test func aSearchThatIsGivenUpIsNotedAndNotRepeated() throws {
    let (lines, told) = try output([Self.victim + "\n", Self.victim + "\n"], Self.endless)
    #expect(told == [false])
    let note = lines.first { $0.hasPrefix("the pattern of service.ready took more than") }
    #expect(note?.hasSuffix("on this output; it is not matched any more") == true)
    #expect(lines.filter { $0 == note }.count == 1)
  }
}
