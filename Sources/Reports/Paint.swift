import JobModel
import Screen

/// Colors words, or leaves them as they are; color is never the only sign of a state.
package struct Paint: Sendable, Hashable {
  package enum Role: Sendable {
    case good
    case bad
    case warning
    case active
    case quiet
    case strong
    /// The name of the job with this index.
    case name(Int)
  }

  /// Colors that tell jobs apart, without the red of a failure.
  private static let names: [TerminalText] = ["36", "33", "35", "34", "32", "96", "93", "95", "94", "92"]

  package var isColoured: Bool

  package init(isColoured: Bool) { self.isColoured = isColoured }

  package func callAsFunction(_ role: Role, _ text: TerminalText) -> TerminalText {
    guard isColoured, !text.isEmpty else { return text }
    let code: TerminalText =
      switch role {
      // Bright blue: green is hard to tell from red for many, and plain blue too dark on black.
      case .good: "94"
      case .bad: "1;31"
      case .warning: "35"
      case .active: "36"
      case .quiet: "2"
      case .strong: "1"
      case .name(let index): Self.names[index % Self.names.count]
      }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

extension JobState {
  var letter: TerminalText { "\(StateClass(self).letter(isASCII: true))" }

  var role: Paint.Role {
    switch self {
    case .waiting, .ready, .skipped: .quiet
    case .executing, .serving: .active
    case .paused, .backingOff, .cancelled, .failed(_, allowed: true): .warning
    case .succeeded: .good
    case .failed: .bad
    }
  }
}
