/// Durations as a job file writes them.
package enum DurationText {
  /// The shortest exact form in whole units: `500ms`, `8s`, `10m`, `1h30m`.
  package static func format(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    var parts: [String] = []
    if seconds >= 3600 { parts.append("\(seconds / 3600)h") }
    if seconds % 3600 >= 60 { parts.append("\(seconds % 3600 / 60)m") }
    if seconds % 60 > 0 { parts.append("\(seconds % 60)s") }
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if milliseconds > 0 { parts.append("\(milliseconds)ms") }
    return parts.isEmpty ? "0s" : parts.joined()
  }
}
