import Basics
import JobModel

/// The part of the run's time that the timeline shows: the time of a cell, and the first cell.
struct TimeWindow: Equatable {
  /// The possible times of a cell: round, so that the display moves in whole cells.
  static let steps: [Duration] =
    [50, 100, 200, 500].map { .milliseconds($0) }
    + [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map { .seconds($0) }

  /// An index of `steps`; nil shows the whole run.
  private(set) var zoom: Int?
  /// The first cell; nil keeps the present in view.
  private(set) var first: Int?

  /// The window at one width.
  struct Scale: Equatable {
    var step: Duration
    var first: Int
    var width: Int

    /// The cell of an instant, from 0; outside of the width too.
    func cell(_ time: Duration) -> Int { Int(clamping: (time / step).rounded(.down)).plus(-first) }
    func time(_ cell: Int) -> Duration { step * (first + cell) }
  }

  /// `end` is the run's end, past or expected.
  func scale(width: Int, now: Duration, end: Duration) -> Scale {
    let width = max(1, width)
    guard let zoom else { return Scale(step: Self.steps[Self.fitting(end, width)], first: 0, width: width) }
    let step = Self.steps[zoom]
    if let first { return Scale(step: step, first: first, width: width) }
    // The present stays in the last third; the window moves in jumps, so that most frames keep their cells.
    let present = Int(clamping: now / step)
    let jump = max(1, width / 6)
    let over = present - width * 5 / 6
    return Scale(step: step, first: over <= 0 ? 0 : (over / jump + 1) * jump, width: width)
  }

  private static func fitting(_ end: Duration, _ width: Int) -> Int {
    steps.firstIndex { Int(clamping: (end / $0).rounded(.up)) < width } ?? steps.count - 1
  }

  /// Zooms by steps, keeping the middle of the window.
  mutating func zoom(by change: Int, width: Int, now: Duration, end: Duration) {
    let scale = scale(width: width, now: now, end: end)
    let old = Self.steps.firstIndex(of: scale.step) ?? 0
    let new = old + change
    guard Self.steps.indices.contains(new) else { return }
    if change > 0, new >= Self.fitting(end, width) { return showAll() }
    zoom = new
    guard first != nil else { return }
    let middle = scale.time(width / 2)
    first = max(0, Int(clamping: middle / Self.steps[new]) - width / 2)
  }

  mutating func showAll() {
    zoom = nil
    first = nil
  }

  /// Moves by quarters of the window; a window that reaches the present follows it.
  mutating func pan(by quarters: Int, width: Int, now: Duration, end: Duration) {
    guard let zoom else { return }
    let scale = scale(width: width, now: now, end: end)
    let target = max(0, scale.first + quarters * max(1, width / 4))
    var following = self
    following.first = nil
    let present = following.scale(width: width, now: now, end: end).first
    first =
      quarters > 0 && scale.first < present && target >= present
      ? nil : min(target, Int(clamping: end / Self.steps[zoom]))
  }
}
