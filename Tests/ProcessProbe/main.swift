import Foundation
import Operations
import Processes

// A program that runs shell jobs, for tests that kill it or examine it from outside.
//
//     ProcessProbe run SCRIPT...     runs them and prints how each ended
//     ProcessProbe end SCRIPT        waits for its first output, then calls endAll() and exits
//     ProcessProbe many COUNT        runs COUNT programs; prints open descriptors before and after, and zombies

let arguments = Array(CommandLine.arguments.dropFirst())
let queue = OperationQueue()
// The parent may have blocked the signals that the tests send.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
ProcessSupervisor.shared.start()

func run(_ launch: ProcessLaunch, said: @escaping @Sendable () -> Void = {}) -> DispatchSemaphore {
  let done = DispatchSemaphore(value: 0)
  let operation = ShellOperation(launch) { _, _, consumed in
    said()
    consumed()
  }
  operation.result(on: .global()) { _ in
    if let exit = operation.exit, arguments.first == "run" {
      FileHandle.standardOutput.write(Data("\(exit)\n".utf8))
    }
    done.signal()
  }
  queue.addOperation(operation)
  return done
}

/// The number of open pipes and pidfds; dispatch opens other descriptors at any time.
func descriptors() -> Int {
  let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return numbers.count { number in
    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    return target?.hasPrefix("pipe:") == true || target?.contains("[pidfd]") == true
  }
}

switch arguments.first {
case "run":
  let jobs = arguments.dropFirst().map { run(ProcessLaunch(script: $0)) }
  for job in jobs { job.wait() }
case "end":
  let said = DispatchSemaphore(value: 0)
  _ = run(ProcessLaunch(script: arguments[1])) { said.signal() }
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
default:
  print("run, end or many?")
  exit(2)
}
