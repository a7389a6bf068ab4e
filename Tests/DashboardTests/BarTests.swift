import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct BarTests {
  private static let green = Style(.indexed(2), .bold)

  private func bar(_ isASCII: Bool, _ palette: ScreenTraits.Palette = .none) -> Bar {
    Bar(theme: Theme(ScreenTraits(isASCII: isASCII, palette: palette)))
  }

  private func text(_ spans: [TextSpan]) -> String { spans.map(\.text).joined() }

  @Test(arguments: [
    (-1.0, "[......]"), (0, "[......]"), (0.01, "[>.....]"), (0.16, "[>.....]"), (0.17, "[#>....]"), (0.5, "[###>..]"),
    (0.99, "[#####>]"), (1, "[######]"), (2, "[######]"),
  ])
  func aBarInASCIIEndsWithAHead(_ share: Double, _ text: String) {
    #expect(self.text(bar(true).determinate(share, width: 8, style: .plain)) == text)
  }

  @Test(arguments: [
    (0.0, "──────"), (0.08, "──────"), (0.09, "╾─────"), (0.17, "━─────"), (0.25, "━╾────"), (0.5, "━━━───"),
    (0.92, "━━━━━╾"), (1, "━━━━━━"), (2, "━━━━━━"),
  ])
  func aBarIsDrawnInHalvesOfACell(_ share: Double, _ text: String) {
    #expect(self.text(bar(false).determinate(share, width: 6, style: .plain)) == text)
  }

  @Test(arguments: [-1, 0, 1, 2])
  func withoutRoomForACellThereIsNoBar(_ width: Int) {
    #expect(bar(true).determinate(0.5, width: width, style: .plain).isEmpty)
    #expect(bar(true).estimated(0.5, width: width).isEmpty)
    #expect(bar(false).determinate(0.5, width: width, style: .plain).isEmpty == (width < 1))
    #expect(bar(false).estimated(0.5, width: width).isEmpty == (width < 1))
  }

  @Test(arguments: [
    (-1.0, "~~~~"), (0, "~~~~"), (0.24, "~~~~"), (0.25, "#~~~"), (0.99, "###~"), (1, "####"), (3, "####"),
  ])
  func anEstimatedBarHasWholeCellsOnly(_ share: Double, _ cells: String) {
    #expect(text(bar(true).estimated(share, width: 6)) == "[\(cells)]")
    let signs = String(cells.map { $0 == "#" ? "╍" : "╌" })
    #expect(text(bar(false).estimated(share, width: 4)) == signs)
  }

  @Test func thePartsOfABarHaveTheirStylesAndTheLastAHead() {
    let red = Style(.indexed(1))
    let parts = [
      Bar.Part(share: 0.25, sign: "#", style: Self.green), Bar.Part(share: 0.3125, sign: "!", line: "╳", style: red),
      Bar.Part(share: 0, sign: "=", line: "╍", style: .plain),
    ]
    let spans = bar(false, .sixteen).stacked(parts, width: 10)
    #expect(spans.map(\.text) == ["━━", "━━━╾", "────"])
    #expect(spans[0].style == Style(.indexed(2)) && spans[1].style == red)
    #expect(spans[2].style == Theme(ScreenTraits(isASCII: false, palette: .sixteen)).rule)
    #expect(text(bar(true).stacked(parts, width: 12)) == "[##!!!>....]")
    #expect(text(bar(false).stacked(parts, width: 10)) == "━━╳╳╳╾────")
    let plain = bar(false).stacked([Bar.Part(share: 0.5, sign: "#", style: Style(attributes: .bold))], width: 4)
    #expect(plain[0].style == Style(attributes: .bold))
  }

  @Test func partsThatAreMoreThanTheWholeFillTheBar() {
    let parts = [
      Bar.Part(share: 0.75, sign: "#", style: .plain), Bar.Part(share: 0.75, sign: "!", line: "╳", style: .plain),
    ]
    #expect(text(bar(true).stacked(parts, width: 10)) == "[######!!]")
    #expect(text(bar(false).stacked(parts, width: 8)) == "━━━━━━╳╳")
  }

  @Test(arguments: [
    (0, "[<=>  ]", "━━━──"), (1, "[ <=> ]", "─━━━─"), (2, "[  <=>]", "──━━━"), (3, "[ <=> ]", "─━━━─"),
    (4, "[<=>  ]", "━━━──"), (5, "[ <=> ]", "─━━━─"),
  ])
  func aMarkMovesBackAndForth(_ step: Int, _ ascii: String, _ line: String) {
    #expect(text(bar(true).indeterminate(step: step, width: 7, style: .plain)) == ascii)
    #expect(text(bar(false).indeterminate(step: step, width: 5, style: .plain)) == line)
  }

  @Test func aMarkNeedsACellToMoveTo() {
    #expect(bar(true).indeterminate(step: 0, width: 5, style: .plain).isEmpty)
    #expect(text(bar(true).indeterminate(step: 1, width: 6, style: .plain)) == "[ <=>]")
    #expect(bar(false).indeterminate(step: 0, width: 3, style: .plain).isEmpty)
    #expect(text(bar(false).indeterminate(step: 1, width: 4, style: .plain)) == "─━━━")
  }

  // MARK: Of a job

  private func drawn(_ builder: RunBuilder, at milliseconds: Int) -> String {
    var frame = Frame(Size(width: 20, height: 1))
    bar(true).draw(builder.run[JobID(0)], now: .milliseconds(milliseconds), &frame, x: 1, y: 0, width: 12)
    return frame.text
  }

  @Test func aJobIsDrawnByItsProgressElseByItsUsualTimeElseByAMark() {
    var job = Job.shell("a")
    job.usual = UsualTime(median: .seconds(10), ninetieth: .seconds(12), count: 12)
    var known = RunBuilder([job])
    known.move("a", .executing)
    #expect(drawn(known, at: 4000) == " [####~~~~~~]  40%")
    #expect(drawn(known, at: 13_000) == " [    <=>   ]")
    known.progress("a", 1, of: 5, .steps)
    #expect(drawn(known, at: 4000) == " [##>.......]  20%")
    #expect(!Bar.isIndeterminate(known.run[JobID(0)], now: .seconds(13)))
    var unknown = RunBuilder([.shell("a")])
    unknown.move("a", .executing)
    #expect(drawn(unknown, at: 0) == " [<=>       ]" && drawn(unknown, at: 249) == " [<=>       ]")
    #expect(drawn(unknown, at: 250) == " [ <=>      ]")
    #expect(Bar.isIndeterminate(unknown.run[JobID(0)], now: .zero))
  }

  // MARK: Samples

  @Test(
    arguments: [
      ([1, 2, 3, 4, 5, 6, 7], 9, "▁▂▃▄▅▆▇"), ([7], 9, "▇"), ([0, 7], 9, "▁▇"), ([7, 1, 7], 2, "▁▇"), ([7], 0, ""),
      ([7], -1, ""),
    ] as [([Float], Int, String)])
  func theGreatestSampleIsBelowTheTop(_ samples: [Float], _ width: Int, _ text: String) {
    #expect(Sparkline.text(samples, width: width, isASCII: false) == text)
  }

  @Test func samplesHaveLettersInASCII() {
    #expect(Sparkline.text([0, 3, 6], width: 3, isASCII: true) == "_-*")
    #expect(Sparkline.text([0, 0, 0], width: 2, isASCII: true) == "__")
  }
}
