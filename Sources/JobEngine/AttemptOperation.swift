import Foundation
import JobModel
import Operations
import Synchronization

/// One attempt of one job in the operation queue.
final class AttemptOperation: AsyncOperation, @unchecked Sendable {
  // Safe: everything is constant but the gate, which is atomic.
  private enum Gate {
    static let admitted: UInt8 = 0
    static let begun: UInt8 = 1
    static let withdrawn: UInt8 = 2
  }

  let runner: any Runner
  private let report: AttemptReport
  private let gate = Atomic(Gate.admitted)

  private let backlog: Backlog

  init(_ runner: any Runner, report: AttemptReport, backlog: Backlog) {
    self.runner = runner
    self.report = report
    self.backlog = backlog
    backlog.grow()
    super.init()
  }

  override func main() {
    guard pass(to: Gate.begun) else { return finish() }
    var report = report
    let ended = report.ended
    // Said before the slot is given back, so that the slots taken never exceed the width.
    report.ended = { [self] outcome in
      ended(outcome)
      finish()
    }
    runner.start(report)
  }

  override func didCancel() { runner.cancel() }

  /// Takes the attempt back before it has begun; false if it has.
  func withdraw() -> Bool {
    guard pass(to: Gate.withdrawn) else { return false }
    cancel()
    return true
  }

  private func pass(to state: UInt8) -> Bool {
    let isFirst =
      gate.compareExchange(expected: Gate.admitted, desired: state, ordering: .sequentiallyConsistent).exchanged
    if isFirst { backlog.shrink() }
    return isFirst
  }
}
