import Dispatch
import JobModel
import Reports
import Screen
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
    let report = RawReport(order: order, paint: paint, output: Self.writer(output), errors: Self.writer(errors))
    pump = ReportPump(feed, reports: [report], end: .complete)
  }

  /// Passes bytes on as they are, but lets no job change a terminal.
  private static func writer(_ output: Output) -> ReportWriter {
    guard output.isTerminal else { return { output.write($0) } }
    return { output.write(JobText.cleanLines($0)) }
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
