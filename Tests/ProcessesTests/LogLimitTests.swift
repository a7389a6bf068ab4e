import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// The cap of the file that keeps the output of an attempt.
struct LogLimitTests {
  @Test func beyondTheLimitTheFileEndsWithANoteAndTheLogGoesOn() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.log").path()
    let lines = Lock<[OperationLogLine]>([])
    let operation = ShellOperation(
      ProcessLaunch(script: "for i in $(seq 1000); do echo line $i; sleep 0; done; echo last"), logPath: path,
      logLimit: 100, progress: nil)
    let token = operation.observeLog(on: .global()) { _, line in lines.withLock { $0.append(line) } }
    OperationQueue().addOperation(operation)
    #expect(eventually { lines.withLock { $0.contains { $0.text == "last" } } })
    let note = "the rest of the output is not kept: the log reached 100 bytes"
    #expect(lines.withLock { $0.filter { $0.source == .note }.map(\.text) } == ["\(note): \(path)"])
    #expect(lines.withLock { $0.count } == 1002)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("line 1\nline 2\n") && text.hasSuffix("\n… \(note)\n"))
    #expect(text.utf8.count <= 100 + note.utf8.count + 6)
    withExtendedLifetime(token) {}
  }

  // MARK: Short output

  /// The lines that an operation without a log file for a short output logs, and the file, if there is one.
  private func run(_ script: String, progress: String? = nil) throws -> (lines: [String], file: String?) {
    let folder = try TemporaryFolder()
    let path = folder.file("a.log").path()
    let lines = Lock<[String]>([])
    let operation = ShellOperation(
      ProcessLaunch(script: script), logPath: path, keepsShortLog: false, progress: progress)
    // One queue for both: the end comes after all lines.
    let queue = DispatchQueue(label: "test")
    let token = operation.observeLog(on: queue) { _, line in
      lines.withLock { $0.append(line.text) }
    }
    let ended = Lock(false)
    let end = operation.observe(\.state, on: queue) { _, change in
      if change.newValue == .finished { ended.withLock { $0 = true } }
    }
    OperationQueue().addOperation(operation)
    #expect(eventually { ended.withLock(\.self) })
    withExtendedLifetime((token, end)) {}
    let file = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    return (lines.withLock(\.self), file)
  }

  @Test(arguments: ["echo a; echo größe", "echo a; echo b >&2", "true", "echo", "echo [1/2]"])
  func aShortOutputThatItsLinesSayLeavesNoFile(_ script: String) throws {
    #expect(try run(script).file == nil)
    #expect(try run(script, progress: "x(\\d)").file == nil)
  }

  @Test(
    arguments: [
      ("printf a", "a"), ("printf 'a\\r\\n'", "a\r\n"), ("printf '1\\r2\\n'", "1\r2\n"), ("echo a; exit 1", "a\n"),
      ("printf a; echo b >&2; printf 'c\\n'; exit 1", nil), ("kill -9 $$; echo a", nil),
      ("echo a; kill -9 $$", "a\n"),
    ] as [(String, String?)])
  func anOutputThatItsLinesDoNotSayOrOfAFailureHasItsFile(_ script: String, _ text: String?) throws {
    let file = try run(script).file
    if let text { #expect(file == text) } else { #expect(script.hasPrefix("kill") ? file == nil : file?.count == 5) }
  }

  @Test func bytesThatAreNoTextHaveTheirFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.log").path()
    let operation = ShellOperation(
      ProcessLaunch(script: "printf '\\351\\n'"), logPath: path, keepsShortLog: false, progress: nil)
    OperationQueue().addOperation(operation)
    #expect(eventually { FileManager.default.contents(atPath: path) == Data([0xE9, 0x0A]) })
  }

  @Test func anOutputThatGrowsIsInTheFileWhole() throws {
    let text = (1...1000).map { "line \($0)\n" }.joined()
    let result = try run("for i in $(seq 1000); do echo line $i; done")
    #expect(result.file == text)
    #expect(result.lines.count == 1000)
  }
}
