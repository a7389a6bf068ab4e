import Foundation
import Operations

/// Passes the lines of one stream to a closure on a queue: the thread of all processes must not wait for the closure.
final class LineDelivery: @unchecked Sendable {
  // Safe: the variables are used on `queue` only.
  private let queue: DispatchQueue
  let limit: Int
  private let handler: @Sendable (String) -> Void
  /// The unfinished line.
  private var partial: [UInt8] = []
  private var isOver = false

  init(limit: Int, on queue: DispatchQueue, _ handler: @escaping @Sendable (String) -> Void) {
    self.limit = limit
    self.queue = queue
    self.handler = handler
  }

  /// Takes the next chunk; calls `tooLong` at the first line beyond the limit, after which no line is passed on.
  func take(
    _ bytes: [UInt8], consumed: @escaping @Sendable () -> Void, tooLong: @escaping @Sendable () -> Void
  ) {
    queue.async { [self] in
      if !isOver, !give(bytes) {
        isOver = true
        tooLong()
      }
      consumed()
    }
  }

  /// Calls `body` once every line has been passed on, including a last line without a line feed.
  func finish(_ body: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      if !isOver, !partial.isEmpty { handler(partial[...].lineText) }
      partial = []
      body()
    }
  }

  /// Whether a line or its beginning is within the limit; a carriage return at the end is taken for one of a line end.
  private func fits(_ line: ArraySlice<UInt8>) -> Bool {
    line.count - (line.last == UInt8(ascii: "\r") ? 1 : 0) <= limit
  }

  private func give(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while let end = rest.place(of: UInt8(ascii: "\n")) {
      let line = partial.isEmpty ? rest[..<end] : (partial + rest[..<end])[...]
      partial.removeAll(keepingCapacity: true)
      rest = rest[(end + 1)...]
      guard fits(line) else { return false }
      handler(line.lineText)
    }
    partial += rest
    return fits(partial[...])
  }
}
