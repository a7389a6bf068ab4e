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

  private func probe(_ service: Service, _ clock: any OperationClock) -> ServiceProbe {
    ServiceProbe(service, launch: ProcessLaunch(["true"]), shell: ["/bin/sh", "-c"], clock: clock)
  }

  @Test func onlyMissesInARowSayThatAServiceIsDead() throws {
    let folder = try TemporaryFolder()
    let clock = ManualOperationClock()
    var alive = Service.Liveness(
      .command(.script("echo >> '\(folder.url.path())/asked'; ! test -e '\(folder.url.path())/dead'")))
    alive.failures = 2
    let probe = probe(Service(alive: alive), clock)
    let asked = { (try? Data(contentsOf: folder.file("asked")).count) ?? 0 }
    func ask() {
      let before = asked()
      // The wait for the next probe follows the answer.
      #expect(eventually { clock.due.contains(clock.now + .seconds(10)) })
      clock.advance(by: .seconds(10))
      #expect(eventually { asked() > before })
    }
    let dead = Lock<JobFailure?>(nil)
    probe.watch { failure in dead.withLock { $0 = failure } }
    ask()
    for _ in 1...2 {
      try Data().write(to: folder.file("dead"))
      ask()
      try FileManager.default.removeItem(at: folder.file("dead"))
      ask()
    }
    #expect(dead.withLock { $0 } == nil)
    try Data().write(to: folder.file("dead"))
    // While it is paused nothing is asked.
    probe.isPaused = true
    let before = asked()
    #expect(eventually { clock.due.contains(clock.now + .seconds(10)) })
    clock.advance(by: .seconds(10))
    #expect(eventually { clock.due.contains(clock.now + .seconds(10)) })
    #expect(asked() == before)
    probe.isPaused = false
    ask()
    ask()
    #expect(eventually { dead.withLock { $0 } == JobFailure(.error, "service.alive failed 2 times in a row") })
  }

  @Test func aServiceDependsOnTheQuestionBeforeThatIsAsked() throws {
    let (listener, port) = try Loopback.listen()
    defer { close(listener) }
    let probe = probe(Service(probe: .port(host: "127.0.0.1", port), interval: .seconds(600)), .system)
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
