/// The features of a terminal that terminfo doesn't describe, judged by TERM and the environment.
package struct TerminalFeatures: Sendable, Hashable {
  /// Whether it supports or skips xterm's mouse reports, bracketed paste, titles and clipboard.
  package var speaksXterm: Bool
  /// Whether it has the progress mark (OSC 9;4); others show OSC 9 as a notification.
  package var hasProgress: Bool
  /// Whether it is GNU screen, which passes on only sequences that are wrapped for it.
  package var isScreen: Bool
  /// Whether `isScreen` may be wrong: tmux may use the same TERM, and ssh passes on no other variable.
  package var mayBeTmux: Bool
  /// Whether it is tmux in another terminal.
  package var isTmux: Bool

  package init(term: String, environment: [String: String]) {
    let family = term.prefix { $0 != "-" && $0 != "." && $0 != "+" }
    let others: Set = ["dumb", "linux", "cons25", "sun", "ansi", "hurd", "wsvt25", "pccon0", "unknown", ""]
    speaksXterm = !others.contains(String(family)) && !family.hasPrefix("vt")
    isTmux = family == "tmux" || !(environment["TMUX"] ?? "").isEmpty
    isScreen = family == "screen" && !isTmux
    mayBeTmux = isScreen && (environment["STY"] ?? "").isEmpty
    hasProgress = speaksXterm && !isScreen && (isTmux || Self.isKnownForProgress(environment))
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
    // VTE has it since 0.80.
    return (environment["VTE_VERSION"].flatMap { Int($0) } ?? 0) >= 8000
  }
}
