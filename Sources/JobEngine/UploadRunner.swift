import Foundation
import JobModel
import Operations
import Transfers

/// An upload; what the transfer says about itself becomes notes in the job's log.
final class UploadRunner: Runner, Sendable {
  private let work: UploadWork
  private let operation = Lock<UploadOperation?>(nil)

  init(_ work: UploadWork) { self.work = work }

  func start(_ report: AttemptReport) {
    report.started(nil)
    guard let url = URL(string: work.url) else {
      return report.ended(.failed(JobFailure(.launch, "'\(work.url)' is no URL")))
    }
    let operation = UploadOperation(
      URL(fileURLWithPath: work.file), to: url, method: work.method, headers: work.headers)
    operation.onProgress = { report.progress(JobProgress($0)) }
    operation.onNote = { report.note($0) }
    operation.whenDone { report.ended(TransferOutcome.of($0)) }
    self.operation.withLock { $0 = operation }
    operation.start()
  }

  func cancel() { operation.withLock(\.self)?.cancel() }
  func pause() { operation.withLock(\.self)?.pause() }
  func resume() { operation.withLock(\.self)?.resume() }
}
