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
case "chain":
  print("left in", (0..<(Int(arguments[1]) ?? 0)).filter { !endsChain(round: $0) })
default:
  print("run, end, end-remote, many, over or chain?")
  exit(2)
}
