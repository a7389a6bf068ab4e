import Basics
import Foundation
import JobModel
import Processes
import Support
import Testing

@testable import JobEngine
@testable import Operations

@Suite struct ServiceProbeTests {
  /// Notes whether what it is to depend on is in a queue already.
  private final class Dependent: Operation, @unchecked Sendable {
    // Safe: behind a lock.
    let isLate = Lock<Bool?>(nil)

    override func addDependency(_ operation: Operation) {
      let isQueued = (operation as? AsyncOperation)?.parts.has(.mayBeQueued)
      isLate.withLock { $0 = isQueued }
      super.addDependency(operation)
    }
  }

  @Test func aServiceDependsOnTheQuestionBeforeThatIsAsked() throws {
    let (listener, port) = try Loopback.listen()
    defer { close(listener) }
    let probe = ServiceProbe(
      .port(host: "127.0.0.1", port), interval: .seconds(600), launch: ProcessLaunch(["true"]),
      shell: ["/bin/sh", "-c"], clock: .system)
    let failure = Lock<JobFailure?>(nil)
    let service = Dependent()
    probe.ask(before: service) { occupant in failure.withLock { $0 = occupant } }
    // A question that has finished, and has not told its answer yet, would let the service start.
    #expect(service.isLate.withLock { $0 } == false)
    OperationQueue().addOperation(service)
    #expect(eventually { service.isFinished })
    #expect(failure.withLock { $0 } != nil)
  }
}
