import Foundation
import Operations
import Processes
import Support
import Testing

@testable import Slurm

/// Operations on a Slurm that answers from memory.
@Suite struct SlurmOperationTests {
  private let bench: Bench
  private let lines = Lock<[String]>([])
  private let tokens = Lock<[ObservationToken]>([])

  init() throws { bench = try Bench() }

  private func operation(stop: SlurmJob.Stop = .init(), check: OutputCheck? = nil) -> SlurmOperation {
    let operation = SlurmOperation(bench.job("a", stop: stop), on: bench.observer, check: check)
    let lines = lines
    let token = operation.observeLog(on: DispatchQueue(label: "test.lines")) { _, line in
      lines.withLock { $0.append(line.text) }
    }
    tokens.withLock { $0.append(token) }
    return operation
  }

  /// Has the job submitted, and its output file there.
  private func start(_ operation: SlurmOperation, output: String = "") throws {
    operation.start()
    bench.advance(exactly: .milliseconds(500))
    try bench.write(output, to: "a", ".out")
  }

  private func finish(
    _ operation: SlurmOperation, as state: String, node: String = "node1", status: Int32 = 0
  ) {
    bench.slurm.setAll(state, reason: "NonZeroExitCode", node: node, status: status)
    let isFinished = eventually {
      bench.advance(exactly: .milliseconds(100))
      return operation.isFinished
    }
    #expect(isFinished)
  }

  private func logs(_ expected: [String]) -> Bool { eventually { lines.withLock(\.self) == expected } }

  private func expectCancellation(of operation: SlurmOperation, at place: SourceLocation = #_sourceLocation) {
    #expect(operation.isCancellation, sourceLocation: place)
  }

  @Test func theWayOfAJobIsToldAndLogged() throws {
    let operation = operation()
    let told = Lock<[SlurmStatus]>([])
    let statuses = operation.events(.placed, on: DispatchQueue(label: "test.statuses")) { event, _, _ in
      if case .placed(let status as SlurmStatus) = event { told.withLock { $0.append(status) } }
    }
    #expect(operation.name == "a")
    #expect(operation.status == .waiting)
    #expect(operation.outputPath == bench.observer.files.outputPath(of: bench.identity("a")))
    try start(operation, output: "hello\n")
    bench.slurm.setAll("RUNNING", node: "node2")
    bench.advance(exactly: .seconds(1))
    #expect(operation.status == .running(SlurmJobID(1), nodes: "node2"))
    finish(operation, as: "COMPLETED", node: "node2")
    let id = SlurmJobID(1)
    let outcome = SlurmOutcome(.exited(0), id: id, nodes: "node2")
    #expect(try operation.outcome?.get() == outcome)
    let all: [SlurmStatus] = [
      .submitted(id), .pending(id, SlurmReason("Resources")), .running(id, nodes: "node2"), .ended(outcome),
    ]
    #expect(eventually { told.withLock(\.self) == all })
    withExtendedLifetime(statuses) {}
    #expect(operation.status == .ended(outcome))
    #expect(logs(["submitted as job 1", "job 1 runs on node2", "hello"]))
    #expect(!operation.isUpToDate)
  }

  @Test func anotherEndThanASuccessIsAFailure() throws {
    let operation = operation()
    try start(operation)
    finish(operation, as: "FAILED", status: 3 << 8)
    #expect(operation.failure as? SlurmFailure == SlurmFailure(.exited(3), id: SlurmJobID(1)))
  }

  @Test func aJobThatSomeoneElseCancelsIsAFailureAndNoCancellation() throws {
    let operation = operation()
    try start(operation)
    finish(operation, as: "CANCELLED")
    #expect(operation.failure as? SlurmFailure == SlurmFailure(.cancelled, id: SlurmJobID(1)))
  }

  @Test(arguments: [true, false])
  func aCancelledOperationIsCancelledUnlessItsJobHasSucceeded(hasSucceeded: Bool) throws {
    let operation = operation()
    try start(operation)
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    operation.cancel()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    finish(operation, as: hasSucceeded ? "COMPLETED" : "CANCELLED")
    #expect(operation.isCancellation != hasSucceeded)
    #expect(operation.end == (hasSucceeded ? .exited(0) : nil))
  }

  @Test func aKilledOperationIsKilledInSlurmAndCancelled() throws {
    let operation = operation(stop: SlurmJob.Stop(signal: SIGINT, grace: .seconds(60)))
    try start(operation)
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    operation.kill()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--batch", "--signal=USR2", "1"], ["scancel", "1"]])
    finish(operation, as: "CANCELLED")
    expectCancellation(of: operation)
  }

  @Test func aCancelledOperationMayBeKilledAfterwards() throws {
    let operation = operation(stop: SlurmJob.Stop(signal: SIGINT, grace: .seconds(60)))
    try start(operation)
    bench.slurm.setAll("RUNNING")
    bench.advance(exactly: .seconds(1))
    operation.cancel()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "--full", "--signal=INT", "1"]])
    operation.kill()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scancel").last == ["scancel", "1"])
    finish(operation, as: "CANCELLED")
    expectCancellation(of: operation)
  }

  @Test func anOperationPausedBeforeItsStartIsSubmittedWhenResumed() {
    let operation = operation()
    operation.pause()
    operation.start()
    bench.advance(exactly: .seconds(1))
    #expect(bench.slurm.calls(of: "sbatch").isEmpty)
    operation.resume()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "sbatch").count == 1)
    operation.pause()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "uhold", "1"]])
    operation.resume()
    bench.advance(exactly: .milliseconds(100))
    #expect(bench.slurm.calls(of: "scontrol").last == ["scontrol", "release", "1"])
  }

  // MARK: With a check

  @Test func whereThereIsNothingToDoNothingIsSubmitted() throws {
    let check = OutputCheck(
      begin: { _ in OutputCheck.Answer(isUpToDate: true, note: "up to date") }, end: { "not after no work" })
    let operation = operation(check: check)
    operation.start()
    #expect(eventually { operation.isFinished })
    #expect(operation.isUpToDate)
    #expect(try operation.outcome?.get() == SlurmOutcome(.exited(0)))
    bench.advance(exactly: .seconds(1))
    #expect(bench.slurm.state.withLock(\.calls).isEmpty)
    #expect(logs(["up to date"]))
  }

  @Test(arguments: [0, 3] as [Int32])
  func whatTheCheckSaysAfterASuccessIsLogged(status: Int32) throws {
    let check = OutputCheck(
      begin: { _ in OutputCheck.Answer(isUpToDate: false, note: "not up to date") }, end: { "something is missing" })
    let operation = operation(check: check)
    operation.start()
    let isSubmitted = eventually {
      bench.advance(exactly: .milliseconds(10))
      return !bench.slurm.calls(of: "sbatch").isEmpty
    }
    #expect(isSubmitted)
    bench.advance(exactly: .milliseconds(100))
    try bench.write("", to: "a", ".out")
    finish(operation, as: status == 0 ? "COMPLETED" : "FAILED", status: status << 8)
    #expect(!operation.isUpToDate)
    #expect(logs(["not up to date", "submitted as job 1"] + (status == 0 ? ["something is missing"] : [])))
  }

  @Test func aCancellationDuringTheCheckIsOneWhateverTheCheckSays() throws {
    let cancelled = Lock<SlurmOperation?>(nil)
    let isTold = Lock<[Bool]>([])
    let check = OutputCheck(
      begin: { isCancelled in
        isTold.withLock { $0.append(isCancelled()) }
        cancelled.withLock { $0.take() }?.cancel()
        isTold.withLock { $0.append(isCancelled()) }
        return OutputCheck.Answer(isUpToDate: true, note: "too late")
      }, end: { nil })
    let operation = operation(check: check)
    cancelled.withLock { $0 = operation }
    operation.start()
    #expect(eventually { operation.isFinished })
    #expect(isTold.withLock(\.self) == [false, true])
    #expect(operation.isCancellation)
    #expect(!operation.isUpToDate)
    bench.advance(exactly: .seconds(1))
    #expect(bench.slurm.state.withLock(\.calls).isEmpty)
  }
}
