import Screen

/// Where the list's columns stand at one width; those that do not fit are left out, the least needed first.
struct Columns: Equatable {
  /// A column's cells, counted from the list's left edge.
  struct Span: Equatable {
    var x: Int
    var width: Int
    var end: Int { x + width }
  }

  static let state = 1
  var name: Span
  var progress: Span
  var rate: Span?
  var time: Span?
  var eta: Span?
  var why: Span?

  /// In a tree the names go first: they stand further and further to the right.
  init(width: Int, longestName: Int, isTree: Bool = false) {
    let nameAt = 3
    var left = width - nameAt - 1
    let wantsTime = width >= 44
    let wantsRate = width >= 62
    let wantsETA = width >= 68
    if wantsTime { left -= 8 }
    if wantsRate { left -= 8 }
    if wantsETA { left -= 7 }
    let longest = max(8, longestName)
    var nameWidth: Int
    var progressWidth: Int
    var whyWidth = 0
    if width < 44 {
      progressWidth = max(12, left * 58 / 100)
      nameWidth = left - progressWidth - 1
    } else {
      // Bars grow a little with the screen; names have what they need; the reason has the rest.
      progressWidth = width >= 150 ? 30 : width >= 110 ? 24 : 19
      nameWidth = min(longest, isTree ? left - progressWidth - 1 : (left - progressWidth) * 62 / 100)
      whyWidth = left - progressWidth - nameWidth - 1
      if whyWidth < 10 || width < 72 {
        // Without the reason's column, what a job waits for stands under PROGRESS.
        nameWidth = min(longest, max(14, left - (isTree ? 20 : 28)))
        progressWidth = left - nameWidth - 1
        whyWidth = 0
      }
    }
    name = Span(x: nameAt, width: nameWidth)
    progress = Span(x: name.end + 1, width: progressWidth)
    var x = progress.end
    if wantsRate {
      rate = Span(x: x + 1, width: 7)
      x += 8
    }
    if wantsTime {
      time = Span(x: x + 1, width: 7)
      x += 8
    }
    if wantsETA {
      eta = Span(x: x + 1, width: 6)
      x += 7
    }
    if whyWidth > 0 { why = Span(x: x + 2, width: width - x - 2) }
  }

  /// The column under `x`, for a click on its title.
  func sort(at x: Int) -> SortColumn {
    func holds(_ span: Span?) -> Bool { span.map { x >= $0.x - 1 && x < $0.end } ?? false }
    if x < name.x { return .attention }
    if x < progress.x { return .name }
    if holds(rate) { return .rate }
    if holds(time) { return .time }
    if holds(eta) { return .eta }
    if let why, x >= why.x { return .attention }
    return .progress
  }
}
