import JobModel

/// Where a person is in a job's log, and what they look for in it.
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

  /// A row of the log: a line by its number, and the row within it when it is wrapped.
  struct Place: Equatable, Comparable {
    var line: Int
    var row: Int

    static func < (left: Place, right: Place) -> Bool { (left.line, left.row) < (right.line, right.row) }
  }

  var extent = Extent.half
  var follows = true
  var wraps = false
  var times = Times.relative
  /// How many cells of each line are left out on the left, while lines are not wrapped.
  var shift = 0
  /// The first row shown, while it does not follow.
  var top = Place(line: 0, row: 0)
  var query = ""
  /// The line that `n` and `N` have come to.
  var currentMatch: Int?
  private(set) var matches: [Int] = []
  private var searched: (job: JobID, query: String, total: Int)?

  /// Forgets the place, for another job's log; what is looked for stays.
  mutating func leaveJob() {
    follows = true
    shift = 0
    currentMatch = nil
  }

  /// Brings `matches` up to date, looking only at lines that are new.
  mutating func search(_ id: JobID?, _ run: Run) {
    guard let id, !query.isEmpty else {
      matches = []
      searched = nil
      return
    }
    let log = run.jobs[id.index].log
    var from = log.dropped
    if let searched, searched.job == id, searched.query == query {
      guard searched.total != log.total else { return }
      from = max(from, searched.total)
      matches.removeAll { $0 < log.dropped }
    } else {
      matches = []
    }
    let needle = Needle(query)
    for line in from..<log.total {
      let text = LogText.plain(log[line - log.dropped].line.text)
      if needle.isFound(in: Needle.haystack(text)) { matches.append(line) }
    }
    searched = (id, query, log.total)
  }

  /// The match after (or before) where one is; past the last it begins again.
  func match(after line: Int?, forward: Bool) -> Int? {
    guard let line else { return forward ? matches.first : matches.last }
    return forward
      ? matches.first { $0 > line } ?? matches.first
      : matches.last { $0 < line } ?? matches.last
  }
}

/// The rows of a log at one width: scrolling and drawing both walk them.
struct LogRows {
  let log: LogRing
  let width: Int
  let wraps: Bool

  var first: LogView.Place { LogView.Place(line: log.dropped, row: 0) }

  func height(of line: Int) -> Int {
    guard wraps else { return 1 }
    return LogText.wrap(LogText.cells(log[line - log.dropped].line.text), width: width).count
  }

  /// Moves by `rows`, staying within the log.
  func move(_ place: LogView.Place, by rows: Int) -> LogView.Place {
    guard !log.isEmpty else { return first }
    var place = clamp(place)
    var left = abs(rows)
    while left > 0 {
      if rows < 0 {
        if place.row > 0 {
          let step = min(left, place.row)
          place.row -= step
          left -= step
        } else if place.line > log.dropped {
          place = LogView.Place(line: place.line - 1, row: height(of: place.line - 1) - 1)
          left -= 1
        } else {
          return place
        }
      } else {
        let last = height(of: place.line) - 1
        if place.row < last {
          let step = min(left, last - place.row)
          place.row += step
          left -= step
        } else if place.line + 1 < log.total {
          place = LogView.Place(line: place.line + 1, row: 0)
          left -= 1
        } else {
          return place
        }
      }
    }
    return place
  }

  /// The first row of the last page of `height` rows.
  func lastTop(height: Int) -> LogView.Place {
    guard !log.isEmpty, height > 0 else { return first }
    let line = log.total - 1
    return move(LogView.Place(line: line, row: self.height(of: line) - 1), by: 1 - height)
  }

  func clamp(_ place: LogView.Place) -> LogView.Place {
    guard !log.isEmpty else { return first }
    if place.line < log.dropped { return first }
    if place.line >= log.total { return LogView.Place(line: log.total - 1, row: 0) }
    return LogView.Place(line: place.line, row: min(place.row, height(of: place.line) - 1))
  }
}
