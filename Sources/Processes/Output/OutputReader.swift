import Foundation

/// One output stream of a process.
public enum ProcessStream: Sendable, Equatable, CaseIterable {
  /// The standard output.
  case stdout
  /// The standard error.
  case stderr

  /// The name as used in a sentence.
  var name: String { self == .stdout ? "standard output" : "standard error" }
}

/// The reader of one stream of a child: it reads one chunk at a time, the next one after the previous one was consumed.
struct OutputReader {
  enum Attempt {
    case chunk([UInt8])
    /// No bytes are available now; the poller reports the next ones.
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
    var size = 0
    while size < buffer.count {
      let count = Foundation.read(descriptor, buffer.baseAddress.map { $0 + size }, buffer.count - size)
      if count > 0 {
        size += count
        // One read takes all of a pipe, but at most 4 KiB of a terminal.
        if pipe.isTerminal { continue }
        break
      }
      if count < 0, errno == EINTR { continue }
      if size > 0 { break }
      if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return .empty }
      // Linux ends the output of a terminal with EIO.
      close()
      return .end
    }
    isHeld = true
    chunks += 1
    return .chunk([UInt8](buffer[..<size]))
  }

  /// Ends the input of a terminal; see `OutputPipe`.
  func endInput(alsoKeys: Bool) { pipe.endInput(alsoKeys: alsoKeys) }

  /// Sets the size of a terminal.
  func resize(to size: TerminalSize) { pipe.resize(to: size) }

  /// Marks a chunk as consumed; returns false if it was already.
  mutating func release(chunk: UInt64) -> Bool {
    guard isHeld, chunk == chunks else { return false }
    isHeld = false
    return true
  }

  /// Closes the writer: from now on, the stream ends with its last other writer.
  mutating func closeWriter() { pipe.closeWriter() }

  mutating func close() { pipe.close() }
}
