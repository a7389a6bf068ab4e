import Foundation

/// The events of a whole file of NDJSON.
package struct Recording: Sendable {
  package private(set) var events: [JobEvent] = []
  /// Whether the writer was killed: the last line is not whole, or jobs are missing that the run declares.
  package private(set) var isTruncated = false

  /// Reads lines; one that a killed writer left incomplete at the end is left out, and so are jobs without those they need.
  package init(_ bytes: some ContiguousBytes) throws(EventFault) {
    self = try bytes.withUnsafeBytes { bytes in
      Result { () throws(EventFault) in try Recording(lines: bytes.assumingMemoryBound(to: UInt8.self)) }
    }.get()
  }

  private init(lines bytes: UnsafeBufferPointer<UInt8>) throws(EventFault) {
    var reader = EventReader()
    var start = 0
    while let end = Self.lineFeed(in: bytes, from: start) {
      events += try reader.read(UnsafeBufferPointer(rebasing: bytes[start..<end]))
      start = end + 1
    }
    if start < bytes.count {
      let last = UnsafeBufferPointer(rebasing: bytes[start...])
      if (try? JSONScanner.fields(of: last)) == nil { isTruncated = true } else { events += try reader.read(last) }
    }
    if reader.isHolding { isTruncated = true }
    if events.isEmpty, !isTruncated {
      throw EventFault(line: 1, message: "there are no events: a run has at least one")
    }
  }

  private static func lineFeed(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count,
      let found = memchr(base + start, 0x0A, bytes.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }
}
