import Screen

/// Which part of the screen each pane has; `View` draws into it and a click is looked up in it.
struct Layout {
  static let smallest = Size(width: 30, height: 5)
  static let detailFrom = 120
  static let timeAndDetailFrom = 160
  static let stripFrom = 50

  var isTooSmall = false
  var header = Rect.none
  var banner = Rect.none
  /// The titles of the list's columns.
  var titles = Rect.none
  var list = Rect.none
  /// The line that says what is below the list's last row.
  var more = Rect.none
  /// The timeline below the list of a tall screen.
  var strip = Rect.none
  var detail = Rect.none
  var logBar = Rect.none
  var log = Rect.none
  var footer = Rect.none
  /// What a page has instead of list and log.
  var page = Rect.none
  /// All that is neither above nor below.
  var body = Rect.none

  init(_ model: Model) {
    let size = model.size
    let (width, height) = (size.width, size.height)
    guard width >= Self.smallest.width, height >= Self.smallest.height else {
      isTooSmall = true
      return
    }
    let isSmall = width < 60 || height < 10
    var y = 0
    var bottom = height
    func take(_ rows: Int) -> Rect {
      defer { y += rows }
      return Rect(x: 0, y: y, width: width, height: rows)
    }
    if !isSmall { header = take(2) }
    if Banner(model) != nil { banner = take(1) }
    if !isSmall || model.prompt != nil || model.notice != nil || model.page != .list {
      bottom -= 1
      footer = Rect(x: 0, y: bottom, width: width, height: 1)
    }
    body = Rect(x: 0, y: y, width: width, height: bottom - y)
    switch model.page {
    case .help: page = body
    case .zoom: placeZoom(body)
    case .list: placeList(body, model, isSmall: isSmall)
    }
  }

  private mutating func placeZoom(_ body: Rect) {
    let logHeight = body.height >= 12 ? body.height * 2 / 5 : 0
    page = Rect(x: body.x, y: body.y, width: body.width, height: body.height - logHeight)
    guard logHeight > 0 else { return }
    placeLog(Rect(x: body.x, y: page.maxY, width: body.width, height: logHeight))
  }

  private mutating func placeList(_ body: Rect, _ model: Model, isSmall: Bool) {
    var body = body
    // Time needs the width more than the detail does.
    let detailFrom = model.panel == .timeline ? Self.timeAndDetailFrom : Self.detailFrom
    if body.width >= detailFrom, body.height >= 12, model.log.extent != .full {
      let width = min(72, body.width * 35 / 100)
      detail = Rect(x: body.maxX - width, y: body.y, width: width, height: body.height)
      body.width -= width + 1
    }
    if model.log.extent == .full {
      placeLog(body)
      return
    }
    if model.log.extent == .half, !isSmall, body.height >= 12 {
      let height = max(4, body.height * 2 / 5)
      placeLog(Rect(x: body.x, y: body.maxY - height, width: body.width, height: height))
      body.height -= height
    }
    if model.panel == .list, model.size.height >= Self.stripFrom, body.height >= 20,
      model.run.jobs.count <= PathView.atHand
    {
      // The list goes first: the timeline has what its jobs leave.
      let height = min(max(5, body.height - 2 - model.run.jobs.count), body.height / 3)
      strip = Rect(x: body.x, y: body.maxY - height, width: body.width, height: height)
      body.height -= height
    }
    if body.height >= 4 {
      titles = Rect(x: body.x, y: body.y, width: body.width, height: 1)
      body.y += 1
      body.height -= 1
    }
    list = Rect(x: body.x, y: body.y, width: body.width, height: body.height - 1)
    more = Rect(x: body.x, y: list.maxY, width: body.width, height: 1)
  }

  private mutating func placeLog(_ area: Rect) {
    logBar = Rect(x: area.x, y: area.y, width: area.width, height: min(1, area.height))
    log = Rect(x: area.x, y: logBar.maxY, width: area.width, height: area.height - logBar.height)
  }
}

extension Rect {
  static let none = Rect(x: 0, y: 0, width: 0, height: 0)
}
