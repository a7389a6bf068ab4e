import Foundation
import Support
import Testing

@testable import Operations

/// Long chains are released without recursion, whatever links them.
@Suite struct LongChainTests {
  final class Link: ResultOperation<Int>, InputReceiving, @unchecked Sendable {
    // Safe: set before `main`.
    private var input = 0

    func receive(_ input: Int) { self.input = input }
    override func main() { finish(.success(input + 1)) }
  }

  static func chain(_ count: Int) -> [Link] {
    let links = (0..<count).map { _ in Link() }
    for (link, next) in zip(links, links.dropFirst()) { next.takeInput(from: link) }
    return links
  }

  @Test func aChainOfReceiversIsReleasedUnrun() async {
    await #expect(processExitsWith: .success) {
      _ = Self.chain(20_000)
      // Only the last is kept, and released on a small stack.
      let last = Lock(Self.chain(20_000).last)
      let semaphore = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        last.withLock { $0 = nil }
        semaphore.signal()
      }
      semaphore.wait()
    }
  }

  @Test func aGroupOfReceiversIsReleasedUnrun() async {
    await #expect(processExitsWith: .success) {
      _ = GroupOperation(Self.chain(10_000))
      _ = GroupOperation(Self.chain(10_000).reversed())
    }
  }

  @Test func aReceiverWhoseSourceIsGoneSaysThatItHasNoResult() {
    let receiver = Link()
    do {
      let source = Link()
      receiver.takeInput(from: source)
      receiver.removeDependency(source)
    }
    let queue = OperationQueue()
    queue.addOperation(receiver)
    #expect(eventually { receiver.isFinished })
    #expect(receiver.failureCode == .conditionFailed && receiver.failure(.missingResult) != nil)
  }
}
