/// The newest lines of a job's output; the oldest leave first.
package struct LogRing: Sendable, Equatable {
  package static let capacity = 2000

  package struct Entry: Sendable, Equatable {
    /// 0 for the job's first line, of whatever attempt; grows by one.
    package var number: Int
    package var time: Duration
    package var attempt: Int
    package var line: LogLine
  }

  private var storage: [Entry] = []
  private var head = 0
  /// How many lines there ever were.
  package private(set) var total = 0

  package init() {}

  package var count: Int { storage.count }
  package var isEmpty: Bool { storage.isEmpty }
  /// How many lines have left the ring.
  package var dropped: Int { total - storage.count }

  /// 0 is the oldest line still here.
  package subscript(position: Int) -> Entry { storage[(head + position) % storage.count] }

  package mutating func append(_ line: LogLine, at time: Duration, attempt: Int) {
    let entry = Entry(number: total, time: time, attempt: attempt, line: line)
    total += 1
    if storage.count < Self.capacity {
      storage.append(entry)
    } else {
      storage[head] = entry
      head = (head + 1) % Self.capacity
    }
  }
}
