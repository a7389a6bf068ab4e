import JobModel
import Screen

/// The reader's place in the log, the marked lines, and the search.
///
/// Lines are identified by the number of their event.
struct LogReader {
  enum Extent: CaseIterable {
    case off
    case half
    case full
  }

  /// The form of a line's time.
  enum Times: CaseIterable {
    case relative
    case clock
    case off
  }

  /// Whose lines are shown.
  enum Subject {
    /// The cursor's job.
    case job
    /// Many jobs, and the program where neither tags nor a filter choose some of them.
    case merged
    /// The program itself, which wrote to its standard output or error.
    case program
  }

  /// A row of the log: a line, and the row within a wrapped line.
  struct Place: Equatable, Comparable {
    var line: Int
    var row: Int

    static func < (left: Place, right: Place) -> Bool { (left.line, left.row) < (right.line, right.row) }
  }

  var extent = Extent.half
  var wraps = false
  var times = Times.relative
  var subject = Subject.job
  var isMerged: Bool { subject == .merged }
  private(set) var follows = true
  /// The number of columns hidden at the left of each line, while lines are not wrapped.
  var shift = 0
  /// The first row shown, while the log does not follow.
  var top = Place(line: 0, row: 0)
  /// The line that keys act on, while the log does not follow.
  var cursor = 0
  /// The first line of a marked range, which ends at the cursor.
  var mark: Int?
  var selection: LogSelection?
  /// The lines that are being read; lines that leave memory meanwhile are kept here, so that the page doesn't move.
  var held: LogLines?

  var query = ""
  /// The line that `n` and `N` have reached.
  var currentMatch: Int?
  private(set) var matches: [Int] = []
  private var searched: (source: LogLines.Source, query: String, first: Int, last: Int)?

  /// The part that changes when a person moves in the log: by lines, not within one.
  struct Reading: Equatable {
    var follows: Bool
    var top: Int
    var cursor: Int
    var mark: Int?
  }

  var reading: Reading { Reading(follows: follows, top: top.line, cursor: cursor, mark: mark) }

  /// Returns to the place and the held lines of an earlier reader of the same log.
  mutating func resume(_ earlier: LogReader) {
    (follows, top, cursor) = (earlier.follows, earlier.top, earlier.cursor)
    (mark, shift, held) = (earlier.mark, earlier.shift, earlier.held)
  }

  mutating func follow() {
    follows = true
    mark = nil
    selection = nil
    held = nil
  }

  /// Stops following, with the cursor on the last line.
  mutating func read(_ lines: LogLines, top: Place) {
    guard follows, let last = lines.last else { return }
    follows = false
    held = lines
    self.top = top
    cursor = last.seq
  }

  /// Resets the place for another log and keeps the search.
  mutating func leave() {
    follow()
    shift = 0
    currentMatch = nil
  }

  /// Updates the held lines to `live`, unless the oldest line being read has left memory.
  mutating func hold(_ live: LogLines) {
    guard !follows else {
      held = nil
      return
    }
    // A line that is drawn again after others have come has moved below these.
    if live.line(cursor) == nil, held?.line(cursor)?.entry.line.isUnfinished == true {
      cursor = live.seq(at: live.position(of: cursor)) ?? cursor
    }
    let oldest = min(top.line, cursor, mark ?? .max, selection?.range.lowerBound.line ?? .max)
    // At a past instant, `live` may end before it.
    let hasLeft = live.first.map { $0.seq > oldest } == true
    if let held, held.source == live.source, held.line(oldest) != nil, hasLeft { return }
    held = live
  }

  var marked: ClosedRange<Int>? { mark.map { min($0, cursor)...max($0, cursor) } }

  // MARK: Searching

  /// Updates `matches`, searching only new lines; a log of another instant may have other ones.
  mutating func search(_ lines: LogLines?) {
    guard let lines, let first = lines.first?.seq, let newest = lines.last?.seq, !query.isEmpty else {
      matches = []
      searched = nil
      return
    }
    var from = 0
    if let searched, searched.source == lines.source, searched.query == query, searched.first <= first,
      searched.last <= newest
    {
      from = lines.position(of: searched.last + 1)
      matches.removeAll { $0 > searched.last }
      if let oldest = matches.first, oldest < first { matches.removeAll { $0 < first } }
    } else {
      matches = []
    }
    guard from < lines.count else { return }
    let needle = Needle(query)
    var last: Int?
    for position in from..<lines.count {
      let line = lines[position]
      // From the first unfinished line on, the next search begins anew.
      if line.entry.line.isUnfinished, last == nil { last = line.seq - 1 }
      if needle.isFound(in: Needle.haystack(JobText(line.entry.line.text).plain)) { matches.append(line.seq) }
    }
    searched = (lines.source, query, first, last ?? newest)
  }

  /// The match after (or before) a line, and whether the search has wrapped around.
  func match(after line: Int, forward: Bool) -> (line: Int, hasWrapped: Bool)? {
    let found = forward ? matches.first { $0 > line } : matches.last { $0 < line }
    if let found { return (found, false) }
    return (forward ? matches.first : matches.last).map { ($0, true) }
  }

  var matchNumber: Int? { currentMatch.flatMap { matches.firstIndex(of: $0) }.map { $0 + 1 } }
}
