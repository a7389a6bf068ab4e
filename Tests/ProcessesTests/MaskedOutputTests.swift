import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// Secrets in the output of programs.
@Suite(.serialized) struct MaskedOutputTests {
  private static let values = ["s3cret", "line one\nline two"]

  private func launch(_ script: String, onTerminal: Bool) -> ProcessLaunch {
    var launch = onTerminal ? ProcessLaunch.onTerminal(script) : ProcessLaunch(script: script)
    launch.secrets = SecretMask(Self.values)
    return launch
  }

  /// The value comes in two reads.
  private static let divided = "printf 'a s3c'; sleep 0.2; printf 'ret b\\n'"

  @Test(arguments: [false, true]) func theLogAndItsFileAreMasked(onTerminal: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("log").path
    let script = "\(Self.divided); printf 'line one\\nline two\\nline one\\n\\377s3cret'"
    let operation = ShellOperation(launch(script, onTerminal: onTerminal), logPath: path, progress: nil)
    let lines = Lock<[String]>([])
    let queue = DispatchQueue(label: "test")
    let token = operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line.text) } }
    OperationQueue().addOperation(operation)
    #expect(eventually { operation.isFinished })
    queue.sync {}
    #expect(lines.withLock(\.self) == ["a *** b", "***", "***", "\u{FFFD}***"])
    let file = try Data(contentsOf: folder.file("log"))
    #expect(Array(file) == Array("a *** b\n***\n***\n".utf8) + [0xFF] + Array("***".utf8))
    withExtendedLifetime(token) {}
  }

  @Test(arguments: [false, true]) func collectedOutputLinesAndChunksAreMasked(onTerminal: Bool) throws {
    let launch = launch("\(Self.divided); printf s3cre", onTerminal: onTerminal)
    let collected = ShellOperation(launch, output: .string(limit: 1000))
    let heard = Lock<[String]>([])
    let lines = ShellOperation(launch, output: .lines { line in heard.withLock { $0.append(line) } })
    OperationQueue().addOperations([collected, lines], waitUntilFinished: true)
    #expect(try collected.outcome?.get().output == "a *** b\ns3cre")
    #expect(heard.withLock(\.self) == ["a *** b", "s3cre"])
    let chunks = Shell(launch).run()
    #expect(chunks.text() == "a *** b\ns3cre")
    #expect(!chunks.isLate)
  }

  @Test func eachStreamIsMaskedByItselfAndTheFailureToo() throws {
    let operation = ShellOperation(
      launch("printf 's3c'; echo 'no s3cret' >&2; printf ret; exit 2", onTerminal: false),
      output: .string(limit: 100))
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    guard case .failure(let failure as ShellFailure) = operation.outcome else {
      Issue.record("\(String(describing: operation.outcome))")
      return
    }
    #expect(failure.result.output == "***")
    #expect(failure.description == "'\(operation.name ?? "")' exited with status 2: no ***")
    #expect(operation.name == "printf 's3c'; echo 'no ***' >&2; printf ret; exit 2")
  }

  @Test(arguments: [false, true]) func aPromptDoesNotWaitForMoreOutput(onTerminal: Bool) {
    let shell = Shell(launch("printf 'Password? '; sleep 600", onTerminal: onTerminal)).start()
    #expect(shell.says("Password? "))
    shell.operation.cancel()
    #expect(shell.isOver())
  }

  @Test func aProgressPatternSeesTheMaskedOutput() throws {
    let launch = launch("printf '7 s3cret 9\\n8 of 9\\n7 s3cret 9\\n'", onTerminal: false)
    let operation = ShellOperation(launch, logPath: nil, progress: #"(\d+) (?:s3cret|of) (\d+)"#)
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.progress == OperationProgress(completed: 8, total: 9))
  }

  @Test func manyWritesAreReadOnWhereNothingIsCertain() {
    // Each read may end within a value.
    let script = "i=0; while [ $i -lt 300 ]; do printf s3cre; i=$((i+1)); done; printf t"
    #expect(Shell(launch(script, onTerminal: false)).run().text() == String(repeating: "s3cre", count: 299) + "***")
  }
}
