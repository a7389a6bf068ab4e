import Foundation

/// The reading end of one stream of a child: one chunk at a time, the next when the last has been consumed.
struct OutputReader {
  /// What a reading attempt came to.
  enum Attempt {
    case chunk([UInt8])
    /// There is no more for now; the poller will tell.
    case empty
    /// The last one who could write is gone.
    case end
  }

  private var pipe: OutputPipe
  /// How many chunks were handed out; the number of the one that is not yet consumed, if `isHeld`.
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

  /// Returns whether this was the chunk that held the stream: a second call for it counts for nothing.
  mutating func release(chunk: UInt64) -> Bool {
    guard isHeld, chunk == chunks else { return false }
    isHeld = false
    return true
  }

  /// From now on the stream ends when the last one else who could write is gone.
  mutating func closeWriter() { OutputPipe.close(&pipe.writer) }

  mutating func close() { pipe.close() }
}

/// Both ends of a stream of a child.
///
/// We keep the writing end until the leader has ended: so the end of a stream wakes nobody just before the leader's does.
struct OutputPipe {
  var reader: Int32 = -1
  var writer: Int32 = -1

  mutating func close() {
    Self.close(&reader)
    Self.close(&writer)
  }

  static func close(_ end: inout Int32) {
    if end >= 0 { _ = Foundation.close(end) }
    end = -1
  }
}
