/// A row of small bars: how a number went over time, one cell a sample.
enum Sparkline {
  private static let blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  private static let letters = ["_", ".", ":", "-", "=", "+", "*", "#"]

  /// The newest samples that fit into a number of cells.
  ///
  /// The greatest of those shown stands below the top: a steady rate must not look like a bar that is full.
  static func text(_ samples: [Float], width: Int, isASCII: Bool) -> String {
    let shown = samples.suffix(max(0, width))
    guard let top = shown.max(), top > 0 else { return String(repeating: isASCII ? "_" : "▁", count: shown.count) }
    let signs = isASCII ? letters : blocks
    return shown.map { signs[max(0, Int($0 / top * Float(signs.count - 2)))] }.joined()
  }
}
