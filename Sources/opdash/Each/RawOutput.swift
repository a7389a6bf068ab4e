import Dispatch
import JobModel
import Reports
import Session

/// Prints what the jobs of a run print, beside a session that shows only its failures.
final class RawOutput: Sendable {
  private let pump: ReportPump
  private let done = DispatchSemaphore(value: 0)

  init(_ feed: any JobFeed, order: RawReport.Order, output: Output, errors: Output) {
    let report = RawReport(order: order, output: { output.write($0) }, errors: { errors.write($0) })
    pump = ReportPump(feed, reports: [report], end: .never)
  }

  /// To be called before the run states its first fact.
  func start() { pump.start(whenEnding: {}, whenFinished: { [done] _ in done.signal() }) }

  /// Returns, once, when all is written after the end of the run; blocks while the reader of the output is slow.
  func wait() { done.wait() }
}
