/// A column's cells, counted from the list's left edge.
struct ColumnSpan: Equatable {
  var x: Int
  var width: Int
  var end: Int { x + width }

  /// The column to the right of this one, after a blank.
  func next(_ width: Int) -> ColumnSpan { ColumnSpan(x: end + 1, width: width) }
}

/// The columns of the list at one width: state, name, status, time, time left.
struct Columns: Equatable {
  static let state = 1
  static let name = 3
  /// The cells between name and status, with the mark of the critical path among them.
  static let gap = 3

  let width: Int
  /// The cell where the status begins, in every row.
  let status: Int
  /// The cell of the mark of the critical path.
  var mark: Int { status - 2 }
  /// The cell after the last time column; nil where the times don't fit.
  let time: Int?
  let left: Int?

  /// In a tree names get more, because deeper rows are indented.
  init(width: Int, longestName: Int, isTree: Bool = false) {
    self.width = width
    left = width >= 62 ? width - 1 : nil
    time = width >= 44 ? width - 1 - (left == nil ? 0 : 7) : nil
    let room = (time.map { $0 - 7 } ?? width - 1) - Self.name
    let most = max(8, min(room * (isTree ? 60 : 45) / 100, room - Self.gap - 10))
    status = Self.name + min(max(8, longestName), most) + Self.gap
  }

  /// The column at `x`, for a click on its title.
  func sort(at x: Int) -> SortColumn {
    if x < Self.name { return .attention }
    if x < status { return .name }
    if let left, x >= left - 5 { return .eta }
    if let time, x >= time - 5 { return .time }
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

  /// `longestTime` is the width of the longest time of the run, as in `1:02:03`.
  init(width: Int, longestName: Int, longestTime: Int = 5) {
    let nameAt = 5
    // An estimate has a sign before it.
    let time = max(7, min(longestTime + 1, (width - nameAt - 7) / 2))
    let wantsSaving = width >= 64 + 4 * (time - 7)
    let wantsEnd = width >= 48 + 2 * (time - 7)
    let wantsWait = width >= 56 + 3 * (time - 7)
    let columns = 2 + (wantsSaving ? 1 : 0) + (wantsEnd ? 1 : 0) + (wantsWait ? 1 : 0)
    let left = width - nameAt - 1 - columns * (time + 1) - (wantsSaving ? 1 : 0)
    let hasShare = left >= 26
    name = ColumnSpan(x: nameAt, width: hasShare ? min(max(8, longestName), left - 13) : max(4, left))
    share = hasShare ? name.next(min(40, left - name.width - 1)) : nil
    took = (share ?? name).next(time)
    waited = wantsWait ? took.next(time) : nil
    ends = wantsEnd ? (waited ?? took).next(time) : nil
    slack = (ends ?? took).next(time)
    saving = wantsSaving ? slack.next(time + 1) : nil
  }
}
