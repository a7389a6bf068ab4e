import Foundation

/// One output stream of a process.
public enum ProcessStream: Sendable, Equatable, CaseIterable {
  /// The standard output.
  case stdout
  /// The standard error.
  case stderr

  /// As in a sentence.
  var name: String { self == .stdout ? "standard output" : "standard error" }
}

/// The reader of one stream of a child: it reads one chunk at a time, the next after the previous one has been consumed.
struct OutputReader {
  enum Attempt {
    case chunk([UInt8])
    /// There are no bytes now; the poller reports the next ones.
    case empty
    /// The last writer has closed the stream.
    case end
  }

  private var pipe: OutputPipe
  /// The number of chunks read; the last one is not consumed yet if `isHeld`.
  private(set) var chunks: UInt64 = 0
  private(set) var isHeld = false

  init(_ pipe: OutputPipe) { self.pipe = pipe }

  var descriptor: Int32 { pipe.reader }
  var isOpen: Bool { descriptor >= 0 }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Attempt {
    while true {
      let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 {
        isHeld = true
        chunks += 1
        return .chunk([UInt8](buffer[..<count]))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return .empty }
      close()
      return .end
    }
  }

  /// Marks a chunk as consumed; returns false if it was already.
  mutating func release(chunk: UInt64) -> Bool {
    guard isHeld, chunk == chunks else { return false }
    isHeld = false
    return true
  }

  /// From now on the stream ends with its last other writer.
  mutating func closeWriter() { OutputPipe.close(&pipe.writer) }

  mutating func close() { pipe.close() }
}

/// Both ends of a stream of a child.
///
/// The writer is kept open until the leader has ended, so that the end of the stream is no wake-up of its own.
struct OutputPipe {
  var reader: Int32 = -1
  var writer: Int32 = -1

  var isOpen: Bool { reader >= 0 }

  mutating func close() {
    Self.close(&reader)
    Self.close(&writer)
  }

  static func close(_ end: inout Int32) {
    if end >= 0 { _ = Foundation.close(end) }
    end = -1
  }
}
