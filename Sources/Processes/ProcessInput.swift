import CProcess
import Foundation

/// The standard input of a program.
public enum ProcessInput: Sendable, Equatable {
  /// Nothing: `/dev/null`.
  case none
  /// A text, in UTF-8; a second copy stays in memory while the program is executing.
  case string(String)
  /// Bytes; a second copy stays in memory while the program is executing.
  case bytes([UInt8])
  /// A file or a device; a relative path is relative to the directory of this process.
  ///
  /// A FIFO without a writer is at its end at once.
  case file(String)

  /// Calls `body` with a descriptor to read from, which is open during the call.
  func withDescriptor<Result>(
    null: Int32, of program: String, _ body: (Int32) throws(ProcessError) -> Result
  ) throws(ProcessError) -> Result {
    var descriptor: Int32
    var subject = "\(program): the standard input"
    switch self {
    case .none: return try body(null)
    case .string(var text): descriptor = text.withUTF8 { cprocess_input($0.baseAddress, $0.count) }
    case .bytes(let bytes): descriptor = bytes.withUnsafeBytes { cprocess_input($0.baseAddress, $0.count) }
    case .file(let path):
      subject = path
      descriptor = path.utf8.contains(0) ? -EINVAL : cprocess_open_input(path)
    }
    guard descriptor >= 0 else {
      throw ProcessError(.inputUnusable, "\(subject) can't be read: \(ProcessError.text(-descriptor))")
    }
    defer { _ = close(descriptor) }
    return try body(descriptor)
  }
}
