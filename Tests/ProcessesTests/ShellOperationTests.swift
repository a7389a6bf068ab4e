import Foundation
import Operations
import Support
import Testing

@testable import Processes

@Suite struct ShellOperationTests {
  @Test(arguments: [0, 1, 3, 127, 255])
  func theResultIsTheExitStatus(status: Int32) {
    #expect(Shell("exit \(status)").run().exit == .exited(status))
  }

  @Test(arguments: [SIGTERM, SIGKILL, SIGSEGV])
  func theResultIsTheSignalThatEndedIt(signal: Int32) {
    #expect(Shell("kill -\(signal) $$").run().exit == .signalled(signal))
  }

  @Test func theTwoStreamsAreKeptApart() {
    let shell = Shell("echo out; echo err >&2; echo more").run()
    #expect(shell.text(.stdout) == "out\nmore\n")
    #expect(shell.text(.stderr) == "err\n")
  }

  @Test func theStandardInputIsEmpty() {
    let shell = Shell("readlink /proc/self/fd/0; cat; echo end").run()
    #expect(shell.text() == "/dev/null\nend\n")
  }

  @Test func aChildHasNoDescriptorButItsThree() {
    let shell = Shell(ProcessLaunch(["/bin/sh", "-c", "ls /proc/$$/fd"])).run()
    #expect(shell.text().split(separator: "\n").filter { Int($0).map { $0 < 10 } ?? false } == ["0", "1", "2"])
  }

  @Test func aChildLeadsItsOwnSessionAndGroup() {
    let shell = Shell(ProcessLaunch(["/bin/cat", "/proc/self/stat"])).run()
    let words = shell.text().split(separator: " ")
    #expect(words.count > 6)
    guard words.count > 6 else { return }
    #expect(words[4] == words[0] && words[5] == words[0])
  }

  @Test func signalsAreAsTheyAreByDefault() {
    let shell = Shell(ProcessLaunch(["/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"])).run()
    let masks = shell.text().split(separator: "\n").compactMap { UInt64($0.suffix(16), radix: 16) }
    // The C library keeps 32 and 33 to itself.
    #expect(masks.map { $0 & 0x7fff_ffff } == [0, 0])
  }

  @Test func itRunsInItsDirectory() {
    #expect(Shell(ProcessLaunch(["/bin/pwd"], directory: "/usr/lib")).run().text() == "/usr/lib\n")
    #expect(Shell(ProcessLaunch(["bin/pwd"], directory: "/")).run().text() == "/\n")
  }

  @Test func theEnvironmentIsInheritedAndAddedTo() {
    let launch = ProcessLaunch(
      script: "echo \"$ADDED|$HOME|$OPDASH_RUN\"", environment: ["ADDED": "a b=c", "HOME": "/nowhere"])
    let text = Shell(launch).run().text()
    #expect(text.hasPrefix("a b=c|/nowhere|"))
    #expect(text.contains("/"))
    #expect(Shell("echo $PATH").run().text() == (ProcessInfo.processInfo.environment["PATH"] ?? "") + "\n")
  }

  @Test func aProgramIsLookedForInThePathItIsGiven() throws {
    let folder = try TemporaryFolder()
    let program = try folder.addProgram("only-here", "#!/bin/sh\necho found\n")
    let launch = ProcessLaunch(["only-here"], environment: ["PATH": folder.url.path])
    #expect(Shell(launch).run().text() == "found\n")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: program.path)
    #expect(Shell(launch).run().error?.code == .notExecutable)
    #expect(Shell(ProcessLaunch(["only-here"])).run().error?.code == .programNotFound)
  }

  @Test func argumentsReachTheProgramAsTheyAre() {
    let launch = ProcessLaunch(["/usr/bin/printf", "%s\\n", "a b", "", "$HOME", "é\"'"])
    #expect(Shell(launch).run().text() == "a b\n\n$HOME\né\"'\n")
  }

  @Test func whatCannotBeStartedSaysWhy() {
    func error(_ arguments: [String], directory: String? = nil, environment: ProcessEnvironment = [:]) -> ProcessError?
    {
      Shell(ProcessLaunch(arguments, directory: directory, environment: environment)).run().error
    }
    #expect(error(["/no/such/program"])?.description == "/no/such/program: no such program")
    #expect(error(["no-such-program"])?.description == "no-such-program: no such program in PATH")
    #expect(error(["/etc/passwd"])?.code == .notExecutable)
    #expect(error(["/etc"])?.code == .notExecutable)
    #expect(error(["/etc/passwd/x"])?.code == .programNotFound)
    #expect(error(["/bin/true"], directory: "/no/such")?.description == "/no/such: no such directory")
    #expect(error(["/bin/true"], directory: "/etc/passwd")?.description == "/etc/passwd: not a directory")
    #expect(error([])?.code == .invalidArguments)
    #expect(error(["/bin/echo", "a\0b"])?.code == .invalidArguments)
    #expect(error(["/bin/true"], environment: ["A": "\0"])?.code == .invalidArguments)
    #expect(error(["/bin/true"], environment: ["": "x"])?.code == .invalidArguments)
    let fault = error(["/bin/true"], environment: ["A=B": "c"])?.description
    #expect(fault == "/bin/true: an environment variable has '=' in its name, after 'A'")
    #expect(error(["/bin/echo", String(repeating: "x", count: 4 << 20)])?.code == .invalidArguments)
  }

  @Test func allOutputComesBeforeTheResult() {
    for _ in 0..<20 {
      let shell = Shell("head -c 300000 /dev/zero; echo end").run()
      #expect(shell.bytes(.stdout).count == 300_004)
      #expect(!shell.isLate)
    }
  }

  @Test func whatIsNotConsumedStopsTheWriter() {
    let shell = Shell(ProcessLaunch(["/usr/bin/head", "-c", "3000000", "/dev/zero"]), holds: true).start()
    // It fills the pipe after the one chunk that was read, and sleeps.
    #expect(eventually { ProcessTable.written(by: shell.pid) >= 65_536 && ProcessTable.state(of: shell.pid) == "S" })
    #expect(eventually { shell.chunks == 1 })
    #expect(ProcessTable.written(by: shell.pid) <= 65_536 * 2 + 4096)
    #expect(
      eventually {
        shell.consumeAll()
        return shell.operation.isFinished
      })
    #expect(shell.bytes(.stdout).count == 3_000_000)
    #expect(shell.exit == .exited(0))
  }

  @Test func aChunkCountsAsConsumedOnce() {
    let held = Lock<[@Sendable () -> Void]>([])
    let operation = ShellOperation(
      ProcessLaunch(["/usr/bin/head", "-c", "300000", "/dev/zero"]),
      output: .chunks { _, consumed in held.withLock { $0.append(consumed) } })
    let queue = OperationQueue()
    queue.addOperation(operation)
    #expect(eventually { held.withLock { $0.count } == 1 })
    let first = held.withLock { $0[0] }
    for _ in 0..<10 { first() }
    #expect(eventually { held.withLock { $0.count } == 2 })
    first()
    // Were the second chunk released by it, a third would be there before this job's end.
    _ = Shell("exit 0").run()
    #expect(held.withLock { $0.count } == 2)
    operation.cancel()
    #expect(
      eventually {
        let last = held.withLock { $0.last }
        last?()
        return operation.isFinished
      })
  }

  @Test func aProgramPausedBeforeItsStartIsStartedWhenResumed() {
    let shell = Shell("echo said")
    shell.operation.pause()
    _ = shell.start()
    #expect(eventually { shell.operation.isExecuting })
    #expect(shell.operation.processIdentifier == nil)
    shell.operation.resume()
    #expect(shell.isOver())
    #expect(shell.text() == "said\n")
  }

  @Test func anOperationThatIsHeldBackIsEndedByACancel() {
    let shell = Shell("echo said")
    shell.operation.pause()
    _ = shell.start()
    #expect(eventually { shell.operation.isExecuting })
    shell.operation.kill()
    #expect(shell.isOver())
    #expect(shell.operation.processIdentifier == nil)
    shell.operation.resume()
    #expect(shell.text().isEmpty)
  }

  @Test func noResumeOvertakesThePauseBeforeIt() {
    // The two come while the program is being started.
    let shells = (0..<100).map { _ in Shell("true").start() }
    for shell in shells {
      shell.operation.pause()
      shell.operation.resume()
    }
    for shell in shells { #expect(shell.isOver()) }
  }

  @Test func theLogHasTheOutputAsLinesBeforeTheEnd() {
    let operation = ShellOperation(ProcessLaunch(script: "echo one; echo two >&2; printf three"))
    let heard = Lock<[OperationLogLine]>([])
    let lines = Lock(0)
    let queue = DispatchQueue(label: "test")
    let tokens = [
      operation.observeLog(on: queue) { _, line in heard.withLock { $0.append(line) } },
      operation.observe(\.state, on: queue) { _, change in
        if change.newValue == .finished { lines.withLock { $0 = heard.withLock(\.count) } }
      },
    ]
    OperationQueue().addOperation(operation)
    #expect(eventually { lines.withLock { $0 } == 3 })
    let said = heard.withLock { $0 }
    #expect(said.filter { $0.source == .standardOutput }.map(\.text) == ["one", "three"])
    #expect(said.filter { $0.source == .standardError }.map(\.text) == ["two"])
    withExtendedLifetime(tokens) {}
  }

  @Test func aShortOutputDoesNotWaitForItsObserversAndALongOneDoes() {
    let queue = DispatchQueue(label: "test")
    queue.suspend()
    // Less than a pipe takes at once: the number of pieces that wait is limited.
    let short = ShellOperation(ProcessLaunch(script: "seq 1000"))
    let long = ShellOperation(ProcessLaunch(["/usr/bin/yes"]))
    let tokens = [short, long].map { $0.observeLog(on: queue) { _, _ in } }
    let operations = OperationQueue()
    operations.addOperation(short)
    #expect(eventually { short.isFinished })
    operations.addOperation(long)
    // It fills the pipe after the pieces that were read, whose sizes depend on the machine, and writes no more for 100 looks.
    var (written, looks) = (0, 0)
    let hasStopped = eventually {
      let now = long.processIdentifier.map { ProcessTable.written(by: $0) } ?? 0
      looks = now == written ? looks + 1 : 0
      written = now
      return written > 64 << 10 && looks == 100
    }
    #expect(hasStopped)
    #expect(written < 2 << 20)
    queue.resume()
    long.cancel()
    #expect(eventually { long.isFinished })
    withExtendedLifetime(tokens) {}
  }

  // MARK: Output beyond the limit, and a cancellation

  /// Executes a script whose standard output may have 10 bytes, until it says "up" on the standard error; then calls `body`.
  private func failure(_ script: String, whenUp body: (ShellOperation) -> Void) -> (any Error)? {
    let isUp = Lock(false)
    let operation = ShellOperation(
      ProcessLaunch(script: script, grace: ProcessLaunch.endlessGrace), output: .string(limit: 10),
      error: .lines { line in isUp.withLock { $0 = $0 || line == "up" } })
    let queue = OperationQueue()
    queue.addOperation(operation)
    #expect(eventually { isUp.withLock(\.self) })
    body(operation)
    queue.waitUntilAllOperationsAreFinished()
    return operation.failure
  }

  @Test func aCancellationCountsBeforeTheExcessThatFollowsIt() {
    let script = "trap 'seq 100; exit 0' TERM; echo up >&2; while :; do sleep 1; done"
    #expect(failure(script) { $0.cancel() } is CancellationError)
  }

  @Test func aCancellationCountsBeforeTheExcessThatCameFirst() {
    // The stop signal that follows the excess is what makes it say "up".
    let script = "trap 'echo up >&2' TERM; seq 100; while :; do sleep 1; done"
    #expect(failure(script) { $0.kill() } is CancellationError)
  }
}
