import Foundation
import Support
import Testing

@testable import Operations

/// Of all calls of `finish`, in whatever form, the first counts.
@Suite struct FirstEndTests {
  struct Fault: Error, Equatable {}

  final class Manual: AsyncOperation, @unchecked Sendable {
    // Safe: constant.
    private let whenCancelled: @Sendable (AsyncOperation) -> Void

    init(whenCancelled: @escaping @Sendable (AsyncOperation) -> Void = { $0.finish() }) {
      self.whenCancelled = whenCancelled
    }

    override func main() {}
    override func didCancel() { whenCancelled(self) }
  }

  final class Answer: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
  }

  @Test func anErrorAfterAFinishThatWaitsForTheStartIsIgnored() {
    let operation = Manual()
    operation.finish()
    operation.finish(with: Fault())
    operation.start()
    #expect(operation.isFinished && operation.failure == nil)
  }

  @Test func anErrorAfterAFinishInsideDidCancelIsIgnored() {
    let operation = Manual {
      $0.finish()
      $0.finish(with: Fault())
    }
    operation.start()
    operation.cancel()
    #expect(operation.isFinished && operation.failure is CancellationError)
  }

  @Test(arguments: [false, true]) func aValueAfterAFinishWithoutOneIsIgnored(_ isStarted: Bool) {
    let operation = Answer()
    if isStarted { operation.start() }
    operation.finish()
    operation.finish(.success(2))
    operation.finish(with: Fault())
    if !isStarted { operation.start() }
    #expect(operation.failureCode == .missingResult)
  }

  @Test func aValueAfterAnErrorIsIgnoredAndTheReverse() {
    let failed = Answer()
    let succeeded = Answer()
    failed.start()
    succeeded.start()
    failed.finish(with: Fault())
    failed.finish(.success(1))
    succeeded.finish(.success(1))
    succeeded.finish(with: Fault())
    #expect(failed.failure is Fault && succeeded.failure == nil)
  }

  /// The failure that is read the moment that the operation has finished, and the one that is read for ever after.
  @Test func afterTheEndTheFailureNeverChanges() {
    var changed = 0
    for round in 0..<20_000 {
      let operation: AsyncOperation = round % 2 == 0 ? Manual() : Answer()
      operation.start()
      let first = Lock(String?.none)
      race([
        { operation.finish() },
        { operation.finish(with: Fault()) },
        {
          while !operation.isFinished {}
          first.withLock { $0 = "\(String(describing: operation.failure))" }
        },
      ])
      if first.withLock({ $0 }) != "\(String(describing: operation.failure))" { changed += 1 }
    }
    #expect(changed == 0)
  }

  @Test func afterTheEndTheErrorOfACancellationNeverChanges() {
    var changed = 0
    for _ in 0..<10_000 {
      let operation = Manual()
      let first = Lock(String?.none)
      race([
        {
          operation.cancel()
          operation.start()
          first.withLock { $0 = "\(String(describing: operation.failure))" }
        },
        { operation.cancel(with: Fault()) },
      ])
      if first.withLock({ $0 }) != "\(String(describing: operation.failure))" { changed += 1 }
    }
    #expect(changed == 0)
  }
}
