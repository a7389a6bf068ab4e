import Foundation
import JobModel
import Operations
import Processes
import Transfers

/// How an attempt ended.
enum AttemptOutcome: Sendable, Equatable {
  case succeeded
  case failed(JobFailure)
  case cancelled

  /// The outcome of an operation that has finished.
  init(of operation: AsyncOperation) {
    if let shell = operation as? ShellOperation, !shell.isCancelled, case .success(let exit)? = shell.outcome {
      switch exit {
      case .exited(0): self = .succeeded
      case .exited(let code): self = .failed(JobFailure(.exit(code), "exit \(code)"))
      case .signalled(let signal): self = .failed(JobFailure(.signal(signal), "ended by \(SignalName.of(signal))"))
      }
    } else if operation is ShellOperation, operation.isCancelled {
      // A cancelled program's exit status is that of its stop signal as a rule.
      self = .cancelled
    } else if let error = operation.failure {
      self = error is CancellationError ? .cancelled : .failed(JobFailure(of: error))
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
    case let error as TransferError: self.init(Self.cause(of: error.code), error.message)
    case let error as SimulatedFailure: self.init(.simulated, error.description)
    case let error as ProcessError: self.init(.launch, error.description)
    case is TimedOut: self.init(.timedOut, Self.words(error))
    default: self.init(.error, Self.words(error))
    }
  }

  private static func cause(of code: TransferError.Code) -> Cause {
    switch code {
    case .http(let status): .http(status)
    case .network, .tooManyRedirects, .invalidHeader, .outOfMemory: .network
    case .timedOut: .timedOut
    case .checksum: .checksum
    case .file: .file
    case .unsupportedURL: .launch
    }
  }

  /// The first line of the error's description; it stands in a column.
  private static func words(_ error: any Error) -> String {
    let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "\(type(of: error))"
    return line.count > 200 ? line.prefix(199) + "…" : line
  }
}
