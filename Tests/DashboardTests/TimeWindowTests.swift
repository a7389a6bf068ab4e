import JobModel
import Testing

@testable import Dashboard

@Suite struct TimeWindowTests {
  /// With 12 cells, a run of 100 s has cells of 10 s, and 5 s after one step in.
  private static let end: Duration = .seconds(100)

  private func scale(_ window: TimeWindow, now: Duration = end) -> TimeWindow.Scale {
    window.scale(width: 12, now: now, end: Self.end)
  }

  private func zoomed(_ change: Int) -> TimeWindow {
    var window = TimeWindow()
    window.zoom(by: change, width: 12, now: Self.end, end: Self.end)
    return window
  }

  private func panned(_ window: TimeWindow, _ quarters: Int...) -> TimeWindow {
    var window = window
    for quarters in quarters { window.pan(by: quarters, width: 12, now: Self.end, end: Self.end) }
    return window
  }

  @Test func aCellHoldsTheInstantsFromItsBeginOn() {
    let scale = TimeWindow.Scale(step: .seconds(2), first: 3, width: 10)
    for (seconds, cell) in [(0, -3), (5.9, -1), (6, 0), (7.9, 0), (8, 1), (26, 10)] {
      #expect(scale.cell(.milliseconds(Int64(seconds * 1000))) == cell, "\(seconds)")
    }
    #expect(scale.time(0) == .seconds(6))
    #expect(scale.time(2) == .seconds(10))
  }

  @Test func anEndBeyondAllCellsHasTheLastOne() {
    let end = Duration.seconds(1e19)
    let scale = TimeWindow().scale(width: 80, now: .zero, end: end)
    #expect(scale.step == .seconds(86_400) && scale.cell(end) > 80)
    #expect(TimeWindow.Scale(step: .milliseconds(50), first: 3, width: 80).cell(end) == Int.max - 3)
  }

  /// The end has a cell of its own.
  @Test(arguments: [
    (10, 9.0, 1000), (10, 9.01, 2000), (10, 10.0, 2000), (10, 0.0, 50), (10, 0.45, 50), (10, 0.5, 100),
    (1, 5.0, 86_400_000), (0, 0.0, 50),
  ])
  func theWholeRunHasTheFinestCellsThatFit(_ width: Int, _ end: Double, _ milliseconds: Int) {
    let scale = TimeWindow().scale(width: width, now: .zero, end: .milliseconds(Int64(end * 1000)))
    #expect(scale == TimeWindow.Scale(step: .milliseconds(milliseconds), first: 0, width: max(1, width)))
  }

  /// With 12 cells the window begins at 0 until the present passes the tenth; it then moves by two.
  @Test(arguments: [(0, 0), (50, 0), (54, 0), (55, 2), (60, 4), (65, 4), (70, 6), (100, 12)])
  func aZoomedWindowFollowsThePresentInJumps(_ now: Int, _ first: Int) {
    let expected = TimeWindow.Scale(step: .seconds(5), first: first, width: 12)
    #expect(scale(zoomed(-1), now: .seconds(now)) == expected)
  }

  @Test(arguments: [(10, 0), (15, 2), (20, 3)])
  func aNarrowWindowMovesByOneCell(_ now: Int, _ first: Int) {
    #expect(zoomed(-1).scale(width: 3, now: .seconds(now), end: Self.end).first == first)
  }

  @Test func zoomingEndsAtTheFinestStepAndAtTheWholeRun() {
    var window = TimeWindow()
    for place in (0..<7).reversed() {
      window.zoom(by: -1, width: 12, now: Self.end, end: Self.end)
      #expect(window.zoom == place)
    }
    window.zoom(by: -1, width: 12, now: Self.end, end: Self.end)
    #expect(window.zoom == 0)
    for place in 1..<7 {
      window.zoom(by: 1, width: 12, now: Self.end, end: Self.end)
      #expect(window.zoom == place)
    }
    window.zoom(by: 1, width: 12, now: Self.end, end: Self.end)
    #expect(window == TimeWindow())
    window.zoom(by: 1, width: 12, now: Self.end, end: Self.end)
    #expect(window == TimeWindow())
  }

  @Test func aWindowThatWasMovedKeepsItsMiddleWhenZoomed() {
    var window = panned(zoomed(-1), -1)
    #expect(scale(window) == TimeWindow.Scale(step: .seconds(5), first: 9, width: 12))
    // Its middle is at 75 s.
    window.zoom(by: -1, width: 12, now: Self.end, end: Self.end)
    #expect(scale(window) == TimeWindow.Scale(step: .seconds(2), first: 31, width: 12))
    window.zoom(by: 1, width: 12, now: Self.end, end: Self.end)
    #expect(scale(window) == TimeWindow.Scale(step: .seconds(5), first: 8, width: 12))
  }

  @Test func aWindowAtTheBeginStaysThereWhenZoomedOut() {
    var window = panned(zoomed(-2), -100)
    #expect(scale(window).first == 0)
    window.zoom(by: 1, width: 12, now: Self.end, end: Self.end)
    #expect(scale(window) == TimeWindow.Scale(step: .seconds(5), first: 0, width: 12))
  }

  @Test func aMoveIsAQuarterAndReachesThePresentOrTheEnd() {
    let live = zoomed(-1)
    #expect(panned(live, -1).first == 9)
    #expect(panned(live, -1, -1).first == 6)
    #expect(panned(live, -1, -1, 1).first == 9)
    // It follows again.
    #expect(panned(live, -1, 1) == live)
    // Beyond the present there is what is expected, up to the end.
    #expect(panned(live, 1).first == 15)
    #expect(panned(live, 1, 1).first == 18)
    #expect(panned(live, 1, 1, 1, 1).first == 20)
  }

  @Test func aMoveShortOfThePresentDoesNotFollow() {
    var window = panned(zoomed(-1), -1)
    window.zoom(by: -1, width: 12, now: Self.end, end: Self.end)
    window.zoom(by: 1, width: 12, now: Self.end, end: Self.end)
    #expect(window.first == 8)
    #expect(panned(window, 1).first == 11)
    #expect(panned(window, 1, 1).first == nil)
  }

  @Test func aNarrowWindowMovesByACellAtLeast() {
    var window = zoomed(-1)
    window.pan(by: -1, width: 3, now: Self.end, end: Self.end)
    // It has followed from cell 19 on.
    #expect(window.first == 18)
  }

  @Test func theWholeRunIsNotMoved() {
    #expect(panned(TimeWindow(), 1) == TimeWindow())
    #expect(panned(TimeWindow(), -1) == TimeWindow())
  }

  @Test func showingAllForgetsZoomAndPlace() {
    var window = panned(zoomed(-2), -1)
    window.showAll()
    #expect(window == TimeWindow())
  }
}
