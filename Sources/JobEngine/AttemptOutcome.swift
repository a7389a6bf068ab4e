import Foundation
import JobModel
import Operations
import Processes
import Slurm
import Transfers

/// The outcome of an attempt.
package enum AttemptOutcome: Sendable, Equatable {
  case succeeded
  /// There was nothing to do.
  case upToDate
  case failed(JobFailure)
  case cancelled

  /// The outcome of an operation that has finished.
  package init(of operation: AsyncOperation) { self.init(of: operation, failure: operation.failure) }

  /// The outcome of an operation that is about to finish, unless a cancellation comes first.
  init(claimedBy operation: AsyncOperation) { self.init(of: operation, failure: operation.claimedFailure) }

  private init(of operation: AsyncOperation, failure: (any Error)?) {
    if let error = failure {
      self = error is CancellationError ? .cancelled : .failed(JobFailure(of: error))
    } else if let download = operation as? DownloadOperation, download.isUpToDate {
      self = .upToDate
    } else if let job = operation as? SlurmOperation, job.isUpToDate {
      self = .upToDate
    } else if let shell = operation as? ShellOperation, shell.isUpToDate {
      self = .upToDate
    } else {
      // A success stands, however late the operation was cancelled.
      self = .succeeded
    }
  }
}

extension JobFailure {
  /// The failure of an operation that ended with `error`.
  package init(of error: any Error) {
    switch error {
    case let error as JobFailure: self = error
    case let error as TransferError:
      self.init(Self.cause(of: error.code), error.message, retryAfter: error.retryAfter)
    case let error as SimulatedFailure: self.init(.simulated, error.description)
    case let error as ShellFailure: self.init(exit: error.exit)
    case let error as SlurmFailure: self.init(end: error.end, error)
    case let error as ProcessError: self.init(error.code == .outputTooLong ? .error : .launch, error.description)
    case is TimedOut: self.init(.timedOut, FailureWords.of(error))
    default: self.init(Self.cause(of: error as NSError), FailureWords.of(error))
    }
  }

  private init(exit: ProcessExit) {
    switch exit {
    case .exited(let code): self.init(.exit(code), Self.text(exit: code, signalName: SignalName.known))
    case .signalled(let signal): self.init(.signal(signal), "\(SignalName.of(signal)) (\(128 + signal))")
    }
  }

  private init(end: SlurmEnd, _ failure: SlurmFailure) {
    switch end {
    case .exited(let status): self.init(exit: .exited(status))
    case .signalled(let signal): self.init(exit: .signalled(signal))
    case .outOfMemory: self.init(.outOfMemory, "out of memory")
    case .timeLimit: self.init(.timeLimit, "time limit of the cluster")
    case .nodeFailure(let nodes): self.init(.nodeFailure, nodes.isEmpty ? "lost its node" : "lost its node \(nodes)")
    case .preempted: self.init(.preempted, "preempted")
    case .cancelled: self.init(.error, "cancelled in Slurm")
    case .refused: self.init(.launch, failure.description)
    case .notStarted: self.init(.launch, failure.description)
    case .lost: self.init(.lost, failure.description)
    }
  }

  private static func cause(of error: NSError) -> Cause {
    guard FailureWords.isOfURLSession(error) else { return .error }
    return error.code == FailureWords.timedOut ? .timedOut : .network
  }

  private static func cause(of code: TransferError.Code) -> Cause {
    switch code {
    case .http(let status): .http(status)
    case .network, .outOfMemory: .network
    case .timedOut: .timedOut
    case .checksum: .checksum
    case .file: .file
    case .unsupportedURL, .invalidHeader: .launch
    // Not a network failure: another attempt would be redirected in the same way.
    case .tooManyRedirects: .error
    }
  }
}
