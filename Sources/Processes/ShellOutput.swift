import Dispatch
import Operations

/// Turns the output of a process into the log, the progress and the log file of its operation.
///
/// On a queue of its own: the thread of all processes must not wait for a file or a pattern.
final class ShellOutput: @unchecked Sendable {
  // Safe: `hasOutput` is touched only by `take` and `finish`, which are called in order; the other variables are touched
  // only on `queue`.
  private let queue = DispatchQueue(label: "opdash.output", qos: .userInitiated)
  private let file: LogFile?
  private var pattern: ProgressPattern?
  private var stdout = LineSplitter(.standardOutput)
  private var stderr = LineSplitter(.standardError)
  private var hasOutput = false

  /// `progress` is a regular expression; see `ProgressPattern`.
  init(logPath: String?, progress: String?) {
    file = logPath.map(LogFile.init)
    pattern = progress.flatMap(ProgressPattern.init)
  }

  /// Takes the next piece; `consumed` is called once it is written and no observer of the log holds it any more.
  func take(
    _ bytes: [UInt8], from stream: ProcessStream, for operation: ShellOperation,
    consumed: @escaping @Sendable () -> Void
  ) {
    hasOutput = true
    queue.async { [self] in
      let lines = stream == .stdout ? stdout.feed(bytes) : stderr.feed(bytes)
      let problem = file?.append(bytes).map { OperationLogLine(text: $0, source: .note) }
      log(lines, problem, for: operation, whenHandled: consumed)
    }
  }

  /// Calls `body` once all output has been logged, the last lines included, even where no line feed ended them.
  func finish(for operation: ShellOperation, _ body: @escaping @Sendable () -> Void) {
    guard hasOutput else { return body() }
    queue.async { [self] in
      file?.close()
      log([stdout.finish(), stderr.finish()].compactMap(\.self), nil, for: operation) {}
      body()
    }
  }

  private func log(
    _ lines: [OperationLogLine], _ problem: OperationLogLine?, for operation: ShellOperation,
    whenHandled: @escaping @Sendable () -> Void
  ) {
    var lines = lines
    switch pattern?.last(in: lines) {
    case .progress(let progress): operation.report(completed: progress.completed, total: progress.total)
    case .budgetExceeded:
      pattern = nil
      let text =
        "the progress pattern took more than \(ProgressPattern.budget) on this output; it is not matched any more"
      lines.append(OperationLogLine(text: text, source: .note))
    case .nothing, nil: break
    }
    if let problem { lines.append(problem) }
    operation.log(lines, whenHandled: whenHandled)
  }
}
