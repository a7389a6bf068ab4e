import Screen
import Testing

@Suite struct ScreenTraitsTests {
  @Test(arguments: [
    (0.0, 0.0, 0.0, true), (1, 1, 1, false), (0.42, 0.42, 0.42, true), (0.43, 0.43, 0.43, false), (0.91, 0, 0, true),
    (0.92, 0, 0, false), (0, 0.5, 0, true), (0, 0.51, 0, false), (0, 0, 1, true), (0.8, 0, 0.8, false),
    (0.75, 0, 0.8, true), (0.3, 0.45, 0, true), (0.4, 0.48, 0, false),
  ])
  func aBackgroundIsDarkWhereWhiteHasTheBetterContrast(_ red: Double, _ green: Double, _ blue: Double, _ isDark: Bool) {
    #expect(ScreenTraits.Background(red: red, green: green, blue: blue) == (isDark ? .dark : .light))
  }

  @Test func palettesAreInTheOrderOfTheirColours() {
    let palettes: [ScreenTraits.Palette] = [.none, .eight, .sixteen, .many]
    #expect(palettes == palettes.sorted() && !(ScreenTraits.Palette.eight < .eight))
    #expect(ScreenTraits(isASCII: true, palette: .none).background == .unknown)
  }
}
