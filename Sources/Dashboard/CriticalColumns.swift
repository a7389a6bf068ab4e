/// Where the columns of the critical path stand at one width.
struct CriticalColumns {
  var name: Columns.Span
  var share: Columns.Span?
  var took: Columns.Span
  var waited: Columns.Span?
  var ends: Columns.Span?
  var slack: Columns.Span
  var saving: Columns.Span?

  var inOrder: [Columns.Span] { [name, share, took, waited, ends, slack, saving].compactMap(\.self) }

  /// What does not fit goes: what halving saves, then the share, the wait, the end.
  init(width: Int, longestName: Int) {
    var left = width - 5 - 1 - 8 - 8
    let wantsSaving = width >= 64
    let wantsEnd = width >= 48
    let wantsWait = width >= 56
    if wantsSaving { left -= 9 }
    if wantsEnd { left -= 8 }
    if wantsWait { left -= 8 }
    let hasShare = left >= 26
    let nameWidth = hasShare ? min(max(8, longestName), left - 17) : max(4, left)
    name = Columns.Span(x: 5, width: nameWidth)
    var x = name.end
    if hasShare {
      share = Columns.Span(x: x + 1, width: min(40, left - nameWidth - 1))
      x = share?.end ?? x
    }
    func next(_ width: Int = 7) -> Columns.Span {
      defer { x += width + 1 }
      return Columns.Span(x: x + 1, width: width)
    }
    took = next()
    if wantsWait { waited = next() }
    if wantsEnd { ends = next() }
    slack = next()
    if wantsSaving { saving = next(8) }
  }
}
