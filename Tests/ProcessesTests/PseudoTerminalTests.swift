import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// Programs with a pseudo-terminal of their own.
struct PseudoTerminalTests {
  /// What a script writes, all of it to the terminal.
  private func output(of script: String) -> String {
    let shell = Shell.onTerminal(script).run()
    #expect(shell.operation.isFinished, "\(shell.text())")
    #expect(shell.bytes(.stderr).isEmpty)
    return shell.text()
  }

  @Test func theThreeStreamsAreItsControllingTerminal() {
    #expect(output(of: "test -t 0 -a -t 1 -a -t 2 && echo yes") == "yes\n")
    #expect(output(of: "echo out; echo error >&2; echo direct >/dev/tty") == "out\nerror\ndirect\n")
    #expect(Shell("test -t 0 || test -t 1 || test -t 2 || echo no").run().text() == "no\n")
  }

  @Test func itHasTheSizeOfTheLaunch() {
    #expect(output(of: "stty size") == "30 100\n")
  }

  @Test func aSizeIsAtLeastOneByOne() {
    #expect(TerminalSize(columns: -3, rows: 0) == TerminalSize(columns: 1, rows: 1))
    #expect(TerminalSize(columns: .max, rows: .max) == TerminalSize(columns: 65535, rows: 65535))
  }

  @Test func toolsDrawInColour() {
    #expect(output(of: "echo $TERM; tput colors") == "xterm-256color\n256\n")
    #expect(output(of: "ls -d --color=auto /").contains("\u{1B}["))
  }

  @Test func theEnvironmentOfTheLaunchPrevails() {
    #expect(Shell(.onTerminal("echo $TERM", ["TERM": "vt100"])).run().text() == "vt100\n")
    #expect(Shell(.onTerminal("echo $TERM,$A", .only(["A": "b"]))).run().text() == "xterm-256color,b\n")
    let removed = ProcessEnvironment.inherited(adding: [:], removing: ["TERM"])
    #expect(Shell(.onTerminal("env | grep ^TERM= || echo none", removed)).run().text() == "none\n")
  }

  @Test func theSizeOfAnotherTerminalIsNotInherited() {
    for name in ["COLUMNS", "LINES"] {
      #expect(ProcessEnvironment.inherited.passes(on: name))
      #expect(!ProcessEnvironment.inherited.forTerminal.passes(on: name))
    }
    #expect(ProcessEnvironment.inherited.forTerminal.passes(on: "HOME"))
    #expect(Shell(.onTerminal("echo $COLUMNS", ["COLUMNS": "7"])).run().text() == "7\n")
  }

  @Test func anInputOfTheLaunchIsTheStandardInput() {
    let shell = Shell(.onTerminal("cat; test -t 0 || test -t 1 && cat /dev/tty", input: .string("given\n"))).run()
    #expect(shell.text() == "given\n")
    #expect(shell.exit == .exited(0))
  }

  // MARK: Its size

  @Test func aNewSizeReachesTheProgramByASignal() {
    let shell = Shell.onTerminal("trap 'stty size' WINCH; echo up; while :; do sleep 0.01; done").start()
    #expect(shell.says("up\n"))
    shell.operation.resizeTerminal(to: TerminalSize(columns: 132, rows: 43))
    #expect(shell.says("43 132\n"))
    shell.operation.resizeTerminal(to: TerminalSize(columns: 20, rows: 5))
    #expect(shell.says("5 20\n"))
    shell.operation.cancel()
    #expect(shell.isOver())
    shell.operation.resizeTerminal(to: TerminalSize(columns: 1, rows: 1))
  }

  @Test func aNewSizeBeforeTheStartIsTheOneItStartsWith() {
    let shell = Shell.onTerminal("stty size")
    shell.operation.resizeTerminal(to: TerminalSize(columns: 132, rows: 43))
    #expect(shell.run().text() == "43 132\n")
    // Without a terminal there is nothing to set.
    let other = Shell("test -t 1 || echo none")
    other.operation.resizeTerminal(to: TerminalSize(columns: 132, rows: 43))
    #expect(other.run().text() == "none\n")
  }

  @Test func noNewSizeDuringTheStartIsLost() {
    for round in 1...50 {
      let shell = Shell.onTerminal("until [ \"$(stty size)\" = '9 \(round)' ]; do :; done").start()
      shell.operation.resizeTerminal(to: TerminalSize(columns: round, rows: 9))
      #expect(shell.isOver())
      #expect(shell.exit == .exited(0))
    }
  }

  // MARK: Output

  @Test func allOutputOfAProgramThatExitsAtOnceArrives() {
    for _ in 0..<20 {
      let shell = Shell.onTerminal("exec seq 150000").run()
      #expect(shell.text() == (1...150_000).map { "\($0)\n" }.joined())
      #expect(!shell.isLate)
    }
  }

  @Test func whatIsNotConsumedStopsTheWriterAndNothingIsLost() {
    let shell = Shell(.onTerminal("exec seq 150000"), holds: true).start()
    #expect(eventually { ProcessTable.state(of: shell.pid) == "S" && ProcessTable.written(by: shell.pid) > 4096 })
    #expect(ProcessTable.written(by: shell.pid) < 300_000)
    #expect(
      eventually {
        shell.consumeAll()
        return shell.operation.isFinished
      })
    #expect(shell.text() == (1...150_000).map { "\($0)\n" }.joined())
  }

  @Test func theOutputOfAProgramThatHasEndedWaitsForALateConsumer() throws {
    let folder = try TemporaryFolder()
    let go = folder.file("go").path
    let script = "echo 0; until [ -e \(go) ]; do sleep 0.01; done; exec seq 1500"
    let shell = Shell(.onTerminal(script), holds: true).start()
    #expect(eventually { shell.chunks == 1 })
    #expect(FileManager.default.createFile(atPath: go, contents: nil))
    #expect(eventually { "Z ".contains(ProcessTable.state(of: shell.pid)) })
    // Longer than the time that others may hold the output open.
    #expect(stays(moments: 2) { !shell.operation.isFinished })
    #expect(
      eventually {
        shell.consumeAll()
        return shell.operation.isFinished
      })
    #expect(shell.text() == (0...1500).map { "\($0)\n" }.joined())
  }

  @Test func everyByteArrivesAsItIs() {
    let shell = Shell.onTerminal(#"printf 'a\0b\377\303\n\t\r\033[31m\004\023\021\003\177end'"#).run()
    #expect(
      shell.bytes(.stdout)
        == Array("a\0b".utf8) + [0xFF, 0xC3] + Array("\n\t\r\u{1B}[31m\u{4}\u{13}\u{11}\u{3}\u{7F}end".utf8))
  }

  /// The lines of the log, and the file that keeps it.
  private func log(of script: String) throws -> (lines: [String], file: String, progress: OperationProgress?) {
    let folder = try TemporaryFolder()
    let path = folder.file("log").path
    let operation = ShellOperation(.onTerminal(script), logPath: path, progress: nil)
    let lines = Lock<[String]>([])
    let queue = DispatchQueue(label: "test")
    let token = operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line.text) } }
    OperationQueue().addOperation(operation)
    #expect(eventually { operation.isFinished })
    queue.sync {}
    return try withExtendedLifetime(token) {
      (lines.withLock(\.self), try String(contentsOfFile: path, encoding: .utf8), operation.progress)
    }
  }

  @Test func linesEndWithoutCarriageReturns() throws {
    let log = try log(of: "echo one; echo two >&2; printf three")
    #expect(log.lines == ["one", "two", "three"])
    #expect(log.file == "one\ntwo\nthree")
    // A program may set the terminal's modes.
    #expect(try self.log(of: "stty sane; echo one; echo two").lines == ["one", "two"])
  }

  @Test func aRedrawnLineIsLoggedAsItIsShownAndItsProgressIsReported() throws {
    let log = try log(of: #"printf 'fetching 10%%\rfetching 42%%\r'; printf '\033[32mdone\033[0m\033[K\n'"#)
    #expect(log.lines == ["\u{1B}[32mdone\u{1B}[0m"])
    #expect(log.progress == OperationProgress(completed: 42, total: 100))
  }

  @Test func aProgramThatCannotBeStartedSaysWhy() {
    func error(_ arguments: [String], directory: String? = nil) -> ProcessError? {
      var launch = ProcessLaunch(arguments, directory: directory)
      launch.terminal = TerminalSize(columns: 80, rows: 24)
      return Shell(launch).run().error
    }
    #expect(error(["/no/such/program"])?.description == "/no/such/program: no such program")
    #expect(error(["/etc/passwd"])?.code == .notExecutable)
    #expect(error(["/bin/true"], directory: "/no/such")?.description == "/no/such: no such directory")
  }

  @Test func aLackOfTerminalsHasItsRemedy() {
    #expect(
      ProcessError.terminal("make", failedWith: ENOSPC)
        == ProcessError(
          .outOfResources,
          "make: no pseudo-terminal left: No space left on device: use fewer slots, or raise ulimit -n and "
            + "kernel.pty.max"))
    #expect(ProcessError.terminal("make", failedWith: ENOENT).code == .system(ENOENT))
  }
}
