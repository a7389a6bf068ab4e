import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// A look at what a program is to make, before its start and after its success.
struct OutputCheckTests {
  private let lines = Lock<[String]>([])
  private let queue = DispatchQueue(label: "test")

  private func operation(
    _ script: String, end: String? = "checked",
    begin: @escaping @Sendable (_ isCancelled: @Sendable () -> Bool) -> OutputCheck.Answer
  ) -> (ShellOperation, ObservationToken) {
    let check = OutputCheck(begin: { begin($0) }, end: { end })
    let operation = ShellOperation(ProcessLaunch(script: script), logPath: nil, progress: nil, check: check)
    let token = operation.observeLog(on: queue) { [lines] _, line in lines.withLock { $0.append(line.text) } }
    return (operation, token)
  }

  /// The lines of the log, once the operation has finished.
  private func log(of operation: ShellOperation) -> [String] {
    #expect(eventually { operation.isFinished })
    queue.sync {}
    return lines.withLock { $0 }
  }

  @Test func whatIsUpToDateIsNotStartedAndSucceeds() throws {
    let (operation, token) = operation("echo out") { _ in .init(isUpToDate: true, note: "fresh") }
    OperationQueue().addOperation(operation)
    #expect(log(of: operation) == ["fresh"])
    #expect(operation.isUpToDate)
    #expect(operation.processIdentifier == nil && operation.exit == nil)
    #expect(try operation.outcome?.get() == ShellResult())
    withExtendedLifetime(token) {}
  }

  @Test func theNotesStandBeforeAndAfterTheOutput() {
    let (operation, token) = operation("echo out") { _ in .init(isUpToDate: false, note: "stale") }
    let launches = Lock(0)
    let launch = operation.events(.launched, on: .global()) { _, _, _ in launches.withLock { $0 += 1 } }
    OperationQueue().addOperation(operation)
    #expect(log(of: operation) == ["stale", "out", "checked"])
    #expect(!operation.isUpToDate)
    #expect(operation.exit == .exited(0))
    #expect(eventually { launches.withLock { $0 } == 1 })
    withExtendedLifetime((token, launch)) {}
  }

  @Test func aFailureIsNotLookedAtAgain() {
    let (operation, token) = operation("exit 3") { _ in .init(isUpToDate: false, note: nil) }
    OperationQueue().addOperation(operation)
    #expect(log(of: operation) == [])
    #expect(operation.exit == .exited(3))
    #expect(operation.failure is ShellFailure)
    withExtendedLifetime(token) {}
  }

  @Test func aCheckWithNothingToSayIsSilent() {
    let (operation, token) = operation("exit 0", end: nil) { _ in .init(isUpToDate: false, note: nil) }
    OperationQueue().addOperation(operation)
    #expect(log(of: operation) == [])
    #expect(operation.exit == .exited(0))
    withExtendedLifetime(token) {}
  }

  @Test func aCancellationDuringTheCheckStartsNothing() {
    let hasBegun = Lock(false)
    let (operation, token) = operation("echo out") { isCancelled in
      hasBegun.withLock { $0 = true }
      return .init(isUpToDate: eventually { isCancelled() }, note: "late")
    }
    OperationQueue().addOperation(operation)
    #expect(eventually { hasBegun.withLock { $0 } })
    operation.cancel()
    #expect(log(of: operation) == [])
    #expect(operation.failure is CancellationError)
    #expect(!operation.isUpToDate && operation.processIdentifier == nil)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: [false, true]) func aPauseDuringTheCheckHoldsTheStart(isResumedEarly: Bool) {
    let (begun, door) = (Lock(false), DispatchSemaphore(value: 0))
    let (operation, token) = operation("echo out", end: nil) { _ in
      begun.withLock { $0 = true }
      door.wait()
      return .init(isUpToDate: false, note: nil)
    }
    OperationQueue().addOperation(operation)
    #expect(eventually { begun.withLock { $0 } })
    operation.pause()
    if isResumedEarly { operation.resume() }
    door.signal()
    if !isResumedEarly {
      #expect(stays { operation.processIdentifier == nil && !operation.isFinished })
      operation.resume()
    }
    #expect(log(of: operation) == ["out"])
    withExtendedLifetime(token) {}
  }
}
