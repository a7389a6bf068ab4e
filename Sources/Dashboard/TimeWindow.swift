import JobModel

/// Which part of the run's time the timeline shows: how much of it a cell is, and which cell is the first.
struct TimeWindow: Equatable {
  /// How much a cell may be: round amounts, so that nothing moves but in whole cells.
  static let steps: [Duration] =
    [50, 100, 200, 500].map { .milliseconds($0) }
    + [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map { .seconds($0) }

  /// A place in `steps`; nil shows the whole run.
  private(set) var zoom: Int?
  /// The first cell; nil keeps the present in view.
  private(set) var first: Int?

  /// What is shown at one width.
  struct Scale: Equatable {
    var step: Duration
    var first: Int
    var width: Int

    /// The cell of an instant, from 0; beyond the edges too.
    func cell(_ time: Duration) -> Int { Int((time / step).rounded(.down)) - first }
    func time(_ cell: Int) -> Duration { step * (first + cell) }
  }

  /// `end` is when the run has ended or is expected to.
  func scale(width: Int, now: Duration, end: Duration) -> Scale {
    let width = max(1, width)
    guard let zoom else { return Scale(step: Self.steps[Self.fitting(end, width)], first: 0, width: width) }
    let step = Self.steps[zoom]
    if let first { return Scale(step: step, first: first, width: width) }
    // The present stands in the last third, and jumps back rather than drags everything with it.
    let present = Int(now / step)
    let jump = max(1, width / 6)
    let over = present - width * 5 / 6
    return Scale(step: step, first: over <= 0 ? 0 : (over / jump + 1) * jump, width: width)
  }

  private static func fitting(_ end: Duration, _ width: Int) -> Int {
    steps.firstIndex { Int((end / $0).rounded(.up)) < width } ?? steps.count - 1
  }

  /// One step nearer or further, with the middle of the window where it is.
  mutating func zoom(by change: Int, width: Int, now: Duration, end: Duration) {
    let scale = scale(width: width, now: now, end: end)
    let old = Self.steps.firstIndex(of: scale.step) ?? 0
    let new = old + change
    guard Self.steps.indices.contains(new) else { return }
    if change > 0, new >= Self.fitting(end, width) { return showAll() }
    zoom = new
    guard first != nil else { return }
    let middle = scale.time(width / 2)
    first = max(0, Int(middle / Self.steps[new]) - width / 2)
  }

  /// Back to the whole run.
  mutating func showAll() {
    zoom = nil
    first = nil
  }

  /// Moves by a quarter of the window; having come to the present it stays with it.
  mutating func pan(by quarters: Int, width: Int, now: Duration, end: Duration) {
    guard let zoom else { return }
    let scale = scale(width: width, now: now, end: end)
    let target = max(0, scale.first + quarters * max(1, width / 4))
    var following = self
    following.first = nil
    let present = following.scale(width: width, now: now, end: end).first
    first = quarters > 0 && scale.first < present && target >= present ? nil : min(target, Int(end / Self.steps[zoom]))
  }
}
