/// What the terminal can draw and how.
package struct ScreenTraits: Sendable, Hashable {
  package enum Palette: Int, Sendable, Comparable {
    case none = 0
    case eight = 8
    case sixteen = 16
    case many = 256

    package static func < (left: Palette, right: Palette) -> Bool { left.rawValue < right.rawValue }
  }

  /// Whether only ASCII may be drawn.
  package var isASCII: Bool
  package var palette: Palette

  package init(isASCII: Bool, palette: Palette) {
    self.isASCII = isASCII
    self.palette = palette
  }
}
