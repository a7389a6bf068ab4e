import Dispatch
import JobModel
import Reports
import Session

/// Prints the output of a run's jobs and its failures, beside a session that prints nothing of the run itself.
///
/// Ends the run when no job can change any more; a run stopped by a signal is ended by the session, which knows
/// the signal.
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
        // After the session's reaction to a failed output: all of it has been tried by now.
        DispatchQueue.main.async {
          if feed.snapshot.stopping?.by != .signal { feed.send(.finish(signal: nil)) }
        }
      }, whenFinished: { [done] _ in done.signal() })
  }

  /// Returns, once, when all is written after the end of the run; blocks while the reader of the output is slow.
  func wait() { done.wait() }
}
