import Dispatch
import JobModel
import Reports
import Session

/// Prints what the jobs of a run print and its failures, beside a session that prints nothing of the run itself.
///
/// It ends the run when no job can change any more; a run that a signal has stopped is ended by the session, which knows the
/// signal.
final class RawOutput: Sendable {
  private let feed: any JobFeed
  private let pump: ReportPump
  private let done = DispatchSemaphore(value: 0)

  /// `paint` is for the failures, on `errors`.
  init(_ feed: any JobFeed, order: RawReport.Order, paint: Paint, output: Output, errors: Output) {
    self.feed = feed
    let report = RawReport(
      order: order, paint: paint, output: { output.write($0) }, errors: { errors.write($0) })
    pump = ReportPump(feed, reports: [report], end: .complete)
  }

  /// To be called before the run states its first fact.
  func start() {
    pump.start(
      whenEnding: { [feed] in
        // After what the session does about an output that could not be written: all of it has been tried by now.
        DispatchQueue.main.async {
          if feed.snapshot.stopping?.by != .signal { feed.send(.finish(signal: nil)) }
        }
      }, whenFinished: { [done] _ in done.signal() })
  }

  /// Returns, once, when all is written after the end of the run; blocks while the reader of the output is slow.
  func wait() { done.wait() }
}
