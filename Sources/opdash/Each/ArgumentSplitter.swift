import Foundation
import Session

struct ListArgument: Equatable {
  var bytes: [UInt8]
  /// Its number in the list, from 1, empty ones included: the number of its line where lines are the arguments.
  var place: Int
}

/// Splits the bytes of a list into arguments, however they arrive.
struct ArgumentSplitter {
  /// The longest argument whose bytes are all kept; of a longer one, one byte more, so that it can be told.
  static let limit = EachTemplate.longestScript

  let delimiter: [UInt8]
  /// Whether empty arguments are left out, as the empty lines of a list are.
  let skipsEmpty: Bool
  private var rest: [UInt8] = []
  /// The arguments that were complete, empty ones included.
  private var count = 0
  /// The beginning of an argument that is too long.
  private var head: [UInt8]?

  init(delimiter: [UInt8] = [UInt8(ascii: "\n")], skipsEmpty: Bool = true) {
    precondition(!delimiter.isEmpty)
    self.delimiter = delimiter
    self.skipsEmpty = skipsEmpty
  }

  /// The arguments that are complete with these bytes.
  mutating func feed(_ bytes: ArraySlice<UInt8>) -> [ListArgument] {
    var arguments: [ListArgument] = []
    var searched = max(0, rest.count - delimiter.count + 1)
    rest += bytes
    var start = 0
    while let end = self.end(from: max(start, searched)) {
      append(take(rest[start..<end]), to: &arguments)
      start = end + delimiter.count
      searched = start
    }
    if start > 0 { rest.removeFirst(start) }
    if rest.count > Self.limit + delimiter.count {
      head = head ?? Array(rest.prefix(Self.limit + 1))
      // The delimiter may have begun.
      rest = Array(rest.suffix(delimiter.count - 1))
    }
    return arguments
  }

  /// The text after the last delimiter; nil if empty.
  mutating func finish() -> ListArgument? {
    guard !rest.isEmpty || head != nil else { return nil }
    return take(exchange(&rest, with: [])[...])
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>) -> ListArgument {
    count += 1
    return ListArgument(bytes: head.take() ?? Array(bytes.prefix(Self.limit + 1)), place: count)
  }

  private func append(_ argument: ListArgument, to arguments: inout [ListArgument]) {
    if !argument.bytes.isEmpty || !skipsEmpty { arguments.append(argument) }
  }

  /// Where the next delimiter begins.
  private func end(from start: Int) -> Int? {
    var place = start
    while let found = rest[place...].firstIndex(of: delimiter[0]) {
      if delimiter.count == 1 || rest[found...].starts(with: delimiter) { return found }
      place = found + 1
    }
    return nil
  }
}

extension ArgumentSplitter {
  /// Throws where nothing can be read, as from a folder or where the descriptor is closed.
  static func check(_ descriptor: Int32) throws(UsageError) {
    if Foundation.read(descriptor, nil, 0) < 0, errno != EINTR, errno != EAGAIN { throw unreadable() }
  }

  /// All arguments on a descriptor, up to its end.
  mutating func read(_ descriptor: Int32) throws(UsageError) -> [ListArgument] {
    var arguments: [ListArgument] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.unreadable() }
      guard count > 0 else { return arguments + [finish()].compactMap(\.self) }
      arguments += feed(buffer[..<count])
    }
  }

  private static func unreadable() -> UsageError {
    UsageError("can't read standard input: \(String(cString: strerror(errno)))")
  }
}
