import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// How programs with a pseudo-terminal of their own are ended, and what is left.
struct PseudoTerminalEndTests {
  // MARK: Input

  private func expectEnd(of script: String) {
    let shell = Shell.onTerminal("\(script); echo over").start()
    #expect(shell.isOver(), "\(shell.text())")
    #expect(shell.text().hasSuffix("over\n"))
    shell.operation.kill()
  }

  @Test(arguments: [
    "cat", "cat; cat; cat", "read x", "while read x; do :; done", "cat </dev/tty", "head -c 1", "dd bs=1 2>/dev/null",
    "(cat; cat) & wait",
  ])
  func whoReadsTheTerminalFindsTheEndEachTime(script: String) { expectEnd(of: script) }

  @Test(arguments: [
    "stty -icanon min 1; cat </dev/tty | head -c 1 >/dev/null; stty icanon; cat",
    "stty raw; head -c 1 >/dev/null; stty cooked; cat; cat",
    "bash -c 'read -s -n 1 x; read -e -p \"? \" y; select z in a b; do :; done'",
  ])
  func whoReadsKeysFindsTheEnd(script: String) { expectEnd(of: script) }

  private static let hasPython = Shell("python3 -c ''").run().exit == .exited(0)

  @Test(
    .enabled(if: hasPython),
    arguments: [
      "input()", "import sys; sys.stdin.read(); sys.stdin.read()",
      // It throws away what was typed before.
      "import getpass; getpass.getpass()",
      "import select; select.select([0], [], []); input()",
    ])
  func aProgramInPythonFindsTheEnd(code: String) { expectEnd(of: "python3 -c '\(code)'") }

  // MARK: The end

  @Test(arguments: [
    "(trap '' TERM; trap 'echo hung up; exit' HUP; : >go; while :; do sleep 0.01; done) &",
    // In a group of its own, which the kernel does not tell.
    "set -m; (trap '' TERM; trap 'echo hung up; exit' HUP; : >go; while :; do sleep 0.01; done) &",
  ])
  func aProcessInTheBackgroundIsHungUp(script: String) throws {
    // The time for its last words is short, and a loaded machine may give that to other processes.
    let isTold = try eventually {
      let folder = try TemporaryFolder()
      var launch = ProcessLaunch.onTerminal("\(script) until [ -e go ]; do sleep 0.01; done; exit 3")
      launch.directory = folder.url.path
      let shell = Shell(launch).run()
      #expect(shell.exit == .exited(3))
      return shell.text().hasSuffix("hung up\n")
    }
    #expect(isTold)
  }

  @Test(arguments: [
    "sleep % & exit 3", "set -m; sleep % & exit 3", "setsid sleep % & exit 3", "trap '' HUP TERM; sleep % & exit 3",
    "setsid sh -c 'setsid sleep % >/dev/null 2>&1 & exit' & sleep 0.05; exit 3",
    "(trap '' TERM HUP; while :; do sleep %; done) & exit 3",
  ])
  func noDescendantOutlivesIt(script: String) {
    let marker = ProcessTable.marker()
    var launch = ProcessLaunch.onTerminal(script.replacing("%", with: marker))
    launch.grace = .milliseconds(100)
    #expect(Shell(launch).run().exit == .exited(3))
    let left = ProcessTable.processes(with: marker)
    #expect(left.isEmpty, "\(left.map { ProcessTable.text("/proc/\($0)/status") ?? "" })")
  }

  @Test func cancellingSendsTheStopSignalToTheGroup() {
    let marker = ProcessTable.marker()
    let shell = Shell.onTerminal("sleep \(marker) & sleep \(marker) & echo up; wait").start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .signalled(SIGTERM))
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func whatItSaysOfTheStopSignalIsKept() {
    let shell = Shell.onTerminal("trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.01; done").start()
    #expect(shell.says("up"))
    shell.operation.cancel()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(4))
    #expect(shell.text().hasSuffix("bye\n"))
  }

  @Test func killingAndTheGraceEndWhatIgnoresSignals() {
    for kills in [true, false] {
      var launch = ProcessLaunch.onTerminal("trap '' TERM HUP; echo up; while :; do sleep 0.01; done")
      if !kills { launch.grace = .milliseconds(50) }
      let shell = Shell(launch).start()
      #expect(shell.says("up"))
      if kills { shell.operation.kill() } else { shell.operation.cancel() }
      #expect(shell.isOver())
      #expect(shell.exit == .signalled(SIGKILL))
    }
  }

  @Test func pausingStopsItAndResumingContinuesIt() {
    let shell = Shell.onTerminal("echo up; sleep 600").start()
    #expect(shell.says("up"))
    shell.operation.pause()
    #expect(eventually { ProcessTable.isStopped(shell.pid) })
    shell.operation.resume()
    #expect(eventually { !ProcessTable.isStopped(shell.pid) })
    shell.operation.cancel()
    #expect(shell.isOver())
  }

  @Test func aProgramThatStopsItselfIsTold() {
    let shell = Shell.onTerminal("kill -STOP $$; exit 5")
    let heard = Lock<[Int32?]>([])
    let token = shell.operation.events(.stops, on: .global()) { event, _, _ in
      if case .stopped(let signal) = event { heard.withLock { $0.append(signal) } }
    }
    _ = shell.start()
    #expect(eventually { heard.withLock { $0.first } == .some(SIGSTOP) })
    withExtendedLifetime(token) {}
    shell.operation.resume()
    #expect(shell.isOver())
    #expect(shell.exit == .exited(5))
  }

  // MARK: What is left

  /// The numbers of this process's descriptors of the terminals with these names, as `/dev/pts/3`.
  private func descriptors(of terminals: Set<String>) -> [Int32] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { Int32($0) }.filter { number in
      let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) ?? ""
      guard target.hasSuffix("/ptmx") else { return terminals.contains(target) }
      let lines = ProcessTable.text("/proc/self/fdinfo/\(number)")?.split(separator: "\n") ?? []
      let index = lines.first { $0.hasPrefix("tty-index:") }?.split(separator: "\t").last ?? ""
      return terminals.contains("/dev/pts/\(index)")
    }
  }

  @Test func itsTerminalIsInheritedByNobodyAndClosedAtItsEnd() {
    let shell = Shell.onTerminal("tty; ls -1 /proc/$$/fd; sleep 600").start()
    #expect(shell.says("\n2\n"))
    let lines = shell.text().split(separator: "\n")
    #expect(lines.dropFirst().filter { Int($0).map { $0 < 10 } ?? false } == ["0", "1", "2"])
    let open = descriptors(of: [String(lines[0])])
    #expect(open.count == 2)
    for descriptor in open {
      #expect(descriptor > 2)
      #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }
    shell.operation.cancel()
    #expect(shell.isOver())
    // Another test may use one with the same number meanwhile.
    #expect(eventually { descriptors(of: [String(lines[0])]).isEmpty })
  }

  @Test func twoHundredAtOnceAreCompleteAndLeaveNoDescriptor() {
    let shells = (0..<200).map { number in Shell.onTerminal("tty; cat; seq 1000; exit \(number)") }
    for shell in shells { _ = shell.start() }
    let numbers = (1...1000).map { "\($0)\n" }.joined()
    var terminals: Set<String> = []
    for (number, shell) in shells.enumerated() {
      #expect(shell.isOver())
      #expect(shell.exit == .exited(Int32(number)))
      let text = shell.text()
      #expect(text.hasSuffix("\n" + numbers))
      terminals.insert(String(text.prefix { $0 != "\n" }))
    }
    #expect(!terminals.isEmpty)
    #expect(eventually { descriptors(of: terminals).isEmpty })
  }

  @Test func cancellingAtAnyMomentEndsEverything() {
    let marker = ProcessTable.marker()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    for round in 0..<300 {
      let script = round % 3 == 0 ? "sleep \(marker)" : round % 3 == 1 ? "exit 0" : "sleep \(marker) & exit 1"
      var launch = ProcessLaunch.onTerminal(script)
      launch.grace = .milliseconds(20)
      let operation = ShellOperation(launch, output: .chunks { $1() })
      queue.addOperation(operation)
      let delay = UInt32.random(in: 0..<3000)
      DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(Int(delay))) {
        operation.resizeTerminal(to: TerminalSize(columns: round + 1, rows: 9))
        if round % 5 == 0 { operation.kill() } else { operation.cancel() }
      }
    }
    #expect(eventually { queue.operationCount == 0 })
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }
}
