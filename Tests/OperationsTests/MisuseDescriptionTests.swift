import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Descriptions that ask the operation while a programmer error is put into words; the article Misuse lists them.
struct MisuseDescriptionTests {
  @Test func aDescriptionMayAskAnythingOfTheOperationInAFault() async {
    final class Talkative: AsyncOperation, @unchecked Sendable {
      override var description: String { "talkative, after \(dependencies.count)" }
      override func main() { finish() }
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MisuseRig.giveUpLater()
      let operation = Talkative()
      operation.start()
      try DependencyQueue(feeding: OperationQueue()).add(operation)
    }
    #expect(result?.exitStatus != .exitCode(MisuseRig.hung))
    #expect(MisuseRig.text(result).contains("talkative, after 0 has been started or added before"))
  }

  @Test func aDescriptionMayAskAnythingOfTheOperationInALateCondition() async {
    final class Talkative: AsyncOperation, @unchecked Sendable {
      override var description: String { "talkative, after \(dependencies.count)" }
      override func main() { finish() }
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MisuseRig.giveUpLater()
      let operation = Talkative()
      operation.addDependency(ManualOperation())
      operation.cancel()
      operation.start()
      operation.addCondition(.noFailedDependencies)
    }
    #expect(result?.exitStatus != .exitCode(MisuseRig.hung))
    #expect(MisuseRig.text(result).contains("a condition was added to talkative, after 0 after"))
  }
}
