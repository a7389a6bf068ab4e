import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// The cap of the file that keeps the output of an attempt.
@Suite(.timeLimit(.minutes(10))) struct LogLimitTests {
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
}
