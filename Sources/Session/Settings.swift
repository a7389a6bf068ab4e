import JobModel
import Screen

/// How a run is to be run and shown; nil where neither the command line nor a settings file says.
package struct Settings: Equatable {
  package enum Interface: String, CaseIterable {
    case auto
    case tui
    case inline
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

  package enum Background: String, CaseIterable {
    case auto
    case dark
    case light
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
  package var background: Background?
  package var notice: EndNotice?
  /// The keys of actions that have other ones than usual, by the actions' names.
  package var keys: [String: [Key]] = [:]
  /// The looks of elements that have other ones than usual, by the elements' names.
  package var looks: [String: Style] = [:]

  package init() {}
}
