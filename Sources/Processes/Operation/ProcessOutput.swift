/// The destination of a program's standard output or standard error.
public enum ProcessOutput: Sendable {
  /// To the log of the operation, as lines of at most 4 KiB; progress in well-known forms is reported.
  ///
  /// The last 4 KiB of a standard error are also in the result and in a `ShellFailure`.
  case log
  /// Nowhere: the output is read and discarded.
  case discarded
  /// Into the operation's result, as text. The limit is in bytes.
  case string(limit: Int, whenExceeded: Overflow = .fail)
  /// Into the operation's result. The limit is in bytes.
  case bytes(limit: Int, whenExceeded: Overflow = .fail)
  /// To a closure, line by line, without line feeds; a line of more than `limit` bytes makes the operation fail.
  ///
  /// The limit is for the bytes that the program wrote, without the line feed and a carriage return before it.
  /// The closure is called on a serial queue of the operation, for both streams, in order and before the result. More
  /// output is read only when the lines of a chunk have been handled.
  case lines(limit: Int = 1 << 20, _ handler: @Sendable (String) -> Void)
  /// To a closure, which is called on the one thread of all processes and must not block; all chunks come before the
  /// result.
  case chunks(_ handler: ChunkHandler)

  /// A chunk of one stream; the next one is read only after `consumed` was called, from any thread.
  public typealias ChunkHandler =
    @Sendable (_ bytes: [UInt8], _ consumed: @escaping @Sendable () -> Void) -> Void

  /// The reaction to a program that writes more than the limit of collected output.
  public enum Overflow: Sendable {
    /// The program gets the stop signal, and the operation fails with a `ProcessError` of the code `outputTooLong`.
    case fail
    /// The program continues; the output is cut after the limit, as the result states.
    case keepBeginning
    /// The program continues; the last bytes within the limit are kept, as the result states.
    case keepEnd
  }
}

extension ProcessOutput? {
  /// The destination of the standard output, in the order of the writes to both streams, as with `2>&1`.
  public static var merged: ProcessOutput? { nil }
}
