import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import JobEngine

@Suite struct AttemptTests {
  /// Runs one job to its end and returns the operation of its first attempt, if that is still there.
  private func operation(afterTheEndOf work: JobWork) throws -> AsyncOperation? {
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [Job(name: "job", work: work)]), options: .init(slots: 1))
    queue.stream.queue.sync { queue.stream.queue.suspend() }
    queue.start()
    let found = WeakReference()
    // Taken in the same turn of the engine as the admission.
    queue.stream.queue.async { found.operation = queue.attempts.values.first?.operation }
    queue.stream.queue.resume()
    #expect(eventually { queue.run.isComplete })
    #expect(queue.stream.queue.sync { queue.attempts.isEmpty })
    _ = eventually { found.operation == nil }
    return found.operation
  }

  private final class WeakReference: @unchecked Sendable {
    // Safe: written once on the engine's queue before the run can end, read after that.
    weak var operation: AsyncOperation?
  }

  @Test func nothingOfAnEndedAttemptIsKept() throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry")] }
    defer { server.stop() }
    let works: [JobWork] = [
      .shell(ShellWork(.script("echo a line; exit 1"))),
      .simulate(SimulatedWork(duration: .milliseconds(20), steps: 2)),
      .download(DownloadWork(url: server.url("/a").absoluteString, file: NSTemporaryDirectory() + "/never")),
      .upload(UploadWork(file: "/etc/hostname", url: server.url("/a").absoluteString)),
    ]
    for work in works { #expect(try operation(afterTheEndOf: work) == nil, "\(work.kind)") }
  }

  @Test func aSimulationPausedBeforeItsStartBeginsWhenResumed() {
    let clock = ManualOperationClock()
    let operation = SimulatedOperation(SimulatedWork(duration: .seconds(1), steps: 2), attempt: 1, clock: clock)
    operation.pause()
    let queue = OperationQueue()
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting })
    clock.advance(by: .seconds(10))
    #expect(!operation.isFinished)
    operation.resume()
    #expect(eventually { !clock.due.isEmpty })
    clock.advance(by: .seconds(1))
    #expect(eventually { operation.isFinished })
    #expect(operation.failure == nil)
  }

  @Test func aPausedSimulationThatIsCancelledFinishes() {
    let operation = SimulatedOperation(SimulatedWork(duration: .seconds(1)), attempt: 1, clock: ManualOperationClock())
    operation.pause()
    let queue = OperationQueue()
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting })
    operation.cancel()
    operation.resume()
    #expect(eventually { operation.isFinished })
  }
}
