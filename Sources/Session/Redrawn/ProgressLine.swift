import Basics
import CTerminal
import Dashboard
import Foundation
import JobModel
import NcursesTerminal
import Reports
import Screen

/// One line of progress on the terminal of standard error, redrawn in place while standard output has a reader of its own.
///
/// The line is erased before every write to an output, because the reader of standard output may write to the same terminal.
/// The terminal's modes stay unchanged for the same reason. All methods are for any thread.
package final class ProgressLine: Sendable {
  private struct State {
    var shown: TerminalText?
    /// Whether something else was written where the line was.
    var isStale = false
    var isClosed = false
  }

  private let descriptor: Int32
  let traits: ScreenTraits
  private let state = Lock(State())

  /// Creates a line that is erased before each write to one of `outputs`.
  package init(descriptor: Int32 = STDERR_FILENO, traits: ScreenTraits, outputs: [Output]) {
    self.descriptor = descriptor
    self.traits = traits
    for output in outputs { output.beforeWriting { [weak self] in self?.hide() } }
  }

  /// The width of the terminal, or 80 if it is unknown.
  var width: Int { Size(ofTerminal: descriptor).width }

  /// Whether the line is to be drawn again although it has not changed.
  var isStale: Bool { state.withLock(\.isStale) }

  /// Draws the line, unless another program has the terminal or the terminal takes nothing now.
  func show(_ line: TerminalText) {
    state.withLock { state in
      state.isStale = false
      guard !state.isClosed, state.shown != line, canWrite else { return }
      state.shown = line
      write("\r" + line.text + ControlSequences.eraseRest + "\r")
    }
  }

  /// Erases the line until the next `show`.
  func hide() {
    state.withLock { erase(&$0) }
  }

  /// Erases the line for good.
  package func close() {
    state.withLock { state in
      erase(&state)
      state.isClosed = true
    }
  }

  private func erase(_ state: inout State) {
    guard state.shown != nil else { return }
    (state.shown, state.isStale) = (nil, true)
    if canWrite { write("\r" + ControlSequences.eraseRest) }
  }

  /// False also after ^S, so that a stopped terminal does not stop the writes to standard output.
  private var canWrite: Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return !terminal_is_taken(descriptor) && poll(&request, 1, 0) == 1 && request.revents & Int16(POLLOUT) != 0
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = terminal_write(descriptor, bytes, bytes.count, 0)
  }
}

/// Shows the summary of a run in a line of progress.
struct ProgressReport: Report {
  /// The minimum time between two draws, and from a write to the next draw.
  static let interval: Duration = .milliseconds(100)
  /// A run that is over sooner shows nothing.
  static let delay: Duration = .milliseconds(500)

  private let line: ProgressLine
  private var block: InlineBlock
  private var hasNews = false
  private var lastDraw: Duration?
  private var isOver = false

  var logCapacity: Int { 0 }

  init(_ line: ProgressLine, options: ViewOptions) {
    self.line = line
    block = InlineBlock(source: options.source, traits: line.traits, looks: .named(options.settings.looks))
  }

  mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    block.receive(event, in: run)
    hasNews = true
    if case .runFinished = event.fact { isOver = true }
  }

  mutating func flush() { if isOver { line.close() } }

  func wakeTime(in run: Run) -> Duration? {
    guard !isOver, run.start != nil else { return nil }
    guard let lastDraw else { return Self.delay }
    if hasNews || line.isStale { return lastDraw + Self.interval }
    return block.nextChange(after: lastDraw, in: run).map { max($0, lastDraw + Self.interval) }
  }

  mutating func wake(at now: Duration, in run: Run) {
    (lastDraw, hasNews) = (now, false)
    let frame = block.summary(run, width: line.width, now: now)
    if !frame.rows.isEmpty { line.show(frame.line(row: 0, palette: line.traits.palette)) }
  }
}
