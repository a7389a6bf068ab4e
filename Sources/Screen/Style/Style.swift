/// The colors and attributes of a cell.
package struct Style: Sendable, Hashable {
  package enum Color: Sendable, Hashable {
    case standard
    /// 0 ... 7 are the basic colors, 8 ... 15 their bright forms, 16 ... 255 the cube and the greys.
    case indexed(UInt8)
  }

  package struct Attributes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bold = Attributes(rawValue: 1)
    package static let dim = Attributes(rawValue: 2)
    package static let underline = Attributes(rawValue: 4)
    package static let reverse = Attributes(rawValue: 8)
    package static let italic = Attributes(rawValue: 16)
  }

  package var foreground: Color
  package var background: Color
  package var attributes: Attributes

  package init(_ foreground: Color = .standard, on background: Color = .standard, _ attributes: Attributes = []) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  package static let plain = Style()

  package func with(_ more: Attributes) -> Style {
    var style = self
    style.attributes.formUnion(more)
    return style
  }

  /// This style, with the colors of `base` where it has the standard ones, and the attributes of both.
  package func over(_ base: Style) -> Style {
    Style(
      foreground == .standard ? base.foreground : foreground,
      on: background == .standard ? base.background : background,
      attributes.union(base.attributes))
  }
}
