/// Times as the reports write them.
enum TimeText {
  /// Where on the run's clock something happened: `00:03.1`, `1:02:03.4`.
  static func stamp(_ time: Duration) -> String {
    let tenths = max(0, time.microseconds / 100_000)
    let (hours, minutes, seconds) = (tenths / 36_000, tenths / 600 % 60, tenths / 10 % 60)
    let start = hours > 0 ? "\(hours):" : ""
    return "\(start)\(two(minutes)):\(two(seconds)).\(tenths % 10)"
  }

  /// How long something took: `0.4s`, `12.3s`, `2m04s`, `1h05m`.
  static func length(_ time: Duration) -> String {
    let tenths = max(0, (time.microseconds + 50_000) / 100_000)
    guard tenths >= 600 else { return "\(tenths / 10).\(tenths % 10)s" }
    let seconds = tenths / 10
    guard seconds >= 3600 else { return "\(seconds / 60)m\(two(seconds % 60))s" }
    return "\(seconds / 3600)h\(two(seconds / 60 % 60))m"
  }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
