/// The newest lines of a job's output; the oldest leave first.
///
/// It holds at most `capacity` lines and `byteCapacity` bytes of text; the log file has the whole.
package struct LogRing: Sendable, Equatable {
  package static let capacity = 2000
  package static let byteCapacity = 256 * 1024

  package struct Entry: Sendable, Equatable {
    /// 0 for the job's first line, of whatever attempt; grows by one.
    package var number: Int
    /// The number of the fact that stated it: lines of several jobs came in this order.
    package var seq: Int
    package var time: Duration
    package var attempt: Int
    package var line: LogLine
  }

  /// Places before `head` are empty; they go in bulk, so that a line costs a constant.
  private var storage: [Entry] = []
  private var head = 0
  /// How many bytes of text are held.
  package private(set) var bytes = 0
  /// How many lines there ever were.
  package private(set) var total = 0

  package init() {}

  package var count: Int { storage.count - head }
  package var isEmpty: Bool { count == 0 }
  /// How many lines have left the ring.
  package var dropped: Int { total - count }

  /// 0 is the oldest line still here.
  package subscript(position: Int) -> Entry { storage[head + position] }

  /// The newest line.
  package var last: Entry? { storage.last }

  package mutating func append(_ line: LogLine, seq: Int, at time: Duration, attempt: Int) {
    storage.append(Entry(number: total, seq: seq, time: time, attempt: attempt, line: line))
    total += 1
    bytes += line.text.utf8.count
    while count > Self.capacity || (bytes > Self.byteCapacity && count > 1) { dropFirst() }
  }

  /// Lets all but the newest `lines` go.
  package mutating func trim(to lines: Int) {
    while count > lines { dropFirst() }
    storage.removeFirst(head)
    head = 0
    storage = Array(storage)
  }

  private mutating func dropFirst() {
    bytes -= storage[head].line.text.utf8.count
    storage[head].line.text = ""
    head += 1
    guard head > 256, head > storage.count / 2 else { return }
    storage.removeFirst(head)
    head = 0
  }

  package static func == (left: LogRing, right: LogRing) -> Bool {
    left.total == right.total && left.storage[left.head...] == right.storage[right.head...]
  }
}
