/// Why there is no screen.
package enum TerminalError: Error, Sendable, Hashable, CustomStringConvertible {
  case notATerminal(String)
  case noTerm
  case unknownTerm(String)
  case cannotMoveCursor(String)

  package var description: String {
    switch self {
    case .notATerminal(let stream): "\(stream) is not a terminal: run it in one, or use --ui plain"
    case .noTerm: "TERM is not set: set it to the name of your terminal, such as xterm-256color, or use --ui plain"
    case .unknownTerm(let term):
      "there is no description of the terminal '\(term)' nor of xterm or vt100: install ncurses-term, or use --ui plain"
    case .cannotMoveCursor(let term):
      "the terminal '\(term)' cannot move its cursor: set TERM to its real name, or use --ui plain"
    }
  }
}
