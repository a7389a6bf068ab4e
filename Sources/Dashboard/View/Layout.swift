import Screen

/// The part of the screen of each pane; `View` draws into it, and a click is looked up in it.
struct Layout {
  static let smallest = Size(width: 30, height: 5)
  static let detailFrom = 120
  static let timeAndDetailFrom = 160
  static let stripFrom = 50

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
    let isSmall = width < 60 || height < 10
    body = Rect(x: 0, y: 0, width: width, height: height)
    if !isSmall { header = body.cutTop(2) }
    if Banner.isShown(model) { banner = body.cutTop(1) }
    if !isSmall || model.prompt != nil || model.notice != nil || model.page != .list { footer = body.cutBottom(1) }
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
    if area.width >= detailFrom, area.height >= 12, model.log.extent != .full {
      let width = min(72, area.width * 35 / 100)
      detail = Rect(x: area.maxX - width, y: area.y, width: width, height: area.height)
      area.width -= width + 1
    }
    if model.log.extent == .full { return placeLog(area) }
    if model.log.extent == .half, !isSmall, area.height >= 12 {
      placeLog(area.cutBottom(max(4, area.height * 2 / 5)))
    }
    if model.panel == .list, model.size.height >= Self.stripFrom, area.height >= 20,
      model.run.jobs.count <= PathForecast.frequentLimit
    {
      // The list has precedence: the timeline gets the rows that its jobs leave.
      strip = area.cutBottom(min(max(5, area.height - 2 - model.run.jobs.count), area.height / 3))
    }
    if area.height >= 4 { titles = area.cutTop(1) }
    more = area.cutBottom(1)
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
}
