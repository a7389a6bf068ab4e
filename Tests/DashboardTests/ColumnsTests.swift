import Testing

@testable import Dashboard

@Suite struct ColumnsTests {
  /// Status, time and time left at widths around those from which there is room for the times.
  @Test(
    arguments: [
      (20, 20, 14, nil, nil), (43, 20, 23, nil, nil), (44, 20, 20, 43, nil), (61, 20, 26, 60, nil),
      (62, 20, 25, 54, 61), (62, 8, 14, 54, 61), (62, 1, 14, 54, 61), (62, 19, 25, 54, 61), (120, 99, 51, 112, 119),
    ] as [(Int, Int, Int, Int?, Int?)])
  func theListsColumnsFollowItsWidth(_ width: Int, _ longest: Int, _ status: Int, _ time: Int?, _ left: Int?) {
    let columns = Columns(width: width, longestName: longest)
    #expect(columns.status == status && columns.time == time && columns.left == left, "\(columns)")
  }

  @Test func namesOfATreeGetMore() {
    #expect(Columns(width: 62, longestName: 99, isTree: true).status == 3 + 26 + 3)
    #expect(Columns(width: 62, longestName: 99).status == 3 + 19 + 3)
  }

  @Test func theMarkOfTheCriticalPathHasACellOfItsOwn() {
    let columns = Columns(width: 62, longestName: 8)
    #expect(columns.mark == Columns.name + 8 + 1 && columns.status == columns.mark + 2)
  }

  @Test(
    arguments: [
      (0, .attention), (2, .attention), (3, .name), (24, .name), (25, .progress), (48, .progress), (49, .time),
      (55, .time), (56, .eta), (61, .eta),
    ] as [(Int, SortColumn)])
  func aCellOfTheTitlesBelongsToAColumn(_ x: Int, _ column: SortColumn) {
    #expect(Columns(width: 62, longestName: 20).sort(at: x) == column)
  }

  @Test func withoutTimesTheStatusGoesToTheEnd() {
    #expect(Columns(width: 43, longestName: 20).sort(at: 42) == .progress)
    #expect(Columns(width: 50, longestName: 8).sort(at: 43) == .progress)
    #expect(Columns(width: 50, longestName: 8).sort(at: 44) == .time)
    #expect(Columns(width: 50, longestName: 8).sort(at: 49) == .time)
  }

  // MARK: The critical path

  private func spans(_ width: Int, _ longest: Int) -> [ColumnSpan?] {
    let columns = CriticalColumns(width: width, longestName: longest)
    return [
      columns.name, columns.share, columns.took, columns.waited, columns.ends, columns.slack, columns.saving,
    ]
  }

  private func span(_ x: Int, _ width: Int) -> ColumnSpan { ColumnSpan(x: x, width: width) }

  @Test func aNarrowPathHasNameTimeAndSlack() {
    #expect(spans(47, 30) == [span(5, 25), nil, span(31, 7), nil, nil, span(39, 7), nil])
    #expect(spans(48, 30) == [span(5, 18), nil, span(24, 7), nil, span(32, 7), span(40, 7), nil])
    #expect(spans(24, 30) == [span(5, 4), nil, span(10, 7), nil, nil, span(18, 7), nil])
  }

  @Test func aWiderPathHasTheWaitThenTheSaving() {
    #expect(spans(55, 30)[3] == nil)
    #expect(spans(56, 30) == [span(5, 18), nil, span(24, 7), span(32, 7), span(40, 7), span(48, 7), nil])
    #expect(spans(63, 30)[6] == nil)
    #expect(spans(64, 30) == [span(5, 17), nil, span(23, 7), span(31, 7), span(39, 7), span(47, 7), span(55, 8)])
  }

  @Test func anHourHasWiderColumns() {
    func spans(_ width: Int, _ time: Int) -> [ColumnSpan?] {
      let columns = CriticalColumns(width: width, longestName: 30, longestTime: time)
      return [columns.name, columns.share, columns.took, columns.waited, columns.ends, columns.slack, columns.saving]
    }
    // `~1:02:03` and a blank.
    #expect(spans(68, 7) == [span(5, 16), nil, span(22, 8), span(31, 8), span(40, 8), span(49, 8), span(58, 9)])
    #expect(spans(67, 7)[6] == nil && spans(59, 7)[3] != nil && spans(58, 7)[3] == nil)
    #expect(spans(50, 7)[4] != nil && spans(49, 7)[4] == nil)
    #expect(spans(49, 7)[1] == nil && spans(51, 8)[1] == nil && spans(58, 7)[1] == nil)
    // `~59:59`.
    #expect(spans(80, 5) == spans(80, 6))
  }

  @Test func theShareGetsWhatTheNameLeaves() {
    #expect(spans(72, 30)[1] == nil && spans(73, 30)[1] == span(5 + 13 + 1, 12))
    #expect(spans(73, 8)[0] == span(5, 8) && spans(73, 8)[1] == span(14, 17))
    // At most forty cells.
    #expect(spans(120, 10)[0] == span(5, 10) && spans(120, 10)[1] == span(16, 40))
  }
}
