import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// Shell operations as a program makes them, and the results that they end with.
@Suite struct ShellCommandTests {
  private func outcome(_ operation: ShellOperation, isStarted: Bool = false) throws -> ShellOperation.Outcome {
    if !isStarted { OperationQueue().addOperation(operation) }
    #expect(eventually { operation.isFinished })
    return try #require(operation.outcome)
  }

  private func result(_ operation: ShellOperation) throws -> ShellResult { try outcome(operation).get() }

  private func failure(_ operation: ShellOperation, isStarted: Bool = false) throws -> (any Error)? {
    guard case .failure(let error) = try outcome(operation, isStarted: isStarted) else { return nil }
    return error
  }

  private func log(_ operation: ShellOperation) throws -> [String] {
    let lines = Lock<[String]>([])
    let queue = DispatchQueue(label: "test")
    let token = operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line.text) } }
    _ = try outcome(operation)
    queue.sync {}
    return withExtendedLifetime(token) { lines.withLock(\.self) }
  }

  // MARK: The command

  @Test func argumentsAreWrittenOneByOneOrAsAnArray() throws {
    let expected = ShellResult(standardOutput: "a b\n$HOME\n")
    #expect(try result(ShellOperation("printf", "%s\\n", "a b", "$HOME", output: .string(limit: 100))) == expected)
    let arguments = ["%s\\n", "a b", "$HOME"]
    #expect(try result(ShellOperation("printf", arguments: arguments, output: .string(limit: 100))) == expected)
  }

  @Test func aTextIsExecutedByTheShell() throws {
    let operation = ShellOperation(shell: "echo a b | tr ab xy", output: .string(limit: 100))
    #expect(try result(operation).output == "x y\n")
  }

  @Test func aProgramThatIsNotInThePathIsAClearError() throws {
    let error = try failure(ShellOperation("no-such-program", output: .string(limit: 100)))
    #expect((error as? ProcessError)?.code == .programNotFound)
    #expect(error?.localizedDescription == "no-such-program: no such program in PATH")
  }

  @Test func theNameIsTheCommandUnlessItIsGivenAnother() {
    #expect(ShellOperation("make", "-j4", "all").name == "make -j4 all")
    #expect(ShellOperation(shell: "\n  make \\\n  | tee log").name == #"make \ | tee log"#)
    #expect(ShellOperation("curl", "https://me:secret@host/").name == "curl https://***@host/")
    #expect(ShellOperation("/usr/bin/x", String(repeating: "y", count: 10_000_000)).name?.count == 60)
  }

  @Test(arguments: [
    ProcessLaunch(script: "false\necho  a"), ProcessLaunch(["/bin/sh", "-c", "false\necho  a"]),
    ProcessLaunch(["/bin/sh", "-e", "-c", "false\necho  a"]),
    ProcessLaunch(script: "false\necho  a", shell: ["bash", "-eu", "-o", "pipefail", "-c"]),
    ProcessLaunch(script: "false\necho  a", shell: ["/usr/bin/env", "python3", "-c"]),
  ])
  func aScriptIsNamedByItsTextWhateverItsShell(launch: ProcessLaunch) {
    #expect(launch.commandLine == "false echo a")
    #expect(launch.programName == "'false echo a'")
  }

  @Test(arguments: [
    (["make"], "make", "make"), (["/bin/sh"], "sh", "sh"), (["/bin/sh", "script", "-e"], "sh script -e", "sh"),
    (["bash", "-c", "true"], "bash -c true", "bash"), ([], "", ""),
  ])
  func aProgramIsNamedByItsFile(arguments: [String], line: String, name: String) {
    #expect(ProcessLaunch(arguments).commandLine == line)
    #expect(ProcessLaunch(arguments).programName == name)
    // Other arguments than those of the shell.
    var launch = ProcessLaunch(script: "true", shell: ["zsh", "-c"])
    launch.arguments = arguments
    #expect(launch.programName == name)
  }

  @Test func aScriptIsExecutedByItsShellAndTheFailureNamesIt() throws {
    let launch = ProcessLaunch(script: "false | true; echo no", shell: ["bash", "-eu", "-o", "pipefail", "-c"])
    let operation = ShellOperation(launch, output: .string(limit: 100))
    #expect(try failure(operation)?.localizedDescription == "'false | true; echo no' exited with status 1")
    #expect(operation.name == "false | true; echo no")
  }

  @Test func itRunsInItsDirectoryWithItsEnvironment() throws {
    func output(_ environment: ProcessEnvironment) throws -> [String] {
      let script = "pwd; echo ${HOME-no home}; echo ${ADDED-not added}; echo ${OPDASH_RUN:+marked}"
      let operation = ShellOperation(
        shell: script, directory: "/usr/lib", environment: environment, output: .string(limit: 1000))
      return try result(operation).standardOutput.lines
    }
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "no home"
    #expect(try output(.inherited) == ["/usr/lib", home, "not added", "marked"])
    #expect(try output(["ADDED": "x"]) == ["/usr/lib", home, "x", "marked"])
    #expect(try output(["ADDED": "x", "ADDED": "y"]) == ["/usr/lib", home, "y", "marked"])
    #expect(try output(.inherited(adding: [:], removing: ["HOME"])) == ["/usr/lib", "no home", "not added", "marked"])
    #expect(try output(.only(["ADDED": "x"])) == ["/usr/lib", "no home", "x", "marked"])
  }

  @Test func aProgramIsFoundWithoutAPathAsWell() throws {
    #expect(try result(ShellOperation("true", environment: .only([:]))).exit == .exited(0))
    let error = try failure(ShellOperation("true", environment: .only(["PATH": "/nowhere"])))
    #expect((error as? ProcessError)?.code == .programNotFound)
  }

  // MARK: Input

  @Test func theInputIsEmptyUnlessOneIsGiven() throws {
    #expect(try result(ShellOperation("cat", output: .string(limit: 100))).output.isEmpty)
    #expect(
      try result(ShellOperation("cat", input: .string("héllo\n"), output: .string(limit: 100))).output == "héllo\n")
    #expect(try result(ShellOperation("cat", input: .string(""), output: .string(limit: 100))).output.isEmpty)
    let bytes: [UInt8] = [0, 255, 10]
    #expect(
      try result(ShellOperation("cat", input: .bytes(bytes), output: .bytes(limit: 9))).standardOutput.bytes == bytes)
  }

  @Test func anInputLargerThanAPipeIsReadWhole() throws {
    let bytes = [UInt8](repeating: 7, count: 3_000_000)
    #expect(
      try result(ShellOperation("wc", "-c", input: .bytes(bytes), output: .string(limit: 100))).output == "3000000\n")
    // Nobody reads it.
    #expect(try result(ShellOperation("true", input: .bytes(bytes))).exit == .exited(0))
  }

  @Test func theInputMayBeAFile() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("input")
    try "from a file\n".write(to: file, atomically: true, encoding: .utf8)
    let operation = ShellOperation("cat", input: .file(file.path), output: .string(limit: 100))
    #expect(try result(operation).output == "from a file\n")
    for path in ["/no/such/file", "/etc"] {
      let error = try failure(ShellOperation("cat", input: .file(path))) as? ProcessError
      #expect(error?.code == .inputUnusable)
      #expect(error?.description.hasPrefix("\(path) can't be read: ") == true)
    }
    // It must not wait for a writer.
    let fifo = folder.file("fifo")
    #expect(mkfifo(fifo.path, 0o600) == 0)
    #expect(try result(ShellOperation("cat", input: .file(fifo.path), output: .string(limit: 100))).output.isEmpty)
  }

  @Test func aChildHasNoDescriptorButItsThreeAlsoWithAnInput() throws {
    let operation = ShellOperation(
      shell: "ls /proc/$$/fd", input: .string("x"), output: .string(limit: 1000), error: .merged)
    #expect(try result(operation).standardOutput.lines.filter { Int($0).map { $0 < 10 } ?? false } == ["0", "1", "2"])
  }

  // MARK: Output

  @Test func theOutputGoesToTheLogUnlessItIsCollected() throws {
    let script = "echo out; echo err >&2"
    #expect(try log(ShellOperation(shell: script)).sorted() == ["err", "out"])
    #expect(try log(ShellOperation(shell: script, output: .string(limit: 100))) == ["err"])
    #expect(try log(ShellOperation(shell: script, output: .discarded, error: .discarded)).isEmpty)
  }

  @Test func theTwoStreamsAreCollectedApartOrMerged() throws {
    let script = "echo one; echo two >&2; echo three"
    let apart = ShellOperation(shell: script, output: .string(limit: 100), error: .bytes(limit: 100))
    #expect(
      try result(apart)
        == ShellResult(
          standardOutput: "one\nthree\n", standardError: CollectedOutput(bytes: Array("two\n".utf8))))
    let merged = ShellOperation(shell: script, output: .string(limit: 100), error: .merged)
    #expect(try result(merged) == ShellResult(standardOutput: "one\ntwo\nthree\n"))
    #expect(try log(ShellOperation(shell: script, error: .merged)) == ["one", "two", "three"])
  }

  @Test func theEndOfALoggedErrorIsInTheResult() throws {
    let operation = ShellOperation(shell: "seq 1 2000 >&2; echo last >&2", output: .discarded)
    let error = try result(operation).standardError
    #expect(error.isCut)
    #expect(error.text.hasSuffix("\n2000\nlast\n"))
    #expect(error.text.utf8.count == 4096)
  }

  @Test func outputBeyondTheLimitEndsTheProgramAndFails() throws {
    let operation = ShellOperation("yes", output: .string(limit: 100_000))
    let error = try failure(operation) as? ProcessError
    #expect(error?.code == .outputTooLong)
    #expect(error?.localizedDescription == "yes: the standard output is longer than 100000 bytes")
    #expect(operation.exit == .signalled(SIGTERM))
    let silent = ShellOperation(shell: "echo ab >&2", error: .string(limit: 2))
    #expect(try failure(silent)?.localizedDescription == "'echo ab >&2': the standard error is longer than 2 bytes")
    #expect(try result(ShellOperation("echo", "ab", output: .string(limit: 3))).output == "ab\n")
  }

  @Test func outputBeyondTheLimitIsCutWhereThatIsWanted() throws {
    func output(_ overflow: ProcessOutput.Overflow) throws -> CollectedOutput {
      let operation = ShellOperation("seq", "100000", output: .string(limit: 7, whenExceeded: overflow))
      return try result(operation).standardOutput
    }
    #expect(try output(.keepBeginning) == CollectedOutput("1\n2\n3\n4", isCut: true))
    #expect(try output(.keepEnd) == CollectedOutput("100000\n", isCut: true))
  }

  @Test func aNegativeLimitIsAProgrammerErrorWithItsReason() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = ShellOperation("true", output: .string(limit: -1))
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("the limit of a ShellOperation's output is negative: -1"))
  }

  @Test func linesAreGivenInOrderAndBeforeTheResult() throws {
    let lines = Lock<[String]>([])
    let operation = ShellOperation(
      shell: "seq 1 50000; printf last", output: .lines { line in lines.withLock { $0.append(line) } })
    let atEnd = Lock(0)
    operation.whenDone { _ in atEnd.withLock { $0 = lines.withLock(\.count) } }
    _ = try result(operation)
    #expect(atEnd.withLock(\.self) == 50001)
    #expect(lines.withLock(\.self) == (1...50000).map { "\($0)" } + ["last"])
  }

  @Test func theLinesOfBothStreamsAreGivenOneAtATime() throws {
    let inside = Lock((now: 0, most: 0, lines: 0))
    let handler: @Sendable (String) -> Void = { _ in
      inside.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
        $0.lines += 1
      }
      usleep(100)
      inside.withLock { $0.now -= 1 }
    }
    let script = "(seq 100 & seq 100 >&2; wait)"
    _ = try result(ShellOperation(shell: script, output: .lines(handler), error: .lines(handler)))
    #expect(inside.withLock { $0.most } == 1)
    #expect(inside.withLock { $0.lines } == 200)
  }

  @Test func aLineBeyondItsLimitFails() throws {
    let lines = Lock<[String]>([])
    let operation = ShellOperation(
      shell: "echo short; tr '\\0' x </dev/zero",
      output: .lines(limit: 1000) { line in lines.withLock { $0.append(line) } })
    #expect(
      try failure(operation)?.localizedDescription.hasSuffix("a line of the standard output is longer than 1000 bytes")
        == true)
    #expect(lines.withLock(\.self) == ["short"])
  }

  @Test func aSlowHandlerOfLinesHoldsTheProgramBack() throws {
    let door = DispatchSemaphore(value: 0)
    let operation = ShellOperation("yes", output: .lines { _ in door.wait() })
    OperationQueue().addOperation(operation)
    // It fills the pipe after the chunk that was read, and sleeps.
    #expect(eventually { operation.processIdentifier.map { ProcessTable.state(of: $0) == "S" } ?? false })
    #expect(operation.processIdentifier.map { ProcessTable.written(by: $0) } ?? .max < 1 << 20)
    operation.cancel()
    for _ in 0..<(1 << 20) { door.signal() }
    #expect(eventually { operation.isFinished })
  }

  @Test func chunksAreReadOneAtATime() throws {
    let count = Lock(0)
    let operation = ShellOperation(
      "head", "-c", "300000", "/dev/zero",
      output: .chunks { bytes, consumed in
        count.withLock { $0 += bytes.count }
        consumed()
      })
    _ = try result(operation)
    #expect(count.withLock(\.self) == 300_000)
  }

  // MARK: The end

  @Test func anExitThatIsNotAcceptedIsAFailureWithASentence() throws {
    let status = try failure(ShellOperation(shell: "exit 3"))
    #expect(status as? ShellFailure == ShellFailure(program: "'exit 3'", result: ShellResult(exit: .exited(3))))
    #expect(status?.localizedDescription == "'exit 3' exited with status 3")
    #expect("\(try #require(try failure(ShellOperation("false"))))" == "false exited with status 1")
    let signal = try failure(ShellOperation("sh", "-c", "kill -TERM $$"))
    #expect(signal?.localizedDescription == "sh was killed by SIGTERM")
  }

  @Test func aFailureHasTheCollectedOutputAndTheEndOfTheError() throws {
    let operation = ShellOperation(
      shell: "echo half; echo; printf '\\033[31mno rule\\033[0m\\n' >&2; echo >&2; exit 2", output: .string(limit: 100))
    let failure = try #require(try failure(operation) as? ShellFailure)
    #expect(failure.exit == .exited(2))
    #expect(failure.result.output == "half\n\n")
    #expect(failure.description.hasSuffix("' exited with status 2: no rule"))
  }

  @Test func otherExitsCanBeAccepted() throws {
    #expect(try result(ShellOperation("grep", "x", "/dev/null", accepting: [0, 1])).exit == .exited(1))
    #expect(try failure(ShellOperation("true", accepting: [1])) is ShellFailure)
    #expect(try result(ShellOperation(shell: "exit 42", accepting: .init(40...50))).exit == .exited(42))
    #expect(try result(ShellOperation(shell: "exit 42", accepting: .any)).exit == .exited(42))
    #expect(try result(ShellOperation(shell: "kill -KILL $$", accepting: .any)).exit == .signalled(SIGKILL))
    #expect(try failure(ShellOperation(shell: "kill -KILL $$", accepting: [137])) is ShellFailure)
  }

  @Test(arguments: ["echo up; exec sleep 600", "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done"])
  func aCancelledOperationHasACancellationErrorAndItsExit(script: String) throws {
    let said = Lock(false)
    let operation = ShellOperation(
      ProcessLaunch(script: script, grace: ProcessLaunch.endlessGrace),
      output: .lines { _ in said.withLock { $0 = true } }, accepting: .any)
    OperationQueue().addOperation(operation)
    #expect(eventually { said.withLock(\.self) })
    operation.cancel()
    #expect(try failure(operation, isStarted: true) is CancellationError)
    #expect(operation.exit == (script.hasPrefix("trap") ? .exited(0) : .signalled(SIGTERM)))
  }

  @Test func theErrorOfACancellationIsTheFailure() throws {
    let operation = ShellOperation("sleep", "600")
    OperationQueue().addOperation(operation)
    #expect(eventually { operation.processIdentifier != nil })
    operation.cancel(with: ProcessError(.ended, "late"))
    #expect(try failure(operation, isStarted: true) as? ProcessError == ProcessError(.ended, "late"))
  }

  @Test func anotherOperationReceivesTheResult() throws {
    final class Count: ResultOperation<Int>, InputReceiving, @unchecked Sendable {
      // Safe: given before main is called, and not changed after.
      private var lines: [String] = []
      func receive(_ input: ShellResult) { lines = input.standardOutput.lines }
      override func main() { finish(.success(lines.count)) }
    }
    let list = ShellOperation("seq", "7", output: .string(limit: 100))
    let count = Count()
    count.takeInput(from: list)
    OperationQueue().addOperations([list, count], waitUntilFinished: true)
    #expect(try count.outcome?.get() == 7)
  }
}
