import JobModel
import Screen
import Testing

@testable import Dashboard

/// Colours are never the only sign, and are left out where they are not wanted.
struct StyleTests {
  private func row(_ name: String, _ frame: Frame) -> [Cell] {
    frame.rows.first { $0.map(\.text).joined().dropFirst(3).hasPrefix(name + " ") } ?? []
  }

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

  @Test func theCursorsRowStandsOutWithAndWithoutColours() {
    var bench = Bench(RichRun.builder())
    bench.select("fetch")
    #expect(row("fetch", bench.frame()).allSatisfy { $0.style.attributes.contains(.reverse) })
    #expect(!row("migrate", bench.frame()).contains { $0.style.attributes.contains(.reverse) })
    let colourful = bench.frame(ScreenTraits(isASCII: true, palette: .sixteen))
    #expect(row("fetch", colourful).allSatisfy { $0.style.background == .indexed(6) })
    bench.press(.tab)
    let unfocused = bench.frame(ScreenTraits(isASCII: true, palette: .sixteen))
    #expect(row("fetch", unfocused).allSatisfy { $0.style.background == .indexed(8) })
  }

  @Test func aFailureIsRedAndBoldAndASuccessIsDimmed() {
    var bench = Bench(RichRun.builder(), size: Size(width: 80, height: 60))
    bench.select("fetch")
    let frame = bench.frame(ScreenTraits(isASCII: true, palette: .sixteen))
    let letter = row("sign", frame).dropFirst(Columns.state).first
    #expect(letter == Cell("T", Style(.indexed(1), on: .standard, .bold)))
    #expect(row("checkout", frame).dropFirst(3).first?.style.attributes == .dim)
  }

  @Test func aTerminalOfSixteenColoursGetsNoOthers() {
    let bench = Bench(RichRun.builder(), size: Size(width: 160, height: 60))
    for cell in bench.frame(ScreenTraits(isASCII: false, palette: .sixteen)).rows.joined() {
      if case .indexed(let index) = cell.style.foreground { #expect(index < 16) }
    }
  }
}
