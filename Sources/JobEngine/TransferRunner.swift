import Foundation
import JobModel
import Operations
import Transfers

/// A download or an upload; what the transfer says about itself becomes notes in the job's log and its file.
final class TransferRunner<Transfer: TransferOperation>: Runner, Sendable {
  private let makeTransfer: @Sendable () -> Transfer?
  private let log: Lock<LogFile?>
  private let transfer = Lock<Transfer?>(nil)
  private let url: String

  /// `makeTransfer` answers nil where the text is no URL.
  private init(to url: String, logPath: String?, _ makeTransfer: @escaping @Sendable () -> Transfer?) {
    self.url = url
    self.makeTransfer = makeTransfer
    log = Lock(logPath.map(LogFile.init))
  }

  func start(_ report: AttemptReport) {
    report.started(nil)
    guard let transfer = makeTransfer() else {
      return report.ended(.failed(JobFailure(.launch, "'\(url)' is no URL")))
    }
    let log = log
    transfer.onProgress = { report.progress(JobProgress($0)) }
    transfer.onNote = { text in
      report.note(text)
      if let problem = log.withLock({ $0?.append(Array("\(text)\n".utf8)) }) { report.note(problem) }
    }
    transfer.whenDone { result in
      log.withLock { $0?.close() }
      report.ended(TransferOutcome.of(result))
    }
    self.transfer.withLock { $0 = transfer }
    transfer.start()
  }

  func cancel() { transfer.withLock(\.self)?.cancel() }
  func pause() { transfer.withLock(\.self)?.pause() }
  func resume() { transfer.withLock(\.self)?.resume() }
}

extension TransferRunner where Transfer == DownloadOperation {
  convenience init(_ work: DownloadWork, logPath: String?) {
    self.init(to: work.url, logPath: logPath) {
      URL(string: work.url).map { url in
        DownloadOperation(
          from: url, to: URL(fileURLWithPath: work.file), headers: work.headers, sha256: work.sha256,
          resume: work.resume)
      }
    }
  }
}

extension TransferRunner where Transfer == UploadOperation {
  convenience init(_ work: UploadWork, logPath: String?) {
    self.init(to: work.url, logPath: logPath) {
      URL(string: work.url).map { url in
        UploadOperation(URL(fileURLWithPath: work.file), to: url, method: work.method, headers: work.headers)
      }
    }
  }
}

/// What the engine asks of a download and of an upload alike.
protocol TransferOperation: AsyncOperation {
  associatedtype Value: Sendable

  var onProgress: (@Sendable (TransferProgress) -> Void)? { get set }
  var onNote: (@Sendable (String) -> Void)? { get set }
  func whenDone(_ handler: @escaping @Sendable (Result<Value, any Error>) -> Void)
  func pause()
  func resume()
}

extension DownloadOperation: TransferOperation {}
extension UploadOperation: TransferOperation {}
