import CProcess
import Foundation
import Operations

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
    let descriptor: Int32
    var subject = "\(program): the standard input"
    var failure: Int32 = 0
    switch self {
    case .none: return try body(null)
    case .string(let text): (descriptor, failure) = Self.memory(holding: Array(text.utf8))
    case .bytes(let bytes): (descriptor, failure) = Self.memory(holding: bytes)
    case .file(let path):
      if !path.isEmpty { subject = path }
      (descriptor, failure) = path.utf8.contains(0) ? (-1, EINVAL) : Self.file(at: path)
    }
    defer { if descriptor >= 0 { _ = close(descriptor) } }
    guard failure == 0 else {
      throw ProcessError(.inputUnusable, "\(subject) can't be read: \(ProcessError.text(failure))")
    }
    return try body(descriptor)
  }

  /// A file without a name that is read from its beginning.
  private static func memory(holding bytes: [UInt8]) -> (descriptor: Int32, failure: Int32) {
    // MFD_CLOEXEC is 1.
    let descriptor = OutputPipe.aboveStandard(memfd_create("input", 1))
    guard descriptor >= 0 else { return (descriptor, errno) }
    let isWritten = (try? ForeignFile.write(bytes, to: descriptor, "")) != nil
    return (descriptor, isWritten && lseek(descriptor, 0, SEEK_SET) == 0 ? 0 : errno)
  }

  private static func file(at path: String) -> (descriptor: Int32, failure: Int32) {
    // Without waiting for the writer of a FIFO; the program expects a blocking standard input.
    let descriptor = OutputPipe.aboveStandard(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC))
    guard descriptor >= 0, let status = FileStatus(descriptor), fcntl(descriptor, F_SETFL, 0) == 0 else {
      return (descriptor, errno)
    }
    return (descriptor, status.kind == S_IFDIR ? EISDIR : 0)
  }
}
