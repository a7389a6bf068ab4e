import Foundation
import Operations

@testable import Transfers

/// A transfer and all that it says.
final class Observed<Success: Sendable>: Sendable {
  let operation: ResultOperation<Success>
  private let heard = Lock(Heard())

  private struct Heard {
    var progress: [TransferProgress] = []
    var notes: [String] = []
    var result: Result<Success, any Error>?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  init(_ operation: ResultOperation<Success>) {
    self.operation = operation
    let progress: @Sendable (TransferProgress) -> Void = { [heard] progress in
      heard.withLock { $0.progress.append(progress) }
    }
    let note: @Sendable (String) -> Void = { [heard] note in heard.withLock { $0.notes.append(note) } }
    if let download = operation as? DownloadOperation {
      download.onProgress = progress
      download.onNote = note
    } else if let upload = operation as? UploadOperation {
      upload.onProgress = progress
      upload.onNote = note
    }
    operation.whenDone { [heard] result in
      let waiting = heard.withLock { heard in
        heard.result = result
        return heard.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  var progress: [TransferProgress] { heard.withLock { $0.progress } }
  var notes: [String] { heard.withLock { $0.notes } }
  var result: Result<Success, any Error>? { heard.withLock { $0.result } }
  var done: Int64 { progress.last?.done ?? 0 }

  var error: TransferError? {
    if case .failure(let error as TransferError) = result { return error }
    return nil
  }

  var isCancelled: Bool {
    if case .failure(_ as CancellationError) = result { return true }
    return false
  }

  /// Starts it and waits until it has ended.
  @discardableResult
  func run() async -> Self {
    operation.start()
    await ended()
    return self
  }

  /// Cancels it and waits until it has ended.
  func cancel() async {
    operation.cancel()
    await ended()
  }

  func ended() async {
    await withCheckedContinuation { continuation in
      let isDone = heard.withLock { heard in
        if heard.result == nil { heard.waiting.append(continuation) }
        return heard.result != nil
      }
      if isDone { continuation.resume() }
    }
  }
}

extension Observed where Success == URL {
  var download: DownloadOperation {
    guard let download = operation as? DownloadOperation else { fatalError("not a download") }
    return download
  }
}

extension Observed where Success == Int {
  var upload: UploadOperation {
    guard let upload = operation as? UploadOperation else { fatalError("not an upload") }
    return upload
  }
}
