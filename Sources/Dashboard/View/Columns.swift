/// A column's cells, counted from the list's left edge.
struct ColumnSpan: Equatable {
  var x: Int
  var width: Int
  var end: Int { x + width }

  /// The column to the right of this one, after a blank.
  func next(_ width: Int) -> ColumnSpan { ColumnSpan(x: end + 1, width: width) }
}

/// The columns of the list at one width; columns that do not fit are left out, the least important first.
struct Columns: Equatable {
  static let state = 1
  var name: ColumnSpan
  var progress: ColumnSpan
  var rate: ColumnSpan?
  var time: ColumnSpan?
  var eta: ColumnSpan?
  var why: ColumnSpan?

  /// In a tree the names get their width first, because deeper rows are indented.
  init(width: Int, longestName: Int, isTree: Bool = false) {
    let nameAt = 3
    let wantsTime = width >= 44
    let wantsRate = width >= 62
    let wantsETA = width >= 68
    let left = width - nameAt - 1 - (wantsTime ? 8 : 0) - (wantsRate ? 8 : 0) - (wantsETA ? 7 : 0)
    let longest = max(8, longestName)
    var nameWidth: Int
    var progressWidth: Int
    var whyWidth = 0
    if width < 44 {
      progressWidth = max(12, left * 58 / 100)
      nameWidth = left - progressWidth - 1
    } else {
      // Bars grow a little with the screen, names get the width they need, the reason gets the rest.
      progressWidth = width >= 150 ? 30 : width >= 110 ? 24 : 19
      nameWidth = min(longest, isTree ? left - progressWidth - 1 : (left - progressWidth) * 62 / 100)
      whyWidth = left - progressWidth - nameWidth - 1
      if whyWidth < 10 || width < 72 {
        // Without a column of its own, the reason is shown under PROGRESS.
        nameWidth = min(longest, max(14, left - (isTree ? 20 : 28)))
        progressWidth = left - nameWidth - 1
        whyWidth = 0
      }
    }
    name = ColumnSpan(x: nameAt, width: nameWidth)
    progress = name.next(progressWidth)
    rate = wantsRate ? progress.next(7) : nil
    time = wantsTime ? (rate ?? progress).next(7) : nil
    eta = wantsETA ? (time ?? progress).next(6) : nil
    let end = (eta ?? time ?? progress).end
    if whyWidth > 0 { why = ColumnSpan(x: end + 2, width: width - end - 2) }
  }

  /// The column at `x`, for a click on its title.
  func sort(at x: Int) -> SortColumn {
    func holds(_ span: ColumnSpan?) -> Bool { span.map { x >= $0.x - 1 && x < $0.end } ?? false }
    if x < name.x { return .attention }
    if x < progress.x { return .name }
    if holds(rate) { return .rate }
    if holds(time) { return .time }
    if holds(eta) { return .eta }
    if let why, x >= why.x { return .attention }
    return .progress
  }
}

/// The columns of the critical path at one width; columns that do not fit are left out: first the saving, then share,
/// wait and end.
struct CriticalColumns {
  var name: ColumnSpan
  var share: ColumnSpan?
  var took: ColumnSpan
  var waited: ColumnSpan?
  var ends: ColumnSpan?
  var slack: ColumnSpan
  var saving: ColumnSpan?

  init(width: Int, longestName: Int) {
    let nameAt = 5
    let wantsSaving = width >= 64
    let wantsEnd = width >= 48
    let wantsWait = width >= 56
    let left = width - nameAt - 1 - 8 - 8 - (wantsSaving ? 9 : 0) - (wantsEnd ? 8 : 0) - (wantsWait ? 8 : 0)
    let hasShare = left >= 26
    name = ColumnSpan(x: nameAt, width: hasShare ? min(max(8, longestName), left - 17) : max(4, left))
    share = hasShare ? name.next(min(40, left - name.width - 1)) : nil
    took = (share ?? name).next(7)
    waited = wantsWait ? took.next(7) : nil
    ends = wantsEnd ? (waited ?? took).next(7) : nil
    slack = (ends ?? took).next(7)
    saving = wantsSaving ? slack.next(8) : nil
  }
}
