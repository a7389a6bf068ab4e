import Foundation
import JobModel
import Operations
import Transfers

/// A download; what the transfer says about itself becomes notes in the job's log.
final class DownloadRunner: Runner, Sendable {
  private let work: DownloadWork
  private let operation = Lock<DownloadOperation?>(nil)

  init(_ work: DownloadWork) { self.work = work }

  func start(_ report: AttemptReport) {
    report.started(nil)
    guard let url = URL(string: work.url) else {
      return report.ended(.failed(JobFailure(.launch, "'\(work.url)' is no URL")))
    }
    let operation = DownloadOperation(
      from: url, to: URL(fileURLWithPath: work.file), headers: work.headers, sha256: work.sha256, resume: work.resume)
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
