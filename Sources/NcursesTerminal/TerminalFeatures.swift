/// What a terminal understands beyond what terminfo can say, judged by its name and its environment.
package struct TerminalFeatures: Sendable, Hashable {
  package enum Passage: Sendable, Hashable {
    case direct
    /// GNU screen hands on only what is wrapped for it.
    case screen
  }

  /// Mouse reports, bracketed paste, window titles, the clipboard: all that speak xterm's language have them or skip them.
  package var speaksXterm: Bool
  /// The progress mark (OSC 9;4), only where it is known: to others OSC 9 is a notification that pops up.
  package var hasProgress: Bool
  package var passage: Passage
  /// Whether tmux stands between us and the terminal.
  package var isTmux: Bool

  package init(term: String, environment: [String: String]) {
    let family = term.prefix { $0 != "-" && $0 != "." && $0 != "+" }
    let others: Set = ["dumb", "linux", "cons25", "sun", "ansi", "hurd", "wsvt25", "pccon0", "unknown", ""]
    speaksXterm = !others.contains(String(family)) && !family.hasPrefix("vt")
    isTmux = !(environment["TMUX"] ?? "").isEmpty
    passage = family == "screen" && !isTmux ? .screen : .direct
    hasProgress = speaksXterm && passage == .direct && (isTmux || Self.isKnownForProgress(environment))
  }

  private static func isKnownForProgress(_ environment: [String: String]) -> Bool {
    if environment["WT_SESSION"] != nil || environment["ConEmuANSI"] == "ON" { return true }
    switch environment["TERM_PROGRAM"] {
    case "ghostty", "WezTerm": return true
    case "iTerm.app":
      let version = (environment["TERM_PROGRAM_VERSION"] ?? "").split(separator: ".").compactMap { Int($0) }
      return !version.lexicographicallyPrecedes([3, 6, 6])
    default: break
    }
    // Of the terminals built on VTE those since 0.80.
    return (environment["VTE_VERSION"].flatMap { Int($0) } ?? 0) >= 8000
  }
}
