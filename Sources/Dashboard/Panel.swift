/// What the main pane shows of the run; the selected job is the same in all of them.
enum Panel: Int, CaseIterable {
  case list
  case tree
  case timeline
  case critical
  case events

  var word: String {
    switch self {
    case .list: "list"
    case .tree: "tree"
    case .timeline: "timeline"
    case .critical: "critical"
    case .events: "events"
    }
  }
}
