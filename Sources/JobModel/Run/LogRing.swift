/// The newest lines of a job's output; the oldest are dropped first.
///
/// Holds at most `capacity` lines and `byteCapacity` bytes of text; the log file has the whole output.
package struct LogRing: Sendable, Equatable {
  /// Lines that a log view can scroll through.
  package static let capacity = 2000
  package static let byteCapacity = 256 * 1024

  package struct Entry: Sendable, Equatable {
    /// 0 for the job's first line, in any attempt; grows by one, but a line that is drawn again keeps its number.
    package var number: Int
    /// The number of its event, which orders lines of several jobs.
    package var seq: Int
    package var time: Duration
    package var attempt: Int
    package var line: LogLine
  }

  private let capacity: Int
  /// Entries before `head` are empty; they are removed in bulk, so that appending a line takes constant time.
  private(set) var storage: [Entry] = []
  private(set) var head = 0
  /// How many bytes of text are held.
  private var bytes = 0
  /// The unfinished lines' events, one at most for each stream.
  private(set) var unfinished: [(stream: LogLine.Stream, seq: Int)] = []
  /// How many lines there ever were.
  package private(set) var total = 0

  package init(capacity: Int = LogRing.capacity) { self.capacity = capacity }

  /// A ring with known lines, the oldest first, after `head` empty entries; `total` is how many there ever were.
  init(capacity: Int, _ entries: [Entry], head: Int, unfinished: [LogLine.Stream: Int], total: Int) {
    self.capacity = capacity
    let empty = Entry(number: 0, seq: 0, time: .zero, attempt: 0, line: LogLine(.note, ""))
    storage = Array(repeating: empty, count: head) + entries
    self.head = head
    bytes = entries.reduce(0) { $0 + $1.line.text.utf8.count }
    self.unfinished = unfinished.map { ($0.key, $0.value) }
    self.total = total
  }

  package var count: Int { storage.count - head }
  package var isEmpty: Bool { count == 0 }
  /// How many lines have been dropped.
  package var dropped: Int { total - count }

  /// The bytes of its text and entries; the same for equal histories.
  package var memory: Int { bytes + storage.count * MemoryLayout<Entry>.stride }

  /// 0 is the oldest line held.
  package subscript(position: Int) -> Entry { storage[head + position] }

  /// The newest line.
  package var last: Entry? { storage.last }

  /// The newest line that may change yet: a prompt, or a bar.
  package var unfinishedLine: LogLine? {
    unfinished.isEmpty ? nil : storage[head...].last { $0.line.isUnfinished }?.line
  }

  /// Adds a line, or replaces the unfinished one of its stream: in its place if nothing has come since, else at the end.
  ///
  /// A line that keeps its place also keeps the number of its event.
  package mutating func append(_ line: LogLine, seq: Int, at time: Duration, attempt: Int) {
    var entry = Entry(number: total, seq: seq, time: time, attempt: attempt, line: line)
    if line.isUnfinished || !unfinished.isEmpty {
      if let old = takeUnfinished(line.stream, attempt) {
        entry.number = old.number
        if old.isLast { entry.seq = old.seq }
      }
      if line.isErased { return }
      if line.isUnfinished { unfinished.append((line.stream, entry.seq)) }
    }
    storage.append(entry)
    total += 1
    bytes += line.text.utf8.count
    while count > capacity || (bytes > Self.byteCapacity && count > 1) { dropFirst() }
  }

  /// Drops all but the newest `lines`, which have at most `limit` bytes of text if they are several, and releases the memory of
  /// the others.
  package mutating func trim(to lines: Int, bytes limit: Int = .max) {
    var kept = storage[head...].suffix(lines)
    bytes = kept.reduce(0) { $0 + $1.line.text.utf8.count }
    while bytes > limit, kept.count > 1 { bytes -= kept.removeFirst().line.text.utf8.count }
    // A copy of a slice has no room to spare; removing elements would keep the old buffer.
    storage = Array(kept)
    head = 0
  }

  /// Removes the unfinished line of a stream.
  private mutating func takeUnfinished(
    _ stream: LogLine.Stream, _ attempt: Int
  ) -> (number: Int, seq: Int, isLast: Bool)? {
    guard let index = unfinished.firstIndex(where: { $0.stream == stream }) else { return nil }
    let seq = unfinished.remove(at: index).seq
    guard let place = storage[head...].lastIndex(where: { $0.seq <= seq }), storage[place].seq == seq,
      storage[place].attempt == attempt
    else { return nil }
    let isLast = place == storage.count - 1
    let old = storage.remove(at: place)
    bytes -= old.line.text.utf8.count
    total -= 1
    return (old.number, seq, isLast)
  }

  private mutating func dropFirst() {
    bytes -= storage[head].line.text.utf8.count
    storage[head].line.text = ""
    head += 1
    guard head > 16, head > storage.count / 2 else { return }
    storage.removeFirst(head)
    head = 0
  }

  package static func == (left: LogRing, right: LogRing) -> Bool {
    left.total == right.total && left.storage[left.head...] == right.storage[right.head...]
  }
}

/// One line of a job's output, cut at 4 KiB; the log file has it whole.
package struct LogLine: Sendable, Equatable {
  package enum Stream: String, Sendable {
    case stdout
    case stderr
    /// Written by opdash about the job: a redirect, a resumed transfer.
    case note
  }

  package static let limit = 4096

  package var stream: Stream
  /// As the job wrote it, escape sequences included, without the line feed; invalid UTF-8 is replaced.
  ///
  /// A line that was drawn again, after a carriage return as a rule, is as a terminal shows it.
  package var text: String
  /// Whether the line was longer than `limit`.
  package var isCut: Bool
  /// Whether the line may change yet, as a prompt or a bar; without text it was erased.
  ///
  /// At most ten a second for each stream.
  package var isUnfinished: Bool

  /// Whether there was an unfinished line and nothing is left of it.
  package var isErased: Bool { isUnfinished && text.isEmpty }

  package init(_ stream: Stream, _ text: String, isCut: Bool = false, isUnfinished: Bool = false) {
    self.stream = stream
    self.text = text
    self.isCut = isCut
    self.isUnfinished = isUnfinished
  }
}
