import Foundation
import Operations
import Processes
import Support

// A program that runs shell jobs, for tests that kill it or examine it from outside.
//
//     ProcessProbe run SCRIPT...     runs them and prints how each ended
//     ProcessProbe end SCRIPT        waits for its first output, then calls endAll() and exits
//     ProcessProbe end-remote SCRIPT the same, of a program whose work is elsewhere: it is given time to end that
//     ProcessProbe many COUNT        runs COUNT programs; prints open descriptors before and after, and zombies
//     ProcessProbe over SCRIPT       runs it, calls endAll() and prints whether that has read /proc
//     ProcessProbe own               starts a child in a session of its own, then jobs; prints what happens to the child
//     ProcessProbe run-own WORD SCRIPT  runs a script after it has started such a child, which sleeps for WORD seconds
//     ProcessProbe discard ACTION    gives SIGCHLD an action and runs a program; prints how it ended, and the action
//     ProcessProbe chain ROUNDS      cancels chains of processes that fork and exit; prints in which rounds some are left

let arguments = Array(CommandLine.arguments.dropFirst())
let queue = OperationQueue()
// The parent may have blocked the signals that the tests send.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
ProcessSupervisor.shared.start()

@discardableResult
func start(
  _ launch: ProcessLaunch, said: @escaping @Sendable () -> Void = {}
) -> (operation: ShellOperation, done: DispatchSemaphore) {
  let done = DispatchSemaphore(value: 0)
  let output = ProcessOutput.chunks { _, consumed in
    said()
    consumed()
  }
  let operation = ShellOperation(launch, output: output, error: output)
  operation.result(on: .global()) { _ in
    if let exit = operation.exit, arguments.first == "run" {
      FileHandle.standardOutput.write(Data("\(exit)\n".utf8))
    }
    done.signal()
  }
  queue.addOperation(operation)
  return (operation, done)
}

func run(_ launch: ProcessLaunch) -> DispatchSemaphore { start(launch).done }

/// Cancels a chain of processes, each of which ends as soon as it has started the next, so that a scan which sees the last
/// one may miss its successor; returns whether none is left.
func endsChain(round: Int) -> Bool {
  // The numbers of processes wrap around in the middle of the chain, where this user may have them do so.
  if getppid() == 1 {
    _ = try? Data("32760".utf8).write(to: URL(filePath: "/proc/sys/kernel/ns_last_pid"))
  }
  let word = ProcessTable.marker()
  let link = "setsid sh -c 'setsid sh -c \"setsid setsid sleep \(word) & exit\" & exit'"
  let said = DispatchSemaphore(value: 0)
  let chain = start(ProcessLaunch(script: "\(link) >/dev/null 2>&1 & echo up; exec sleep \(word)")) { said.signal() }
  said.wait()
  for _ in 0..<round % 8 { _ = poll(nil, 0, 1) }  // a different link each time
  chain.operation.cancel()
  chain.done.wait()
  return ProcessTable.processes(with: word).isEmpty
}

/// The number of open pipes and pidfds; dispatch opens other descriptors at any time.
func descriptors() -> Int {
  let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return numbers.count { number in
    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    return target?.hasPrefix("pipe:") == true || target?.contains("[pidfd]") == true
  }
}

/// How often this process has read.
func reads() -> Int {
  let line = ProcessTable.text("/proc/self/io")?.split(separator: "\n").first { $0.hasPrefix("syscr: ") }
  return line.flatMap { Int($0.dropFirst(7)) } ?? 0
}

/// Starts a program as other code does, in a session of its own.
func startOwn(_ words: String...) -> pid_t {
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  posix_spawnattr_setflags(&attributes, 0x80)  // POSIX_SPAWN_SETSID, which Swift does not import
  let list = words.map { strdup($0) } + [nil]
  var pid = pid_t()
  guard posix_spawnp(&pid, words[0], nil, &attributes, list, environ) == 0 else { exit(1) }
  return pid
}

/// Returns once the clock of start times has moved on: what starts then is younger than what has started.
func awaitTick() {
  func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return time.tv_sec * 100 + time.tv_nsec / 10_000_000
  }
  let began = now()
  while now() == began { _ = poll(nil, 0, 1) }
}

/// What has happened to a child since the last call.
func news(of pid: pid_t, waiting: Bool = false) -> String {
  var status: Int32 = 0
  switch waitpid(pid, &status, waiting ? 0 : WNOHANG | WUNTRACED | WCONTINUED) {
  case 0: return "untouched"
  case pid where status & 0x7F == 0: return "exited(\(status >> 8 & 0xFF))"
  case pid where status & 0xFF == 0x7F: return "stopped"
  case pid where status == 0xFFFF: return "continued"
  case pid: return "signalled(\(status & 0x7F))"
  default: return "lost"
  }
}

func waitUntil(_ condition: () -> Bool) {
  while !condition() { _ = poll(nil, 0, 1) }
}

/// Starts a job that sleeps; returns it with the process.
func startSleeper() -> (operation: ShellOperation, done: DispatchSemaphore, pid: pid_t) {
  let said = DispatchSemaphore(value: 0)
  let job = start(ProcessLaunch(script: "echo up; exec sleep 3600")) { said.signal() }
  said.wait()
  return (job.operation, job.done, job.operation.processIdentifier ?? 0)
}

func testOwn() {
  let (child, other) = (startOwn("sleep", "3600"), startOwn("sleep", "3600"))
  awaitTick()
  let job = startSleeper()
  job.operation.pause()
  waitUntil { ProcessTable.isStopped(job.pid) }
  // Once the next command has an effect, the one before it has had all of its own.
  job.operation.resume()
  waitUntil { !ProcessTable.isStopped(job.pid) }
  print("job paused:", news(of: child))
  job.operation.cancel()
  job.done.wait()
  print("job cancelled:", news(of: child))
  run(ProcessLaunch(script: "(:) & exit 3")).wait()
  print("job ended:", news(of: child))
  kill(other, SIGKILL)
  waitUntil { !ProcessTable.isAlive(other) }
  run(ProcessLaunch(script: "exit 3")).wait()
  print("child killed:", news(of: other))
  _ = startSleeper()
  _ = ProcessSupervisor.shared.endAll(within: .seconds(3600))
  print("all ended:", news(of: child))
  kill(child, SIGKILL)
  _ = news(of: child, waiting: true)
}

func testDiscarding(_ name: String) {
  var action = sigaction()
  switch name {
  case "ignored": action.__sigaction_handler.sa_handler = SIG_IGN
  case "handler", "unwaited-handler": action.__sigaction_handler.sa_handler = { _ in }
  default: action.__sigaction_handler.sa_handler = SIG_DFL
  }
  if name.hasPrefix("unwaited") { action.sa_flags = SA_NOCLDWAIT }
  sigaction(SIGCHLD, &action, nil)
  let job = start(ProcessLaunch(script: "exit 3"))
  job.done.wait()
  sigaction(SIGCHLD, nil, &action)
  let handler = action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: UInt.self) } ?? 0
  let result = handler == 0 ? "by default" : handler == 1 ? "ignored" : "handled"
  print(job.operation.exit.map { "\($0)" } ?? "none", result)
}

switch arguments.first {
case "run":
  let jobs = arguments.dropFirst().map { run(ProcessLaunch(script: $0)) }
  for job in jobs { job.wait() }
case "end", "end-remote":
  let said = DispatchSemaphore(value: 0)
  var launch = ProcessLaunch(script: arguments[1])
  if arguments[0] == "end-remote" { launch.remoteGrace = .seconds(3600) }
  start(launch) { said.signal() }
  said.wait()
  print(ProcessSupervisor.shared.endAll(within: .seconds(3600)) ? "all gone" : "some left")
case "many":
  run(ProcessLaunch(["/bin/true"])).wait()
  let before = descriptors()
  queue.maxConcurrentOperationCount = 4
  let jobs = (0..<(Int(arguments[1]) ?? 0)).map { _ in run(ProcessLaunch(script: "(:) & exit 0")) }
  for job in jobs { job.wait() }
  var info = siginfo_t()
  let hasChildren = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
  print("before \(before) after \(descriptors()) children \(hasChildren)")
case "over":
  run(ProcessLaunch(script: arguments[1])).wait()
  let before = reads()
  let isOver = ProcessSupervisor.shared.endAll(within: .seconds(3600))
  let count = reads() - before
  print(isOver ? "all gone" : "some left", count < 8 ? "without a look" : "after a look")
case "own": testOwn()
case "run-own":
  _ = startOwn("sleep", arguments[1])
  awaitTick()
  run(ProcessLaunch(script: arguments[2])).wait()
case "discard": testDiscarding(arguments[1])
case "chain":
  print("left in", (0..<(Int(arguments[1]) ?? 0)).filter { !endsChain(round: $0) })
default:
  print("run, end, end-remote, many, over, own, run-own, discard or chain?")
  exit(2)
}
