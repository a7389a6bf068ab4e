import Foundation
import JobModel
import Screen
import Testing

@testable import Dashboard

/// The colours have contrast on their backgrounds and are distinct with colour vision deficiencies.
struct ColorSchemeTests {
  typealias Background = ScreenTraits.Background

  private func colors(_ background: Background) -> ColorScheme {
    ColorScheme(ScreenTraits(isASCII: false, palette: .many, background: background))
  }

  private func texts(_ colors: ColorScheme) -> [Style.Color] {
    [
      colors.bad, colors.active, colors.held, colors.retry, colors.good, colors.accent, colors.quiet.foreground,
    ]
  }

  private static let dark: [UInt32] = [0x000000, 0x1E1E1E, 0x282C34]
  private static let light: [UInt32] = [0xFFFFFF, 0xFAFAFA, 0xFDF6E3]

  @Test(
    arguments: [
      (Background.dark, Self.dark, 4.5), (.light, Self.light, 4.5), (.unknown, [0x000000, 0xFFFFFF], 3),
    ] as [(Background, [UInt32], Double)])
  func textHasContrastOnTheBackgroundsItIsFor(_ background: Background, _ grounds: [UInt32], _ least: Double) {
    for color in texts(colors(background)) {
      for ground in grounds {
        let contrast = Light(color).contrast(with: Light(hex: ground))
        #expect(contrast >= least, "\(color) on \(String(ground, radix: 16)): \(contrast)")
      }
    }
  }

  /// Cyan is too pale on white, and blue too dark on black.
  @Test(arguments: [ScreenTraits.Palette.eight, .sixteen])
  func withFewColoursOnlyALightBackgroundHasBlue(palette: ScreenTraits.Palette) {
    let active = Background.allCases.map { background in
      (background, ColorScheme(ScreenTraits(isASCII: false, palette: palette, background: background)).active)
    }
    for (background, color) in active { #expect(color == .indexed(background == .light ? 4 : 6), "\(background)") }
  }

  @Test(arguments: Background.allCases)
  func everyColourCanBeReadInTheCursorsRow(_ background: Background) {
    let colors = colors(background)
    // Without a background for it, the row is reversed: its contrasts are those of the text.
    guard let row = colors.row else { return }
    for color in texts(colors) {
      let contrast = Light(color).contrast(with: Light(row))
      #expect(contrast >= 4.5, "\(color): \(contrast)")
    }
    #expect(Light(hex: background == .light ? 0x000000 : 0xE5E5E5).contrast(with: Light(row)) >= 4.5)
  }

  @Test(arguments: [Background.dark, .light])
  func aKeyCanBeReadOnItsChip(_ background: Background) {
    let key = colors(background).key
    #expect(Light(key.foreground).contrast(with: Light(key.background)) >= 4.5)
  }

  @Test(arguments: Background.allCases)
  func redAndGreenDifferInLightnessToo(_ background: Background) {
    let colors = colors(background)
    #expect(Light(colors.bad).contrast(with: Light(colors.good)) >= 1.2)
  }

  @Test(arguments: Background.allCases, ColorVision.allCases)
  func statesAreDistinctForEveryColourVision(_ background: Background, _ vision: ColorVision) {
    let colors = colors(background)
    let states =
      [
        ("failed", colors.bad), ("executing", colors.active), ("held", colors.held), ("succeeded", colors.good),
      ] + (colors.retry == colors.held ? [] : [("retrying", colors.retry)])
    for (index, one) in states.enumerated() {
      for other in states.dropFirst(index + 1) {
        let distance = Light(one.1).distance(to: Light(other.1), seenWith: vision)
        #expect(distance >= 20, "\(one.0) and \(other.0) on \(background): \(distance)")
      }
    }
  }

  @Test func confusedColoursHaveASmallDistance() {
    // Pure red and a dark yellow are distinct for most people, and alike without red or green cones.
    let (red, olive) = (Light(hex: 0xCC0000), Light(hex: 0x7A7A00))
    #expect(red.distance(to: olive, seenWith: .all) > 60)
    #expect(red.distance(to: olive, seenWith: .deuteranopia) < 30)
  }

  @Test(arguments: [true, false])
  func lettersDifferWithoutColour(_ isASCII: Bool) {
    let theme = Theme(ScreenTraits(isASCII: isASCII, palette: .none))
    #expect(Set(StateClass.allCases.map { theme.letter($0) }).count == StateClass.allCases.count)
  }

  @Test(arguments: [ScreenTraits.Palette.eight, .sixteen])
  func withFewColoursTheyAreTheTerminalsOwn(_ palette: ScreenTraits.Palette) {
    for background in Background.allCases {
      let colors = ColorScheme(ScreenTraits(isASCII: false, palette: palette, background: background))
      for case .indexed(let index) in texts(colors) { #expect(Int(index) < palette.rawValue) }
    }
  }

  @Test func aPersonsStylesReplaceTheThemes() {
    let own = Style(.indexed(208), on: .indexed(17), [.italic])
    let many = ScreenTraits(isASCII: true, palette: .many, background: .dark)
    let theme = Theme(many, looks: [.failed: own, .cursor: own])
    #expect(theme.style(.failed) == own && theme.bad == own && theme.cursor(focused: true) == own)
    #expect(theme.style(.executing) == Theme(many).style(.executing))
    let plain = Theme(ScreenTraits(isASCII: true, palette: .none), looks: [.failed: own])
    #expect(plain.style(.failed) == Style(attributes: .italic))
  }

  @Test func everyElementChangesSomethingOnTheScreen() {
    let traits = ScreenTraits(isASCII: true, palette: .many)
    let own = Style(.indexed(99))
    func looks(_ theme: Theme) -> [Style] {
      StateClass.allCases.map { theme.style($0) }
        + [
          theme.accent, theme.key, theme.dim, theme.calm, theme.warning, theme.danger, theme.good, theme.match,
          theme.currentMatch, theme.cursor(focused: true), theme.cursor(focused: false),
        ]
    }
    for element in ThemeElement.allCases {
      #expect(looks(Theme(traits, looks: [element: own])).contains(own), "\(element)")
    }
  }

  @Test @MainActor func theTerminalsAnswerChangesTheColours() throws {
    let stage = try Stage(RichRun.builder(), traits: ScreenTraits(isASCII: true, palette: .many))
    func colors() -> Set<Style.Color> { Set(stage.terminal.shown?.rows.joined().map(\.style.foreground) ?? []) }
    #expect(colors().contains(.indexed(160)) && !colors().contains(.indexed(204)))
    stage.terminal.send(.background(.dark))
    stage.clock.advance(by: .milliseconds(60))
    #expect(colors().contains(.indexed(204)) && !colors().contains(.indexed(160)))
    stage.dashboard.close()
  }
}

/// A person's colour vision, by the missing cones.
enum ColorVision: CaseIterable {
  case all
  case protanopia
  case deuteranopia
  case tritanopia

  /// The matrix of Machado, Oliveira and Fernandes 2009, severity 1, for linear red, green and blue.
  var matrix: [[Double]] {
    switch self {
    case .all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    case .protanopia:
      [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    case .deuteranopia:
      [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    case .tritanopia:
      [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    }
  }
}

/// A colour as light: linear parts of sRGB from 0 to 1.
private struct Light {
  let parts: [Double]

  init(hex: UInt32) {
    parts = [16, 8, 0].map { shift in
      let value = Double(hex >> shift & 0xFF) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
  }

  /// A colour of xterm's cube or greys.
  init(_ color: Style.Color) {
    guard case .indexed(let index) = color, index >= 16 else { preconditionFailure("no colour of the 256: \(color)") }
    let steps: [UInt32] = [0, 95, 135, 175, 215, 255]
    let place = Int(index) - 16
    if index >= 232 {
      let grey = UInt32(index - 232) * 10 + 8
      self.init(hex: grey << 16 | grey << 8 | grey)
    } else {
      self.init(hex: steps[place / 36] << 16 | steps[place / 6 % 6] << 8 | steps[place % 6])
    }
  }

  /// The contrast as WCAG defines it.
  func contrast(with other: Light) -> Double {
    let (high, low) = (max(luminance, other.luminance), min(luminance, other.luminance))
    return (high + 0.05) / (low + 0.05)
  }

  /// The distance in CIE L*a*b*; about 2 is just visible.
  func distance(to other: Light, seenWith vision: ColorVision) -> Double {
    zip(lab(vision), other.lab(vision)).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
  }

  private var luminance: Double { 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] }

  private func lab(_ vision: ColorVision) -> [Double] {
    let seen = vision.matrix.map { row in min(1, max(0, zip(row, parts).reduce(0) { $0 + $1.0 * $1.1 })) }
    let toXYZ = [
      [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041],
    ]
    let white = [0.95047, 1, 1.08883]
    let curved = zip(toXYZ, white).map { row, white in
      let value = zip(row, seen).reduce(0) { $0 + $1.0 * $1.1 } / white
      return value > 0.008856 ? cbrt(value) : 7.787 * value + 16 / 116
    }
    return [116 * curved[1] - 16, 500 * (curved[0] - curved[1]), 200 * (curved[1] - curved[2])]
  }
}
