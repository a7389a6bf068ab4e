import Foundation
import JobModel
import Operations
import Processes
import Testing
import Transfers

@testable import JobEngine

@Suite struct AttemptOutcomeTests {
  @Test(
    arguments: [
      (.http(503), .http(503)), (.network, .network), (.outOfMemory, .network), (.timedOut, .timedOut),
      (.checksum, .checksum), (.file, .file), (.unsupportedURL, .launch), (.invalidHeader, .launch),
      (.tooManyRedirects, .error), (.certificate, .error),
    ] as [(TransferError.Code, JobFailure.Cause)])
  func theErrorOfATransferHasACause(code: TransferError.Code, cause: JobFailure.Cause) {
    let error = TransferError(code, "words", retryAfter: .seconds(7))
    #expect(JobFailure(of: error) == JobFailure(cause, "words", retryAfter: .seconds(7)))
  }

  @Test func anErrorOfAProgramIsOneOfItsStartUnlessItsOutputIsTooLong() {
    #expect(JobFailure(of: ProcessError(.programNotFound, "none")) == JobFailure(.launch, "none"))
    #expect(JobFailure(of: ProcessError(.outputTooLong, "long")) == JobFailure(.error, "long"))
  }

  @Test func aFailureIsItselfAndASimulatedOneIsNamedAsSuch() {
    let failure = JobFailure(.lost, "gone", retryAfter: .seconds(1))
    #expect(JobFailure(of: failure) == failure)
    #expect(JobFailure(of: SimulatedFailure(step: 2, of: 3)) == JobFailure(.simulated, "failed at step 2 of 3"))
    #expect(JobFailure(of: NSError(domain: "NSURLErrorDomain", code: -1001)).cause == .timedOut)
    #expect(JobFailure(of: NSError(domain: "NSURLErrorDomain", code: -1000)).cause == .network)
    #expect(JobFailure(of: NSError(domain: "other", code: -1001)).cause == .error)
  }

  @Test func anOperationHasSucceededFailedOrBeenCancelled() {
    let queue = OperationQueue()
    func outcome(_ operation: AsyncOperation) -> AttemptOutcome {
      queue.addOperation(operation)
      operation.waitUntilFinished()
      return AttemptOutcome(of: operation)
    }
    #expect(outcome(ClosureOperation<Void> {}) == .succeeded)
    let failure = JobFailure(.lost, "gone")
    #expect(outcome(ClosureOperation<Void> { throw failure }) == .failed(failure))
    #expect(outcome(ClosureOperation<Void> { throw CancellationError() }) == .cancelled)
    let cancelled = ClosureOperation<Void> {}
    cancelled.cancel()
    #expect(outcome(cancelled) == .cancelled)
  }
}
