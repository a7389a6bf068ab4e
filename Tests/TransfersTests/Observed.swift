import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// A transfer and everything that its observers are told.
final class Observed<Success: Sendable>: Sendable {
  let operation: TransferOperation<Success>
  private let heard = Lock(Heard())
  private let tokens: [ObservationToken]

  private struct Heard {
    var progress: [OperationProgress] = []
    var notes: [String] = []
    var result: Result<Success, any Error>?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  init(_ operation: TransferOperation<Success>) {
    self.operation = operation
    let queue = DispatchQueue(label: "observed")
    tokens = [
      operation.observe(\.progress, on: queue) { [heard] _, change in
        heard.withLock { $0.progress.append(change.newValue) }
      },
      operation.observeLog(on: queue) { [heard] _, line in heard.withLock { $0.notes.append(line.text) } },
      operation.observe(\.isFinished, on: queue, options: .initial) { [heard] operation, change in
        guard change.newValue else { return }
        let waiting = heard.withLock { heard in
          heard.result = operation.outcome
          return heard.waiting
        }
        for continuation in waiting { continuation.resume() }
      },
    ]
  }

  /// The reported values in order, as delivered; complete once the result is there.
  var progress: [OperationProgress] { heard.withLock { $0.progress } }
  var notes: [String] { heard.withLock { $0.notes } }
  var result: Result<Success, any Error>? { heard.withLock { $0.result } }
  var done: Int64 { operation.progress.completed }

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

  /// Starts it and waits until it has reported so many bytes.
  func start(until count: Int64) {
    operation.start()
    #expect(eventually { done == count })
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

extension RawServer {
  /// A script that sends five of ten bytes and keeps the connection open.
  static func stalled(_: Request) -> [Step] {
    [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n12345"), .hold]
  }
}
