import Foundation
import Operations
import Slurm

// slurm-probe SLURM_CONF RUN FOLDER COUNT: runs that many jobs, or takes up a run of which another process has died.
// Each job writes a line into a file of its own and exits with the rest of its number by 4; prints how each ended.
let arguments = CommandLine.arguments
guard arguments.count == 5, let count = Int(arguments[4]) else {
  print("usage: slurm-probe SLURM_CONF RUN FOLDER COUNT")
  exit(2)
}
let folder = arguments[3]
let observer = SlurmObserver(
  run: arguments[2], folder: folder + "/jobs", runner: SystemSlurmRunner(environment: ["SLURM_CONF": arguments[1]]))
let operations = (0..<count).map { number in
  let script = "echo x >>work.\(number); sleep 0.\(number % 10); exit $((\(number) % 4))"
  let job = SlurmJob(
    observer.identity(job: "a[\(number)]", attempt: 1), name: "a[\(number)]", arguments: ["/bin/sh", "-c", script],
    directory: folder)
  return SlurmOperation(job, on: observer, mayExist: true)
}
let queue = OperationQueue()
queue.maxConcurrentOperationCount = count
queue.addOperations(operations, waitUntilFinished: true)
for (number, operation) in operations.enumerated() {
  switch operation.outcome {
  case .success(let outcome)?: print(number, outcome.end)
  case .failure(let error as SlurmFailure)?: print(number, error.end)
  case .failure(let error)?: print(number, error)
  case nil: print(number, "has not ended")
  }
}
