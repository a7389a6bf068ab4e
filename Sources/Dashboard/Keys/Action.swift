/// What a key or a click can do; the raw value is its name in a settings file and in `opdash keys`.
enum Action: String, CaseIterable {
  case up
  case down
  case pageUp = "page-up"
  case pageDown = "page-down"
  case halfUp = "half-up"
  case halfDown = "half-down"
  case first
  case last
  case left
  case right
  case zoom
  case back
  case nextPane = "next-pane"
  case filter
  case next
  case previous
  case sortNext = "sort-next"
  case sortPrevious = "sort-previous"
  case invert
  case list
  case tree
  case timeline
  case critical
  case events
  case treeOrList = "tree-or-list"
  case fold
  case zoomIn = "zoom-in"
  case zoomOut = "zoom-out"
  case zoomAll = "zoom-all"
  case palette
  case tag
  case tagDependents = "tag-dependents"
  case tagAll = "tag-all"
  case untag
  case cancel
  case kill
  case pause
  case retry
  case retryDependents = "retry-dependents"
  case retryFailed = "retry-failed"
  case approve
  case raise
  case lower
  case moreSlots = "more-slots"
  case fewerSlots = "fewer-slots"
  case morePool = "more-pool"
  case fewerPool = "fewer-pool"
  case drain
  case log
  case merged
  case wrap
  case follow
  case firstError = "first-error"
  case range
  case copy
  case copyAll = "copy-all"
  case copyPath = "copy-path"
  case times
  case freeze
  case scrubBack = "scrub-back"
  case scrubForward = "scrub-forward"
  case mouse
  case help
  case quit
  case redraw
}
