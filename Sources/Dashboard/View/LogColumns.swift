import JobModel
import Screen

/// The columns of the log pane: time, name, mark and text.
struct LogColumns {
  private let log: Rect
  /// The cells of a line's time, with a blank before and after it.
  let timeWidth: Int
  /// The cells of the job's name with a blank after it, equal for all lines; 0 in the log of one job.
  let nameWidth: Int

  init(_ model: Model, _ layout: Layout) {
    log = layout.log
    timeWidth =
      switch model.log.times {
      case .relative: 9
      case .clock: 10
      case .off: 1
      }
    let longestName = max(model.index.longestName, model.run.programLog.isEmpty ? 4 : LogPane.program.count)
    nameWidth = model.showsMerged ? min(max(8, min(24, log.width / 5)), longestName) + 1 : 0
  }

  var textWidth: Int { max(1, log.width - timeWidth - nameWidth - 2) }

  func isName(_ x: Int) -> Bool {
    let start = log.x + timeWidth
    return (start..<(start + nameWidth)).contains(x)
  }
}

extension Model {
  /// The size of the jobs' terminals: one job's log pane; nil if no job has a terminal or no log is shown.
  var terminalSize: Size? {
    guard index.hasTerminals, !isReplay, !isPast else { return nil }
    let layout = Layout(self)
    guard !layout.log.isEmpty else { return nil }
    let columns = LogColumns(self, layout)
    return Size(width: columns.textWidth + columns.nameWidth, height: layout.log.height)
  }

  /// The rows of the lines at the width of their column.
  func rows(_ lines: LogLines, _ layout: Layout) -> LogRows {
    LogRows(
      lines: lines, width: LogColumns(self, layout).textWidth, wraps: log.wraps, shift: log.wraps ? 0 : log.shift)
  }

  func logTop(_ rows: LogRows, _ layout: Layout) -> LogReader.Place {
    log.follows ? rows.lastTop(height: layout.log.height) : rows.clamp(log.top)
  }
}
