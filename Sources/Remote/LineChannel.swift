import Dispatch
import Foundation

/// Lines over a connected socket, in both directions; nothing waits for the other end.
///
/// Output is kept until the other end takes it; the owner bounds it by `unsent`. All methods and handlers are called on
/// `queue`.
final class LineChannel: @unchecked Sendable {
  // Safe: the variables are touched only on `queue`.

  /// Why a channel ended.
  enum End: Equatable {
    /// The other end has closed its side.
    case closed
    case lineTooLong
    case failed(Int32)
  }

  struct Handlers {
    /// Called with each line, without its line feed.
    var receive: (UnsafeBufferPointer<UInt8>) -> Void
    /// Called when all output has been taken that had to be kept.
    var drained: () -> Void
    /// Called once, unless `close` is called before.
    var ended: (End) -> Void
  }

  private let descriptor: Int32
  private let queue: DispatchQueue
  private let lineLimit: Int
  private var handlers: Handlers?
  private let reader: any DispatchSourceRead
  private let writer: any DispatchSourceWrite
  private var isWriting = false
  private var isReading = true
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// The beginning of a line.
  private var partial: [UInt8] = []
  private var output: [UInt8] = []
  /// How much of `output` the other end has taken.
  private var sent = 0

  /// How many pieces are read in one turn of the queue.
  private static let turn = 16

  /// Takes over the descriptor, which must not block, and begins to read.
  init(_ descriptor: Int32, on queue: DispatchQueue, lineLimit: Int, _ handlers: Handlers) {
    self.descriptor = descriptor
    self.queue = queue
    self.lineLimit = lineLimit
    self.handlers = handlers
    reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    // A number of its own: each source ends the watching of its descriptor.
    let second = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    writer = DispatchSource.makeWriteSource(fileDescriptor: second < 0 ? descriptor : second, queue: queue)
    reader.setCancelHandler { Foundation.close(descriptor) }
    writer.setCancelHandler { if second >= 0 { Foundation.close(second) } }
    reader.setEventHandler { [weak self] in self?.read() }
    writer.setEventHandler { [weak self] in
      if self?.write() == true { self?.handlers?.drained() }
    }
    reader.resume()
  }

  /// How many bytes the other end has not taken yet.
  var unsent: Int { output.count - sent }

  func send(_ bytes: some Collection<UInt8>) {
    guard handlers != nil, !bytes.isEmpty else { return }
    output += bytes
    if !isWriting { _ = write() }
  }

  /// Drops all lines that are unsent as a whole.
  func dropUnsent() {
    let isMidLine = sent > 0 && sent < output.count && output[sent - 1] != UInt8(ascii: "\n")
    let end = isMidLine ? output[sent...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? output.count : sent
    output.removeSubrange(end...)
  }

  /// Stops reading, or resumes it.
  func setReading(_ reads: Bool) {
    guard handlers != nil, reads != isReading else { return }
    isReading = reads
    guard reads else { return reader.suspend() }
    reader.resume()
    read()
  }

  func close() {
    guard handlers != nil else { return }
    handlers = nil
    shutdown(descriptor, Int32(SHUT_RDWR))
    // A source that is suspended can't be released.
    if !isReading { reader.resume() }
    if !isWriting { writer.resume() }
    reader.cancel()
    writer.cancel()
  }

  deinit { close() }

  private func end(_ end: End) {
    guard let ended = handlers?.ended else { return }
    // A write may fail meanwhile.
    handlers?.ended = { _ in }
    // After a line that is too long, the other end still reads the reason.
    if end != .lineTooLong { close() }
    ended(end)
    close()
  }

  /// Reads all that is there: once the other end has closed, dispatch calls for the last time.
  private func read() {
    for _ in 0..<Self.turn {
      guard handlers != nil, isReading else { return }
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      guard count > 0 else { return end(count == 0 ? .closed : .failed(errno)) }
      buffer.withUnsafeBufferPointer { take(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }
    // Lets the queue's other work have its turn.
    queue.async { [weak self] in self?.read() }
  }

  private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
    var rest = bytes[...]
    while handlers != nil, let feed = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let piece = UnsafeBufferPointer(rebasing: rest[..<feed])
      rest = rest[(feed + 1)...]
      guard partial.count + piece.count <= lineLimit else { return end(.lineTooLong) }
      if partial.isEmpty {
        handlers?.receive(piece)
      } else {
        partial += piece
        exchange(&partial, with: []).withUnsafeBufferPointer { handlers?.receive($0) }
      }
    }
    guard handlers != nil else { return }
    partial += rest
    if partial.count > lineLimit { end(.lineTooLong) }
  }

  /// Whether all has been written.
  private func write() -> Bool {
    while sent < output.count {
      let count = output[sent...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        // Little is moved often: the taken part is removed once it is the larger one.
        if sent > output.count / 2 { compact() }
        if !isWriting { writer.resume() }
        isWriting = true
        return false
      }
      guard count > 0 else {
        end(.failed(errno))
        return false
      }
      sent += count
    }
    let keepsStorage = output.capacity <= 1 << 20
    output.removeAll(keepingCapacity: keepsStorage)
    sent = 0
    if isWriting {
      writer.suspend()
      isWriting = false
    }
    return true
  }

  private func compact() {
    // The byte before the rest says whether a line has begun.
    output.removeFirst(sent - 1)
    sent = 1
  }
}
