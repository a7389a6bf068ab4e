import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct LayoutTests {
  private func model(_ width: Int, _ height: Int, jobs: Int = 3, _ change: (inout Model) -> Void = { _ in }) -> Model {
    let builder = RunBuilder((0..<jobs).map { .shell("\($0)") })
    var model = Model(run: builder.run, size: Size(width: width, height: height))
    change(&model)
    FramePreparation.prepare(&model, now: .zero)
    return model
  }

  private func layout(
    _ width: Int, _ height: Int, jobs: Int = 3, _ change: (inout Model) -> Void = { _ in }
  ) -> Layout {
    Layout(model(width, height, jobs: jobs, change))
  }

  private func rect(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Rect {
    Rect(x: x, y: y, width: width, height: height)
  }

  @Test(arguments: [(29, 5), (30, 4), (0, 0)])
  func aScreenThatIsTooSmallHasNoPanes(_ width: Int, _ height: Int) {
    let layout = layout(width, height)
    #expect(layout.body.isEmpty && layout.header.isEmpty && layout.list.isEmpty && layout.footer.isEmpty)
  }

  @Test func theSmallestScreenHasAHeaderARowOfJobsAndAFooter() {
    let layout = layout(30, 5)
    #expect(layout.header == rect(0, 0, 30, 1) && layout.list == rect(0, 1, 30, 3))
    #expect(layout.footer == rect(0, 4, 30, 1) && layout.titles.isEmpty && layout.more.isEmpty)
    #expect(layout.body == rect(0, 1, 30, 3))
  }

  /// The line of titles comes with six rows, the last line with five.
  @Test(arguments: [(5, 0, 0), (6, 0, 0), (7, 0, 1), (8, 1, 1), (9, 1, 1)])
  func aLowScreenLeavesOutTitlesThenTheLastLine(_ height: Int, _ titles: Int, _ more: Int) {
    let layout = layout(40, height)
    #expect(layout.titles.height == titles && layout.more.height == more)
    #expect(layout.header.height == 1 && layout.list.height == height - 2 - titles - more)
  }

  @Test(arguments: [(59, 19, 1), (59, 20, 2), (60, 9, 1), (60, 10, 2), (200, 9, 1), (60, 24, 2)])
  func aSmallScreenHasOneLineOfHeader(_ width: Int, _ height: Int, _ lines: Int) {
    #expect(layout(width, height).header.height == lines)
  }

  @Test(arguments: [(7, 0), (8, 1), (24, 1)])
  func aBannerNeedsEightRows(_ height: Int, _ lines: Int) {
    #expect(layout(80, height) { $0.setFrozen(true) }.banner.height == lines)
    #expect(layout(80, height).banner.isEmpty)
  }

  // MARK: The log

  /// Six of fifteen rows of the body, or four beside times; at least four.
  @Test(arguments: [
    (80, 14, Panel.list, 0), (80, 15, .list, 4), (80, 24, .list, 8), (80, 24, .tree, 8), (80, 24, .events, 8),
    (80, 24, .timeline, 5), (80, 24, .critical, 5), (80, 15, .timeline, 4), (59, 24, .list, 0), (60, 24, .list, 8),
  ])
  func theLogTakesAShareOfTheBody(_ width: Int, _ height: Int, _ panel: Panel, _ lines: Int) {
    let layout = layout(width, height) { $0.setPanel(panel) }
    #expect(layout.logBar.height + layout.log.height == lines)
    #expect(layout.logBar.height == (lines > 0 ? 1 : 0))
  }

  @Test func theLogMayFillTheBodyOrBeOff() {
    let full = layout(80, 24) { $0.log.extent = .full }
    #expect(full.logBar == rect(0, 2, 80, 1) && full.log == rect(0, 3, 80, 20) && full.list.isEmpty)
    let off = layout(80, 24) { $0.log.extent = .off }
    #expect(off.log.isEmpty && off.titles == rect(0, 2, 80, 1) && off.list == rect(0, 3, 80, 19))
    #expect(off.more == rect(0, 22, 80, 1))
  }

  // MARK: The detail

  @Test(arguments: [
    (119, Panel.list, 0), (120, .list, 42), (159, .list, 55), (159, .timeline, 0), (160, .timeline, 56),
    (300, .list, 72),
  ])
  func theDetailStandsBesideAWideList(_ width: Int, _ panel: Panel, _ cells: Int) {
    let layout = layout(width, 24) { $0.setPanel(panel) }
    #expect(layout.detail.width == cells)
    #expect(layout.list.width == (cells == 0 ? width : width - cells - 1))
    if cells > 0 { #expect(layout.detail == rect(width - cells, 2, cells, 21)) }
  }

  @Test(arguments: [(14, 0), (15, 42)])
  func aLowScreenHasNoDetail(_ height: Int, _ cells: Int) {
    #expect(layout(120, height).detail.width == cells)
  }

  @Test func onALargeScreenTheLogIsBelowTheDetail() {
    for (width, height, isBeside) in [(159, 40, false), (160, 39, false), (160, 40, true)] {
      #expect((self.layout(width, height).log.x > 0) == isBeside, "\(width) \(height)")
    }
    // 37 rows: nine of twenty are the log's.
    let layout = self.layout(160, 40)
    #expect(layout.detail == rect(93, 2, 67, 21) && layout.logBar == rect(93, 23, 67, 1))
    #expect(layout.log == rect(93, 24, 67, 15) && layout.list == rect(0, 3, 92, 35))
    #expect(self.layout(300, 40).detail.width == 110)
    let off = self.layout(160, 40) { $0.log.extent = .off }
    #expect(off.detail == rect(104, 2, 56, 37) && off.log.isEmpty)
  }

  // MARK: The strip

  @Test func aTallListLeavesItsRowsToTheTimeline() {
    #expect(layout(160, 43).strip.isEmpty)
    // 41 rows of list beside detail and log; three jobs need four rows.
    #expect(layout(160, 44).strip == rect(0, 39, 92, 4))
    // Half of the rows at most, nine at least.
    #expect(layout(160, 44, jobs: 100).strip == rect(0, 34, 92, 9))
    #expect(layout(160, 44, jobs: 25).strip.height == 14)
    #expect(layout(160, 44, jobs: 18).strip.height == 19)
    #expect(layout(160, 44, jobs: 100) { $0.setFilter(JobFilter("99")) }.strip.height == 20)
    #expect(layout(160, 44) { $0.setPanel(.tree) }.strip.isEmpty)
    // Here the log is below.
    #expect(layout(100, 44, jobs: 100).strip == rect(0, 18, 100, 9))
  }

  // MARK: Pages

  @Test(arguments: [(31, 0), (32, 2)])
  func theHelpPageHasAHeaderOnATallScreen(_ height: Int, _ lines: Int) {
    let layout = layout(80, height) { $0.page = .help }
    #expect(layout.header.height == lines && layout.page == rect(0, lines, 80, height - lines - 1))
    #expect(layout.list.isEmpty && layout.log.isEmpty)
  }

  @Test(arguments: [(14, 0), (15, 4), (24, 8)])
  func aZoomedJobHasALogBelowItsDescription(_ height: Int, _ lines: Int) {
    let layout = layout(80, height) { $0.page = .zoom }
    #expect(layout.logBar.height + layout.log.height == lines)
    #expect(layout.page.height == height - 3 - lines && layout.list.isEmpty)
  }

  // MARK: Rectangles

  @Test func aPartIsCutFromTheTopOrTheBottom() {
    var area = rect(2, 3, 10, 6)
    #expect(area.cutTop(2) == rect(2, 3, 10, 2) && area == rect(2, 5, 10, 4))
    #expect(area.cutBottom(1) == rect(2, 8, 10, 1) && area == rect(2, 5, 10, 3))
    #expect(area.cutBottom(9) == rect(2, 5, 10, 3) && area == rect(2, 5, 10, 0))
    area = rect(2, 5, 10, 3)
    #expect(area.cutTop(9) == rect(2, 5, 10, 3) && area == rect(2, 8, 10, 0))
  }
}
