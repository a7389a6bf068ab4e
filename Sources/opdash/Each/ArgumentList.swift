import Foundation
import Session

/// A list of arguments on a descriptor.
enum ArgumentList {
  /// Throws where nothing can be read, as from a folder or where the descriptor is closed.
  static func check(_ descriptor: Int32) throws(UsageError) {
    if Foundation.read(descriptor, nil, 0) < 0, errno != EINTR, errno != EAGAIN { throw unreadable() }
  }

  /// All arguments up to the end.
  static func read(_ descriptor: Int32, _ splitter: ArgumentSplitter) throws(UsageError) -> [ListArgument] {
    var splitter = splitter
    var arguments: [ListArgument] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable() }
      guard count > 0 else { return arguments + [splitter.finish()].compactMap(\.self) }
      arguments += splitter.feed(buffer[..<count])
    }
  }

  private static func unreadable() -> UsageError {
    UsageError("can't read standard input: \(String(cString: strerror(errno)))")
  }
}
