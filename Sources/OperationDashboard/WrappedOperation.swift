import Foundation
import Operations

/// Runs an operation of another class inside one of ours, which makes its start and its end seen.
///
/// It takes the place of the other in the queue. What the other depends on, this one waits for.
final class WrappedOperation: AsyncOperation, @unchecked Sendable {
  // Safe: all is constant.
  let inner: Operation
  /// Where one waits that is not ready after all, and where ends are told; neither ever holds more than run at once.
  private let places: Places

  struct Places: Sendable {
    let aside = OperationQueue()
    let ends = EndNotices.queue()
  }

  init(_ inner: Operation, places: Places) {
    self.inner = inner
    self.places = places
    super.init()
    name = inner.name
    queuePriority = inner.queuePriority
    qualityOfService = inner.qualityOfService
  }

  override func main() {
    // Somebody may have tied it to what we know nothing of, and a dependency that has just finished may still be about
    // to tell it so. A queue waits for both.
    if inner.isReady { inner.start() } else { places.aside.addOperation(inner) }
    if inner.isFinished { finish() } else { watchEnd() }
  }

  override func cancel() {
    super.cancel()
    inner.cancel()
  }

  /// Makes the inner one finish, without executing, where this one never began: others may depend on it.
  func endInner() {
    guard !inner.isFinished, !inner.isExecuting else { return }
    inner.cancel()
    inner.start()
  }

  private func watchEnd() {
    let end = BlockOperation { self.finish() }
    end.addDependency(inner)
    places.ends.addOperation(end)
  }
}
