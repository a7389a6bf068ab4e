import Foundation
import Operations
import Synchronization

/// Turns the output of a process into the log, the progress and the log file of its operation.
///
/// Work that may block is done on a queue: the thread of all processes must not wait for a file or a pattern.
package final class ShellOutput: @unchecked Sendable {
  // Safe: only `take` and `finish`, which are called in order, access `hasOutput` and `isPrompt`; only `queue` accesses
  // the other variables, and `take` before it gives the first work to the queue.
  /// The queue, on which lines are also passed to closures.
  let queue: DispatchQueue
  private let file: LogFile?
  /// Output not yet written to the file; nil if the file gets all output at once.
  private var short: ShortOutput?
  private var progress: ProgressSource
  /// Searches in the lines; each is removed once it has reported.
  private var watches: [OutputWatch]
  private var stdout = LineSplitter(.standardOutput)
  private var stderr = LineSplitter(.standardError)
  private var hasOutput = false
  /// Whether all output so far was handled within `take`.
  private var isPrompt = true
  private let clock: any OperationClock
  /// The timer for the unfinished lines, and how many lines of each stream had ended when it was set.
  private var timer: (timer: any OperationTimer, stdout: Int, stderr: Int)?
  /// The number of logged pieces that some observer has not handled, and the streams that wait for these.
  private let unhandled = Lock((count: 0, waiting: [@Sendable () -> Void]()))
  /// With this many unhandled pieces, no more output is read.
  static let limit = 16
  /// About how many bytes of memory the unhandled lines of all operations take.
  ///
  /// From `totalLimit` on, each operation has one piece at a time and ends only when that is handled, so that the output
  /// waiting for a slow observer hardly grows with the number of operations, even if each writes little.
  private static let total = Atomic(0)
  private static let totalLimit = 1 << 20
  /// These few threads write the output of all operations; with a queue for each operation, there would be a thread for
  /// each.
  private static let queues = (1...4).map { DispatchQueue(label: "opdash.output.\($0)", qos: .userInitiated) }
  private static let made = Atomic(0)
  /// How long a line must be unfinished before it is logged, and the minimum time between two texts of one line.
  static let pause = Duration.milliseconds(100)

  /// Creates an output; `progress` is a regular expression, as in `ProgressPattern`.
  ///
  /// Unless `keepsShort`, `file` is not created for a short output of a program that succeeds if its lines contain
  /// every byte.
  package init(
    file: LogFile?, keepsShort: Bool = true, progress: String?, watches: [OutputWatch] = [], clock: any OperationClock
  ) {
    let number = Self.made.wrappingAdd(1, ordering: .relaxed).newValue
    queue = DispatchQueue(label: "opdash.output", target: Self.queues[number % Self.queues.count])
    self.file = file
    short = file == nil || keepsShort ? nil : ShortOutput()
    self.progress = ProgressSource(pattern: progress)
    self.watches = watches
    self.clock = clock
  }

  /// Takes the next piece; `consumed` is called once it is written and few enough pieces are unhandled.
  package func take(
    _ bytes: [UInt8], from stream: ProcessStream, for operation: AsyncOperation,
    consumed: @escaping @Sendable () -> Void
  ) {
    hasOutput = true
    // There is neither a file nor a pattern to wait for, and no unfinished line: no thread needs to be woken.
    isPrompt =
      isPrompt && short?.hasRoom(for: bytes) == true && !progress.isPattern && watches.isEmpty
      && bytes.last == UInt8(ascii: "\n")
    if isPrompt { return handle(bytes, from: stream, for: operation, consumed) }
    queue.async { [self] in
      handle(bytes, from: stream, for: operation, consumed)
      setTimer(for: operation)
    }
  }

  private func handle(
    _ bytes: [UInt8], from stream: ProcessStream, for operation: AsyncOperation,
    _ consumed: @escaping @Sendable () -> Void
  ) {
    let output = stream == .stdout ? stdout.feed(bytes) : stderr.feed(bytes)
    let problem = keep(bytes)
    short?.take(output.lines)
    log(output, problem, for: operation, consumed)
  }

  /// Calls `body` once all output has been logged, including last lines without a line feed.
  ///
  /// A program that `hasSucceeded` may leave no log file.
  package func finish(for operation: AsyncOperation, hasSucceeded: Bool, _ body: @escaping @Sendable () -> Void) {
    guard hasOutput else { return body() }
    queue.async { [self] in
      timer?.timer.cancel()
      timer = nil
      let last = [stdout.finish(), stderr.finish()].compactMap(\.self)
      short?.take(last)
      let problem = hasSucceeded && short?.isTold == true ? nil : writeShort()
      file?.close()
      log(.init(lines: last), problem, for: operation)
      body()
    }
  }

  /// Holds the bytes or writes them to the file; returns a problem to report.
  private func keep(_ bytes: [UInt8]) -> OperationLogLine? {
    guard short?.hasRoom(for: bytes) == true else { return writeShort() ?? write(bytes) }
    short?.take(bytes)
    return nil
  }

  /// Writes the held output; nothing is held after that.
  private func writeShort() -> OperationLogLine? { short.take().flatMap { write($0.bytes) } }

  private func write(_ bytes: [UInt8]) -> OperationLogLine? {
    file?.append(bytes).map { OperationLogLine(text: $0, source: .note) }
  }

  /// Schedules the logging of unfinished lines after a pause.
  ///
  /// A prompt is therefore seen at once, a line is logged ten times a second however often it is redrawn, and half of a
  /// line that was merely read in two pieces is not logged.
  private func setTimer(for operation: AsyncOperation) {
    guard timer == nil, stdout.hasNews || stderr.hasNews else { return }
    let timer = clock.schedule(after: Self.pause, on: queue) { [weak self] in self?.logUnfinished(for: operation) }
    self.timer = (timer, stdout.ended, stderr.ended)
  }

  private func logUnfinished(for operation: AsyncOperation) {
    // A timer that was cancelled too late finds no timer.
    guard let begun = timer else { return }
    timer = nil
    var lines: [OperationLogLine?] = []
    // In a flood of lines, another line is unfinished at each check.
    if stdout.ended == begun.stdout { lines.append(stdout.takeUnfinished()) }
    if stderr.ended == begun.stderr { lines.append(stderr.takeUnfinished()) }
    let output = LineSplitter.Output(lines: lines.compactMap(\.self))
    if !output.lines.isEmpty { log(output, nil, for: operation) }
    setTimer(for: operation)
  }

  private func log(
    _ output: LineSplitter.Output, _ problem: OperationLogLine?, for operation: AsyncOperation,
    _ consumed: @escaping @Sendable () -> Void = {}
  ) {
    var lines = output.lines
    switch progress.search(output) {
    case .progress(let progress): operation.report(completed: progress.completed, total: progress.total)
    case .budgetExceeded:
      progress = .none
      let text =
        "the progress pattern took more than \(OutputPattern.budget) on this output; it is not matched any more"
      lines.append(OperationLogLine(text: text, source: .note))
    case .nothing: break
    }
    let told = search(output.lines, &lines)
    if let problem { lines.append(problem) }
    let size = lines.reduce(0) { $0 + MemoryLayout<OperationLogLine>.stride + $1.text.utf8.count }
    let isFull = Self.total.wrappingAdd(size, ordering: .relaxed).newValue >= Self.totalLimit
    let mayContinue = unhandled.withLock { unhandled in
      unhandled.count += 1
      let mayContinue = unhandled.count < Self.limit && !isFull
      if !mayContinue { unhandled.waiting.append(consumed) }
      return mayContinue
    }
    operation.log(lines) { [unhandled] in
      Self.total.wrappingSubtract(size, ordering: .relaxed)
      let waiting = unhandled.withLock { unhandled in
        unhandled.count -= 1
        return exchange(&unhandled.waiting, with: [])
      }
      for consumed in waiting { consumed() }
    }
    for (watch, isFound) in told { watch.told(isFound) }
    if mayContinue { consumed() }
  }

  /// Removes the watches that found a match or used up their time; notes the latter in `lines`.
  private func search(
    _ output: [OperationLogLine], _ lines: inout [OperationLogLine]
  ) -> [(watch: OutputWatch, isFound: Bool)] {
    guard !watches.isEmpty, !output.isEmpty else { return [] }
    var told: [(watch: OutputWatch, isFound: Bool)] = []
    var left: [OutputWatch] = []
    for watch in watches {
      do throws(OutputPattern.BudgetExceeded) {
        if try watch.finds(output) { told.append((watch, true)) } else { left.append(watch) }
      } catch {
        lines.append(watch.note)
        told.append((watch, false))
      }
    }
    watches = left
    return told
  }
}

/// The source of a process's progress: its job's own pattern, or the forms of well-known tools.
private enum ProgressSource {
  case pattern(ProgressPattern)
  case known(KnownProgress)
  case none

  /// An invalid regular expression matches nothing.
  init(pattern: String?) {
    guard let pattern else {
      self = .known(KnownProgress())
      return
    }
    self = ProgressPattern(pattern).map(Self.pattern) ?? .none
  }

  var isPattern: Bool { if case .pattern = self { true } else { false } }

  mutating func search(_ output: LineSplitter.Output) -> ProgressPattern.Finding {
    switch self {
    case .pattern(let pattern): return pattern.newest(in: output)
    case .known(var known):
      // Avoids a copy during the change.
      self = .none
      defer { self = .known(known) }
      return known.newest(in: output).map(ProgressPattern.Finding.progress) ?? .nothing
    case .none: return .nothing
    }
  }
}

/// The output of a program that is not in its log file yet, because it is short.
///
/// The file is not needed if the program succeeds and its lines contain every byte; two lists of bytes are compared for
/// this.
struct ShortOutput {
  /// The maximum number of bytes that are held.
  static let limit = 4 << 10

  private(set) var bytes: [UInt8] = []
  private var told: [UInt8] = []

  func hasRoom(for bytes: [UInt8]) -> Bool { bytes.count <= Self.limit - self.bytes.count }

  mutating func take(_ bytes: [UInt8]) { self.bytes += bytes }

  /// Takes the lines made of the bytes, without the ones that may still change.
  mutating func take(_ lines: [OperationLogLine]) {
    for line in lines where !line.isUnfinished {
      told += line.text.utf8
      told.append(UInt8(ascii: "\n"))
    }
  }

  /// Whether the lines contain every byte, in the same order.
  var isTold: Bool { bytes == told }
}
