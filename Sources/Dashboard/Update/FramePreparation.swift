import JobModel

/// The work between a change of the model and a frame.
enum FramePreparation {
  /// Brings rows, cursor, scrolling, log and estimate up to date with the events; `View` draws only such a model.
  static func prepare(_ model: inout Model, now: Duration) {
    arrange(&model, now: now)
    model.updateEstimate(now: model.shownTime(now))
  }

  /// Brings all that keys act on up to date: rows, cursor, scrolling and log.
  static func arrange(_ model: inout Model, now: Duration) {
    let now = model.shownTime(now)
    model.keepFocusShown()
    model.filtered.update(model.run, model.index)
    model.order.update(model.run, model.index, model.filtered, now: now)
    updatePanel(&model, now)
    updateCursor(&model)
    model.updateLog()
    LogScroll.keepCursorShown(&model)
    scrollToCursor(&model)
    // A larger page shows more lines above its last.
    if model.page != .list, model.pageTop > 0 {
      Moving.scrollPage(by: 0, &model, height: Layout(model).page.height)
    }
  }

  private static func updatePanel(_ model: inout Model, _ now: Duration) {
    let showsTimeline = model.panel == .timeline || !Layout(model).strip.isEmpty
    if showsTimeline { model.chronology.update(model.run, model.index, model.filtered, now: now) }
    let extent: PathForecast.Extent = model.panel == .critical ? .rows : showsTimeline ? .schedule : .chain
    // The header names the chain, the list marks it, and the detail pane shows the job's slack.
    model.path.update(model.run, model.index, now: model.present(at: now), extent)
    if model.panel == .tree { model.tree.update(model.run, model.filtered) }
    if model.panel == .events { model.events.update(model.run, model.filter, at: model.isPast ? now : nil) }
  }

  private static func updateCursor(_ model: inout Model) {
    defer { model.seeksMatch = false }
    // A chosen event has its own job, whatever the filter says about jobs.
    if model.panel == .events, let id = model.events.chosen?.fact.job { return model.moveCursor(to: id) }
    let (order, classes) = (model.order, model.index.classes)
    // Until a person moves it, the cursor leaves a waiting or ended job for one that executes, fails or is held.
    if !model.isCursorTaken, let id = model.cursor, let first = order.rows.first {
      let attention = classes[id.index].attention
      if attention >= 4, classes[first.index].attention < attention { model.moveCursor(to: first) }
    }
    // A skipped job that is folded away gives the cursor to its cause, unless a person reads about it.
    if let id = model.cursor, case .skipped(.job(let cause)) = model.run.jobs[id.index].state, model.panel == .list,
      model.page == .list, model.focus == .list,
      model.groupsSkipped, order.skipped[cause]?.contains(id) == true, !order.unfolded.contains(cause)
    {
      model.moveCursor(to: cause)
    }
    // The page of a job that the past does not have yet shows no other job.
    if model.cursor == nil, model.isPast, model.isZoomed { return }
    // A job that the filter hides gives the cursor to the first that it shows when the filter is typed; later only until
    // a person moves the cursor, and not in tree and critical path, which have rows of such jobs.
    let mayStay = model.isCursorTaken || [.tree, .critical].contains(model.panel) && model.cursorRow != nil
    if model.cursor.map({ !model.filtered.admits($0) && (model.seeksMatch || !mayStay) }) ?? true {
      model.moveCursor(to: order.rows.first)
    }
  }

  private static func scrollToCursor(_ model: inout Model) {
    let height = Layout(model).list.height
    let last = max(0, model.rowCount - height)
    if model.panel == .critical, !model.isCursorTaken {
      model.top = 0
    } else if model.showsCursor, height > 0, let row = model.cursorRow {
      // In the timeline, rows after the cursor's show what comes next, unless a person has chosen the row.
      let margin = model.panel == .timeline && !model.isCursorTaken ? (height - 1) / 3 : 0
      model.top = min(max(model.top, row - height + 1 + margin), max(0, row - margin))
    }
    model.top = min(max(0, model.top), last)
  }
}
