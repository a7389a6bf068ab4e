/// The part of a log that the mouse has selected: from one cell to another, both included.
struct LogSelection: Equatable {
  /// A cell of a line, which is given by the number of its event; the end of the line is one past its last cell.
  struct Spot: Equatable, Comparable {
    var line: Int
    var cell: Int

    static func < (left: Spot, right: Spot) -> Bool { (left.line, left.cell) < (right.line, right.cell) }
  }

  var anchor: Spot
  var head: Spot
  var isOpen = true
  /// Whether any cell is selected: a click alone selects none.
  var isMade = false

  init(at spot: Spot) {
    anchor = spot
    head = spot
  }

  /// Selects a word of a line.
  init(_ cells: Range<Int>, of line: Int) {
    anchor = Spot(line: line, cell: cells.lowerBound)
    head = Spot(line: line, cell: cells.upperBound - 1)
    isOpen = false
    isMade = true
  }

  var range: ClosedRange<Spot> { min(anchor, head)...max(anchor, head) }

  func cells(of line: Int, count: Int) -> Range<Int> {
    let (low, high) = (range.lowerBound, range.upperBound)
    guard isMade, (low.line...high.line).contains(line) else { return 0..<0 }
    let start = line == low.line ? min(low.cell, count) : 0
    let end = line == high.line ? min(high.cell + 1, count) : count
    return start..<max(start, end)
  }
}
