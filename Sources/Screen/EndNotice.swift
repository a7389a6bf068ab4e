/// How a person wants to be told that the run is over.
package enum EndNotice: String, Sendable, CaseIterable {
  case none
  /// The terminal's bell.
  case bell
  /// A notification of the desktop (OSC 9), in terminals that have them.
  case message
}
