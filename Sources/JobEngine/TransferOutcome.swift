import JobModel
import Transfers

/// Translates how a transfer ended into how an attempt ends.
enum TransferOutcome {
  static func of<Success>(_ result: Result<Success, any Error>) -> AttemptOutcome {
    switch result {
    case .success: .succeeded
    case .failure(is CancellationError): .cancelled
    case .failure(let error as TransferError): .failed(JobFailure(error))
    case .failure(let error): .failed(JobFailure(.network, "\(error)"))
    }
  }
}

extension JobFailure {
  init(_ error: TransferError) {
    let cause: Cause =
      switch error.code {
      case .http(let status): .http(status)
      case .timedOut: .timedOut
      case .checksum: .checksum
      case .file: .file
      case .unsupportedURL: .launch
      default: .network
      }
    self.init(cause, error.message)
  }
}

extension JobProgress {
  init(_ progress: TransferProgress) {
    self.init(done: progress.done, total: progress.total, unit: .bytes)
  }
}
