import JobModel

/// How a run is to be run and shown; nil where the command line leaves it open.
package struct Settings: Equatable {
  package enum Interface: String, CaseIterable {
    case auto
    case tui
    case plain
    case json
    case quiet
  }

  package enum KeepOpen: String, CaseIterable {
    case onFailure = "on-failure"
    case always
    case never
  }

  package enum Color: String, CaseIterable {
    case auto
    case always
    case never
  }

  package var slots: Int?
  package var onFailure: JobGraph.Failure?
  package var interface = Interface.auto
  package var keepOpen = KeepOpen.onFailure
  package var state: String?
  package var trace: String?
  package var isASCII = false
  package var color = Color.auto
  package var hasMouse = true

  package init() {}
}
