import Dispatch
import Foundation
import Operations
import Support
import Testing

/// The example of the article `GettingStarted`.
@Suite struct GettingStartedTests {
  @Test func anOperationOfOnesOwnIsObserved() async throws {
    let said = Said()
    @Sendable func print(_ state: AsyncOperation.State) { said.append(state) }

    nonisolated final class Countdown: AsyncOperation, @unchecked Sendable {
      override func main() {
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { self.finish() }
      }
    }

    let queue = OperationQueue()
    let countdown = Countdown()
    let token = countdown.observe(\.state, on: .main) { operation, change in print(change.newValue) }
    queue.addOperation(countdown)
    try await countdown.untilFinished()
    // Tests of the main actor keep the main queue from it, for long under a sanitizer.
    #expect(await soon { said.last == "finished" })
    withExtendedLifetime(token) {}
  }
}
