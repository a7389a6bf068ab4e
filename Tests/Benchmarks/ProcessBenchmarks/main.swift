import Foundation
import Operations
import Processes

// Seconds for each start and end of /bin/true, two at a time: shell operations in a queue, and posix_spawn with waitpid.
// One line for each value, for `Tests/Benchmarks/run` to read: the name, a tab, the value.
//
//     process-benchmarks [ROUNDS [STARTS]]

let rounds = CommandLine.arguments.dropFirst(1).first.flatMap(Int.init) ?? 5
let starts = CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) ?? 2000

func measure(_ name: String, _ body: () -> Void) {
  let began = DispatchTime.now().uptimeNanoseconds
  body()
  print("\(name)\t\(Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9 / Double(starts))")
}

func runShellOperations() {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 2
  let operations = (0..<starts).map { _ in
    ShellOperation(ProcessLaunch(["/bin/true"]), output: .chunks { $1() }, error: .chunks { $1() })
  }
  queue.addOperations(operations, waitUntilFinished: true)
  precondition(operations.allSatisfy { $0.exit == .exited(0) }, "a start has failed")
}

func runSpawns() {
  DispatchQueue.concurrentPerform(iterations: 2) { _ in
    for _ in 0..<starts / 2 {
      var (pid, status) = (pid_t(), Int32())
      var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
      precondition(posix_spawn(&pid, "/bin/true", nil, nil, &arguments, environ) == 0, "a start has failed")
      free(arguments[0])
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }
  }
}

ProcessSupervisor.shared.start()
for _ in 0..<rounds {
  measure("shell operation", runShellOperations)
  measure("posix_spawn and waitpid", runSpawns)
}
