import Basics
import Dispatch
import JobEngine
import JobModel
import Operations
import Processes

/// Turns the program's standard output and error into log lines of the run.
///
/// Memory is bounded: if the program writes faster than the screen shows, older lines are left out here; the terminal
/// still gets them afterwards.
final class ProgramLog: Sendable {
  /// The time that bytes wait for others: ten deliveries a second.
  private static let interval = DispatchTimeInterval.milliseconds(100)
  /// The number of bytes that may wait; beyond it, the older half is dropped.
  private static let limit = 1 << 20

  private struct Waiting {
    var pending: [UInt8] = []
    /// The number of lines that were dropped from `pending`.
    var dropped = 0
    var isDue = false
    var splitter = LineSplitter(.standardOutput)
  }

  private let feed: QueueFeed
  private let state = Lock(Waiting())

  init(_ feed: QueueFeed) { self.feed = feed }

  /// Takes bytes in any pieces, on any thread; never waits.
  func receive(_ bytes: [UInt8]) {
    let isFirst = state.withLock { state in
      state.pending += bytes
      if state.pending.count > Self.limit {
        let half = state.pending.count - Self.limit / 2
        let end = state.pending[half...].firstIndex(of: 0x0A).map { $0 + 1 } ?? half
        state.dropped += state.pending[..<end].count { $0 == 0x0A }
        state.pending.removeFirst(end)
      }
      return !exchange(&state.isDue, with: true)
    }
    guard isFirst else { return }
    feed.stream.queue.asyncAfter(deadline: .now() + Self.interval) {
      // While the screen is behind, bytes wait here.
      self.feed.stream.hub.whenBelow(LogRing.capacity) { self.feed.stream.queue.async { self.deliver() } }
    }
  }

  /// On the queue of the stream.
  private func deliver() {
    let (lines, dropped) = state.withLock { state in
      var lines = state.splitter.feed(state.pending).lines.map { LogLine($0) }
      if let rest = state.splitter.takeUnfinished() { lines.append(LogLine(rest)) }
      let dropped = state.dropped + max(0, lines.count - LogRing.capacity)
      state.pending.removeAll(keepingCapacity: true)
      state.dropped = 0
      state.isDue = false
      return (lines, dropped)
    }
    guard !feed.stream.isOver, feed.stream.journal.run.start != nil else { return }
    feed.stream.dateByClock()
    if dropped > 0 {
      let note = "left out \(Format.count(dropped, "line")) here; the terminal gets all at the end"
      feed.stream.state(.programLog(LogLine(.note, note)))
    }
    for line in lines.suffix(LogRing.capacity) { feed.stream.state(.programLog(line)) }
  }
}
