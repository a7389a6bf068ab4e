import Screen
import Testing

@Suite struct PaletteTests {
  @Test(arguments: [
    (Style(.indexed(208)), ScreenTraits.Palette.many, Style(.indexed(208))),
    (Style(.indexed(196)), .sixteen, Style(.indexed(9))), (Style(.indexed(16)), .sixteen, Style(.indexed(0))),
    (Style(.indexed(231)), .sixteen, Style(.indexed(15))), (Style(.indexed(244)), .sixteen, Style(.indexed(8))),
    (Style(.indexed(12)), .sixteen, Style(.indexed(12))), (Style(.indexed(9)), .eight, Style(.indexed(1), .bold)),
    (Style(.indexed(3)), .eight, Style(.indexed(3))), (Style(.indexed(8)), .eight, Style(.standard, .dim)),
    (Style(.standard, on: .indexed(12)), .eight, Style(.standard, on: .indexed(4))),
    (Style(.indexed(1), on: .indexed(2), .bold), .none, Style(.standard, .bold)), (.plain, .eight, .plain),
  ])
  func aStyleBecomesTheNearestThatThereIs(_ style: Style, _ palette: ScreenTraits.Palette, _ expected: Style) {
    #expect(style.reduced(to: palette) == expected)
  }

  @Test(
    arguments: [
      (255, 0, 0, 196), (0, 0, 0, 16), (255, 255, 255, 231), (8, 8, 8, 232), (128, 128, 128, 244), (95, 135, 175, 67),
      (238, 238, 238, 255), (254, 1, 2, 196),
    ] as [(UInt8, UInt8, UInt8, UInt8)])
  func aTrueColourBecomesTheNearestOf256(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ index: UInt8) {
    #expect(Style.Color.nearest(red: red, green: green, blue: blue) == .indexed(index))
  }

  /// Every one of the cube and the ramp is the nearest to itself, or to one that looks the same.
  @Test func theNearestIsNearest() {
    for red in stride(from: 0, through: 255, by: 17) {
      for green in stride(from: 0, through: 255, by: 17) {
        for blue in stride(from: 0, through: 255, by: 17) {
          let color = Style.Color.nearest(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
          guard case .indexed(let index) = color else {
            Issue.record("no colour for \(red) \(green) \(blue)")
            return
          }
          #expect(index >= 16)
          let all = (16...255).map { distance($0, red, green, blue) }
          #expect(distance(Int(index), red, green, blue) == all.min())
        }
      }
    }
  }

  /// At the middles between two steps of the cube, and between two greys.
  @Test(
    arguments: [
      (47, 255, 0, 46), (48, 255, 0, 82), (114, 255, 0, 82), (116, 255, 0, 118), (154, 255, 0, 118), (156, 255, 0, 154),
      (234, 255, 0, 190), (236, 255, 0, 226), (255, 47, 0, 196), (255, 48, 0, 202), (255, 0, 47, 196),
      (255, 0, 48, 197),
      (3, 3, 3, 16), (5, 5, 5, 232), (12, 12, 12, 232), (14, 14, 14, 233), (234, 234, 234, 255), (246, 246, 246, 255),
      (247, 247, 247, 231),
    ] as [(UInt8, UInt8, UInt8, UInt8)])
  func aColourBetweenTwoBecomesTheNearerOne(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ index: UInt8) {
    #expect(Style.Color.nearest(red: red, green: green, blue: blue) == .indexed(index))
  }

  @Test(
    arguments: [
      (7, 7), (8, 8), (15, 15), (16, 0), (21, 12), (46, 10), (51, 14), (201, 13), (226, 11), (160, 1), (34, 2),
      (254, 7), (250, 7), (238, 8), (236, 0),
    ] as [(UInt8, UInt8)])
  func ofSixteenColoursTheNearestIsTaken(_ index: UInt8, _ expected: UInt8) {
    #expect(Style(.indexed(index)).reduced(to: .sixteen) == Style(.indexed(expected)))
    #expect(
      Style(.standard, on: .indexed(index)).reduced(to: .sixteen) == Style(.standard, on: .indexed(expected)))
  }

  @Test(arguments: [
    (Style(.indexed(7)), Style(.indexed(7))), (Style(.indexed(9)), Style(.indexed(1), .bold)),
    (Style(.indexed(15)), Style(.indexed(7), .bold)), (Style(.indexed(231)), Style(.indexed(7), .bold)),
    (Style(.indexed(21), .dim), Style(.indexed(4), [.dim, .bold])), (Style(.indexed(238)), Style(.standard, .dim)),
    (Style(.standard, on: .indexed(7)), Style(.standard, on: .indexed(7))),
    (Style(.standard, on: .indexed(8)), Style(.standard, on: .indexed(0))),
    (Style(.standard, on: .indexed(15)), Style(.standard, on: .indexed(7))),
    (Style(.standard, on: .indexed(196)), Style(.standard, on: .indexed(1))),
    (Style(.standard, on: .indexed(231)), Style(.standard, on: .indexed(7))),
  ])
  func ofEightColoursABrightOneIsBold(_ style: Style, _ expected: Style) {
    #expect(style.reduced(to: .eight) == expected)
  }

  private func distance(_ index: Int, _ red: Int, _ green: Int, _ blue: Int) -> Int {
    let steps = [0, 95, 135, 175, 215, 255]
    let grey = (index - 232) * 10 + 8
    let rgb =
      index < 232
      ? [steps[(index - 16) / 36], steps[(index - 16) / 6 % 6], steps[(index - 16) % 6]] : [grey, grey, grey]
    return zip(rgb, [red, green, blue]).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
  }
}
