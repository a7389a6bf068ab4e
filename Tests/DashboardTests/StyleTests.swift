import JobModel
import Screen
import Testing

@testable import Dashboard

/// Colours are never the only sign, and are left out where they are not wanted.
struct StyleTests {
  @Test(
    arguments: [
      [], [.enter], [.character("?")], [.tab], [.character("Z")], [.character("q")], [.tab, .up],
      [.character("L"), .character("v"), .up], [.character("L"), .character("E")],
    ] as [[Key]])
  func withoutColoursThereAreNone(_ keys: [Key]) {
    var bench = Bench(RichRun.builder(), size: Size(width: 160, height: 50))
    bench.select("fetch")
    for key in keys { bench.press(key) }
    for cell in bench.frame().rows.joined() {
      #expect(cell.style.foreground == .standard && cell.style.background == .standard)
    }
  }

  private func row(_ name: String, _ frame: Frame, _ column: Int = Columns.name) -> [Cell] {
    frame.rows.first { $0.map(\.text).joined().dropFirst(column).hasPrefix(name + " ") } ?? []
  }

  @Test func theCursorsRowStandsOutWithAndWithoutColours() {
    var bench = Bench(RichRun.builder())
    bench.select("fetch")
    for palette in [ScreenTraits.Palette.none, .eight, .sixteen] {
      let frame = bench.frame(ScreenTraits(isASCII: true, palette: palette))
      #expect(row("fetch", frame).prefix(60).allSatisfy { $0.style.attributes.contains(.reverse) })
      #expect(!row("migrate", frame).contains { $0.style.attributes.contains(.reverse) })
    }
    let many = ScreenTraits(isASCII: true, palette: .many, background: .dark)
    let background = ColorScheme(many).row
    #expect(row("fetch", bench.frame(many)).prefix(60).allSatisfy { $0.style.background == background })
    #expect(row("fetch", bench.frame(many)).first?.text == ">")
    #expect(!row("migrate", bench.frame(many)).contains { $0.style.background == background })
  }

  @Test(arguments: [ScreenTraits.Palette.eight, .sixteen, .many], ScreenTraits.Background.allCases)
  func theCursorsRowKeepsTheColoursOfItsState(
    _ palette: ScreenTraits.Palette, _ background: ScreenTraits.Background
  ) {
    let traits = ScreenTraits(isASCII: false, palette: palette, background: background)
    let red = ColorScheme(traits).bad
    var bench = Bench(RichRun.builder(), size: Size(width: 80, height: 60))
    for name in ["sign", "lint"] {
      bench.select(name)
      for keys in [[], [Key.tab]] as [[Key]] {
        for key in keys { bench.press(key) }
        let cells = row(name, bench.frame(traits))
        #expect(cells[Columns.state].style.foreground == red, "\(name)")
        #expect(cells.count { $0.style.foreground == red && $0.text != " " } > 4, "\(name)")
      }
      bench.press(.tab)
    }
  }

  @Test func aFailureIsRedAndBoldAndASkippedJobIsQuiet() {
    var bench = Bench(RichRun.builder(), size: Size(width: 80, height: 70))
    bench.select("publish")
    let frame = bench.frame(ScreenTraits(isASCII: true, palette: .sixteen))
    #expect(row("sign", frame)[Columns.state] == Cell("T", Style(.indexed(1), on: .standard, .bold)))
    #expect(row("tag", frame, Columns.name + 2).dropFirst(5).first?.style.attributes == .dim)
  }

  @Test func aTerminalOfSixteenColoursGetsNoOthers() {
    let bench = Bench(RichRun.builder(), size: Size(width: 160, height: 60))
    for cell in bench.frame(ScreenTraits(isASCII: false, palette: .sixteen)).rows.joined() {
      if case .indexed(let index) = cell.style.foreground { #expect(index < 16) }
    }
  }
}
