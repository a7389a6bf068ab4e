import Foundation
import Operations

/// The destination of one stream; used on the one thread of all processes.
enum OutputSink {
  /// The log, and the collected end of the stream.
  case log(ShellOutput, end: OutputCollector?)
  case discarded
  case collected(OutputCollector)
  case lines(LineDelivery)
  case chunks(ProcessOutput.ChunkHandler)

  /// Creates a sink; `log` belongs to the operation, and lines are passed to closures on its queue too.
  init(_ output: ProcessOutput, _ log: ShellOutput, keepsEnd: Bool) {
    switch output {
    case .log:
      let end = OutputCollector(limit: 4 << 10, whenExceeded: .keepEnd, isText: true)
      self = .log(log, end: keepsEnd ? end : nil)
    case .discarded: self = .discarded
    case .string(let limit, let overflow):
      self = .collected(OutputCollector(limit: Self.checked(limit), whenExceeded: overflow, isText: true))
    case .bytes(let limit, let overflow):
      self = .collected(OutputCollector(limit: Self.checked(limit), whenExceeded: overflow, isText: false))
    case .lines(let limit, let handler):
      self = .lines(LineDelivery(limit: Self.checked(limit), on: log.queue, handler))
    case .chunks(let handler): self = .chunks(handler)
    }
  }

  private static func checked(_ limit: Int) -> Int {
    guard limit >= 0 else { programmerError("the limit of a ShellOperation's output is negative: \(limit)") }
    return limit
  }

  /// Takes the next chunk of a stream; calls `tooLong` with the fault if a limit that must not be exceeded is, later
  /// for lines.
  mutating func take(
    _ bytes: [UInt8], from stream: ProcessStream, for operation: AsyncOperation,
    consumed: @escaping @Sendable () -> Void, tooLong: @escaping @Sendable (String) -> Void
  ) {
    switch self {
    case .log(let log, var end):
      if end != nil {
        // Avoids a copy during the change.
        self = .discarded
        _ = end?.append(bytes)
        self = .log(log, end: end)
      }
      log.take(bytes, from: stream, for: operation, consumed: consumed)
    case .discarded: consumed()
    case .collected(var collector):
      self = .discarded
      let fits = collector.append(bytes)
      self = .collected(collector)
      if !fits { tooLong("the \(stream.name) is longer than \(collector.limit) bytes") }
      consumed()
    case .lines(let lines):
      lines.take(bytes, consumed: consumed) {
        tooLong("a line of the \(stream.name) is longer than \(lines.limit) bytes")
      }
    case .chunks(let handler): handler(bytes, consumed)
    }
  }

  /// The collected output, once the stream has ended.
  mutating func collected() -> CollectedOutput {
    switch self {
    case .log(_, var end): end?.finish() ?? CollectedOutput()
    case .collected(var collector): collector.finish()
    case .discarded, .lines, .chunks: CollectedOutput()
    }
  }

  /// The log of the operation, if the stream goes to it.
  var log: ShellOutput? {
    if case .log(let log, _) = self { return log }
    return nil
  }

  /// The delivery of the stream's lines, if they go to a closure.
  var lines: LineDelivery? {
    if case .lines(let lines) = self { return lines }
    return nil
  }
}
