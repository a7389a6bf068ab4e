import JobModel

/// Where a person is in a log, what they have marked there and what they look for.
///
/// Lines are named by the number of their fact.
struct LogView {
  enum Extent: CaseIterable {
    case off
    case half
    case full
  }

  /// How a line's time is shown.
  enum Times: CaseIterable {
    case relative
    case clock
    case off
  }

  /// A row of the log: a line, and the row within it when it is wrapped.
  struct Place: Equatable, Comparable {
    var line: Int
    var row: Int

    static func < (left: Place, right: Place) -> Bool { (left.line, left.row) < (right.line, right.row) }
  }

  var extent = Extent.half
  var wraps = false
  var times = Times.relative
  /// Whether the lines of many jobs are shown rather than the cursor's job's.
  var isMerged = false
  private(set) var follows = true
  /// How many cells of each line are left out on the left, while lines are not wrapped.
  var shift = 0
  /// The first row shown, while it does not follow.
  var top = Place(line: 0, row: 0)
  /// The line that keys act on, while it does not follow.
  var cursor = 0
  /// Where a range of lines begins that ends at the cursor.
  var mark: Int?
  /// What the mouse has selected.
  var selection: LogSelection?
  /// The lines that are being read: what has left memory meanwhile stays here, so that nothing moves under the reader.
  private(set) var held: LogLines?

  var query = ""
  /// The line that `n` and `N` have come to.
  var currentMatch: Int?
  private(set) var matches: [Int] = []
  private var searched: (source: LogLines.Source, query: String, last: Int)?

  mutating func follow() {
    follows = true
    mark = nil
    selection = nil
    held = nil
  }

  /// Ends following, at the end of the lines as they are.
  mutating func read(_ lines: LogLines, top: Place) {
    guard follows, let last = lines.last else { return }
    follows = false
    held = lines
    self.top = top
    cursor = last.seq
  }

  /// Goes on from what was held to what is in memory.
  mutating func letGo() { held = nil }

  /// Forgets the place, for another log; what is looked for stays.
  mutating func leave() {
    follow()
    shift = 0
    currentMatch = nil
  }

  /// Takes what has come while none of what is being read has left memory.
  mutating func hold(_ live: LogLines) {
    guard !follows else {
      held = nil
      return
    }
    let oldest = min(top.line, cursor, mark ?? .max, selection?.range.lowerBound.line ?? .max)
    if let held, held.source == live.source, held.line(oldest) != nil, live.line(oldest) == nil { return }
    held = live
  }

  /// The lines from the mark to the cursor.
  var marked: ClosedRange<Int>? { mark.map { min($0, cursor)...max($0, cursor) } }

  // MARK: Searching

  /// Brings `matches` up to date, looking only at lines that are new.
  mutating func search(_ lines: LogLines?) {
    guard let lines, !query.isEmpty else {
      matches = []
      searched = nil
      return
    }
    var from = 0
    if let searched, searched.source == lines.source, searched.query == query {
      from = lines.position(of: searched.last + 1)
      if let first = lines.first?.seq, let oldest = matches.first, oldest < first { matches.removeAll { $0 < first } }
    } else {
      matches = []
    }
    guard from < lines.count else { return }
    let needle = Needle(query)
    for position in from..<lines.count {
      let line = lines[position]
      if needle.isFound(in: Needle.haystack(LogText.plain(line.entry.line.text))) { matches.append(line.seq) }
    }
    searched = (lines.source, query, lines[lines.count - 1].seq)
  }

  /// The match after (or before) a line, and whether it was found by beginning again at the other end.
  func match(after line: Int, forward: Bool) -> (line: Int, hasWrapped: Bool)? {
    let found = forward ? matches.first { $0 > line } : matches.last { $0 < line }
    if let found { return (found, false) }
    return (forward ? matches.first : matches.last).map { ($0, true) }
  }

  /// Which of the matches the current one is, from 1.
  var matchNumber: Int? { currentMatch.flatMap { matches.firstIndex(of: $0) }.map { $0 + 1 } }
}
