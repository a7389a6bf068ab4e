import Screen

/// The part of the screen of each pane; `View` draws into it, and a click is looked up in it.
struct Layout {
  static let smallest = Size(width: 30, height: 5)
  static let detailFrom = 120
  static let timeAndDetailFrom = 160
  static let stripFrom = 44
  /// From this width on the header has two lines and the list a log below it.
  static let fullWidth = 60
  /// From this size on the log is below the detail, which leaves the list its height.
  static let besideFrom = Size(width: 160, height: 40)

  var header = Rect.none
  var banner = Rect.none
  var titles = Rect.none
  var list = Rect.none
  /// The line below the list, with a summary of the rows that are not shown.
  var more = Rect.none
  /// The timeline below the list of a tall screen.
  var strip = Rect.none
  var detail = Rect.none
  var logBar = Rect.none
  var log = Rect.none
  var footer = Rect.none
  /// The help page or the zoomed job, instead of the list.
  var page = Rect.none
  /// The area between banner and footer; empty on a screen that is too small for any pane.
  var body = Rect.none

  init(_ model: Model) {
    let size = model.size
    let (width, height) = (size.width, size.height)
    guard width >= Self.smallest.width, height >= Self.smallest.height else { return }
    let isSmall = width < Self.fullWidth || height < 10
    body = Rect(x: 0, y: 0, width: width, height: height)
    // The help page needs the height of a usual screen.
    let hasHeader = model.page != .help || height >= 32
    if hasHeader { header = body.cutTop(isSmall && height < 20 ? 1 : 2) }
    if Banner.isShown(model), height >= 8 { banner = body.cutTop(1) }
    footer = body.cutBottom(1)
    switch model.page {
    case .help: page = body
    case .zoom:
      page = body
      if page.height >= 12 { placeLog(page.cutBottom(page.height * 2 / 5)) }
    case .list: placeList(model, isSmall: isSmall)
    }
  }

  private mutating func placeList(_ model: Model, isSmall: Bool) {
    var area = body
    // The timeline needs the width more than the detail does.
    let detailFrom = model.panel == .timeline ? Self.timeAndDetailFrom : Self.detailFrom
    if model.log.extent == .full { return placeLog(area) }
    var hasLog = model.log.extent == .half && !isSmall && area.height >= 12
    if area.width >= detailFrom, area.height >= 12 {
      let isBeside = hasLog && model.size.width >= Self.besideFrom.width && model.size.height >= Self.besideFrom.height
      let width = isBeside ? min(110, area.width * 42 / 100) : min(72, area.width * 35 / 100)
      detail = Rect(x: area.maxX - width, y: area.y, width: width, height: area.height)
      area.width -= width + 1
      if isBeside {
        placeLog(detail.cutBottom(detail.height * 9 / 20))
        hasLog = false
      }
    }
    // Rows of time say more than lines of output in a view of times.
    let share = model.panel == .timeline || model.panel == .critical ? 4 : 6
    if hasLog { placeLog(area.cutBottom(max(4, area.height * share / 15))) }
    if model.panel == .list, model.size.height >= Self.stripFrom, area.height >= 20,
      model.run.jobs.count <= PathForecast.frequentLimit
    {
      // The list has precedence: the timeline gets the rows that its jobs leave.
      strip = area.cutBottom(min(max(9, area.height - 2 - model.rowCount), area.height / 2, model.run.jobs.count + 1))
    }
    if area.height >= 6 { titles = area.cutTop(1) }
    if area.height >= 5 { more = area.cutBottom(1) }
    list = area
  }

  private mutating func placeLog(_ area: Rect) {
    log = area
    logBar = log.cutTop(1)
  }
}

extension Rect {
  static let none = Rect(x: 0, y: 0, width: 0, height: 0)

  mutating func cutTop(_ rows: Int) -> Rect {
    let top = Rect(x: x, y: y, width: width, height: min(rows, height))
    y += top.height
    height -= top.height
    return top
  }

  mutating func cutBottom(_ rows: Int) -> Rect {
    let rows = min(rows, height)
    height -= rows
    return Rect(x: x, y: maxY, width: width, height: rows)
  }
}

extension Model {
  var showsLog: Bool { !Layout(self).log.isEmpty }

  /// Gives the focus to the list where the log has no room any more, and ends a search of it that is being typed.
  mutating func keepFocusShown() {
    guard focus == .log, page != .help, !showsLog else { return }
    focus = .list
    if case .search = prompt { prompt = nil }
  }
}
