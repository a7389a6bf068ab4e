/// The characters and colors that the terminal can draw.
package struct ScreenTraits: Sendable, Hashable {
  package enum Palette: Int, Sendable, Comparable {
    case none = 0
    case eight = 8
    case sixteen = 16
    case many = 256

    package static func < (left: Palette, right: Palette) -> Bool { left.rawValue < right.rawValue }
  }

  /// The colour behind the text; the raw values are the words of `--background` and the settings file.
  package enum Background: String, Sendable, CaseIterable {
    /// To be found out, or not known.
    case unknown = "auto"
    case dark
    case light

    /// Dark where white text has the better contrast; components from 0 to 1.
    package init(red: Double, green: Double, blue: Double) {
      // Squares approximate sRGB's curve well enough here.
      let luminance = 0.2126 * red * red + 0.7152 * green * green + 0.0722 * blue * blue
      // At this luminance black and white have the same WCAG contrast.
      self = luminance < 0.179 ? .dark : .light
    }
  }

  /// Whether only ASCII may be drawn.
  package var isASCII: Bool
  package var palette: Palette
  package var background: Background

  package init(isASCII: Bool, palette: Palette, background: Background = .unknown) {
    self.isASCII = isASCII
    self.palette = palette
    self.background = background
  }
}
