import Basics
import Foundation
import JobModel
import Operations
import Transfers

/// Executes downloads and uploads.
final class TransferExecutor: Executor {
  var secrets: SecretMask?
  private let resumedSince: Date?
  private let unrecorded: Set<JobID>

  init(_ options: JobQueueOptions, secrets: SecretMask?) {
    self.secrets = secrets
    (resumedSince, unrecorded) = (options.resumedSince, options.unrecorded)
  }

  func execution(of request: AttemptRequest) -> Execution {
    switch request.job.work {
    case .download(let work):
      let download = DownloadOperation(
        from: work.url, to: URL(fileURLWithPath: work.file), headers: work.headers, sha256: work.sha256,
        resume: work.resume, existing: .init(work.existing), usesServerName: work.usesServerName, thread: .shared)
      download.resumedSince = resumedSince
      download.takesFinished = request.admission.attempt == 1 && unrecorded.contains(request.admission.job)
      return execution(download, work.stall, request)
    case .upload(let work):
      return execution(
        UploadOperation(
          URL(fileURLWithPath: work.file), to: work.url, method: work.method, headers: work.headers, thread: .shared),
        work.stall, request)
    case .shell, .simulate, .operation: preconditionFailure("it is not a transfer")
    }
  }

  private func execution<Success>(
    _ operation: TransferOperation<Success>, _ stall: Duration, _ request: AttemptRequest
  ) -> Execution {
    operation.stallTimeout = stall
    if let path = request.log.path {
      operation.keepNotes(in: path, keepsShort: request.log.keepsShort, masking: secrets)
    }
    return Execution(operation)
  }
}

extension DownloadOperation.ExistingFile {
  fileprivate init(_ existing: DownloadWork.Existing) {
    switch existing {
    case .number: self = .number
    case .skip: self = .skip
    case .overwrite: self = .overwrite
    }
  }
}

extension DownloadOperation: ReportingOperation {}

extension TransferError: JobFailureConvertible {
  package var jobFailure: JobFailure { JobFailure(cause, message, retryAfter: retryAfter) }

  private var cause: JobFailure.Cause {
    switch code {
    case .http(let status): .http(status)
    case .network, .outOfMemory: .network
    case .timedOut: .timedOut
    case .checksum: .checksum
    case .file: .file
    case .unsupportedURL, .invalidHeader: .launch
    // Not network failures: another attempt would be redirected, or not trusted, in the same way.
    case .tooManyRedirects, .certificate: .error
    }
  }
}
