import JobModel
import Operations

/// Makes the runner of an attempt by the kind of its job.
package struct RunnerFactory: Sendable {
  package init() {}

  func callAsFunction(_ job: Job, attempt: Int, logPath: String?, clock: any OperationClock) -> any Runner {
    switch job.work {
    case .shell(let work): ShellRunner(work, logPath: logPath)
    case .download(let work): TransferRunner(work, logPath: logPath)
    case .upload(let work): TransferRunner(work, logPath: logPath)
    case .simulate(let work): SimulatedRunner(work, attempt: attempt, clock: clock)
    case .operation(let work):
      preconditionFailure("\(work.className) is run by the queue that it is in, and by nobody else")
    }
  }
}
